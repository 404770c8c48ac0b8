// SPDX-License-Identifier: Apache-2.0
#include <tightloop/optim/minimize.h>

#include <tightloop/optim/flat.h>

namespace tightloop::optim {

struct Minimizer::Impl {
  Impl(Evaluate loss, std::vector<Variable> all, const LbfgsOptions& options)
      : evaluate(std::move(loss)),
        variables(std::move(all)),
        search(
            options, [this](auto x, auto gradient) { return at(x, gradient); }, start()) {}

  std::vector<double> start() const {
    const std::vector<Array> values = memory();
    std::vector<double> out(static_cast<std::size_t>(flat_size(values)));
    flatten(values, out);
    return out;
  }

  std::vector<Array> memory() const {
    std::vector<Array> out;
    for (const Variable& v : variables) out.push_back(v.exclusive());
    return out;
  }

  void put(std::span<const double> x) const {
    std::vector<Array> to = memory();
    unflatten(x, to);
  }

  double at(std::span<const double> x, std::span<double> gradient) const {
    put(x);
    const auto [loss, gradients] = evaluate();
    std::vector<Array> values;
    for (const Tensor& g : gradients) values.push_back(g.array());
    flatten(values, gradient);
    return loss.item();
  }

  Evaluate evaluate;
  std::vector<Variable> variables;
  LbfgsSearch search;
};

Minimizer::Minimizer(Evaluate evaluate, std::vector<Variable> variables, const LbfgsOptions& options)
    : impl_(std::make_unique<Impl>(std::move(evaluate), std::move(variables), options)) {}
Minimizer::Minimizer(Minimizer&&) noexcept = default;
Minimizer& Minimizer::operator=(Minimizer&&) noexcept = default;
Minimizer::~Minimizer() = default;

Minimum Minimizer::step() {
  try {
    const Minimum out = impl_->search.step();
    impl_->put(impl_->search.x());
    return out;
  } catch (...) {
    impl_->put(impl_->search.x());
    throw;
  }
}

}  // namespace tightloop::optim
