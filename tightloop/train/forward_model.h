// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/forward/ast.h>
#include <tightloop/train/forward/trace.h>
#include <tightloop/train/job.h>
#include <tightloop/train/model.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tightloop::nn {
class Layer;
}

namespace tightloop::train {

/// The model that a forward text describes. Its layers are made when it is traced first; parameters are
/// called
/// "<layer>.weight" and so on, free parameters by their own name.
class ForwardModel final : public nn::Module, private forward::Layers {
 public:
  /// `inputs`: names and types [B, ...] as the model gets them. Throws Error with a caret.
  ForwardModel(const Job::Model& job, const std::vector<std::pair<std::string, TensorType>>& inputs);
  ~ForwardModel() override;

  void fields(nn::Fields& f) override;
  std::string describe() const override { return "Forward"; }
  /// `inputs` in the order given to the constructor.
  Tensor operator()(std::span<const Tensor> inputs);
  /// For the trainer; this model must outlive it.
  Model model();
  /// In which types model() computes. f64 is that of the parameters too.
  void set_precision(const Precision& precision);
  /// [B, ...]
  const TensorType& output() const { return output_; }

 private:
  struct Free {
    std::string name;
    Parameter parameter;
  };

  bool knows(std::string_view kind) const override;
  std::vector<std::string> kinds() const override;
  Tensor call(const std::string& kind, const std::string& name, const std::vector<forward::Term>& terms,
              const std::vector<std::string>& keywords, std::size_t at) override;
  void tie(nn::Layer& layer, const std::string& kind, const forward::Term& reuse);

  Text text_;
  std::vector<forward::Statement> program_;
  std::vector<std::string> inputs_;
  std::vector<Free> free_;
  std::vector<std::pair<std::string, std::unique_ptr<nn::Layer>>> layers_;
  TensorType output_;
  Precision precision_;
};

}  // namespace tightloop::train
