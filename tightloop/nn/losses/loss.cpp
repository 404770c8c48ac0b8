// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/losses/loss.h>

#include <tightloop/nn/losses/index.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>

#include <algorithm>

namespace tightloop::nn {
namespace {

bool is_longer_by_one(const Shape& longer, const Shape& shorter) {
  return longer.rank() == shorter.rank() + 1 && longer[shorter.rank()].is(1) &&
         std::equal(shorter.begin(), shorter.end(), longer.begin());
}

}  // namespace

std::span<const LossDef* const> all_losses() {
  static const auto losses = std::to_array<const LossDef*>({
#define TIGHTLOOP_LOSS(name) &losses::name##_def(),
#include <tightloop/nn/losses/index.def>
#undef TIGHTLOOP_LOSS
  });
  return losses;
}

const LossDef* find_loss(std::string_view name) {
  for (const LossDef* def : all_losses())
    if (def->name == name) return def;
  return nullptr;
}

LossFn make_loss(std::string_view name, const Options& given) {
  if (const LossDef* def = find_loss(name))
    return def->build(resolve(fmt::format("loss {}", name), given, def->options));
  std::vector<std::string> names;
  for (const LossDef* def : all_losses()) names.emplace_back(def->name);
  throw Error(fmt::format("unknown loss '{}'{}; known are {}", name, suggestion(name, names),
                          fmt::join(names, ", ")));
}

LossFn mean_loss(std::function<Tensor(const Tensor&, const Tensor&)> loss) {
  return [loss = std::move(loss)](const Tensor& prediction, const Tensor& target) {
    const Tensor value = loss(prediction, target);
    if (value.rank() != 0 || !is_floating(value.dtype()))
      throw Error(fmt::format("loss: must give one floating number for a batch, gave {}; use mean()",
                              to_string(value.type())));
    return by_rows(value, prediction, Reduction::mean);
  };
}

Tensor aligned_target(std::string_view loss, const Tensor& prediction, const Tensor& target) {
  if (!is_floating(prediction.dtype()))
    throw Error(
        fmt::format("{}: the prediction must be floating, got {}", loss, to_string(prediction.type())));
  Tensor t = target;
  if (is_longer_by_one(target.shape(), prediction.shape()) ||
      is_longer_by_one(prediction.shape(), target.shape()))
    t = reshape(target, prediction.shape());
  if (t.shape() != prediction.shape())
    throw Error(
        fmt::format("{}: prediction and target must have the same shape, got {} and {}; reshape one of them",
                    loss, to_string(prediction.type()), to_string(target.type())));
  return cast(t, prediction.dtype());
}

Tensor reduced(const Tensor& losses, Reduction reduction) {
  switch (reduction) {
    case Reduction::mean:
      return mean(losses);
    case Reduction::sum:
      return sum(losses);
    case Reduction::none:
      return losses;
    case Reduction::batchmean:
      break;
  }
  throw Error("reduction 'batchmean' is for kl_div only");
}

Tensor row_count(const Tensor& prediction) {
  return prediction.rank() == 0 ? scalar(1, DType::f64) : size(prediction.dim(0), DType::f64);
}

OptionSpec reduction_option() {
  return {"reduction", OptionType::text, "mean", "mean: average; sum: add up, reported for each row"};
}

Reduction reduction_of(std::string_view loss, const Options& resolved) {
  const auto& word = resolved.at<std::string>("reduction");
  if (word == "mean") return Reduction::mean;
  if (word == "sum") return Reduction::sum;
  throw Error(fmt::format("loss {}: reduction must be 'mean' or 'sum', not '{}'", loss, word));
}

LossValue by_rows(Tensor value, const Tensor& prediction, Reduction reduction) {
  const Tensor rows = row_count(prediction);
  const Tensor wide = cast(stop_gradient(value), DType::f64);
  return {value, reduction == Reduction::mean ? wide * rows : wide, rows};
}

Tensor vector_option(const Options& resolved, std::string_view name) {
  if (!resolved.has(name)) return {};
  const auto& numbers = resolved.at<Numbers>(name);
  Array values(DType::f32, {static_cast<std::int64_t>(numbers.size())});
  for (std::size_t i = 0; i < numbers.size(); ++i) values.set(static_cast<std::int64_t>(i), numbers[i]);
  return Tensor(values);
}

}  // namespace tightloop::nn
