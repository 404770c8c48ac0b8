// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/profile/verdict.h>
#include <tightloop/train/report/numbers.h>

#include <fmt/format.h>
#include <algorithm>

namespace tightloop::train {
namespace {

using report::percent_text;

/// A row is near what the machine can do when it takes at most so many times the least time.
constexpr double kNearLimit = 2.5;
constexpr double kWorthSaying = 0.1;  // of the time

/// Seconds a step of what happens between steps. An evaluation comes as often as the job says, not as often
/// as it came in a short profile.
double between(const ProfileActivity& a, const Profile& p) {
  if (a.count == 0) return 0;
  if (a.kind == SpanKind::evaluation) {
    const ProfileSetting& s = p.setting;
    if (s.evaluate_every == 0) return 0;
    return a.seconds / static_cast<double>(a.count) /
           static_cast<double>(s.evaluate_every * std::max<std::int64_t>(1, s.steps_per_epoch));
  }
  return p.run_steps == 0 ? 0 : a.seconds / static_cast<double>(p.run_steps);
}

double gain_without(double share) { return 1 / std::max(1 - share, 0.01); }

std::string time_text(double seconds) {
  return seconds < 1e-3 ? fmt::format("{:.3g} us", 1e6 * seconds) : report::seconds_text(seconds);
}

class Judge {
 public:
  explicit Judge(const Profile& p) : p_(p), s_(p.setting), whole_(whole_step(p)) {}

  std::vector<Finding> all() {
    loader();
    activities();
    threads();
    kernels();
    std::stable_sort(out_.begin(), out_.end(), [](const auto& a, const auto& b) { return a.gain > b.gain; });
    if (out_.empty()) nothing();
    return std::move(out_);
  }

 private:
  double share(double seconds) const { return seconds / std::max(whole_, 1e-12); }

  void loader() {
    const double part = share(p_.of(SpanKind::load));
    if (part < kWorthSaying) return;
    std::string next = s_.workers == 0
                           ? "let threads make samples ahead: leave data.workers out"
                           : "make the samples once: tightloop pack decodes a folder of images into an array";
    if (const ProfileTrial* t = p_.trial("data.workers"); t != nullptr && t->gain() > 1.1) return;
    const std::string who = s_.workers > 0 ? fmt::format(" on {} workers", s_.workers) : "";
    out_.push_back(
        {"loader", part, gain_without(part),
         fmt::format("{} of the time waits for samples that are loaded{}; the step itself takes {}",
                     percent_text(part), who, time_text(p_.step - p_.of(SpanKind::load))),
         next});
  }

  void activities() {
    double logging = p_.of(SpanKind::record);
    for (const ProfileActivity& a : p_.activities) {
      const double seconds = between(a, p_);
      if (a.kind == SpanKind::logging) logging += seconds;
      if (a.kind == SpanKind::logging || share(seconds) < kWorthSaying) continue;
      if (a.kind == SpanKind::evaluation)
        evaluation(a, share(seconds));
      else
        callback(a, share(seconds));
    }
    if (share(logging) < kWorthSaying) return;
    out_.push_back({"logging", share(logging), gain_without(share(logging)),
                    fmt::format("{} of the time goes to logging", percent_text(share(logging))),
                    "log less often: a larger train.log_every, or fewer train.loggers"});
  }

  void evaluation(const ProfileActivity& a, double part) {
    const double pass = a.seconds / static_cast<double>(a.count);
    out_.push_back({"evaluation", part, gain_without(part),
                    fmt::format("{} of the time goes to validation: {} after every {} step{}",
                                percent_text(part), time_text(pass), s_.evaluate_every * s_.steps_per_epoch,
                                s_.evaluate_every * s_.steps_per_epoch == 1 ? "" : "s"),
                    "validate less often (train.evaluate_every, longer epochs) or on fewer rows "
                    "(train.limit_validation_batches)"});
  }

  void callback(const ProfileActivity& a, double part) {
    const bool files = a.name == "checkpoint";
    out_.push_back(
        {files ? "checkpoint" : "callbacks", part, gain_without(part),
         fmt::format("{} of the time goes to {}: {} of them took {} each", percent_text(part),
                     files ? "checkpoints" : "the callback " + a.name, a.count,
                     time_text(a.seconds / static_cast<double>(a.count))),
         files ? "write checkpoints less often: train.checkpoint" : "let it do less between steps"});
  }

  void threads() {
    const double part = share(p_.of(SpanKind::wait));
    const ProfileTrial* one = p_.trial("train.threads");
    const ProfileTrial* workers = p_.trial("data.workers");
    if (workers != nullptr && workers->gain() > 1.1) {
      out_.push_back({"threads", 1 - 1 / workers->gain(), workers->gain(),
                      fmt::format("{} loader threads share {} core{} with the steps", s_.workers, s_.cores,
                                  s_.cores == 1 ? "" : "s"),
                      "leave data.workers out, so that as many run as pay"});
      return;
    }
    const bool slower = one != nullptr && one->gain() > 1.05;
    if (!slower && part < 2 * kWorthSaying) return;
    out_.push_back(
        {"threads", part, slower ? one->gain() : gain_without(part / 2),
         fmt::format("{:.2g} threads wait {} of the time for each other", p_.threads, percent_text(part)),
         slower ? one->what
                : "a larger batch gives them more to do between two meetings; other "
                  "programs on this machine may hold their cores"});
  }

  /// Kernels against what the machine can do.
  void kernels() {
    double computing = 0, memory = 0, arithmetic = 0;
    for (const ProfileRow& row : p_.rows) {
      if (row.kind != SpanKind::kernel && row.kind != SpanKind::rows) continue;
      computing += row.seconds;
      if (row.floor * kNearLimit < row.seconds) continue;
      (row.by_memory ? memory : arithmetic) += row.seconds;
    }
    const double bound = memory + arithmetic;
    if (bound < 0.5 * computing) overhead(computing);
    if (share(memory) > 0.3 && memory >= arithmetic) memory_bound(memory);
    if (share(arithmetic) > 0.3 && arithmetic > memory) compute_bound(arithmetic);
  }

  void overhead(double computing) {
    const ProfileTrial* t = p_.trial("data.batch");
    const bool small = p_.step_median < 2e-4 && s_.batch < 256;
    if (share(computing) < 0.3 || (t != nullptr ? t->gain() < 1.3 : !small)) {
      if (share(computing) > 0.5) far_from_limit(computing);
      return;
    }
    out_.push_back(
        {"batch", share(computing), t != nullptr ? t->gain() : 2,
         fmt::format("a batch of {} is too small to fill a step: {} of its {} are needed by the "
                     "arithmetic and the memory, the rest is overhead",
                     s_.batch, percent_text(p_.floor() / std::max(computing, 1e-12)), time_text(computing)),
         t != nullptr ? fmt::format("{} (with a rate to match)", t->what)
                      : "a larger data.batch (with a rate to match)"});
  }

  void far_from_limit(double computing) {
    const auto longest = std::max_element(p_.rows.begin(), p_.rows.end(), [](const auto& a, const auto& b) {
      return a.seconds - a.floor < b.seconds - b.floor;
    });
    out_.push_back(
        {"kernels", share(computing), 1,
         fmt::format("the step computes, at {} of what this machine could do; most is lost in {} ({})",
                     percent_text(p_.floor() / std::max(computing, 1e-12)), longest->label,
                     percent_text(share(longest->seconds))),
         "nothing in the job stands out"});
  }

  void memory_bound(double memory) {
    double update = 0;
    for (const ProfileRow& row : p_.rows)
      if (row.category == "update" && row.by_memory) update += row.seconds;
    const ProfileTrial* t = p_.trial("data.batch");
    const bool batch = t != nullptr && t->gain() > 1.15;
    const double gain = batch ? t->gain() : gain_without(share(memory) / 2);
    std::string next = batch ? t->what + ", so that weights are read less often a sample"
                       : update > memory / 2
                           ? "train.accumulate or a larger batch, so that the optimizer runs less often"
                           : "a smaller type for what is read, such as bf16 weights";
    out_.push_back(
        {"memory", share(memory), gain,
         fmt::format("{} of the time the memory is the limit: the step moves {} of the {:.3g} GB/s "
                     "that it can",
                     percent_text(share(memory)), rate_of(memory), p_.bandwidth),
         next});
  }

  /// What the rows that the memory bounds move, of its rate.
  std::string rate_of(double seconds) const {
    double bytes = 0;
    for (const ProfileRow& row : p_.rows)
      if (row.by_memory && row.floor * kNearLimit >= row.seconds) bytes += row.bytes;
    return fmt::format("{:.3g}", 1e-9 * bytes / std::max(seconds, 1e-12));
  }

  void compute_bound(double arithmetic) {
    const double part = share(arithmetic);
    const std::string what = fmt::format(
        "{} of the time the arithmetic is the limit: {} of the peak of {:.4g} "
        "GFLOP/s in f32",
        percent_text(part), percent_text(p_.floor() / std::max(p_.step, 1e-12)), p_.peak_gflops);
    if (s_.f32 && s_.fast_bf16)
      out_.push_back({"f32", part, gain_without(part / 2), what + ", and this processor is faster in bf16",
                      "train.precision = \"bf16\""});
    else
      out_.push_back({"compute", part, 1, what,
                      "a smaller model or fewer epochs; the hardware has nothing faster to offer"});
  }

  void nothing() {
    out_.push_back({"kernels", share(p_.step), 1,
                    fmt::format("nothing stands out: a step takes {}, {} of it at the machine's limit",
                                time_text(p_.step), percent_text(p_.floor() / std::max(p_.step, 1e-12))),
                    "nothing in the job asks to be changed"});
  }

  const Profile& p_;
  const ProfileSetting& s_;
  double whole_;
  std::vector<Finding> out_;
};

std::string sentence(const Finding& f) {
  std::string text = f.what + ". Next: " + f.next;
  if (f.gain > 1.02) text += fmt::format(" (expected {:.2g} x)", f.gain);
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text + ".";
}

}  // namespace

double whole_step(const Profile& profile) {
  double sum = profile.step;
  for (const ProfileActivity& a : profile.activities) sum += between(a, profile);
  return sum;
}

std::vector<Finding> judge(const Profile& profile) {
  return profile.empty() ? std::vector<Finding>() : Judge(profile).all();
}

std::string verdict_text(const Profile& profile) {
  const auto findings = judge(profile);
  if (findings.empty()) return "No step was profiled.";
  std::string out = sentence(findings[0]);
  for (std::size_t i = 1; i < std::min<std::size_t>(findings.size(), 3); ++i)
    out += " Also: " + sentence(findings[i]);
  return out;
}

}  // namespace tightloop::train
