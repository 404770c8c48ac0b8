// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/train/tune/pairs.h>
#include <tightloop/train/tune/tuner.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

namespace tightloop::train::tune {
namespace {

constexpr double kLeastSlice = 0.05, kMostSlice = 0.5;  // seconds of a trial
constexpr std::size_t kLeastPairs = 5;                  // that a verdict needs
constexpr double kScreened = 0.6, kCombined = 0.85;     // of the time, at the end of a part of the search
constexpr double kSameLoss = 1e-4;                      // relatively, of what should be the same bits

std::string key_of(const std::string& setting) { return setting.substr(0, setting.find('=')); }

/// A key that both set.
std::string shared_key(const Settings& a, const Settings& b) {
  for (const auto& x : a)
    for (const auto& y : b)
      if (key_of(x) == key_of(y)) return key_of(x);
  return "";
}

Settings joined(Settings a, const Settings& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::string times(double factor) { return fmt::format("{:.3g} x", factor); }

class Search {
 public:
  Search(const std::vector<Proposed>& moves, Measurer& measurer, const TuneOptions& options,
         const Progressed& progressed)
      : moves_(moves),
        measurer_(measurer),
        options_(options),
        progressed_(progressed),
        start_(measurer.now()) {}

  TuneResult run() {
    try {
      measure_job();
      for (const Proposed& move : moves_) screen(move);
      combine();
      confirm();
    } catch (const Interrupted&) {
      stop_here();
    }
    result_.seconds = measurer_.now() - start_;
    finish();
    return std::move(result_);
  }

 private:
  void tell(const std::string& line) const {
    if (progressed_) progressed_(line);
  }

  double until(double share) const { return start_ + share * options_.seconds; }

  std::size_t variants() const {
    std::size_t out = 0;
    for (const Proposed& move : moves_) out += move.proposal.variants.size();
    return out;
  }

  /// The job as it is, twice: the first trial fills caches. What a trial costs beside its slice tells how
  /// long slices can be, and whether the time suffices.
  void measure_job() {
    result_.memory = measurer_.memory({});
    measurer_.seconds_per_sample({}, kLeastSlice);
    const double before = measurer_.now();
    result_.seconds_per_sample = measurer_.seconds_per_sample({}, kLeastSlice);
    const double beside = std::max(0.0, measurer_.now() - before - kLeastSlice);
    const double spent = measurer_.now() - start_;
    const double trials = 2.0 * kLeastPairs;
    const double least = std::ceil((spent + trials * (kLeastSlice + beside)) / kScreened);
    if (variants() > 0 && least > options_.seconds)
      throw Error(
          fmt::format("tune: {} s are too little for one move of this job, whose trials take {:.2f} s at "
                      "least; take --time {:.0f}s or more",
                      options_.seconds, kLeastSlice + beside, least));
    const double each = (kScreened * options_.seconds - spent) /
                        (trials * static_cast<double>(std::max<std::size_t>(1, variants())));
    slice_ = std::clamp(each - beside, kLeastSlice, kMostSlice);
    tell(fmt::format("the job takes {:.4g} us a sample; {} ways to try, in trials of {:.2f} s",
                     1e6 * result_.seconds_per_sample, variants(), slice_));
  }

  PairOptions pairs(double deadline, bool hasty) const {
    PairOptions out{.slice = slice_, .deadline = deadline};
    out.least_gain = options_.least_gain, out.level = options_.level;
    out.most = options_.most_pairs, out.hasty = hasty;
    return out;
  }

  Outcome& add_outcome(const Proposed& move, const Variant& variant, std::string why) {
    Outcome& out = result_.outcomes.emplace_back();
    out.move = move.move, out.effect = move.effect;
    out.label = variant.label, out.sets = variant.sets;
    out.why = std::move(why);
    return out;
  }

  void screen(const Proposed& move) {
    if (move.proposal.variants.empty()) add_outcome(move, {}, move.proposal.skipped);
    double before = 1;
    for (const Variant& variant : move.proposal.variants) {
      Outcome& outcome = add_outcome(move, variant, "interrupted");
      measure(outcome);
      const double gain = outcome.gain ? outcome.gain->middle : 0;
      tell(fmt::format("{:<14} {:<34} {}", move.move, variant.label, gain > 0 ? times(gain) : outcome.why));
      if (move.proposal.ladder && gain < before * (1 + options_.least_gain)) break;
      before = gain;
    }
  }

  /// One way beside the job as it is.
  void measure(Outcome& outcome) {
    try {
      outcome.memory = measurer_.memory(outcome.sets);
      const Comparison c = compare(measurer_, {}, outcome.sets, pairs(until(kScreened), true));
      note(outcome, c);
      if (c.verdict == Verdict::faster) check_loss(outcome);
    } catch (const Error& e) {
      outcome.why = std::string("failed: ") + e.what();
    }
  }

  void note(Outcome& outcome, const Comparison& c) const {
    outcome.pairs = c.ratios.size();
    outcome.why = "not tried: the time was up";
    if (c.ratios.empty()) return;
    outcome.gain = c.gain;
    if (c.verdict == Verdict::faster)
      outcome.why = "interrupted before its loss was looked at";
    else if (c.verdict == Verdict::slower)
      outcome.why = "slower";
    else if (c.verdict == Verdict::noise)
      outcome.why = c.gain.middle < 1 / (1 + options_.least_gain) ? "slower" : "no gain beyond noise";
    else if (c.verdict == Verdict::open)
      outcome.why = outcome.pairs < options_.most_pairs ? "undecided: the time was up" : "within noise";
  }

  /// Fills in the loss, and why the move is not taken for it.
  void check_loss(Outcome& outcome) {
    need_loss();
    outcome.loss = measurer_.loss(outcome.sets, false);
    outcome.why = complaint(*outcome.loss, outcome.effect);
  }

  void need_loss() {
    if (result_.loss) return;
    const double loss = measurer_.loss({}, false);
    const double other = measurer_.loss({}, true);
    result_.allowance = std::max(options_.band * std::fabs(loss), std::fabs(other - loss));
    result_.loss = loss;
  }

  /// "" for a loss that is as good as the job's.
  std::string complaint(double loss, Effect effect) const {
    const double before = *result_.loss, worse = loss - before;
    if (!std::isfinite(loss)) return "the loss is lost";
    if (effect != Effect::numbers && std::fabs(worse) > kSameLoss * std::max(std::fabs(before), 1e-12))
      return fmt::format("the loss is {:.5g} and not {:.5g}, though nothing should change it", loss, before);
    if (worse > result_.allowance)
      return fmt::format("the loss is {:.4g} higher after the same samples, and {:.4g} may be", worse,
                         result_.allowance);
    return "";
  }

  /// The best way of each move that gains and keeps the loss, the largest gain first.
  std::vector<Outcome*> gainers() {
    std::vector<Outcome*> out;
    for (Outcome& o : result_.outcomes) {
      if (!o.loss || !o.why.empty()) continue;
      const auto same = std::find_if(out.begin(), out.end(), [&](Outcome* x) { return x->move == o.move; });
      if (same == out.end()) {
        out.push_back(&o);
      } else if (o.gain->middle > (*same)->gain->middle) {
        (*same)->why = "another way gains more";
        *same = &o;
      } else {
        o.why = "another way gains more";
      }
    }
    std::stable_sort(out.begin(), out.end(),
                     [](auto* a, auto* b) { return a->gain->middle > b->gain->middle; });
    return out;
  }

  void combine() {
    for (Outcome* o : gainers()) {
      const std::string key = shared_key(result_.taken, o->sets);
      if (!key.empty())
        o->why = "another move that was taken sets " + key;
      else if (result_.taken.empty())
        take(*o, *o->loss);
      else
        add(*o);
    }
  }

  void add(Outcome& o) {
    o.why = "interrupted before it was tried beside the others";
    try {
      const Settings together = joined(result_.taken, o.sets);
      const Comparison c = compare(measurer_, result_.taken, together, pairs(until(kCombined), false));
      if (c.ratios.empty()) {
        o.why = "not tried beside the others: the time was up";
        return;
      }
      tell(fmt::format("{:<14} {:<34} {} beside those taken", o.move, o.label, times(c.gain.middle)));
      if (c.verdict != Verdict::faster) {
        o.why = fmt::format("beside those taken it gains nothing ({})", times(c.gain.middle));
        return;
      }
      const double loss = measurer_.loss(together, false);
      const std::string problem = complaint(loss, Effect::numbers);
      if (problem.empty())
        take(o, loss);
      else
        o.why = "beside those taken " + problem;
    } catch (const Error& e) {
      o.why = std::string("failed beside those taken: ") + e.what();
    }
  }

  void take(Outcome& o, double loss) {
    o.taken = true;
    o.why.clear();
    result_.taken = joined(result_.taken, o.sets);
    result_.tuned_loss = loss;
  }

  void confirm() {
    if (result_.taken.empty()) return;
    PairOptions options = pairs(until(1), false);
    options.least = kLeastPairs;
    try {
      const Comparison c = compare(measurer_, {}, result_.taken, options);
      result_.confirmed = c.gain;
      result_.seconds_per_sample = median(c.first);
      result_.tuned_memory = measurer_.memory(result_.taken);
      if (c.verdict != Verdict::faster)
        give_up(fmt::format("the last trials did not confirm the gain ({})", times(c.gain.middle)));
    } catch (const Error& e) {
      give_up(std::string("failed in the last trials: ") + e.what());
    }
  }

  void give_up(const std::string& why) {
    for (Outcome& o : result_.outcomes)
      if (o.taken) o.taken = false, o.why = why;
    result_.taken.clear();
    result_.tuned_loss.reset(), result_.tuned_memory.reset();
  }

  /// What was taken stays, else the best single move is taken.
  void stop_here() {
    result_.interrupted = true;
    for (const Proposed& move : moves_)
      if (std::none_of(result_.outcomes.begin(), result_.outcomes.end(),
                       [&](const Outcome& o) { return o.move == move.move; }))
        add_outcome(move, {}, "not tried: interrupted");
    if (!result_.taken.empty()) return;
    const std::vector<Outcome*> best = gainers();
    if (!best.empty()) take(*best[0], *best[0]->loss);
  }

  void finish() {
    for (Outcome& o : result_.outcomes)
      if (o.taken)
        o.why = "taken";
      else if (o.why.empty())
        o.why = result_.interrupted ? "interrupted before it was tried beside the others" : "no gain";
    result_.ending = ending();
  }

  std::string ending() const {
    const std::string stopped = result_.interrupted ? "interrupted; " : "";
    if (result_.taken.empty())
      return stopped + "nothing found that makes this job faster beyond noise: it stays as it is";
    if (!result_.confirmed) return stopped + "what is taken was not measured once more together";
    return fmt::format("{}{} faster for the same samples ({} to {})", stopped,
                       times(result_.confirmed->middle), times(result_.confirmed->low),
                       times(result_.confirmed->high));
  }

  const std::vector<Proposed>& moves_;
  Measurer& measurer_;
  TuneOptions options_;
  const Progressed& progressed_;
  double start_;
  double slice_ = kLeastSlice;
  TuneResult result_;
};

}  // namespace

TuneResult search(const std::vector<Proposed>& moves, Measurer& measurer, const TuneOptions& options,
                  const Progressed& progressed) {
  return Search(moves, measurer, options, progressed).run();
}

}  // namespace tightloop::train::tune
