// SPDX-License-Identifier: Apache-2.0
#include "series.h"

#include "command.h"
#include "report.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>

namespace tightloop::cli {
namespace {

/// The bar of one run of several; its epochs get no lines.
class MemberReport : public Report {
 public:
  using Report::Report;
  void epoch(const train::EpochRecord&) override {}
};

std::string numbers_text(const train::MemberResult& r) {
  std::string out = fmt::format("{}  seed {}", r.member.name(), r.member.seed);
  if (!r.failure.empty()) return out + "  failed: " + r.failure;
  for (const auto& [name, value] : r.values) out += fmt::format("  {} {:.6g}", name, value);
  return out + fmt::format("  {:.2f} s", r.seconds);
}

class SeriesReport : public train::SeriesObserver {
 public:
  SeriesReport(std::int64_t verify_steps, bool quiet) : verify_steps_(verify_steps), quiet_(quiet) {}

  train::Observer* begin(const train::Member&, train::PreparedJob& prepared) override {
    report_ = std::make_unique<MemberReport>(prepared.metric_names, quiet_);
    if (first_) {
      warn_of(prepared.data.notes);
      for (const auto& note : prepared.notes) report_->note(note);
      if (!quiet_) say(idle_text(prepared));
    }
    first_ = false;
    prepared.options.verify_steps = verify_steps_;
    if (verify_steps_ > 0) report_->verifying(verify_steps_);
    return report_.get();
  }

  void end(const train::MemberResult& result, bool earlier) override {
    if (quiet_ && result.failure.empty()) return;
    if (report_ == nullptr) report_ = std::make_unique<MemberReport>(std::vector<std::string>(), false);
    if (quiet_) return fmt::print(stderr, "tightloop: {}\n", numbers_text(result));
    report_->note(numbers_text(result) + (earlier ? "  (trained before)" : ""));
  }

 private:
  std::int64_t verify_steps_;
  bool quiet_;
  bool first_ = true;
  std::unique_ptr<MemberReport> report_;
};

}  // namespace

std::string summary_text(const train::SeriesResult& result) {
  const auto summary = result.summary();
  if (summary.empty()) return "";
  std::string out = fmt::format("{:<18} {:>12} {:>12}   95 % interval of the mean, {}\n", "", "mean", "std",
                                count_text(summary.front().second.count, "run"));
  for (const auto& [name, s] : summary) {
    out += fmt::format("{:<18} {:>12.6g}", name, s.mean);
    out += s.count > 1 ? fmt::format(" {:>12.6g}   {:.6g} to {:.6g}\n", s.deviation, s.low, s.high)
                       : fmt::format(" {:>12}\n", "-");
  }
  return out;
}

int run_series(const train::Job& job, bool resume, std::int64_t verify_steps, bool quiet) {
  SeriesReport report(verify_steps, quiet);
  catch_interrupt();
  const train::SeriesResult result = train::run_series(job, job.output.directory, report, resume);
  const auto all = static_cast<std::int64_t>(train::members_of(job).size());
  if (!quiet) {
    say(summary_text(result));
    say(fmt::format("{} of {} runs; they are in {}\n", result.members.size() - result.failures(), all,
                    job.output.directory));
  }
  if (!result.others.empty() && !quiet)
    say(fmt::format("of an earlier training there are still {}\n", fmt::join(result.others, ", ")));
  if (result.stopped) {
    if (!quiet) say("go on with them by the same command with --resume\n");
    return kResumable;
  }
  if (result.failures() == 0) return 0;
  if (result.failures() == all)
    fmt::print(stderr, "tightloop: all {} runs failed\n", all);
  else
    fmt::print(stderr, "tightloop: {} of {} runs failed; the mean is that of the others\n", result.failures(),
               all);
  return 2;
}

}  // namespace tightloop::cli
