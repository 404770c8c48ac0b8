// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/positions.h>

#include <tightloop/nn/layers/index.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>

namespace tightloop::nn {
namespace {

struct Sequence {
  std::int64_t length, features;
};

Sequence sequence_of(const char* layer, const TensorType& x) {
  const std::size_t rank = x.shape.rank();
  if (rank < 2 || !is_compute_float(x.dtype) || !x.shape[rank - 1].is_static() ||
      !x.shape[rank - 2].is_static())
    throw Error(fmt::format("{}: x must be f32 or f64 [..., T, features], got {}", layer, to_string(x)));
  return {x.shape[rank - 2].factor, x.shape[rank - 1].factor};
}

std::int64_t positive(const char* what, std::int64_t n) {
  if (n < 1) throw Error(fmt::format("learned_positions: {} must be 1 or greater, got {}", what, n));
  return n;
}

}  // namespace

LearnedPositions::LearnedPositions(std::int64_t length, std::int64_t features)
    : weight({positive("length", length), positive("features", features)}, init::normal()) {}

std::string LearnedPositions::describe() const {
  return fmt::format("LearnedPositions({}, {})", weight.dims()[0], weight.dims()[1]);
}

Tensor LearnedPositions::forward(const Tensor& x) {
  const auto [length, features] = sequence_of("learned_positions", x.type());
  if (length > weight.dims()[0] || features != weight.dims()[1])
    throw Error(fmt::format("learned_positions: x must be [..., T, {1}] with T up to {0}, got {2}",
                            weight.dims()[0], weight.dims()[1], to_string(x.type())));
  return x + slice(weight.value(), 0, 0, length);
}

Tensor SinusoidalPositions::forward(const Tensor& x) {
  const auto [length, features] = sequence_of("sinusoidal_positions", x.type());
  return x + sinusoidal_positions(length, features, x.dtype());
}

namespace layers {
namespace {

std::unique_ptr<Layer> learned(const Options& o, const TensorType& x) {
  const auto [length, features] = sequence_of("learned_positions", x);
  return std::make_unique<LearnedPositions>(o.has("length") ? o.at<std::int64_t>("length") : length,
                                            features);
}

std::unique_ptr<Layer> sinusoidal(const Options&, const TensorType&) {
  return std::make_unique<SinusoidalPositions>();
}

std::unique_ptr<Layer> rotating(const Options& o, const TensorType&) {
  return std::make_unique<RotaryPositions>(
      RotaryOptions{.base = o.at<double>("base"), .interleaved = o.at<bool>("interleaved")});
}

}  // namespace

const LayerDef& learned_positions_def() {
  static const LayerDef def{"learned_positions",
                            "x plus a trained row for each step of [.., T, features]",
                            {{"length", OptionType::integer, {}, "rows of the table; none: T"}},
                            learned};
  return def;
}

const LayerDef& sinusoidal_positions_def() {
  static const LayerDef def{
      "sinusoidal_positions", "x plus sines and cosines of the step of [.., T, features]", {}, sinusoidal};
  return def;
}

const LayerDef& rotary_positions_def() {
  static const LayerDef def{
      "rotary_positions",
      "pairs of features turned by an angle that grows with the step of [.., T, features]",
      {{"base", OptionType::number, 10000.0}, {"interleaved", OptionType::boolean, false}},
      rotating};
  return def;
}

}  // namespace layers
}  // namespace tightloop::nn
