// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/parameter.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tightloop::nn {

class Module;

/// What a module is made of, as its fields() names it.
class Fields {
 public:
  /// Names must differ within a module and hold no dot. Throws Error otherwise.
  Fields& operator()(std::string_view name, Parameter& parameter);
  Fields& operator()(std::string_view name, Module& module);

 private:
  friend class Module;
  std::string path_of(std::string_view name);

  std::string prefix_;
  std::vector<std::string> taken_;
  std::vector<std::pair<std::string, Parameter*>> parameters_;
  std::vector<std::pair<std::string, Module*>> modules_;
};

/// Part of a model: holds parameters and other modules, and names each once. State-dict names, counting,
/// printing, initialising and freezing follow.
///
///     struct Net : nn::Module {
///       nn::Linear lin{40, 1, {.bias = false}};
///       Parameter par{{1}};
///       void fields(nn::Fields& f) override { f("lin", lin)("par", par); }
///       Tensor operator()(Tensor x, Tensor f) { return lin(x) + par * f; }
///     };
class Module {
 public:
  Module() = default;
  Module(Module&&) = default;
  Module& operator=(Module&&) = default;
  virtual ~Module() = default;

  virtual void fields(Fields&) {}
  /// As printed in tables: "Linear(40, 1)".
  virtual std::string describe() const { return "Module"; }

  struct NamedParameter {
    std::string path;  ///< dotted, as PyTorch: "0.weight"
    Parameter* parameter;
    operator Variable() const { return parameter->variable(); }  // NOLINT(google-explicit-constructor)
  };
  struct NamedModule {
    std::string path;  ///< "" for the module itself
    Module* module;
  };

  /// Every parameter by path, in the order named. One used twice appears under both paths.
  std::vector<NamedParameter> state_dict();
  /// Every parameter once, under its first path; also makes that path its name.
  std::vector<NamedParameter> parameters();
  /// parameters() that are not frozen: what value_and_grad() and an optimizer are given.
  std::vector<Variable> variables();
  /// The module itself and all below it, each after its parent.
  std::vector<NamedModule> modules();
  /// Throws Error suggesting the nearest path.
  Parameter& parameter(std::string_view path);

  /// Elements of all parameters.
  std::int64_t count();
  std::int64_t trainable_count();
  /// Draws every parameter anew: parameter i from stream i of `seed`.
  void initialize(std::uint64_t seed);
  /// Frozen parameters take no part in training.
  void freeze(bool frozen = true);
  /// Calls `visit` for every module below and then for this one.
  void apply(const std::function<void(Module&)>& visit);
  /// A table: path, layer, parameter shapes and counts, and the total.
  std::string summary();

  /// The name under which the parent holds it; "" before it was named.
  const std::string& name() const { return name_; }

 private:
  friend class Fields;
  void collect(Fields& all);

  std::string name_;
};

}  // namespace tightloop::nn
