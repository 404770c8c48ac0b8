// SPDX-License-Identifier: Apache-2.0
#pragma once
// Functions of functions, beside grad and value_and_grad (engine/compile.h): vmap, jvp, vjp, hvp, jacrev,
// jacfwd, hessian. Each takes a function of tensors (or of vectors, arrays, pairs and tuples of them) and
// gives another; they compose in any order and work the same inside compile(). Names and meanings are those
// of torch.func and JAX.
//
//   auto per_sample = tl::vmap<1, 2>(tl::grad(loss_of));       // loss_of(w, x, y): gradients [n, w...]
//   auto [y, slope] = tl::jvp(f)(x, direction);
//   auto curvature = tl::hvp(loss_of, net.variables())(directions, x, y);
#include <tightloop/engine/compile.h>
#include <tightloop/passes/vectorize.h>

namespace tightloop {

namespace detail {

/// A tuple is several arguments, anything else is one.
template <class T>
auto as_arguments(const T& x) {
  return std::tuple<Argument<T>>(x);
}
template <class... T>
std::tuple<T...> as_arguments(const std::tuple<T...>& x) {
  return x;
}

template <class Arguments>
Arguments aliased(Arguments arguments) {
  Structure<Arguments>::each(arguments, [](Tensor& t) { t = alias(t); });
  return arguments;
}

/// The tensors of v; throws Error naming `transform` unless they are typed as those of x.
std::vector<Tensor> like(const char* transform, const std::vector<Tensor>& x, std::vector<Tensor> v);

/// Σ ∂y/∂x · v for each y: the transpose of the transpose.
std::vector<Tensor> tangents(const std::vector<Tensor>& y, const std::vector<Tensor>& x,
                             const std::vector<Tensor>& v);
/// Σ u · ∂y/∂x for each x.
std::vector<Tensor> cotangents(const std::vector<Tensor>& y, const std::vector<Tensor>& x,
                               const std::vector<Tensor>& u);
/// ∂²loss/∂x² · v
std::vector<Tensor> curvature(const Tensor& loss, const std::vector<Tensor>& x, const std::vector<Tensor>& v);
/// [y..., x...]; one reverse sweep for each element of y, or a forward one for each of x.
Tensor jacobian_by_rows(const Tensor& y, const Tensor& x);
Tensor jacobian_by_columns(const Tensor& y, const Tensor& x);

/// Graph inputs that stand for one entry of the leading axis that all `values` share. Throws Error otherwise.
std::vector<Tensor> samples_of(const std::vector<Tensor>& values);
/// Throws Error when a variable was assigned something that depends on `samples`.
void check_assigned(const std::vector<Tensor>& samples);

template <class Arguments, std::size_t... at>
auto chosen(const Arguments& arguments, std::index_sequence<at...>) {
  return std::make_tuple(std::get<at>(arguments)...);
}

template <class Arguments, class Chosen, std::size_t... at>
void replace_chosen(Arguments& arguments, const Chosen& by, std::index_sequence<at...>) {
  [&]<std::size_t... i>(std::index_sequence<i...>) { ((std::get<at>(arguments) = std::get<i>(by)), ...); }
  (std::make_index_sequence<sizeof...(at)>());
}

}  // namespace detail

/// A callable that applies `fn` to each entry of the leading axis of the arguments numbered in the template
/// list (all by default) and stacks the results along a leading axis. The other arguments, and variables that
/// fn reads, are shared. fn is traced once, for one entry, and its ops then take the axis; random draws that
/// do not depend on a mapped seed are the same for all entries. fn must not assign variables from an entry.
template <std::size_t... at, class Fn>
auto vmap(Fn fn) {
  return [fn = std::move(fn)](const auto&... args) mutable {
    using Numbers = std::conditional_t<sizeof...(at) == 0, std::index_sequence_for<decltype(args)...>,
                                       std::index_sequence<at...>>;
    std::tuple<detail::Argument<std::decay_t<decltype(args)>>...> arguments(args...);
    const auto mapped = detail::chosen(arguments, Numbers());
    const std::vector<Tensor> values = tensors_in(mapped);
    const std::vector<Tensor> samples = detail::samples_of(values);
    detail::replace_chosen(arguments, with_tensors(mapped, samples), Numbers());
    auto result = detail::applied(fn, arguments);
    detail::check_assigned(samples);
    return with_tensors(result, vectorize(tensors_in(result), samples, values));
  };
}

/// A callable g with g(x, v) = (fn(x), Jacobian · v): how fn changes along v. x is one argument, or a tuple
/// of several; v has its form and types. Made of two reverse sweeps (the second takes the first one back), of
/// which only what a forward sweep needs is left to run.
template <class Fn>
auto jvp(Fn fn) {
  return [fn = std::move(fn)](const auto& x, const auto& v) mutable {
    const auto point = detail::aliased(detail::as_arguments(x));
    const std::vector<Tensor> at = tensors_in(point);
    auto result = detail::applied(fn, point);
    auto slopes =
        with_tensors(result, detail::tangents(tensors_in(result), at,
                                              detail::like("jvp", at, tensors_in(detail::as_arguments(v)))));
    return std::make_pair(std::move(result), std::move(slopes));
  };
}

/// A callable g with g(x, u) = (fn(x), u · Jacobian), the second in the form of x. x is one argument, or a
/// tuple of several; u has the form and types of fn's result.
template <class Fn>
auto vjp(Fn fn) {
  return [fn = std::move(fn)](const auto& x, const auto& u) mutable {
    const auto point = detail::aliased(detail::as_arguments(x));
    auto result = detail::applied(fn, point);
    const std::vector<Tensor> y = tensors_in(result), at = tensors_in(point);
    using Given = std::tuple<detail::Argument<std::decay_t<decltype(u)>>>;
    const auto slopes = detail::cotangents(y, at, detail::like("vjp", y, tensors_in(Given(u))));
    using Form = detail::Argument<std::decay_t<decltype(x)>>;
    return std::make_pair(std::move(result), with_tensors(Form(x), slopes));
  };
}

/// A callable g with g(x, v) = Hessian · v, in the form of x. fn returns its loss, a scalar, alone or first.
/// x is one argument, or a tuple of several; v has its form and types. Costs two to three gradients; the
/// Hessian is never made.
template <class Fn>
auto hvp(Fn fn) {
  return [fn = std::move(fn)](const auto& x, const auto& v) mutable {
    const auto point = detail::aliased(detail::as_arguments(x));
    const std::vector<Tensor> at = tensors_in(point);
    const auto along = detail::like("hvp", at, tensors_in(detail::as_arguments(v)));
    using Form = detail::Argument<std::decay_t<decltype(x)>>;
    return with_tensors(Form(x), detail::curvature(detail::loss_in(detail::applied(fn, point)), at, along));
  };
}

/// The same with respect to variables that fn reads: g(v, args...), v and the result as std::vector<Tensor>
/// in their order.
template <class Fn, std::ranges::input_range Variables>
requires std::convertible_to<std::ranges::range_value_t<Variables>, Variable>
auto hvp(Fn fn, const Variables& variables) {
  std::vector<Variable> list;
  for (const auto& v : variables) list.push_back(v);
  return [fn = std::move(fn), list = std::move(list)](const std::vector<Tensor>& v,
                                                      const auto&... args) mutable {
    std::vector<Tensor> at;
    for (const Variable& variable : list) at.push_back(variable.value());
    const std::vector<Tensor> along = detail::like("hvp", at, v);
    return detail::curvature(detail::loss_in(fn(args...)), at, along);
  };
}

/// A callable that gives the Jacobian [y..., x...] of fn's result, a tensor of static shape, by argument
/// `at`, a tensor. jacrev does a reverse sweep for each element of y, jacfwd a forward sweep for each of x,
/// all at once.
template <std::size_t at = 0, class Fn>
auto jacrev(Fn fn) {
  return [fn = std::move(fn)](const auto&... args) mutable {
    std::tuple<detail::Argument<std::decay_t<decltype(args)>>...> arguments(args...);
    detail::alias_argument<at>(arguments);
    return detail::jacobian_by_rows(std::apply(fn, arguments), std::get<at>(arguments));
  };
}
template <std::size_t at = 0, class Fn>
auto jacfwd(Fn fn) {
  return [fn = std::move(fn)](const auto&... args) mutable {
    std::tuple<detail::Argument<std::decay_t<decltype(args)>>...> arguments(args...);
    detail::alias_argument<at>(arguments);
    return detail::jacobian_by_columns(std::apply(fn, arguments), std::get<at>(arguments));
  };
}

/// A callable that gives the Hessian [x..., x...] of fn's scalar result by argument `at`, a tensor.
template <std::size_t at = 0, class Fn>
auto hessian(Fn fn) {
  return jacfwd<at>(grad<at>(std::move(fn)));
}

}  // namespace tightloop
