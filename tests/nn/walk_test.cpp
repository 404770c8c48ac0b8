// SPDX-License-Identifier: Apache-2.0
// Walks the layers and losses, with the options of the fixtures: every backend against the interpreter in f32
// and f64 for odd sizes, gradients against finite differences, and every graph through print and parse.
#include <tests/support/cases.h>
#include <tests/support/evaluate.h>
#include <tests/support/layer_cases.h>
#include <tightloop/nn/layers/layer.h>
#include <tightloop/nn/losses/loss.h>
#include <tightloop/passes/differentiate.h>

#include <map>
#include <set>

namespace tightloop::nn {
namespace {

using testing::Case;
using testing::Feed;

/// A subject: a function of x and perhaps a target, giving {scalar, its gradient where x is floating}.
struct Subject {
  std::string name;
  std::string text;
  testing::Function function;
  std::function<std::vector<Feed>(std::int64_t rows, DType dtype)> feeds;
  bool smooth = true;  ///< x is floating
  double size = 1e-3;  ///< of the numbers that it adds up; less may be what rounding leaves of them
};

/// Numbers in (-3, 3) without pattern, away from where activations have their kinks.
Array numbers(DType dtype, std::vector<std::int64_t> dims, double scale = 3) {
  Array a(dtype, std::move(dims));
  for (std::int64_t i = 0; i < a.count(); ++i)
    a.set(i, scale * std::sin(1.0 + 12.9898 * static_cast<double>(i + 1)));
  return a;
}

Array classes(std::int64_t rows, std::int64_t count) {
  Array a(DType::i64, {rows});
  for (std::int64_t i = 0; i < rows; ++i) a.set_int(i, (i * 7 + 2) % count);
  return a;
}

/// Another weight for each element of y, so that no sum over an axis vanishes.
Tensor uneven(const Tensor& y) {
  Tensor phase = scalar(1, DType::f64);
  for (std::size_t d = 0; d < y.rank(); ++d)
    phase = phase + iota(y.shape(), static_cast<std::int64_t>(d), DType::f64) * (1 + 0.37 * double(d));
  return cast(sin(phase), y.dtype());
}

std::vector<Subject> layer_subjects() {
  std::vector<Subject> out;
  constexpr int kOfALayer = 5;
  std::set<std::string> seen;
  std::map<std::string, int> met;
  for (const Case& c : testing::layer_cases()) {
    const bool whole_columns = c.options.has("dim") && c.options.at<std::int64_t>("dim") == 0;
    if (whole_columns || !seen.insert(c.text).second || ++met[c.name] > kOfALayer) continue;
    const bool ids = c.at("x").dtype() == DType::i64;
    const auto dims = c.at("x").dims();
    std::shared_ptr<Layer> layer = make_layer(c.name, c.options, testing::type_of({c.at("x"), true}));
    layer->initialize(5);
    const auto function = [layer, ids](const std::vector<Tensor>& in) {
      const Tensor y = (*layer)(in[0]);
      const Tensor loss = sum(y * uneven(y));
      return ids ? std::vector<Tensor>{loss} : std::vector<Tensor>{loss, gradients(loss, {in[0]})[0]};
    };
    const auto feeds = [ids, dims](std::int64_t rows, DType dtype) {
      auto own = dims;
      own[0] = rows;
      if (!ids) return std::vector<Feed>{{numbers(dtype, own), true}};
      return std::vector<Feed>{{classes(product(own), 7).reshaped(own), true}};
    };
    out.push_back({c.name, c.text, function, feeds, !ids, 1});
  }
  return out;
}

Options job_options(const Case& c) {
  Options out;
  for (const auto& [key, value] : c.options)
    if (key != "reduction" || value != OptionValue("none")) out.set(key, value);
  return out;
}

/// A prediction that the loss allows: where it must be, positive (and above every eps of the fixtures).
Array loss_input(const std::string& name, std::int64_t rows, DType dtype) {
  Array x = numbers(dtype, {rows, name == "gaussian_nll" ? 6 : 3});
  const bool positive = name == "bce" || name == "poisson_nll" || name == "gaussian_nll";
  const double shift = name == "gaussian_nll" ? 1.1 : 0.5;
  for (std::int64_t i = 0; positive && i < x.count(); ++i) x.set(i, shift + x.at(i) / 7);
  return x;
}

/// A target that the loss allows: classes, signs, lists of classes, or numbers in 0..1.
Array loss_target(const std::string& name, std::int64_t rows, DType dtype) {
  if (find_loss(name)->target != TargetKind::values) return classes(rows, 3);
  Array t = numbers(dtype, {rows, 3}, 1);
  for (std::int64_t i = 0; i < t.count(); ++i) {
    if (name == "hinge_embedding" || name == "soft_margin")
      t.set(i, t.at(i) < 0 ? -1 : 1);
    else if (name == "multilabel_margin")
      t.set(i, static_cast<double>((i * 7 + i / 5) % 4 - 1));
    else
      t.set(i, 0.5 + t.at((i * 5 + 1) % t.count()) / 2.5);
  }
  return t;
}

std::vector<Subject> loss_subjects() {
  std::vector<Subject> out;
  std::set<std::string> seen;
  for (const Case& c : testing::read_cases("losses")) {
    const Options options = job_options(c);
    if (c.at("x").rank() != 2 || c.options.at<std::string>("reduction") == "none" ||
        !seen.insert(c.text).second)
      continue;
    const LossFn loss = make_loss(c.name, options);
    const auto function = [loss](const std::vector<Tensor>& in) {
      const LossValue v = loss(in[0], in[1]);
      return std::vector<Tensor>{v.value, gradients(v.value, {in[0]})[0], v.total, v.weight};
    };
    const auto feeds = [name = c.name](std::int64_t rows, DType dtype) {
      return std::vector<Feed>{{loss_input(name, rows, dtype), true}, {loss_target(name, rows, dtype), true}};
    };
    out.push_back({c.name, c.text, function, feeds});
  }
  return out;
}

std::vector<Subject> subjects() {
  auto out = layer_subjects();
  for (auto& s : loss_subjects()) out.push_back(std::move(s));
  return out;
}

double magnitude(const Array& a, double most = 1e-3) {
  for (std::int64_t i = 0; i < a.count(); ++i) most = std::max(most, std::abs(a.at(i)));
  return most;
}

TEST(Walk, MeetsEveryLayerAndLoss) {
  std::set<std::string_view> met;
  const auto all = subjects();
  for (const Subject& s : all) met.insert(s.name);
  for (const LayerDef* def : all_layers()) EXPECT_TRUE(met.contains(def->name)) << def->name;
  for (const LossDef* def : all_losses()) EXPECT_TRUE(met.contains(def->name)) << def->name;
}

TEST(Walk, NativeCodeAgreesWithTheInterpreter) {
  CompileOptions exact;
  exact.backend = Backend::reference;
  exact.precise = true;
  for (const Subject& s : subjects())
    for (const DType dtype : {DType::f32, DType::f64}) {
      if (dtype == DType::f64 && !s.smooth) continue;
      const auto native = testing::backends().back();
      testing::Evaluation compiled(native, s.feeds(2, dtype), s.function),
          interpreted(exact, s.feeds(2, dtype), s.function);
      for (const std::int64_t rows : {1, 3, 17, 257}) {
        SCOPED_TRACE(s.text + " rows " + std::to_string(rows) + " " + std::string(name(dtype)));
        const auto got = compiled(s.feeds(rows, dtype)), wanted = interpreted(s.feeds(rows, dtype));
        ASSERT_EQ(got.size(), wanted.size());
        const double spread =
            s.name.ends_with("_norm") ? 5 : 1;  // a small one magnifies what rounding leaves
        const double relative = spread * (dtype == DType::f32 ? 2e-5 : 1e-10);
        const double terms = static_cast<double>(s.feeds(rows, dtype)[0].value.count());
        for (std::size_t i = 0; i < got.size(); ++i)
          testing::expect_close(
              got[i], wanted[i], relative,
              relative * 0.1 * magnitude(wanted[i], i == 0 ? s.size * std::sqrt(terms) : s.size));
      }
    }
}

TEST(Walk, GradientsAgreeWithFiniteDifferences) {
  CompileOptions exact;
  exact.backend = Backend::reference;
  for (const Subject& s : subjects()) {
    if (!s.smooth) continue;
    SCOPED_TRACE(s.text);
    const auto feeds = s.feeds(3, DType::f64);
    testing::Evaluation at(exact, feeds, s.function);
    const Array slope = at(feeds)[1];
    const double h = 1e-5;
    for (std::int64_t i = 0; i < slope.count(); i += std::max<std::int64_t>(1, slope.count() / 48)) {
      double sides[2];
      for (int side = 0; side < 2; ++side) {
        auto moved = feeds;
        moved[0].value = feeds[0].value.clone();
        moved[0].value.set(i, feeds[0].value.at(i) + (side == 0 ? h : -h));
        sides[side] = at(moved)[0].at(0);
      }
      EXPECT_NEAR(slope.at(i), (sides[0] - sides[1]) / (2 * h), 1e-6 * std::max(1.0, magnitude(slope)))
          << "element " << i;
    }
  }
}

TEST(Walk, GraphsPrintAndParseBack) {
  for (const Subject& s : subjects()) {
    SCOPED_TRACE(s.text);
    const ir::Graph graph = testing::trace(s.feeds(2, DType::f32), s.function);
    ir::verify(graph);
    const std::string text = ir::print(graph);
    EXPECT_EQ(ir::print(ir::parse(text, ops::find_op)), text);
  }
}

}  // namespace
}  // namespace tightloop::nn
