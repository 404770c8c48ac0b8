// SPDX-License-Identifier: Apache-2.0
#include <tightloop/optim/lbfgs.h>

#include <tightloop/optim/checks.h>
#include <tightloop/optim/index.h>
#include <tightloop/optim/line_search.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tightloop::optim {
namespace {

constexpr double kLeastCurvature = 1e-10;
constexpr std::int64_t kLeastEvaluations = 25;  // room for one line search

double dot(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// to += factor · x
void add(std::span<double> to, double factor, std::span<const double> x) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * x[i];
}

double largest(std::span<const double> x) {
  double out = 0;
  for (const double v : x) out = std::max(out, std::abs(v));
  return out;
}

double total(std::span<const double> x) {
  double out = 0;
  for (const double v : x) out += std::abs(v);
  return out;
}

void check_options(const LbfgsOptions& o) {
  check_not_negative("lbfgs", "learning rate", o.lr);
  check_not_negative("lbfgs", "tolerance_grad", o.tolerance_grad);
  check_not_negative("lbfgs", "tolerance_change", o.tolerance_change);
  const auto at_least = [](const char* what, std::int64_t value, std::int64_t least) {
    if (value < least)
      throw Error(fmt::format("optimizer lbfgs: invalid {} {}: must be at least {}", what, value, least));
  };
  at_least("max_iter", o.max_iter, 1);
  at_least("max_eval", o.max_eval, 0);
  at_least("history_size", o.history_size, 1);
}

}  // namespace

LbfgsSearch::LbfgsSearch(const LbfgsOptions& options, Function function, std::vector<double> start)
    : options_(options), function_(std::move(function)), x_(std::move(start)), gradient_(x_.size()) {
  check_options(options_);
  if (options_.max_eval == 0) options_.max_eval = std::max(kLeastEvaluations, options_.max_iter * 5 / 4);
}

bool LbfgsSearch::gradient_is_small() const { return largest(gradient_) <= options_.tolerance_grad; }

/// Takes the last move into the history, when the function curves upwards along it.
void LbfgsSearch::remember() {
  Pair pair{direction_, gradient_, 0};
  for (double& v : pair.change) v *= length_;
  add(pair.gradient_change, -1, last_gradient_);
  pair.product = dot(pair.gradient_change, pair.change);
  if (!(pair.product > kLeastCurvature)) return;
  scale_ = pair.product / dot(pair.gradient_change, pair.gradient_change);
  if (static_cast<std::int64_t>(history_.size()) == options_.history_size) history_.pop_front();
  history_.push_back(std::move(pair));
}

/// -H · gradient, H the inverse Hessian as the history knows it.
void LbfgsSearch::choose_direction() {
  if (iterations_ > 1) remember();
  direction_ = gradient_;
  for (double& v : direction_) v = -v;
  std::vector<double> share(history_.size());
  for (std::size_t i = history_.size(); i-- > 0;) {
    share[i] = dot(history_[i].change, direction_) / history_[i].product;
    add(direction_, -share[i], history_[i].gradient_change);
  }
  for (double& v : direction_) v *= scale_;
  for (std::size_t i = 0; i < history_.size(); ++i) {
    const double back = dot(history_[i].gradient_change, direction_) / history_[i].product;
    add(direction_, share[i] - back, history_[i].change);
  }
}

/// Along direction_, from length_ on.
void LbfgsSearch::move(double slope, Minimum& so_far) {
  std::vector<double> at;
  const auto look = [&](double t) {
    Trial out{t, 0, 0, std::vector<double>(x_.size())};
    at = x_;
    add(at, t, direction_);
    out.value = function_(at, out.gradient);
    out.slope = dot(out.gradient, direction_);
    return out;
  };
  Trial to;
  if (options_.line_search == LineSearch::strong_wolfe) {
    LineSearchResult found = strong_wolfe(look, {0, value_, slope, gradient_}, length_, largest(direction_),
                                          options_.tolerance_change, options_.max_eval - so_far.evaluations);
    to = std::move(found.best);
    so_far.evaluations += found.evaluations;
  } else {
    to = look(length_);
    ++so_far.evaluations;
  }
  if (!std::isfinite(to.value) || !std::isfinite(to.slope))
    throw Error(
        fmt::format("lbfgs: iteration {}: the loss is not finite after a step of length {:.3g}; a smaller "
                    "lr or line_search_fn = \"strong_wolfe\" may help",
                    iterations_, largest(direction_) * to.t));
  length_ = to.t;
  add(x_, length_, direction_);
  last_gradient_ = std::exchange(gradient_, std::move(to.gradient));
  value_ = to.value;
}

Minimum LbfgsSearch::step() {
  Minimum out{0, 0, 1, false};
  if (!known_) value_ = function_(x_, gradient_);
  if (!std::isfinite(value_) || !std::isfinite(total(gradient_)))
    throw Error("lbfgs: the loss or its gradient is not finite at the start");
  known_ = true;
  out.converged = gradient_is_small();
  const auto may_go_on = [&] {
    return out.iterations == 0 || (out.iterations < options_.max_iter && out.evaluations < options_.max_eval);
  };
  while (!out.converged && may_go_on()) {
    ++iterations_, ++out.iterations;
    choose_direction();
    length_ = options_.lr * (iterations_ == 1 ? std::min(1.0, 1 / total(gradient_)) : 1);
    const double slope = dot(gradient_, direction_), before = value_;
    out.converged = slope > -options_.tolerance_change;
    if (out.converged) {
      last_gradient_ = gradient_;
      break;
    }
    move(slope, out);
    if (watcher_) watcher_(iterations_, value_);
    out.converged = gradient_is_small() || largest(direction_) * length_ <= options_.tolerance_change ||
                    std::abs(value_ - before) < options_.tolerance_change;
  }
  out.loss = value_;
  return out;
}

Lbfgs::Lbfgs(LbfgsOptions options) : options_(options) { check_options(options_); }

Update Lbfgs::update(const Tensor&, const Tensor&, std::span<const Tensor>, const Factors&, double) const {
  throw Error(
      "lbfgs needs the loss several times a step, so it is no update rule: use a Trainer or optim::minimize");
}

namespace {

LineSearch line_search_named(const Options& o) {
  if (!o.has("line_search_fn") || o.at<std::string>("line_search_fn") == "none") return LineSearch::none;
  const auto& name = o.at<std::string>("line_search_fn");
  if (name == "strong_wolfe") return LineSearch::strong_wolfe;
  throw Error(fmt::format("optimizer lbfgs: line_search_fn must be 'strong_wolfe' or 'none', not '{}'{}",
                          name, suggestion(name, {"strong_wolfe", "none"})));
}

std::unique_ptr<Optimizer> build(const Options& o) {
  return std::make_unique<Lbfgs>(LbfgsOptions{
      o.at<double>("lr"), o.at<std::int64_t>("max_iter"),
      o.has("max_eval") ? o.at<std::int64_t>("max_eval") : std::int64_t{0}, o.at<double>("tolerance_grad"),
      o.at<double>("tolerance_change"), o.at<std::int64_t>("history_size"), line_search_named(o)});
}

}  // namespace

const OptimizerDef& lbfgs_def() {
  static const OptimizerDef def{
      "lbfgs",
      "limited-memory BFGS for the loss over all rows; an epoch is max_iter iterations",
      {{"lr", OptionType::number, 1.0, "length of a step; with a line search where it begins"},
       {"max_iter", OptionType::integer, std::int64_t{1}, "iterations an epoch"},
       {"max_eval", OptionType::integer, {}, "evaluations an epoch; none: max_iter * 5 / 4, at least 25"},
       {"tolerance_grad", OptionType::number, 1e-7, "ends when no element of the gradient is larger"},
       {"tolerance_change", OptionType::number, 1e-9, "ends when loss or parameters change less"},
       {"history_size", OptionType::integer, std::int64_t{100}, "moves that the curvature is known from"},
       {"line_search_fn", OptionType::text, {}, "strong_wolfe or none"}},
      build,
      true};
  return def;
}

}  // namespace tightloop::optim
