// SPDX-License-Identifier: Apache-2.0
#include <tightloop/optim/muon.h>

#include <tightloop/ops/functions.h>
#include <tightloop/optim/checks.h>
#include <tightloop/optim/clip.h>
#include <tightloop/optim/index.h>
#include <tightloop/optim/moments.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tightloop::optim {
namespace {

enum : std::size_t { kLr, kDecay };  // what prepare() makes

/// The nearest matrix with orthonormal rows (columns, where there are fewer), nearly.
Tensor orthogonal(const Tensor& matrix, const MuonOptions& o) {
  const bool tall = matrix.dim(0).factor > matrix.dim(1).factor;
  Tensor x = tall ? transpose(matrix, 0, 1) : matrix;
  x = x / cast(maximum(global_norm({matrix}), scalar(o.eps, DType::f64)), matrix.dtype());
  const auto [a, b, c] = o.ns_coefficients;
  for (int i = 0; i < o.ns_steps; ++i) {
    const Tensor gram = matmul_transposed(x, x);
    x = a * x + matmul(b * gram + c * matmul(gram, gram), x);
  }
  return tall ? transpose(x, 0, 1) : x;
}

double rate_ratio(MuonRate kind, const Shape& shape) {
  const double rows = static_cast<double>(shape[0].factor), columns = static_cast<double>(shape[1].factor);
  if (kind == MuonRate::match_rms_adamw) return 0.2 * std::sqrt(std::max(rows, columns));
  return std::sqrt(std::max(1.0, rows / columns));
}

}  // namespace

Muon::Muon(MuonOptions options) : options_(options) {
  check_not_negative("muon", "learning rate", options.lr);
  check_not_negative("muon", "weight_decay", options.weight_decay);
  check_not_negative("muon", "momentum", options.momentum);
  check_not_negative("muon", "eps", options.eps);
  if (options.ns_steps < 0 || options.ns_steps > 99)
    throw Error(fmt::format("optimizer muon: invalid ns_steps {}: must be 0..99", options.ns_steps));
}

void Muon::check(std::string_view path, const TensorType& parameter) const {
  if (parameter.shape.rank() == 2) return;
  throw Error(
      fmt::format("optimizer muon: is for matrices only, and parameter {} is {}; leave it out of the "
                  "model (bias=false), freeze it, or take another optimizer",
                  path, to_string(parameter)));
}

Factors Muon::prepare(const Tensor&, const Tensor& lr, double weight_decay) const {
  return {lr, 1.0 - lr * weight_decay};
}

Update Muon::update(const Tensor& parameter, const Tensor& gradient, std::span<const Tensor> slots,
                    const Factors& factors, double weight_decay) const {
  const DType dtype = parameter.dtype();
  const Tensor p = weight_decay == 0 ? parameter : parameter * cast(factors[kDecay], dtype);
  const Tensor average = moved(slots[0], gradient, options_.momentum);
  const Tensor g = options_.nesterov ? gradient + options_.momentum * (average - gradient) : average;
  const Tensor rate = factors[kLr] * rate_ratio(options_.adjust_lr_fn, parameter.shape());
  return {p - cast(rate, dtype) * orthogonal(g, options_), {average}};
}

namespace {

MuonRate rate_named(const std::string& word) {
  if (word == "original") return MuonRate::original;
  if (word == "match_rms_adamw") return MuonRate::match_rms_adamw;
  throw Error(
      fmt::format("optimizer muon: adjust_lr_fn must be 'original' or 'match_rms_adamw', not '{}'", word));
}

std::unique_ptr<Optimizer> build(const Options& o) {
  const auto& c = o.at<Numbers>("ns_coefficients");
  if (c.size() != 3)
    throw Error(fmt::format("optimizer muon: ns_coefficients must be three numbers, got {}", to_string(c)));
  const std::int64_t steps = o.at<std::int64_t>("ns_steps");
  return std::make_unique<Muon>(MuonOptions{o.at<double>("lr"),
                                            o.at<double>("weight_decay"),
                                            o.at<double>("momentum"),
                                            o.at<bool>("nesterov"),
                                            {c[0], c[1], c[2]},
                                            o.at<double>("eps"),
                                            static_cast<int>(std::clamp<std::int64_t>(steps, -1, 100)),
                                            rate_named(o.at<std::string>("adjust_lr_fn"))});
}

}  // namespace

const OptimizerDef& muon_def() {
  static const OptimizerDef def{"muon",
                                "momentum made orthogonal; for models whose parameters are all matrices",
                                {{"lr", OptionType::number, 1e-3, "learning rate"},
                                 {"weight_decay", OptionType::number, 0.1, "decoupled"},
                                 {"momentum", OptionType::number, 0.95},
                                 {"nesterov", OptionType::boolean, true},
                                 {"ns_coefficients", OptionType::list, Numbers{3.4445, -4.775, 2.0315},
                                  "of a Newton-Schulz step: X, X·Xᵀ·X and (X·Xᵀ)²·X"},
                                 {"eps", OptionType::number, 1e-7, "the least norm to divide by"},
                                 {"ns_steps", OptionType::integer, std::int64_t{5}, "Newton-Schulz steps"},
                                 {"adjust_lr_fn", OptionType::text, "original",
                                  "original, or match_rms_adamw: steps as long as AdamW's"}},
                                build};
  return def;
}

}  // namespace tightloop::optim
