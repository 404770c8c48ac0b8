// SPDX-License-Identifier: Apache-2.0
#pragma once
// Activations as layers; the formulas stand with the functions of the same name in ops/functions.h and
// ops/activations.h.
#include <tightloop/nn/layers/layer.h>
#include <tightloop/ops/activations.h>

#include <algorithm>
#include <cstddef>

namespace tightloop::nn {

/// A word as a template argument.
template <std::size_t size>
struct Word {
  // NOLINTNEXTLINE(google-explicit-constructor): a literal is a word.
  constexpr Word(const char (&text)[size]) { std::copy_n(text, size, letters); }
  char letters[size];
};

/// A function without options as a layer.
template <Tensor (*function)(Tensor), Word word>
class Activation final : public Layer {
 public:
  std::string describe() const override { return std::string(word.letters) + "()"; }

 protected:
  Tensor forward(const Tensor& x) override { return function(x); }
};

using ReLU = Activation<tightloop::relu, "ReLU">;
using ReLU6 = Activation<tightloop::relu6, "ReLU6">;
using SELU = Activation<tightloop::selu, "SELU">;
using SiLU = Activation<tightloop::silu, "SiLU">;
using Mish = Activation<tightloop::mish, "Mish">;
using Tanh = Activation<tightloop::tanh, "Tanh">;
using Sigmoid = Activation<tightloop::sigmoid, "Sigmoid">;
using LogSigmoid = Activation<tightloop::log_sigmoid, "LogSigmoid">;
using Softsign = Activation<tightloop::softsign, "Softsign">;
using Hardswish = Activation<tightloop::hardswish, "Hardswish">;
using Hardsigmoid = Activation<tightloop::hardsigmoid, "Hardsigmoid">;
using Tanhshrink = Activation<tightloop::tanhshrink, "Tanhshrink">;

class LeakyReLU final : public Layer {
 public:
  explicit LeakyReLU(double negative_slope = 0.01) : slope_(negative_slope) {}
  std::string describe() const override;

 protected:
  Tensor forward(const Tensor& x) override { return leaky_relu(x, slope_); }

 private:
  double slope_;
};

class ELU final : public Layer {
 public:
  explicit ELU(double alpha = 1) : alpha_(alpha) {}
  std::string describe() const override;

 protected:
  Tensor forward(const Tensor& x) override { return elu(x, alpha_); }

 private:
  double alpha_;
};

class GELU final : public Layer {
 public:
  explicit GELU(Gelu kind = Gelu::erf) : kind_(kind) {}
  std::string describe() const override;

 protected:
  Tensor forward(const Tensor& x) override { return gelu(x, kind_); }

 private:
  Gelu kind_;
};

class Softplus final : public Layer {
 public:
  /// Throws Error unless beta > 0.
  explicit Softplus(double beta = 1, double threshold = 20);
  std::string describe() const override;

 protected:
  Tensor forward(const Tensor& x) override { return softplus(x, beta_, threshold_); }

 private:
  double beta_, threshold_;
};

class Hardtanh final : public Layer {
 public:
  /// Throws Error unless low < high.
  explicit Hardtanh(double low = -1, double high = 1);
  std::string describe() const override;

 protected:
  Tensor forward(const Tensor& x) override { return hardtanh(x, low_, high_); }

 private:
  double low_, high_;
};

class CELU final : public Layer {
 public:
  /// Throws Error when alpha is 0.
  explicit CELU(double alpha = 1);
  std::string describe() const override;

 protected:
  Tensor forward(const Tensor& x) override { return celu(x, alpha_); }

 private:
  double alpha_;
};

class Hardshrink final : public Layer {
 public:
  explicit Hardshrink(double lambda = 0.5) : lambda_(lambda) {}
  std::string describe() const override;

 protected:
  Tensor forward(const Tensor& x) override { return hardshrink(x, lambda_); }

 private:
  double lambda_;
};

class Softshrink final : public Layer {
 public:
  /// Throws Error when lambda is negative.
  explicit Softshrink(double lambda = 0.5);
  std::string describe() const override;

 protected:
  Tensor forward(const Tensor& x) override { return softshrink(x, lambda_); }

 private:
  double lambda_;
};

class Threshold final : public Layer {
 public:
  Threshold(double threshold, double value) : threshold_(threshold), value_(value) {}
  std::string describe() const override;

 protected:
  Tensor forward(const Tensor& x) override { return threshold(x, threshold_, value_); }

 private:
  double threshold_, value_;
};

class Softmin final : public Layer {
 public:
  explicit Softmin(std::int64_t axis = -1) : axis_(axis) {}
  std::string describe() const override;

 protected:
  Tensor forward(const Tensor& x) override { return softmin(x, axis_); }

 private:
  std::int64_t axis_;
};

/// Halves the axis.
class GLU final : public Layer {
 public:
  explicit GLU(std::int64_t axis = -1) : axis_(axis) {}
  std::string describe() const override;

 protected:
  Tensor forward(const Tensor& x) override { return glu(x, axis_); }

 private:
  std::int64_t axis_;
};

class Softmax final : public Layer {
 public:
  explicit Softmax(std::int64_t axis = -1) : axis_(axis) {}
  std::string describe() const override;

 protected:
  Tensor forward(const Tensor& x) override { return softmax(x, axis_); }

 private:
  std::int64_t axis_;
};

class LogSoftmax final : public Layer {
 public:
  explicit LogSoftmax(std::int64_t axis = -1) : axis_(axis) {}
  std::string describe() const override;

 protected:
  Tensor forward(const Tensor& x) override { return log_softmax(x, axis_); }

 private:
  std::int64_t axis_;
};

}  // namespace tightloop::nn
