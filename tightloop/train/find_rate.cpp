// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/functions.h>
#include <tightloop/optim/lbfgs.h>
#include <tightloop/train/find_rate.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <span>

namespace tightloop::train {
namespace {

constexpr std::size_t kLeastPoints = 20;
constexpr std::size_t kAround = 5;    ///< points on each side that an average and a slope are taken over
constexpr double kBegun = 0.1;        ///< of the whole fall
constexpr double kDeviations = 4;     ///< a fall is more than so many
constexpr double kLeastShare = 1e-3;  ///< and more than so much of the loss

void check(const RateSearch& s) {
  if (!(s.low > 0 && s.low < s.high && std::isfinite(s.high)))
    throw Error(fmt::format("find-rate: the rates must rise from above 0, not from {} to {}", s.low, s.high));
  if (s.steps < 2 || s.steps > 1000000)
    throw Error(fmt::format("find-rate: needs 2 to 1000000 steps, not {}", s.steps));
  if (!(s.smoothing >= 0 && s.smoothing < 1))
    throw Error(
        fmt::format("find-rate: the smoothing must be 0 or greater and below 1, not {}", s.smoothing));
  if (!(s.stop_at == 0 || s.stop_at > 1))
    throw Error(fmt::format("find-rate: stop_at must be 0 or above 1, not {}", s.stop_at));
}

/// low · (high / low)^(t / (steps - 1))
optim::SchedulePtr growing(const RateSearch& s) {
  const double growth = std::log(s.high / s.low) / static_cast<double>(s.steps - 1);
  return optim::schedule_of([low = s.low, growth](const Tensor& t, double, double) {
    return low * exp(t * scalar(growth, DType::f64));
  });
}

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// The points around `i`, fewer at the ends.
std::span<const double> around(std::span<const double> values, std::size_t i) {
  const std::size_t from = std::max(kAround, i) - kAround, to = std::min(values.size() - 1, i + kAround);
  return values.subspan(from, to - from + 1);
}

/// Of the straight line of least squares, a point apart.
double slope_of(std::span<const double> values) {
  const double middle = static_cast<double>(values.size() - 1) / 2;
  double products = 0, squares = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double off = static_cast<double>(i) - middle;
    products += off * values[i], squares += off * off;
  }
  return products / squares;
}

double median_of(std::vector<double> values) {
  const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), half, values.end());
  return *half;
}

/// The standard deviation of single losses about their trend: by the median of the differences of successive
/// ones, as a few large ones, where the loss falls or runs away, say nothing of it.
double noise_of(std::span<const double> losses) {
  std::vector<double> apart;
  for (std::size_t i = 1; i < losses.size(); ++i) apart.push_back(std::fabs(losses[i] - losses[i - 1]));
  return median_of(std::move(apart)) / 0.6745 / std::numbers::sqrt2;
}

/// The values of a module's parameters and buffers, put back at the end.
class Kept {
 public:
  explicit Kept(nn::Module& module) : states_(module.states()) {
    for (const auto& s : states_) values_.push_back(s.array().clone());
  }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  ~Kept() {
    for (std::size_t i = 0; i < states_.size(); ++i) states_[i].assign(values_[i]);
  }

 private:
  std::vector<nn::NamedState> states_;
  std::vector<Array> values_;
};

/// Points as they come, and whether the search goes on.
class Curve {
 public:
  explicit Curve(const RateSearch& search) : search_(search) {}

  bool add(double rate, double loss) {
    average_ = search_.smoothing * average_ + (1 - search_.smoothing) * loss;
    const double count = static_cast<double>(result.points.size() + 1);
    const double smoothed = average_ / (1 - std::pow(search_.smoothing, count));
    result.stopped = !std::isfinite(loss) ||
                     (search_.stop_at > 0 && count > 1 && smoothed > search_.stop_at * std::fabs(best_));
    if (std::isfinite(loss)) result.points.push_back({rate, loss, smoothed});
    best_ = std::min(best_, smoothed);
    return !result.stopped;
  }
  RateResult result;

 private:
  RateSearch search_;
  double average_ = 0;
  double best_ = std::numeric_limits<double>::infinity();
};

SessionOptions session_options(TrainerOptions o, const RateSearch& search) {
  o.callbacks.clear();
  o.update.schedule = growing(search);
  o.update.per_step = true;
  o.update.ema = 0;
  o.limit_batches = {};
  o.epochs = std::numeric_limits<std::int64_t>::max();
  o.max_steps = 0;
  return o.session();
}

}  // namespace

std::optional<double> steepest_rate(const std::vector<RatePoint>& points) {
  if (points.size() < kLeastPoints) return std::nullopt;
  std::vector<double> losses, averages;
  for (const RatePoint& p : points) losses.push_back(p.loss);
  for (std::size_t i = 0; i < losses.size(); ++i) averages.push_back(mean_of(around(losses, i)));
  const auto first = std::span<const double>(losses).first(std::max<std::size_t>(10, losses.size() / 10));
  const auto lowest =
      static_cast<std::size_t>(std::min_element(averages.begin(), averages.end()) - averages.begin());
  const double start = median_of({first.begin(), first.end()}), fall = start - averages[lowest];
  // The variances of a median and of a mean, as shares of that of one loss.
  const double parts = std::numbers::pi / 2 / static_cast<double>(first.size()) +
                       1 / static_cast<double>(around(losses, lowest).size());
  const double by_chance = kDeviations * noise_of(losses) * std::sqrt(parts);
  if (!(fall > by_chance && fall > kLeastShare * std::fabs(start))) return std::nullopt;
  std::size_t begun = lowest;
  while (begun > 0 && averages[begun] < start - kBegun * fall) --begun;
  std::size_t best = lowest;
  double steepest = 0;
  for (std::size_t i = begun; i <= lowest; ++i) {
    const double slope = slope_of(around(losses, i));
    if (slope < steepest) steepest = slope, best = i;
  }
  return steepest < 0 ? std::optional(points[best].rate) : std::nullopt;
}

RateResult find_rate(const Model& model, const nn::LossFn& loss, const optim::Optimizer& optimizer,
                     const TrainingData& given, const TrainerOptions& options, const RateSearch& search) {
  check(search);
  if (dynamic_cast<const optim::Lbfgs*>(&optimizer) != nullptr)
    throw Error("optimizer lbfgs: looks for the length of its steps itself; there is no rate to find");
  initialize_missing(model, options.seed);
  const Kept kept(*model.module);
  const TrainingData data = seen_by(options, given);
  Session session(model, loss, optimizer, DataSpec::of(data.train.data, data.target, data.scales), data.train,
                  session_options(options, search));
  Curve curve(search);
  const std::int64_t epoch = session.steps_per_epoch(), accumulate = session.update().accumulate;
  std::int64_t step = 0;
  for (std::int64_t update = 0; update < search.steps; ++update) {
    const std::int64_t into = step % epoch, batches = std::min(accumulate, epoch - into);
    session.bound().reset();
    session.bound().run(session.sampling(), step, batches);
    session.bound().check_data();
    step += batches;
    if (!curve.add(session.program().result(kRate).at(0), session.bound().mean_loss())) break;
  }
  curve.result.suggestion = steepest_rate(curve.result.points);
  return std::move(curve.result);
}

std::string to_csv(const RateResult& result) {
  std::string out = "rate,loss,smoothed\n";
  for (const RatePoint& p : result.points) out += fmt::format("{},{},{}\n", p.rate, p.loss, p.smoothed);
  return out;
}

}  // namespace tightloop::train
