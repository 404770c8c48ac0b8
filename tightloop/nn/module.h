// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/buffer.h>
#include <tightloop/nn/parameter.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tightloop::nn {

class Module;

/// One tensor of a state dict: a parameter or a buffer.
struct NamedState {
  std::string path;                ///< dotted, as PyTorch: "0.weight"
  Parameter* parameter = nullptr;  ///< one of the two is null
  Buffer* buffer = nullptr;

  const Variable& variable() const;
  const TensorType& type() const { return variable().type(); }
  std::size_t bytes() const;
  void set_name(const std::string& name) const { variable().rename(name); }
  /// Throws Error for a parameter that has no value yet.
  Array array() const;
  /// Throws Error unless `value` has this type exactly.
  void assign(const Array& value) const;
};

/// What a module is made of, as its fields() names it.
class Fields {
 public:
  /// Names must differ within a module and hold no dot. Throws Error otherwise.
  Fields& operator()(std::string_view name, Parameter& parameter);
  Fields& operator()(std::string_view name, Buffer& buffer);
  Fields& operator()(std::string_view name, Module& module);

 private:
  friend class Module;
  std::string path_of(std::string_view name);

  std::string prefix_;
  std::vector<std::string> taken_;
  std::vector<NamedState> states_;
  std::vector<std::pair<std::string, Module*>> modules_;
};

/// Part of a model: holds parameters, buffers and other modules, and names each once. State-dict names,
/// counting, printing, initialising and freezing follow.
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
  struct NamedBuffer {
    std::string path;
    Buffer* buffer;
  };
  struct NamedModule {
    std::string path;  ///< "" for the module itself
    Module* module;
  };

  /// Every parameter and buffer by path, in the order named: what a file of weights holds. One used twice
  /// appears under both paths.
  std::vector<NamedState> state_dict();
  /// Every parameter and buffer once, under its first path; also makes that path its name.
  std::vector<NamedState> states();
  /// The parameters among states().
  std::vector<NamedParameter> parameters();
  /// The buffers among states().
  std::vector<NamedBuffer> buffers();
  /// parameters() that are not frozen: what value_and_grad() and an optimizer are given.
  std::vector<Variable> variables();
  /// The module itself and all below it, each after its parent.
  std::vector<NamedModule> modules();
  /// Throw Error suggesting the nearest path.
  NamedState state(std::string_view path);
  Parameter& parameter(std::string_view path);
  Buffer& buffer(std::string_view path);

  /// Elements of all parameters; buffers do not count.
  std::int64_t count();
  std::int64_t trainable_count();
  /// Draws every parameter anew, parameter i from stream i of `seed`, and resets the buffers.
  void initialize(std::uint64_t seed);
  /// Every parameter and floating buffer in another type, as torch.nn.Module.to(): before training.
  void to(DType dtype);
  /// Frozen parameters take no part in training. Buffers are not frozen: as in PyTorch, a frozen BatchNorm
  /// still follows the batches in training.
  void freeze(bool frozen = true);
  /// Calls `visit` for every module below and then for this one.
  void apply(const std::function<void(Module&)>& visit);
  /// A table: path, layer, shapes and counts of parameters and buffers, and the totals.
  std::string summary();

  /// The name under which the parent holds it; "" before it was named.
  const std::string& name() const { return name_; }

 private:
  friend class Fields;
  void collect(Fields& all);
  NamedState find(std::string_view path, std::string_view what,
                  const std::function<bool(const NamedState&)>& wanted);

  std::string name_;
};

}  // namespace tightloop::nn
