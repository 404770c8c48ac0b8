// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/plan.h>
#include <tightloop/train/profile/trials.h>

#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <functional>

namespace tightloop::train {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kTurns = 3;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Steps of a session in batches of one size, as fast as they go.
class Pace {
 public:
  Pace(const PreparedJob& prepared, const TrainingData& data, const TrainerOptions& options)
      : model_(prepared.model->model()),
        data_(data),
        session_(model_, prepared.loss, *prepared.optimizer,
                 DataSpec::of(data_.train.data, data_.target, data_.scales), data_.train, options.session()),
        sampling_(session_.sampling()) {}

  void set_batch(std::int64_t batch) { sampling_.batch = batch; }

  /// Samples a second.
  double run(double seconds) {
    const auto start = Clock::now();
    std::int64_t steps = 0;
    const std::int64_t first = step_;
    do {
      const std::int64_t chunk = std::clamp<std::int64_t>(steps, 1, 1 << 20);
      session_.bound().run(sampling_, step_, chunk);
      step_ += chunk;
      steps += chunk;
    } while (seconds_since(start) < seconds / 2);
    const double taken = seconds_since(start);
    return static_cast<double>((step_ - first) * std::min(sampling_.batch, sampling_.rows)) / taken;
  }

 private:
  Model model_;
  TrainingData data_;
  Session session_;
  Sampling sampling_;
  std::int64_t step_ = 0;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Both ways in turns, so that what the machine does meanwhile hits both.
ProfileTrial compare(std::string what, double seconds, const std::function<double(double)>& before,
                     const std::function<double(double)>& after) {
  std::vector<double> old_rates, new_rates;
  before(seconds / kTurns), after(seconds / kTurns);  // memory is touched, threads are chosen
  for (int i = 0; i < kTurns; ++i) {
    old_rates.push_back(before(seconds / kTurns));
    new_rates.push_back(after(seconds / kTurns));
  }
  return {std::move(what), median(old_rates), median(new_rates)};
}

ProfileTrial larger_batch(const PreparedJob& prepared, std::int64_t batch, double seconds) {
  Pace pace(prepared, prepared.data.data, prepared.options);
  const auto with = [&](std::int64_t rows) {
    return [&pace, rows](double s) { return pace.set_batch(rows), pace.run(s); };
  };
  return compare(fmt::format("data.batch = {}", batch), seconds, with(prepared.options.batch), with(batch));
}

ProfileTrial one_thread(const PreparedJob& prepared, double seconds) {
  TrainerOptions options = prepared.options;
  Pace before(prepared, prepared.data.data, options);
  options.compile.threads = 1;
  Pace after(prepared, prepared.data.data, options);
  return compare(
      "train.threads = 1", seconds, [&](double s) { return before.run(s); },
      [&](double s) { return after.run(s); });
}

ProfileTrial fewer_workers(const PreparedJob& prepared, double seconds) {
  TrainingData data = prepared.data.data;
  Pace before(prepared, data, prepared.options);
  data.train.loader.workers = data::kAutomatic;
  Pace after(prepared, data, prepared.options);
  return compare(
      "data.workers as many as pay", seconds, [&](double s) { return before.run(s); },
      [&](double s) { return after.run(s); });
}

/// A step that many times as large still takes a moment, and has the memory.
bool affordable(const Profile& p, double times) {
  constexpr double kLongest = 0.05;  // seconds
  return times * p.step_median < kLongest &&
         times * static_cast<double>(p.facts.arena) < 0.5 * static_cast<double>(free_memory());
}

}  // namespace

std::vector<ProfileTrial> try_changes(PreparedJob& prepared, const Profile& p, double seconds) {
  std::vector<ProfileTrial> out;
  if (p.empty()) return out;
  const ProfileSetting& s = p.setting;
  const std::int64_t batch = std::min(8 * s.batch, s.rows);
  if (!s.stream && batch >= 2 * s.batch && affordable(p, 8))
    out.push_back(larger_batch(prepared, batch, seconds));
  if (!s.stream && p.threads > 1.5 && affordable(p, 2)) out.push_back(one_thread(prepared, seconds));
  if (s.stream && s.workers > s.cores && affordable(p, 1)) out.push_back(fewer_workers(prepared, seconds));
  return out;
}

}  // namespace tightloop::train
