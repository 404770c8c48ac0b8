// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/engine/compile.h>
#include <tightloop/optim/lbfgs.h>

#include <memory>
#include <vector>

namespace tightloop::optim {

/// L-BFGS for variables, and a loss that is compiled once and evaluated several times a step:
///
///     optim::Minimizer lbfgs([&] { return nn::mse_loss(net(x), y); }, net.variables(),
///                            {.line_search = optim::LineSearch::strong_wolfe});
///     for (int i = 0; i < 10; ++i) lbfgs.step();
///
/// The variables always hold the best point that a step ended with. They may be of any floating types; the
/// search itself is in f64.
class Minimizer {
 public:
  /// `loss` takes nothing and gives a scalar, alone or first; tensors that it uses are constants from then
  /// on. Throws Error on a value out of range.
  template <class Fn>
  Minimizer(Fn loss, std::vector<Variable> variables, const LbfgsOptions& options = {},
            const CompileOptions& compiled = {})
      : Minimizer(program(std::move(loss), variables, compiled), variables, options) {}
  Minimizer(Minimizer&&) noexcept;
  Minimizer& operator=(Minimizer&&) noexcept;
  ~Minimizer();

  /// At most max_iter iterations. Throws Error when the loss is not finite; the variables then hold the last
  /// good point.
  Minimum step();

 private:
  /// The loss and its gradients by the variables, in their order.
  using Evaluate = std::function<std::pair<Tensor, std::vector<Tensor>>()>;
  Minimizer(Evaluate evaluate, std::vector<Variable> variables, const LbfgsOptions& options);

  template <class Fn>
  static Evaluate program(Fn loss, const std::vector<Variable>& variables, const CompileOptions& options) {
    auto both = [both = value_and_grad(std::move(loss), variables)]() mutable {
      auto [value, gradients] = both();
      return std::make_pair(detail::loss_in(value), std::move(gradients));
    };
    const auto compiled = std::make_shared<Compiled<decltype(both)>>(
        std::move(both), FunctionOptions{.name = "minimize", .compile = options});
    return [compiled] { return (*compiled)(); };
  }

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// One step of a Minimizer: at most options.max_iter iterations from where the variables are.
template <class Fn>
Minimum minimize(Fn loss, std::vector<Variable> variables, const LbfgsOptions& options = {},
                 const CompileOptions& compiled = {}) {
  return Minimizer(std::move(loss), std::move(variables), options, compiled).step();
}

}  // namespace tightloop::optim
