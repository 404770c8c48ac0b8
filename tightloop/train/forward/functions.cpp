// SPDX-License-Identifier: Apache-2.0
// The functions of the forward text, one line each; their meaning is that of ops/functions.h. Activations are
// layers and come from the list of layers.
#include <tightloop/ops/attention.h>
#include <tightloop/ops/functions.h>
#include <tightloop/train/forward/functions.h>

#include <fmt/format.h>
#include <optional>

namespace tightloop::train::forward {
namespace {

template <Tensor (*F)(Tensor)>
Tensor unary(const Call& c) {
  return F(c.tensor(0));
}

template <Tensor (*F)(Tensor, Tensor)>
Tensor binary(const Call& c) {
  if (c.term(0).number() && c.term(1).as<Tensor>() != nullptr) return F(c.tensor_like(0, 1), c.tensor(1));
  return F(c.tensor(0), c.tensor_like(1, 0));
}

template <Tensor (*F)(Tensor, Axes, bool)>
Tensor reduction(const Call& c) {
  return F(c.tensor(0), c.axes(1), c.flag(2));
}

std::optional<double> bound(const Call& c, std::size_t i) {
  return c.none(i) ? std::nullopt : std::optional(c.number(i));
}

/// The dims of argument `i`; one -1 takes what is left of x, the batch included.
Tensor reshaped(const Call& c) {
  const Tensor x = c.tensor(0);
  std::vector<Dim> dims;
  std::int64_t known = 1, open = -1;
  for (const std::int64_t d : c.integers(1)) {
    if (d < -1 || d == 0 || (d == -1 && open >= 0) || dims.size() == kMaxRank)
      c.refuse(1, "a shape such as (-1, 28, 28) with at most one -1");
    if (d == -1) open = static_cast<std::int64_t>(dims.size());
    if (d != -1 && __builtin_mul_overflow(known, d, &known)) c.refuse(1, "a smaller shape");
    dims.emplace_back(d);
  }
  if (open >= 0) {
    const Dim count = x.shape().count();
    if (count.factor % known != 0)
      c.refuse(1, fmt::format("a shape whose dims divide the {} elements of {}", to_string(count),
                              to_string(x.shape())));
    dims[static_cast<std::size_t>(open)] = Dim(count.factor / known, count.symbol);
  }
  for (Dim& d : dims) d = d.is(-1) ? Dim(1) : d;
  return reshape(x, Shape(dims));
}

/// As torch.Tensor.expand: -1 keeps the dim.
Tensor expanded(const Call& c) {
  const Tensor x = c.tensor(0);
  const auto wanted = c.integers(1);
  std::vector<Dim> dims;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const bool keep = wanted[i] == -1 && i + x.rank() >= wanted.size();
    if (wanted[i] < 1 && !keep) c.refuse(1, "a shape of dims of at least 1, or -1 to keep one");
    dims.push_back(keep ? x.dim(i + x.rank() - wanted.size()) : Dim(wanted[i]));
  }
  return broadcast_to(x, Shape(dims));
}

Shape fixed_shape(const Call& c, std::size_t i) {
  const auto dims = c.integers(i);
  for (const auto d : dims)
    if (d < 1) c.refuse(i, "a shape of dims of at least 1");
  return Shape(std::vector<Dim>(dims.begin(), dims.end()));
}

DType dtype(const Call& c, std::size_t i) {
  const auto found = dtype_from_name(c.text(i));
  if (!found) c.refuse(i, "an element type such as 'f32' or 'i64'");
  return *found;
}

Tensor attended(const Call& c) {
  return attention(c.tensor(0), c.tensor(1), c.tensor(2),
                   {.mask = c.none(3) ? Tensor() : c.tensor(3), .causal = c.flag(4), .scale = bound(c, 5)});
}

constexpr Function kFunctions[] = {
    // arithmetic
    {"abs(x)", unary<abs>},
    {"sign(x)", unary<sign>},
    {"floor(x)", unary<floor>},
    {"ceil(x)", unary<ceil>},
    {"round(x)", unary<round>},
    {"trunc(x)", unary<trunc>},
    {"square(x)", unary<square>},
    {"reciprocal(x)", unary<reciprocal>},
    {"sqrt(x)", unary<sqrt>},
    {"rsqrt(x)", unary<rsqrt>},
    {"exp(x)", unary<exp>},
    {"expm1(x)", unary<expm1>},
    {"log(x)", unary<log>},
    {"log1p(x)", unary<log1p>},
    {"sin(x)", unary<sin>},
    {"cos(x)", unary<cos>},
    {"tan(x)", unary<tan>},
    {"atan(x)", unary<atan>},
    {"sinh(x)", unary<sinh>},
    {"cosh(x)", unary<cosh>},
    {"erf(x)", unary<erf>},
    {"pow(x, y)", binary<pow>},
    {"minimum(x, y)", binary<minimum>},
    {"maximum(x, y)", binary<maximum>},
    {"atan2(y, x)", binary<atan2>},
    {"remainder(x, y)", binary<remainder>},
    {"floor_div(x, y)", binary<floor_div>},
    {"clamp(x, low=none, high=none)",
     [](const Call& c) { return clamp(c.tensor(0), bound(c, 1), bound(c, 2)); }},
    // logic
    {"logical_and(x, y)", binary<logical_and>},
    {"logical_or(x, y)", binary<logical_or>},
    {"logical_not(x)", unary<logical_not>},
    {"is_finite(x)", unary<is_finite>},
    {"is_nan(x)", unary<is_nan>},
    {"where(condition, x, y)",
     [](const Call& c) {
       if (c.term(1).number() && !c.term(2).number())
         return select(c.tensor(0), c.tensor_like(1, 2), c.tensor(2));
       return select(c.tensor(0), c.tensor_like(1, 2), c.tensor_like(2, 1));
     }},
    // reductions
    {"sum(x, axis=none, keepdim=false)", reduction<sum>},
    {"mean(x, axis=none, keepdim=false)", reduction<mean>},
    {"var(x, axis=none, correction=1.0, keepdim=false)",
     [](const Call& c) { return variance(c.tensor(0), c.axes(1), c.number(2), c.flag(3)); }},
    {"max(x, axis=none, keepdim=false)", reduction<amax>},
    {"min(x, axis=none, keepdim=false)", reduction<amin>},
    {"any(x, axis=none, keepdim=false)", reduction<any>},
    {"all(x, axis=none, keepdim=false)", reduction<all>},
    {"logsumexp(x, axis=-1, keepdim=false)", reduction<logsumexp>},
    {"argmax(x, axis=-1, keepdim=false)",
     [](const Call& c) { return argmax(c.tensor(0), c.integer(1), c.flag(2)); }},
    {"argmin(x, axis=-1, keepdim=false)",
     [](const Call& c) { return argmin(c.tensor(0), c.integer(1), c.flag(2)); }},
    // shapes
    {"reshape(x, shape)", reshaped},
    {"expand(x, shape)", expanded},
    {"permute(x, order)", [](const Call& c) { return permute(c.tensor(0), c.integers(1)); }},
    {"transpose(x, a, b)", [](const Call& c) { return transpose(c.tensor(0), c.integer(1), c.integer(2)); }},
    {"unsqueeze(x, axis)", [](const Call& c) { return unsqueeze(c.tensor(0), c.integer(1)); }},
    {"squeeze(x, axis)", [](const Call& c) { return squeeze(c.tensor(0), c.integer(1)); }},
    {"concat(parts, axis=-1)", [](const Call& c) { return concat(c.tensors(0), c.integer(1)); }},
    {"stack(parts, axis=1)", [](const Call& c) { return stack(c.tensors(0), c.integer(1)); }},
    {"pad(x, low, high, value=0.0)",
     [](const Call& c) { return pad(c.tensor(0), c.integers(1), c.integers(2), c.number(3)); }},
    // contraction and indexing
    {"matmul(x, y)", [](const Call& c) { return matmul(c.tensor(0), c.tensor(1)); }},
    {"attention(q, k, v, mask=none, is_causal=false, scale=none)", attended},
    {"gather(table, index)", [](const Call& c) { return gather(c.tensor(0), c.tensor(1)); }},
    {"one_hot(index, classes)", [](const Call& c) { return one_hot(c.tensor(0), c.integer(1)); }},
    {"take_last(x, index)", [](const Call& c) { return take_last(c.tensor(0), c.tensor(1)); }},
    // values and types
    {"zeros(shape)", [](const Call& c) { return zeros(fixed_shape(c, 0)); }},
    {"ones(shape)", [](const Call& c) { return ones(fixed_shape(c, 0)); }},
    {"full(shape, value)", [](const Call& c) { return full(fixed_shape(c, 0), c.number(1)); }},
    {"cast(x, dtype)", [](const Call& c) { return cast(c.tensor(0), dtype(c, 1)); }},
    {"stop_gradient(x)", unary<stop_gradient>},
    {"f32(x)", [](const Call& c) { return c.tensor(0); }},
};

}  // namespace

std::span<const Function> all_functions() { return kFunctions; }

const Function* find_function(std::string_view name) {
  for (const Function& f : kFunctions)
    if (f.name() == name) return &f;
  return nullptr;
}

}  // namespace tightloop::train::forward
