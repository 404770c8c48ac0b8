// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/activations.h>

#include <tightloop/nn/layers/index.h>

#include <fmt/format.h>

namespace tightloop::nn {

Softplus::Softplus(double beta, double threshold) : beta_(beta), threshold_(threshold) {
  if (!(beta > 0)) throw Error(fmt::format("softplus: beta must be greater than 0, got {}", beta));
}

Hardtanh::Hardtanh(double low, double high) : low_(low), high_(high) {
  if (!(low < high)) throw Error(fmt::format("hardtanh: {} is not below {}", low, high));
}

CELU::CELU(double alpha) : alpha_(alpha) {
  if (alpha == 0) throw Error("celu: alpha must not be 0");
}

Softshrink::Softshrink(double lambda) : lambda_(lambda) {
  if (!(lambda >= 0)) throw Error(fmt::format("softshrink: lambda must be 0 or more, got {}", lambda));
}

std::string LeakyReLU::describe() const { return fmt::format("LeakyReLU({})", slope_); }
std::string ELU::describe() const { return fmt::format("ELU({})", alpha_); }
std::string GELU::describe() const { return kind_ == Gelu::erf ? "GELU()" : "GELU(tanh)"; }
std::string Softplus::describe() const { return fmt::format("Softplus({}, {})", beta_, threshold_); }
std::string Hardtanh::describe() const { return fmt::format("Hardtanh({}, {})", low_, high_); }
std::string CELU::describe() const { return fmt::format("CELU({})", alpha_); }
std::string Hardshrink::describe() const { return fmt::format("Hardshrink({})", lambda_); }
std::string Softshrink::describe() const { return fmt::format("Softshrink({})", lambda_); }
std::string Threshold::describe() const { return fmt::format("Threshold({}, {})", threshold_, value_); }
std::string Softmin::describe() const { return fmt::format("Softmin({})", axis_); }
std::string GLU::describe() const { return fmt::format("GLU({})", axis_); }
std::string Softmax::describe() const { return fmt::format("Softmax({})", axis_); }
std::string LogSoftmax::describe() const { return fmt::format("LogSoftmax({})", axis_); }

namespace layers {
namespace {

template <class L>
std::unique_ptr<Layer> plain(const Options&, const TensorType&) {
  return std::make_unique<L>();
}

std::unique_ptr<Layer> leaky_relu(const Options& o, const TensorType&) {
  return std::make_unique<LeakyReLU>(o.at<double>("negative_slope"));
}

std::unique_ptr<Layer> elu(const Options& o, const TensorType&) {
  return std::make_unique<ELU>(o.at<double>("alpha"));
}

std::unique_ptr<Layer> celu(const Options& o, const TensorType&) {
  return std::make_unique<CELU>(o.at<double>("alpha"));
}

template <class L>
std::unique_ptr<Layer> shrink(const Options& o, const TensorType&) {
  return std::make_unique<L>(o.at<double>("lambd"));
}

std::unique_ptr<Layer> threshold(const Options& o, const TensorType&) {
  return std::make_unique<Threshold>(o.at<double>("threshold"), o.at<double>("value"));
}

std::unique_ptr<Layer> gelu(const Options& o, const TensorType&) {
  const auto& kind = o.at<std::string>("approximate");
  if (kind != "none" && kind != "tanh")
    throw Error(fmt::format("gelu: approximate must be 'none' or 'tanh', not '{}'", kind));
  return std::make_unique<GELU>(kind == "tanh" ? Gelu::tanh : Gelu::erf);
}

std::unique_ptr<Layer> softplus(const Options& o, const TensorType&) {
  return std::make_unique<Softplus>(o.at<double>("beta"), o.at<double>("threshold"));
}

std::unique_ptr<Layer> hardtanh(const Options& o, const TensorType&) {
  return std::make_unique<Hardtanh>(o.at<double>("min_val"), o.at<double>("max_val"));
}

template <class L>
std::unique_ptr<Layer> along(const Options& o, const TensorType&) {
  return std::make_unique<L>(o.at<std::int64_t>("dim"));
}

}  // namespace

const LayerDef& relu_def() {
  static const LayerDef def{"relu", "max(x, 0)", {}, plain<ReLU>};
  return def;
}

const LayerDef& relu6_def() {
  static const LayerDef def{"relu6", "min(max(x, 0), 6)", {}, plain<ReLU6>};
  return def;
}

const LayerDef& selu_def() {
  static const LayerDef def{"selu", "scaled exponential linear unit", {}, plain<SELU>};
  return def;
}

const LayerDef& silu_def() {
  static const LayerDef def{"silu", "x · sigmoid(x)", {}, plain<SiLU>};
  return def;
}

const LayerDef& mish_def() {
  static const LayerDef def{"mish", "x · tanh(softplus(x))", {}, plain<Mish>};
  return def;
}

const LayerDef& tanh_def() {
  static const LayerDef def{"tanh", "hyperbolic tangent", {}, plain<Tanh>};
  return def;
}

const LayerDef& sigmoid_def() {
  static const LayerDef def{"sigmoid", "1 / (1 + exp(-x))", {}, plain<Sigmoid>};
  return def;
}

const LayerDef& log_sigmoid_def() {
  static const LayerDef def{"log_sigmoid", "log(sigmoid(x))", {}, plain<LogSigmoid>};
  return def;
}

const LayerDef& softsign_def() {
  static const LayerDef def{"softsign", "x / (1 + |x|)", {}, plain<Softsign>};
  return def;
}

const LayerDef& hardswish_def() {
  static const LayerDef def{"hardswish", "x · relu6(x + 3) / 6", {}, plain<Hardswish>};
  return def;
}

const LayerDef& hardsigmoid_def() {
  static const LayerDef def{"hardsigmoid", "relu6(x + 3) / 6", {}, plain<Hardsigmoid>};
  return def;
}

const LayerDef& tanhshrink_def() {
  static const LayerDef def{"tanhshrink", "x - tanh(x)", {}, plain<Tanhshrink>};
  return def;
}

const LayerDef& celu_def() {
  static const LayerDef def{
      "celu", "x, or alpha · (exp(x / alpha) - 1) below 0", {{"alpha", OptionType::number, 1.0}}, celu};
  return def;
}

const LayerDef& hardshrink_def() {
  static const LayerDef def{
      "hardshrink", "x, but 0 in -lambd..lambd", {{"lambd", OptionType::number, 0.5}}, shrink<Hardshrink>};
  return def;
}

const LayerDef& softshrink_def() {
  static const LayerDef def{"softshrink",
                            "x moved towards 0 by lambd, 0 in -lambd..lambd",
                            {{"lambd", OptionType::number, 0.5}},
                            shrink<Softshrink>};
  return def;
}

const LayerDef& threshold_def() {
  static const LayerDef def{"threshold",
                            "x above the threshold, else value",
                            {{"threshold", OptionType::number, {}, "what x must exceed", true},
                             {"value", OptionType::number, {}, "what stands for the others", true}},
                            threshold};
  return def;
}

const LayerDef& softmin_def() {
  static const LayerDef def{
      "softmin", "softmax(-x) along dim", {{"dim", OptionType::integer, std::int64_t{-1}}}, along<Softmin>};
  return def;
}

const LayerDef& glu_def() {
  static const LayerDef def{"glu",
                            "the first half of dim times sigmoid of the second",
                            {{"dim", OptionType::integer, std::int64_t{-1}}},
                            along<GLU>};
  return def;
}

const LayerDef& leaky_relu_def() {
  static const LayerDef def{"leaky_relu",
                            "x, or negative_slope · x below 0",
                            {{"negative_slope", OptionType::number, 0.01}},
                            leaky_relu};
  return def;
}

const LayerDef& elu_def() {
  static const LayerDef def{
      "elu", "x, or alpha · (exp(x) - 1) below 0", {{"alpha", OptionType::number, 1.0}}, elu};
  return def;
}

const LayerDef& gelu_def() {
  static const LayerDef def{"gelu",
                            "x · Φ(x), exactly or by tanh",
                            {{"approximate", OptionType::text, "none", "none or tanh"}},
                            gelu};
  return def;
}

const LayerDef& softplus_def() {
  static const LayerDef def{"softplus",
                            "log(1 + exp(beta · x)) / beta; x above the threshold",
                            {{"beta", OptionType::number, 1.0}, {"threshold", OptionType::number, 20.0}},
                            softplus};
  return def;
}

const LayerDef& hardtanh_def() {
  static const LayerDef def{"hardtanh",
                            "x held in min_val..max_val",
                            {{"min_val", OptionType::number, -1.0}, {"max_val", OptionType::number, 1.0}},
                            hardtanh};
  return def;
}

const LayerDef& softmax_def() {
  static const LayerDef def{"softmax",
                            "exp(x) / Σ exp(x) along dim",
                            {{"dim", OptionType::integer, std::int64_t{-1}}},
                            along<Softmax>};
  return def;
}

const LayerDef& log_softmax_def() {
  static const LayerDef def{"log_softmax",
                            "log(softmax(x)) along dim",
                            {{"dim", OptionType::integer, std::int64_t{-1}}},
                            along<LogSoftmax>};
  return def;
}

}  // namespace layers
}  // namespace tightloop::nn
