// SPDX-License-Identifier: Apache-2.0
#pragma once
// compile(fn) and value_and_grad(fn). A training loop written by hand:
//
//   auto loss_and_gradients = tl::value_and_grad(loss_of, net.parameters());     // loss_of(x, y): a scalar
//   auto step = tl::compile([&](Tensor x, Tensor y) {
//     auto [loss, gradients] = loss_and_gradients(x, y);
//     for (std::size_t i = 0; i < gradients.size(); ++i)
//       parameters[i].assign(parameters[i].value() - 0.1 * gradients[i]);
//     return loss;
//   });
//   for (...) Tensor loss = step(x, y);     // one call of native code; the variables are updated in place
#include <tightloop/engine/program.h>
#include <tightloop/engine/structure.h>
#include <tightloop/engine/trace.h>
#include <tightloop/passes/differentiate.h>

#include <concepts>
#include <memory>
#include <ranges>
#include <type_traits>

namespace tightloop {

struct FunctionOptions {
  /// The leading dim of every argument (of rank 1 and more) is the batch: other batch sizes need no new
  /// trace.
  bool batch = false;
  std::string name = "function";
  CompileOptions compile = {};
};

/// The programs of one function, one for each signature of its arguments. What Compiled is made of.
class FunctionPrograms {
 public:
  explicit FunctionPrograms(FunctionOptions options);
  FunctionPrograms(FunctionPrograms&&) noexcept;
  FunctionPrograms& operator=(FunctionPrograms&&) noexcept;
  ~FunctionPrograms();

  static constexpr std::size_t none = ~std::size_t{0};
  /// The program for arguments of these types, made by a function of type `form`.
  std::size_t find(const void* form, const std::vector<Tensor>& arguments) const;
  /// Graph inputs to trace with. Throws Error when the batch option is on and leading dims differ.
  std::vector<Tensor> placeholders(const std::vector<Tensor>& arguments) const;
  /// Compiles what the trace recorded. `own`: graph inputs that no argument feeds.
  std::size_t add(const void* form, const std::vector<Tensor>& placeholders, const Trace& trace,
                  const std::vector<Tensor>& results, const std::vector<Tensor>& own = {});
  std::vector<Tensor> run(std::size_t program, const std::vector<Tensor>& arguments);
  /// So many steps from `first`; the results are those of the last one.
  std::vector<Tensor> run(std::size_t program, const std::vector<Tensor>& arguments, const Sampling& sampling,
                          std::int64_t first, std::int64_t steps);
  Program& program(std::size_t index);
  std::size_t size() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

namespace detail {

template <class T>
using Argument = std::conditional_t<std::is_convertible_v<const T&, Tensor>, Tensor, T>;

template <class Arguments>
inline constexpr char form_of = 0;

/// fn's result, with std::tuple<> for void.
template <class Fn, class Arguments>
auto applied(Fn& fn, const Arguments& arguments) {
  if constexpr (std::is_void_v<decltype(std::apply(fn, arguments))>) {
    std::apply(fn, arguments);
    return std::tuple<>();
  } else {
    return std::apply(fn, arguments);
  }
}

/// A node of its own for the same value, so that a gradient is that of one argument alone.
Tensor alias(const Tensor& x);

}  // namespace detail

/// What compile() returns.
template <class Fn>
class Compiled {
 public:
  Compiled(Fn fn, FunctionOptions options) : fn_(std::move(fn)), programs_(std::move(options)) {}

  template <class... Args>
  auto operator()(const Args&... args) {
    const std::tuple<detail::Argument<Args>...> given(args...);
    using Result = decltype(detail::applied(fn_, given));
    if constexpr (std::is_void_v<decltype(std::apply(fn_, given))>)
      call<Result>(given);
    else
      return call<Result>(given);
  }

  /// The compiled forms so far, in the order of their first call.
  FunctionPrograms& programs() { return programs_; }

 private:
  template <class Result, class Arguments>
  Result call(const Arguments& given) {
    if (Trace::current() != nullptr) return detail::applied(fn_, given);
    const std::vector<Tensor> arguments = tensors_in(given);
    std::size_t found = programs_.find(&detail::form_of<Arguments>, arguments);
    if (found == FunctionPrograms::none) found = trace<Result>(given, arguments);
    return with_tensors(*static_cast<const Result*>(results_[found].get()), programs_.run(found, arguments));
  }

  template <class Result, class Arguments>
  std::size_t trace(const Arguments& given, const std::vector<Tensor>& arguments) {
    const std::vector<Tensor> placeholders = programs_.placeholders(arguments);
    const Trace trace;
    auto result = std::make_shared<Result>(detail::applied(fn_, with_tensors(given, placeholders)));
    const std::size_t index =
        programs_.add(&detail::form_of<Arguments>, placeholders, trace, tensors_in(*result));
    results_.push_back(std::move(result));
    return index;
  }

  Fn fn_;
  FunctionPrograms programs_;
  std::vector<std::shared_ptr<const void>> results_;  ///< the structure that each form returns
};

/// A callable that runs `fn` as native code. fn takes and returns tensors (or vectors, arrays, pairs and
/// tuples of them, or nothing) and may read and assign variables. It is traced once for each signature
/// (dtypes and shapes) of its arguments; other tensors it uses are constants from then on. Called inside a
/// trace it is fn.
template <class Fn>
Compiled<std::decay_t<Fn>> compile(Fn&& fn, FunctionOptions options = {}) {
  return {std::forward<Fn>(fn), std::move(options)};
}

namespace detail {

template <class Result>
Tensor loss_in(const Result& result) {
  const std::vector<Tensor> all = tensors_in(result);
  if (all.empty()) throw Error("value_and_grad: the function returns no tensor");
  return all.front();
}

template <std::size_t at, class Arguments>
void alias_argument(Arguments& arguments) {
  auto& argument = std::get<at>(arguments);
  Structure<std::decay_t<decltype(argument)>>::each(argument, [](Tensor& t) { t = alias(t); });
}

/// Gradients in the form of the arguments: one argument's own type, or a tuple.
template <class Loss, class... Selected>
auto gradients_like(const Loss& loss, const std::tuple<Selected...>& selected) {
  auto all = with_tensors(selected, gradients(loss, tensors_in(selected)));
  if constexpr (sizeof...(Selected) == 1)
    return std::get<0>(std::move(all));
  else
    return all;
}

template <class Fn, class Arguments, std::size_t... at>
auto value_and_gradients(Fn& fn, Arguments arguments, std::index_sequence<at...>) {
  (alias_argument<at>(arguments), ...);
  auto result = applied(fn, arguments);
  auto slopes = gradients_like(loss_in(result), std::make_tuple(std::get<at>(arguments)...));
  return std::make_pair(std::move(result), std::move(slopes));
}

}  // namespace detail

/// A callable g with g(args...) = (fn(args...), gradients). fn returns its loss, a scalar, alone or first in
/// a pair or tuple. Gradients are with respect to the arguments numbered in the template list (the first by
/// default): of one argument in its own form, of several a tuple.
template <std::size_t... at, class Fn>
auto value_and_grad(Fn fn) {
  return [fn = std::move(fn)](const auto&... args) mutable {
    using Numbers =
        std::conditional_t<sizeof...(at) == 0, std::index_sequence<0>, std::index_sequence<at...>>;
    return detail::value_and_gradients(
        fn, std::tuple<detail::Argument<std::decay_t<decltype(args)>>...>(args...), Numbers());
  };
}

/// The same with respect to variables that fn reads: gradients as std::vector<Tensor> in their order.
template <class Fn, std::ranges::input_range Variables>
requires std::convertible_to<std::ranges::range_value_t<Variables>, Variable>
auto value_and_grad(Fn fn, const Variables& variables) {
  std::vector<Variable> list;
  for (const auto& v : variables) list.push_back(v);
  return [fn = std::move(fn), list = std::move(list)](const auto&... args) mutable {
    std::vector<Tensor> values;
    for (const Variable& v : list) values.push_back(v.value());
    auto result = fn(args...);
    std::vector<Tensor> slopes = gradients(detail::loss_in(result), values);
    return std::make_pair(std::move(result), std::move(slopes));
  };
}

/// value_and_grad() without the value.
template <std::size_t... at, class Fn>
auto grad(Fn fn) {
  return [both = value_and_grad<at...>(std::move(fn))](const auto&... args) mutable {
    return both(args...).second;
  };
}
template <class Fn, std::ranges::input_range Variables>
requires std::convertible_to<std::ranges::range_value_t<Variables>, Variable>
auto grad(Fn fn, const Variables& variables) {
  return [both = value_and_grad(std::move(fn), variables)](const auto&... args) mutable {
    return both(args...).second;
  };
}

}  // namespace tightloop
