// SPDX-License-Identifier: Apache-2.0
// vmap, jvp, vjp, hvp and the Jacobians against differences, loops over single entries, and each other; run
// as they are and compiled.
#include <tests/support/compare.h>
#include <tests/support/evaluate.h>
#include <tests/support/files.h>
#include <tightloop/engine/functional.h>
#include <tightloop/ops/attention.h>
#include <tightloop/ops/functions_spatial.h>

namespace tightloop {
namespace {

using testing::expect_close;
using testing::random_array;

Tensor real(std::vector<std::int64_t> dims, std::uint64_t seed, double low = -1, double high = 1) {
  return random_array(DType::f64, dims, low, high, seed);
}

class Functional : public ::testing::TestWithParam<CompileOptions> {
 protected:
  /// fn(args...) run as it is; compiled it must give the same.
  template <class Fn, class... Args>
  auto both(Fn fn, const Args&... args) {
    auto plain = fn(args...);
    auto native = compile(fn, {.compile = GetParam()})(args...);
    const auto a = tensors_in(plain), b = tensors_in(native);
    EXPECT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) expect_close(b[i].array(), a[i].array(), 1e-12, 1e-13);
    return plain;
  }
};
INSTANTIATE_TEST_SUITE_P(Backends, Functional, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

/// A function with products, reductions, views and a choice in it: [3], [3, 4] → [4].
Tensor curved(const Tensor& x, const Tensor& w) {
  const Tensor h = tanh(matmul(x, w)) + select(slice(x, 0, 0, 1) > 0.0, exp(amax(w, {0})), sin(sum(w, {0})));
  return softmax(h, 0) * square(concat({slice(x, 0, 1, 3), slice(x, 0, 0, 2)}, 0));
}
Tensor curved_loss(const Tensor& x, const Tensor& w) {
  return sum(curved(x, w) * Tensor(Array::of<double>({4}, {1, -2, 3, 0.5})));
}

Tensor at(const Tensor& all, std::int64_t i) { return squeeze(slice(all, 0, i, i + 1), 0); }

/// (f(x + h v) - f(x - h v)) / 2h
template <class Fn>
Array difference(Fn fn, const Tensor& x, const Tensor& v, double h = 1e-6) {
  return Tensor((fn(x + h * v) - fn(x - h * v)) / (2 * h)).array();
}

TEST_P(Functional, JvpIsTheChangeAlongADirection) {
  const Tensor x = real({3}, 1), w = real({3, 4}, 2), v = real({3}, 3), u = real({3, 4}, 4);
  const auto by_x = [&](const Tensor& t) { return curved(t, w); };
  const auto [y, slope] = both([&](const Tensor& a, const Tensor& b) { return jvp(by_x)(a, b); }, x, v);
  expect_close(y.array(), curved(x, w).array(), 1e-15);
  expect_close(slope.array(), difference(by_x, x, v), 1e-7, 1e-8);

  const auto of_both = jvp(curved)(std::make_tuple(x, w), std::make_tuple(v, u)).second;
  const Array second = difference([&](const Tensor& t) { return curved(x, t); }, w, u);
  expect_close(of_both.array(), Tensor(Tensor(second) + slope).array(), 1e-7, 1e-8);
}

TEST_P(Functional, JvpLeavesOneForwardSweep) {
  const Tensor x = real({5, 3}, 1), a = real({3, 4}, 2), b = real({4, 2}, 3);
  const auto net = [&](const Tensor& t) { return tanh(matmul(tanh(matmul(t, a)), b)); };
  auto f = compile([&](const Tensor& t, const Tensor& v) { return jvp(net)(t, v); }, {.compile = GetParam()});
  f(x, real({5, 3}, 4));
  int products = 0, nodes = 0;
  for (const ir::Node* node : ir::topological(f.programs().program(0).graph()))
    ++nodes, products += node->op->name == "matmul" ? 1 : 0;
  EXPECT_EQ(products, 4) << "two of the value, two of the tangent";
  EXPECT_LE(nodes, 20);
}

TEST_P(Functional, JvpGivesEveryResultItsTangent) {
  const auto several = [](const Tensor& x) {
    return std::make_pair(std::vector<Tensor>{sum(x), x * x}, cast(x > 0.0, DType::i64));
  };
  const Tensor x = Array::of<double>({2}, {3, -1}), v = Array::of<double>({2}, {1, 10});
  const auto [y, slope] = both([&](const Tensor& a, const Tensor& b) { return jvp(several)(a, b); }, x, v);
  EXPECT_EQ(slope.first[0].item(), 11);
  EXPECT_EQ(slope.first[1].array().at(1), -20);
  EXPECT_EQ(slope.second.dtype(), DType::i64);
  EXPECT_EQ(slope.second.array().at(0), 0);
}

TEST_P(Functional, VjpIsTheTransposeOfJvp) {
  const Tensor x = real({3}, 1), w = real({3, 4}, 2), v = real({3}, 3), m = real({3, 4}, 4), u = real({4}, 5);
  const auto slopes = both([&](const Tensor& a, const Tensor& b,
                               const Tensor& c) { return vjp(curved)(std::make_tuple(a, b), c).second; },
                           x, w, u);
  const Tensor forward = jvp(curved)(std::make_tuple(x, w), std::make_tuple(v, m)).second;
  const double one_way = Tensor(sum(forward * u)).item();
  const double other = Tensor(sum(std::get<0>(slopes) * v) + sum(std::get<1>(slopes) * m)).item();
  EXPECT_NEAR(one_way, other, 1e-13);
}

TEST_P(Functional, HvpIsTheChangeOfTheGradient) {
  const Tensor x = real({3}, 1), w = real({3, 4}, 2), v = real({3}, 3), u = real({3, 4}, 4);
  const auto by_x = [&](const Tensor& t) { return curved_loss(t, w); };
  const Tensor got = both([&](const Tensor& a, const Tensor& b) { return hvp(by_x)(a, b); }, x, v);
  expect_close(got.array(), difference(grad(by_x), x, v), 1e-6, 1e-7);
  expect_close(got.array(), jvp(grad(by_x))(x, v).second.array(), 1e-12, 1e-13);

  const auto [hx, hw] = hvp(curved_loss)(std::make_tuple(x, w), std::make_tuple(v, u));
  const Array wanted = difference([&](const Tensor& t) { return grad(curved_loss)(x + t * v, w + t * u); },
                                  scalar(0, DType::f64), scalar(1, DType::f64));
  expect_close(hx.array(), wanted, 1e-6, 1e-7);
  EXPECT_EQ(hw.type(), w.type());
}

TEST_P(Functional, HvpOfVariables) {
  const Variable a(real({3}, 1).array().clone(), "a"), b(real({}, 2).array().clone(), "b");
  const auto loss = [&](const Tensor& x) { return sum(square(a.value() * x + b.value())) * b.value(); };
  const std::vector<Variable> both_variables{a, b};
  const std::vector<Tensor> v{real({3}, 3), real({}, 4)};
  const auto got =
      both([&](const std::vector<Tensor>& d, const Tensor& x) { return hvp(loss, both_variables)(d, x); }, v,
           real({3}, 5));
  const auto free = [&](const Tensor& p, const Tensor& q) { return sum(square(p * real({3}, 5) + q)) * q; };
  const auto wanted = hvp(free)(std::make_tuple(a.value(), b.value()), std::make_tuple(v[0], v[1]));
  expect_close(got[0].array(), std::get<0>(wanted).array(), 1e-13);
  expect_close(got[1].array(), std::get<1>(wanted).array(), 1e-13);
}

TEST_P(Functional, VmapIsALoop) {
  const Tensor xs = real({5, 3}, 1), ws = real({5, 3, 4}, 2);
  const Tensor of_both = both([](const Tensor& x, const Tensor& w) { return vmap(curved)(x, w); }, xs, ws);
  const Tensor of_x =
      both([](const Tensor& x, const Tensor& w) { return vmap<0>(curved)(x, w); }, xs, at(ws, 0));
  const Tensor of_w =
      both([](const Tensor& x, const Tensor& w) { return vmap<1>(curved)(x, w); }, at(xs, 0), ws);
  for (std::int64_t i = 0; i < 5; ++i) {
    expect_close(at(of_both, i).array(), curved(at(xs, i), at(ws, i)).array(), 1e-14);
    expect_close(at(of_x, i).array(), curved(at(xs, i), at(ws, 0)).array(), 1e-14);
    expect_close(at(of_w, i).array(), curved(at(xs, 0), at(ws, i)).array(), 1e-14);
  }
}

TEST_P(Functional, VmapTakesStructures) {
  const auto f = [](const std::vector<Tensor>& parts, const Tensor& k) {
    return std::make_tuple(parts[0] * k, std::vector<Tensor>{sum(parts[1]), k});
  };
  const auto [scaled, rest] =
      both([&](const std::vector<Tensor>& p, const Tensor& k) { return vmap<0>(f)(p, k); },
           std::vector<Tensor>{real({2}, 1), real({2, 3}, 2)}, real({}, 3));
  EXPECT_EQ(scaled.shape(), Shape{2});
  EXPECT_EQ(rest[0].shape(), Shape{2});
  EXPECT_EQ(rest[1].array().at(1), real({}, 3).item()) << "what is shared is repeated";
}

TEST_P(Functional, VmapNestsAndComposes) {
  const Tensor xs = real({2, 3}, 1), ys = real({4, 3}, 2), w = real({3, 4}, 3);
  const auto dot = [](const Tensor& a, const Tensor& b) { return sum(a * b); };
  const Tensor table =
      both([&](const Tensor& a, const Tensor& b) { return vmap<0>(vmap<1>(dot))(a, b); }, xs, ys);
  expect_close(table.array(), Tensor(matmul(xs, transpose(ys, 0, 1))).array(), 1e-14);

  const Tensor per_sample =
      both([&](const Tensor& x, const Tensor& m) { return vmap<0>(grad<1>(curved_loss))(x, m); }, xs, w);
  const Tensor of_sum = both(
      [&](const Tensor& x, const Tensor& m) {
        return grad([&](const Tensor& t) { return sum(vmap<0>(curved_loss)(x, t)); })(m);
      },
      xs, w);
  expect_close(Tensor(sum(per_sample, {0})).array(), of_sum.array(), 1e-13, 1e-14);
  const Tensor first = grad<1>(curved_loss)(at(xs, 0), w);
  expect_close(at(per_sample, 0).array(), first.array(), 1e-14, 1e-15);

  const auto cube = [](const Tensor& t) { return t * t * t; };
  const Tensor third = both([&](const Tensor& t) { return vmap(grad(grad(grad(cube))))(t); }, real({3}, 1));
  expect_close(third.array(), Array::of<double>({3}, {6, 6, 6}), 1e-15);

  const Tensor hv = both(
      [&](const Tensor& x, const Tensor& v) {
        return vmap(hvp([&](const Tensor& t) { return curved_loss(t, w); }))(x, v);
      },
      xs, real({2, 3}, 9));
  const auto of_first =
      hvp([&](const Tensor& t) { return curved_loss(t, w); })(at(xs, 0), at(real({2, 3}, 9), 0));
  expect_close(at(hv, 0).array(), of_first.array(), 1e-13, 1e-14);
}

TEST_P(Functional, OneTraceServesEveryNumberOfEntries) {
  int traces = 0;
  const Tensor w = real({3, 4}, 3);
  const auto loss = [&](const Tensor& x) { return ++traces, curved_loss(x, w); };
  auto gradients_of = compile(vmap(grad(loss)), {.batch = true, .compile = GetParam()});
  for (const std::int64_t n : {1, 7, 64}) {
    const Tensor xs = real({n, 3}, static_cast<std::uint64_t>(n));
    const Tensor got = gradients_of(xs);
    const Tensor last = grad([&](const Tensor& x) { return curved_loss(x, w); })(at(xs, n - 1));
    expect_close(at(got, n - 1).array(), last.array(), 1e-12, 1e-13);
  }
  EXPECT_EQ(traces, 1);
}

/// A small network of windows on one sample [2, 8, 8]: strided, grouped, dilated and transposed convolutions,
/// and pooling of both kinds.
struct Windows {
  std::vector<Tensor> parameters{real({4, 2, 3, 3}, 1), real({4, 2, 2, 2}, 2), real({4, 3, 2, 2}, 3),
                                 real({3, 12}, 4)};

  static Tensor loss(const std::vector<Tensor>& p, const Tensor& x) {
    Tensor h = tanh(convolution(unsqueeze(x, 0), p[0], {.stride = 2, .padding = 1}));
    h = max_pool(convolution(h, p[1], {.padding = {1, 0}, .dilation = {1, 2}, .groups = 2}),
                 {.kernel = 2, .stride = 1});
    h = tanh(conv_transpose(h, p[2], {.stride = {1, 2}}));
    h = adaptive_avg_pool(avg_pool(h, {.kernel = 2, .stride = 1, .padding = 1}), 2);
    return sum(square(matmul(p[3], reshape(h, {12}))));
  }
};

/// Causal attention with two heads and a mask on one sample [5, 6].
struct Heads {
  std::vector<Tensor> parameters{real({6, 18}, 1), real({6, 6}, 2), real({1, 1, 5, 5}, 3)};

  static Tensor loss(const std::vector<Tensor>& p, const Tensor& x) {
    const Tensor qkv = permute(reshape(matmul(x, p[0]), {5, 3, 2, 3}), {1, 2, 0, 3});
    const auto part = [&](std::int64_t i) { return slice(qkv, 0, i, i + 1); };
    const Tensor y = attention(part(0), part(1), part(2), {.mask = p[2], .causal = true});
    return sum(square(matmul(reshape(permute(squeeze(y, 0), {1, 0, 2}), {5, 6}), p[1])));
  }
};

/// The same with dropout, whose draws all samples share.
struct DroppedHeads : Heads {
  static Tensor loss(const std::vector<Tensor>& p, const Tensor& x) {
    const Tensor q = reshape(matmul(x, p[0]), {3, 5, 6}), one = scalar(1, DType::i64);
    return sum(
        square(matmul(attention(q, q + 1.0, q * 2.0, {.dropout = 0.4, .seed = one, .step = one}), p[1])));
  }
};

template <class Net>
class PerSample : public ::testing::Test {};
using Nets = ::testing::Types<Windows, Heads, DroppedHeads>;
TYPED_TEST_SUITE(PerSample, Nets);

template <class Net>
Tensor some_samples(std::int64_t n) {
  return std::is_same_v<Net, Windows> ? real({n, 2, 8, 8}, 9) : real({n, 5, 6}, 9);
}

TYPED_TEST(PerSample, GradientsAreThoseOfALoop) {
  const auto loss = TypeParam::loss;
  const TypeParam net;
  const Tensor xs = some_samples<TypeParam>(5);
  const std::vector<Tensor> known = vmap<1>(grad(loss))(net.parameters, xs);
  auto any =
      compile([&](const Tensor& x) { return vmap<1>(grad(loss))(net.parameters, x); }, {.batch = true});
  const std::vector<Tensor> symbolic = any(xs);
  for (std::int64_t i = 0; i < 5; ++i) {
    const std::vector<Tensor> one = grad(loss)(net.parameters, at(xs, i));
    for (std::size_t k = 0; k < one.size(); ++k) {
      expect_close(at(known[k], i).array(), one[k].array(), 1e-11, 1e-12);
      expect_close(at(symbolic[k], i).array(), one[k].array(), 1e-11, 1e-12);
    }
  }
}

TYPED_TEST(PerSample, CurvatureAndDirectionsToo) {
  const auto loss = TypeParam::loss;
  const TypeParam net;
  const Tensor xs = some_samples<TypeParam>(3);
  const auto by_parameters = [&](const Tensor& x, const std::vector<Tensor>& p,
                                 const std::vector<Tensor>& v) {
    return hvp([&](const std::vector<Tensor>& q) { return loss(q, x); })(p, v);
  };
  std::vector<Tensor> directions;  // others for each sample, so that weights differ from entry to entry
  for (const Tensor& p : net.parameters) {
    std::vector<std::int64_t> dims = p.array().dims();
    dims.insert(dims.begin(), 3);
    directions.push_back(real(dims, 20 + directions.size()));
  }
  const auto mapped = [&](const Tensor& x, const std::vector<Tensor>& v) {
    return vmap<0, 2>(by_parameters)(x, net.parameters, v);
  };
  const std::vector<Tensor> known = mapped(xs, directions);
  const std::vector<Tensor> symbolic = compile(mapped, {.batch = true})(xs, directions);
  const auto slope = [&](const Tensor& x) { return loss(net.parameters, x); };
  const Tensor along = jvp(vmap(slope))(xs, xs).second;
  const Tensor back = vjp(vmap(slope))(xs, ones({3}, DType::f64)).second;
  for (std::int64_t i = 0; i < 3; ++i) {
    std::vector<Tensor> v;
    for (const Tensor& d : directions) v.push_back(at(d, i));
    const std::vector<Tensor> one = by_parameters(at(xs, i), net.parameters, v);
    for (std::size_t k = 0; k < one.size(); ++k) {
      expect_close(at(known[k], i).array(), one[k].array(), 1e-10, 1e-11);
      expect_close(at(symbolic[k], i).array(), one[k].array(), 1e-10, 1e-11);
    }
    expect_close(at(along, i).array(), jvp(slope)(at(xs, i), at(xs, i)).second.array(), 1e-11, 1e-12);
    expect_close(at(back, i).array(), grad(slope)(at(xs, i)).array(), 1e-11, 1e-12);
  }
}

TEST_P(Functional, AnEnsembleOfConvolutionsIsALoop) {
  const Tensor weights = real({3, 4, 1, 3, 3}, 1), x = real({2, 2, 6, 6}, 2);
  const auto net = [](const Tensor& w, const Tensor& t) { return tanh(convolution(t, w, {.groups = 2})); };
  const Tensor got = both([&](const Tensor& w, const Tensor& t) { return vmap<0>(net)(w, t); }, weights, x);
  for (std::int64_t i = 0; i < 3; ++i)
    expect_close(at(got, i).array(), net(at(weights, i), x).array(), 1e-13, 1e-14);
}

TEST_P(Functional, JacobiansAgree) {
  const Tensor x = real({3}, 1), w = real({3, 4}, 2);
  const Tensor rows = both([](const Tensor& a, const Tensor& b) { return jacrev<1>(curved)(a, b); }, x, w);
  const Tensor columns = both([](const Tensor& a, const Tensor& b) { return jacfwd<1>(curved)(a, b); }, x, w);
  EXPECT_EQ(rows.shape(), (Shape{4, 3, 4}));
  expect_close(rows.array(), columns.array(), 1e-13, 1e-14);
  const Tensor unit = reshape(one_hot(Array::scalar<std::int64_t>(5), 12, DType::f64), {3, 4});
  const Array column = jvp([&](const Tensor& m) { return curved(x, m); })(w, unit).second.array();
  for (std::int64_t i = 0; i < 4; ++i) EXPECT_NEAR(rows.array().at(12 * i + 5), column.at(i), 1e-14);
  EXPECT_EQ(jacrev([](const Tensor& t) { return t * t; })(scalar(3, DType::f64)).item(), 6);
}

TEST_P(Functional, HessianIsSymmetricAndExact) {
  const auto f = [](const Tensor& x) {
    const Tensor a = slice(x, 0, 0, 1), b = slice(x, 0, 1, 2);
    return sum(a * a * b + exp(b));
  };
  const Tensor h =
      both([&](const Tensor& x) { return hessian(f)(x); }, Tensor(Array::of<double>({2}, {3, 0})));
  expect_close(h.array(), Array::of<double>({2, 2}, {0, 6, 6, 1}), 1e-15);
  const Tensor big = hessian<1>(curved_loss)(real({3}, 1), real({3, 4}, 2));
  EXPECT_EQ(big.shape(), (Shape{3, 4, 3, 4}));
  expect_close(big.array(), permute(big, {2, 3, 0, 1}).array(), 1e-12, 1e-13);
}

TEST(FunctionalMistakes, AreRefused) {
  const auto f = [](const Tensor& x, const Tensor& y) { return sum(x * y); };
  EXPECT_ERROR(vmap(f)(real({2}, 1), real({}, 2)), "number the arguments to map: vmap<0>(fn)");
  EXPECT_ERROR(vmap(f)(real({2}, 1), real({3}, 2)), "must have one leading dim, f64[2] and f64[3] came");
  const auto square_of = [](const Tensor& x) { return x * x; };
  EXPECT_ERROR(jvp(square_of)(real({2}, 1), real({3}, 1)), "f64[2]; f64[3] came");
  EXPECT_ERROR(hvp(f)(std::make_tuple(real({2}, 1), real({2}, 1)), std::make_tuple(real({2}, 1))),
               "hvp: 1 tensors came where 2 are wanted");
  const Variable seen(Array::scalar(0.0), "seen");
  const auto leaks = [&](const Tensor& x) { return seen.assign(x), x; };
  EXPECT_ERROR(vmap(leaks)(real({2}, 1)), "an entry that vmap stands for");
  EXPECT_ERROR(compile(vmap(leaks))(real({2}, 1)), "assigns the value of one entry to the variable 'seen'");
}

}  // namespace
}  // namespace tightloop
