// SPDX-License-Identifier: Apache-2.0
#include <tightloop/engine/functional.h>
#include <tightloop/ops/functions.h>

#include <algorithm>
#include <numeric>

namespace tightloop::detail {
namespace {

/// Σ a·b over all tensors, f64[].
Tensor inner(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  Tensor total = scalar(0, DType::f64);
  for (std::size_t i = 0; i < a.size(); ++i) total = total + cast(sum(a[i] * b[i]), DType::f64);
  return total;
}

std::vector<Tensor> floating_of(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> out;
  for (const Tensor& t : tensors)
    if (is_floating(t.dtype())) out.push_back(t);
  return out;
}

std::int64_t elements(const char* transform, const Tensor& t) {
  if (!t.shape().is_static())
    throw Error(std::string(transform) + ": needs dims that are numbers, " + to_string(t.type()) + " came");
  return t.shape().count().factor;
}

/// Every unit tensor of a type: [n, t...].
Tensor units(const Tensor& like, std::int64_t n) {
  std::vector<Dim> dims{n};
  dims.insert(dims.end(), like.shape().begin(), like.shape().end());
  return reshape(one_hot(iota({n}, 0), n, like.dtype()), Shape(std::move(dims)));
}

Shape joined(const Shape& a, const Shape& b) {
  std::vector<Dim> dims = a.dims();
  dims.insert(dims.end(), b.begin(), b.end());
  return Shape(std::move(dims));
}

}  // namespace

std::vector<Tensor> like(const char* transform, const std::vector<Tensor>& x, std::vector<Tensor> v) {
  if (v.size() != x.size())
    throw Error(std::string(transform) + ": " + std::to_string(v.size()) + " tensors came where " +
                std::to_string(x.size()) + " are wanted");
  for (std::size_t i = 0; i < x.size(); ++i)
    if (v[i].type() != x[i].type())
      throw Error(std::string(transform) + ": a vector must be typed as what it belongs to, " +
                  to_string(x[i].type()) + "; " + to_string(v[i].type()) + " came");
  return v;
}

std::vector<Tensor> cotangents(const std::vector<Tensor>& y, const std::vector<Tensor>& x,
                               const std::vector<Tensor>& u) {
  std::vector<Tensor> weighted, weights;
  for (std::size_t i = 0; i < y.size(); ++i)
    if (is_floating(y[i].dtype())) weighted.push_back(y[i]), weights.push_back(u[i]);
  return gradients(inner(weighted, weights), x);
}

std::vector<Tensor> tangents(const std::vector<Tensor>& y, const std::vector<Tensor>& x,
                             const std::vector<Tensor>& v) {
  // Reverse mode is linear in u, whatever its value: its own derivative by u, seeded with v, is the forward
  // mode.
  std::vector<Tensor> u;
  for (const Tensor& t : floating_of(y)) u.push_back(alias(zeros(t.shape(), t.dtype())));
  const std::vector<Tensor> by_u = gradients(inner(cotangents(floating_of(y), x, u), v), u);
  std::vector<Tensor> out;
  for (std::size_t i = 0, k = 0; i < y.size(); ++i)
    out.push_back(is_floating(y[i].dtype()) ? by_u[k++] : zeros(y[i].shape(), y[i].dtype()));
  return out;
}

std::vector<Tensor> curvature(const Tensor& loss, const std::vector<Tensor>& x,
                              const std::vector<Tensor>& v) {
  return gradients(inner(gradients(loss, x), v), x);
}

Tensor jacobian_by_rows(const Tensor& y, const Tensor& x) {
  const std::int64_t n = elements("jacrev", y);
  const Tensor u = input("one row", "argument", y.type());
  const Tensor row = gradients(y, {x}, u)[0];
  return reshape(vectorize({row}, {u}, {units(y, n)})[0], joined(y.shape(), x.shape()));
}

Tensor jacobian_by_columns(const Tensor& y, const Tensor& x) {
  const std::int64_t n = elements("jacfwd", x);
  const Tensor v = input("one column", "argument", x.type());
  const Tensor columns = vectorize(tangents({y}, {x}, {v}), {v}, {units(x, n)})[0];
  Axes order(columns.rank());
  std::iota(order.begin(), order.end(), 1);
  order.back() = 0;
  return reshape(permute(columns, order), joined(y.shape(), x.shape()));
}

std::vector<Tensor> samples_of(const std::vector<Tensor>& values) {
  std::vector<Tensor> out;
  for (const Tensor& t : values) {
    if (t.rank() == 0)
      throw Error("vmap: a mapped argument needs a leading axis, " + to_string(t.type()) +
                  " came; number the arguments to map: vmap<0>(fn)");
    if (t.dim(0) != values[0].dim(0))
      throw Error("vmap: mapped arguments must have one leading dim, " + to_string(values[0].type()) +
                  " and " + to_string(t.type()) + " came");
    out.push_back(input("an entry that vmap stands for", "argument",
                        {t.dtype(), Shape(std::vector<Dim>(t.shape().begin() + 1, t.shape().end()))}));
  }
  if (out.empty()) throw Error("vmap: no tensor to map over");
  return out;
}

void check_assigned(const std::vector<Tensor>& samples) {
  if (Trace::current() == nullptr) return;
  for (const Trace::Used& u : Trace::current()->used()) {
    if (!u.next.defined()) continue;
    for (const ir::Node* node : ir::topological(std::vector<Tensor>{u.next}))
      if (std::any_of(samples.begin(), samples.end(), [&](const Tensor& t) { return t.id() == node; }))
        throw Error("vmap: the function assigns the value of one entry to the variable '" +
                    u.variable.name() + "'; return it instead");
  }
}

}  // namespace tightloop::detail
