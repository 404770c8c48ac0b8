// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/base/error.h>
#include <tightloop/nn/module.h>
#include <tightloop/train/precision.h>

#include <functional>
#include <span>
#include <type_traits>
#include <utility>

namespace tightloop::train {

/// From the inputs of a batch, in the order of the data set's fields, to the prediction [B, ...].
using ForwardFn = std::function<Tensor(std::span<const Tensor> inputs)>;

/// A model as the trainer sees it: what holds the parameters, and how they are used.
struct Model {
  nn::Module* module = nullptr;
  ForwardFn forward;
  Precision precision = {};  ///< in which types it computes
};

namespace detail {

template <class M, std::size_t... i>
bool call_with(M& module, std::span<const Tensor> x, Tensor& out, std::index_sequence<i...>) {
  if constexpr (std::is_invocable_r_v<Tensor, M&,
                                      std::conditional_t<true, Tensor, std::index_sequence<i>>...>) {
    if (x.size() != sizeof...(i)) return false;
    out = module(x[i]...);
    return true;
  }
  return false;
}

}  // namespace detail

/// A module with operator()(Tensor...) of 1 to 6 tensors; the module must outlive the result. A call with
/// another number of inputs than it takes throws Error.
template <class M>
Model model_of(M& module) {
  return {&module,
          [&module](std::span<const Tensor> x) {
            Tensor out;
            const bool called = detail::call_with(module, x, out, std::make_index_sequence<1>()) ||
                                detail::call_with(module, x, out, std::make_index_sequence<2>()) ||
                                detail::call_with(module, x, out, std::make_index_sequence<3>()) ||
                                detail::call_with(module, x, out, std::make_index_sequence<4>()) ||
                                detail::call_with(module, x, out, std::make_index_sequence<5>()) ||
                                detail::call_with(module, x, out, std::make_index_sequence<6>());
            if (!called)
              throw Error("the model's operator() does not take the " + std::to_string(x.size()) +
                          " inputs of the data set; the last field is the target");
            return out;
          },
          {}};
}

}  // namespace tightloop::train
