// SPDX-License-Identifier: Apache-2.0
#include <tightloop/engine/compile.h>
#include <tightloop/ops/functions.h>
#include <tightloop/ops/index.h>

#include <algorithm>

namespace tightloop {
namespace {

/// One variable of a program.
struct Bound {
  Variable variable;
  std::size_t input;
  bool updated;
};

struct Form {
  const void* tag;
  std::vector<TensorType> types;
  std::vector<std::size_t> arguments;  ///< input numbers
  std::vector<Bound> variables;
  std::vector<std::string> results;
  Program program;
};

bool same_dims(const Shape& symbolic, const Shape& given) {
  if (symbolic.rank() != given.rank()) return false;
  for (std::size_t i = 0; i < given.rank(); ++i)
    if (symbolic[i].is_static() && symbolic[i] != given[i]) return false;
  return true;
}

bool accepts(const Form& form, const std::vector<Tensor>& arguments) {
  if (form.types.size() != arguments.size()) return false;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (form.types[i].dtype != arguments[i].dtype() || !same_dims(form.types[i].shape, arguments[i].shape()))
      return false;
  return true;
}

Shape with_batch(const Shape& shape) {
  std::vector<Dim> dims = shape.dims();
  if (!dims.empty()) dims[0] = Dim::batch();
  return Shape(std::move(dims));
}

/// The common leading dim; 1 when no argument has any.
std::int64_t batch_of(const std::vector<Tensor>& arguments, const std::string& name) {
  const Tensor* first = nullptr;
  for (const Tensor& t : arguments) {
    if (t.rank() == 0) continue;
    if (first != nullptr && first->dim(0) != t.dim(0))
      throw Error(name + ": the batch option wants one leading dim for all arguments, " +
                  to_string(first->type()) + " and " + to_string(t.type()) + " came");
    if (first == nullptr) first = &t;
  }
  return first == nullptr ? 1 : first->dim(0).factor;
}

}  // namespace

struct FunctionPrograms::Impl {
  FunctionOptions options;
  std::vector<Form> forms;
};

FunctionPrograms::FunctionPrograms(FunctionOptions options)
    : impl_(std::make_unique<Impl>(Impl{std::move(options), {}})) {}
FunctionPrograms::FunctionPrograms(FunctionPrograms&&) noexcept = default;
FunctionPrograms& FunctionPrograms::operator=(FunctionPrograms&&) noexcept = default;
FunctionPrograms::~FunctionPrograms() = default;

std::size_t FunctionPrograms::size() const { return impl_->forms.size(); }
Program& FunctionPrograms::program(std::size_t index) { return impl_->forms.at(index).program; }

std::size_t FunctionPrograms::find(const void* tag, const std::vector<Tensor>& arguments) const {
  for (std::size_t i = 0; i < impl_->forms.size(); ++i)
    if (impl_->forms[i].tag == tag && accepts(impl_->forms[i], arguments)) return i;
  return none;
}

std::vector<Tensor> FunctionPrograms::placeholders(const std::vector<Tensor>& arguments) const {
  if (impl_->options.batch) batch_of(arguments, impl_->options.name);
  std::vector<Tensor> out;
  for (const Tensor& t : arguments) {
    const Shape shape = impl_->options.batch ? with_batch(t.shape()) : t.shape();
    out.push_back(input("argument#" + std::to_string(out.size()), "argument", {t.dtype(), shape}));
  }
  return out;
}

std::size_t FunctionPrograms::add(const void* tag, const std::vector<Tensor>& placeholders,
                                  const Trace& trace, const std::vector<Tensor>& results,
                                  const std::vector<Tensor>& own) {
  std::vector<ir::Graph::Output> outputs;
  std::vector<std::string> names;
  for (const Tensor& t : results) {
    names.push_back("result#" + std::to_string(names.size()));
    outputs.push_back({names.back(), t});
  }
  std::vector<Tensor> inputs = placeholders;
  inputs.insert(inputs.end(), own.begin(), own.end());
  const ir::Graph graph = trace.graph(impl_->options.name, inputs, outputs);
  Form form{tag, {}, {}, {}, std::move(names), Program::compile(graph, impl_->options.compile)};
  for (const Tensor& t : placeholders) {
    form.types.push_back(t.type());
    form.arguments.push_back(form.program.input_index(ir::input_name(t.node())));
  }
  for (const Trace::Used& u : trace.used())
    form.variables.push_back(
        {u.variable, form.program.input_index(ir::input_name(u.input.node())), u.next.defined()});
  impl_->forms.push_back(std::move(form));
  return impl_->forms.size() - 1;
}

std::vector<Tensor> FunctionPrograms::run(std::size_t index, const std::vector<Tensor>& arguments) {
  const std::int64_t rows = impl_->options.batch ? batch_of(arguments, impl_->options.name) : 1;
  return run(index, arguments, {.rows = rows, .batch = rows}, 0, 1);
}

std::vector<Tensor> FunctionPrograms::run(std::size_t index, const std::vector<Tensor>& arguments,
                                          const Sampling& sampling, std::int64_t first, std::int64_t steps) {
  Form& form = impl_->forms.at(index);
  for (std::size_t i = 0; i < arguments.size(); ++i)
    form.program.bind(form.arguments[i], arguments[i].array());
  for (const Bound& b : form.variables)
    form.program.bind(b.input, b.updated ? b.variable.exclusive() : b.variable.shared());
  form.program.run(sampling, first, steps);
  std::vector<Tensor> results;
  for (const std::string& name : form.results) results.emplace_back(form.program.result(name).clone());
  return results;
}

Tensor detail::alias(const Tensor& x) { return ir::make_node(ops::reshape_op(), {x}, {}, &x.type()); }

}  // namespace tightloop
