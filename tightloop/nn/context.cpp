// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/context.h>

#include <tightloop/ir/op.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_set>

namespace tightloop::nn {
namespace {

Context*& innermost() {
  thread_local Context* context = nullptr;
  return context;
}

/// No input and no dim that only a run knows stands behind it.
bool has_value(const Tensor& root) {
  std::unordered_set<const ir::Node*> seen;
  std::vector<const ir::Node*> pending{root.id()};
  while (!pending.empty()) {
    const ir::Node* node = pending.back();
    pending.pop_back();
    if (node->value || !seen.insert(node).second) continue;
    if (node->op->name == "input" || node->op->name == "size") return false;
    const auto& dims = node->type.shape;
    if (std::any_of(dims.begin(), dims.end(), [](const Dim& d) { return !d.is_static(); })) return false;
    for (const Tensor& t : node->inputs) pending.push_back(t.id());
  }
  return true;
}

Check first_of(const Tensor& bad, const Tensor& values, std::string what, std::string rule) {
  const Shape flat({bad.shape().count()});
  const Tensor count = size(flat[0], DType::i64);
  const Tensor first = amin(select(reshape(bad, flat), iota(flat, 0), broadcast_to(count, flat)));
  const Tensor found = first < count;
  const Tensor at = select(found, first, scalar(0, DType::i64));
  const Tensor per_row =
      bad.rank() == 0 ? scalar(1, DType::i64) : floor_div(count, size(bad.dim(0), DType::i64));
  return {select(found, floor_div(at, per_row), scalar(-1, DType::i64)),
          cast(gather(reshape(values, flat), at), DType::f64), std::move(what), std::move(rule)};
}

}  // namespace

std::string Check::text(std::int64_t at, double found) const {
  if (least_rows > 0) return fmt::format("{}: {}", what, rule);
  return fmt::format("{} {} in row {} {}", what, found, at, rule);
}

Context::Context(bool training, Tensor seed, Tensor step)
    : training_(training), seed_(std::move(seed)), step_(std::move(step)), outer_(innermost()) {
  innermost() = this;
}

Context::~Context() { innermost() = outer_; }

Context* Context::current() { return innermost(); }

const Tensor& Context::seed(const char* layer) const {
  if (!seed_.defined())
    throw Error(
        fmt::format("{}: training draws random numbers; make nn::Context with a seed and a step", layer));
  return seed_;
}

const Tensor& Context::step(const char* layer) const {
  if (!step_.defined())
    throw Error(
        fmt::format("{}: training draws random numbers; make nn::Context with a seed and a step", layer));
  return step_;
}

namespace {

/// What checked() does with a check once it is made.
Tensor guarded(Tensor result, Check check) {
  if (Context* context = Context::current()) {
    context->checks.push_back(check);
    // A training step of the Trainer looks at them; a loop of one's own sees NaN.
    if (!Context::training() || context->parameters_only) return result;
  }
  if (has_value(check.row)) {
    const auto row = static_cast<std::int64_t>(check.row.item());
    if (row >= 0) throw Error(check.text(row, check.value.item()));
    return result;
  }
  const Tensor nan = full({}, std::numeric_limits<double>::quiet_NaN(), result.dtype());
  return select(check.row < 0.0, result, nan);
}

}  // namespace

Tensor checked(Tensor result, const Tensor& bad, const Tensor& values, std::string what, std::string rule) {
  return guarded(std::move(result), first_of(bad, values, std::move(what), std::move(rule)));
}

Tensor checked_rows(Tensor result, Dim rows, std::int64_t least, std::string what, std::string rule) {
  if (rows.is_static()) {
    if (rows.factor < least) throw Error(fmt::format("{}: {}", what, rule));
    return result;
  }
  const Tensor few = size(rows, DType::i64) < static_cast<double>(least);
  return guarded(std::move(result), {select(few, scalar(0, DType::i64), scalar(-1, DType::i64)),
                                     size(rows, DType::f64), std::move(what), std::move(rule), least});
}

}  // namespace tightloop::nn
