// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/losses/class_target.h>

#include <tightloop/nn/context.h>

#include <fmt/format.h>

namespace tightloop::nn {
namespace {

std::vector<Dim> row_dims(const Tensor& scores) { return {scores.shape().begin(), scores.shape().end() - 1}; }

std::string class_rule(std::int64_t classes) {
  return fmt::format("must be 0..{} ({} classes); declare ignore_index if it marks rows to leave out",
                     classes - 1, classes);
}

}  // namespace

Tensor classes_last(std::string_view loss, const Tensor& scores) {
  const std::size_t rank = scores.rank();
  if (!is_floating(scores.dtype()) || rank == 0)
    throw Error(fmt::format("{}: the prediction must be floating [C], [B, C] or [B, C, ...], got {}", loss,
                            to_string(scores.type())));
  const Dim& classes = scores.dim(rank == 1 ? 0 : 1);
  if (!classes.is_static() || classes.factor < 2)
    throw Error(
        fmt::format("{}: needs a score for each of at least 2 classes, got {}; for one yes-or-no output use "
                    "bce_with_logits",
                    loss, to_string(scores.type())));
  if (rank <= 2) return scores;
  Axes order{0};
  for (std::size_t i = 2; i < rank; ++i) order.push_back(static_cast<std::int64_t>(i));
  order.push_back(1);
  return permute(scores, order);
}

Tensor class_weight(std::string_view loss, const Tensor& scores, const Tensor& weight) {
  if (!weight.defined()) return {};
  if (weight.rank() != 1 || weight.dim(0) != scores.dim(scores.rank() - 1))
    throw Error(fmt::format("{}: weight must hold one number for each of the {} classes, got {}", loss,
                            to_string(scores.dim(scores.rank() - 1)), to_string(weight.type())));
  return cast(weight, scores.dtype());
}

ClassTarget class_target(std::string_view loss, const Tensor& scores, const Tensor& target,
                         const Tensor& weight, std::optional<std::int64_t> ignore_index) {
  if (!is_integer(target.dtype()))
    throw Error(
        fmt::format("{}: class targets must be integers, got {} for scores {}; cast them, or give "
                    "probabilities shaped as the scores",
                    loss, to_string(target.type()), to_string(scores.type())));
  const Shape rows(row_dims(scores));
  const bool column = target.rank() == rows.rank() + 1 && target.shape() == Shape([&] {
                                                            auto dims = rows.dims();
                                                            dims.emplace_back(1);
                                                            return dims;
                                                          }());
  Tensor index = cast(column ? reshape(target, rows) : target, DType::i64);
  if (index.shape() != rows)
    throw Error(fmt::format("{}: targets for {} scores must be integers {}, got {}", loss,
                            to_string(scores.type()), to_string(rows), to_string(target.type())));
  ClassTarget out{index, {}, {}};
  if (ignore_index) {
    out.kept = not_equal(index, scalar(static_cast<double>(*ignore_index), DType::i64));
    out.index = select(out.kept, index, scalar(0, DType::i64));
    out.row_weight = cast(out.kept, scores.dtype());
  }
  if (const Tensor w = class_weight(loss, scores, weight); w.defined()) {
    const Tensor each = gather(w, out.index);
    out.row_weight = out.kept.defined() ? select(out.kept, each, zeros({}, each.dtype())) : each;
  }
  return out;
}

LossValue class_loss(std::string_view loss, const Tensor& losses, const ClassTarget& t, std::int64_t classes,
                     Reduction reduction) {
  const Tensor bad = logical_or(t.index < 0.0, t.index >= static_cast<double>(classes));
  const auto guarded = [&](Tensor value) {
    return checked(std::move(value), bad, t.index, std::string(loss) + ": target", class_rule(classes));
  };
  if (reduction == Reduction::none) return {guarded(losses), {}, {}};
  const Tensor total = sum(losses);
  const Tensor rows = t.index.rank() == 0 ? scalar(1, DType::f64) : size(t.index.shape().count(), DType::f64);
  if (!t.row_weight.defined()) {
    const Tensor value = guarded(reduction == Reduction::mean ? total / cast(rows, total.dtype()) : total);
    return {value, cast(stop_gradient(total), DType::f64), rows};
  }
  const Tensor weight = sum(t.row_weight);
  const Tensor divisor = select(weight == 0.0, ones({}, weight.dtype()), weight);
  const Tensor value = guarded(reduction == Reduction::mean ? total / divisor : total);
  return {value, cast(stop_gradient(total), DType::f64), cast(weight, DType::f64)};
}

std::optional<std::int64_t> ignore_option(const Options& resolved) {
  if (!resolved.has("ignore_index")) return std::nullopt;
  return resolved.at<std::int64_t>("ignore_index");
}

}  // namespace tightloop::nn
