// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include "command.h"

#include <tightloop/train/plan.h>

#include <fmt/format.h>

#include <unistd.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace tightloop::cli {
namespace {

using Clock = std::chrono::steady_clock;

/// A terminal that understands "to the start of the line, and clear it".
bool is_terminal() {
  const char* kind = std::getenv("TERM");
  return isatty(STDOUT_FILENO) != 0 && (kind == nullptr || std::string_view(kind) != "dumb");
}

}  // namespace

std::string idle_text(const train::PreparedJob& prepared) {
  const auto idle = train::idle_parameters(prepared);
  if (idle.empty()) return "";
  return fmt::format("warning: no part in the loss, and so not trained: {}\n", fmt::join(idle, ", "));
}

void warn_of(const std::vector<std::string>& notes) {
  constexpr std::size_t most = 10;
  for (std::size_t i = 0; i < std::min(most, notes.size()); ++i)
    fmt::print(stderr, "tightloop: warning: {}\n", notes[i]);
  if (notes.size() > most) fmt::print(stderr, "tightloop: warning: and {} more\n", notes.size() - most);
}

std::string evaluation_text(const train::Evaluation& e, const std::vector<std::string>& metrics) {
  std::string out = fmt::format("loss {:.6g}", e.loss);
  for (std::size_t i = 0; i < metrics.size(); ++i)
    out += fmt::format("  {} {:.4g}", metrics[i], e.metrics[i]);
  return out;
}

Report::Report(std::vector<std::string> metrics, bool quiet)
    : metrics_(std::move(metrics)), quiet_(quiet), terminal_(is_terminal()), colour_(wants_colour()) {}

bool Report::stop() { return interrupted(); }

/// True at most twice a second on a pipe, ten times on a terminal.
bool Report::due() {
  const auto now = Clock::now();
  if (now - last_ < std::chrono::milliseconds(terminal_ ? 100 : 500)) return false;
  last_ = now;
  return true;
}

void Report::progress(const train::Progress& p) {
  if (quiet_) return;
  if (verifying_ > 0 && p.step >= std::min(verifying_, p.steps)) {
    say(fmt::format("verify: compiled and interpreted values agree in the first {}\n",
                    count_text(p.step, "step")));
    verifying_ = 0;
  }
  const auto left = seconds_left(p);
  if (!terminal_ || !due()) return;
  const ProgressLine line{p, metrics_, validation_, left};
  say("\r\033[K" + line.text(terminal_width(), colour_));
  std::fflush(stdout);
}

/// As the steps so far went; nothing in the first moments.
std::optional<double> Report::seconds_left(const train::Progress& p) {
  if (first_step_ < 0) {
    first_step_ = p.step;
    first_time_ = Clock::now();
  }
  const double passed = std::chrono::duration<double>(Clock::now() - first_time_).count();
  const auto done = static_cast<double>(p.step - first_step_);
  if (done <= 0 || passed < 0.2) return {};
  return static_cast<double>(p.steps - p.step) * passed / done;
}

std::string Report::line(const train::EpochRecord& e) const {
  std::string out = fmt::format("epoch {}  step {}  train loss {:.6g}", e.epoch, e.step, e.train_loss);
  if (e.validation) out += "  validation " + evaluation_text(*e.validation, metrics_);
  return out + "  " + rate_text(e.samples_per_s);
}

void Report::epoch(const train::EpochRecord& e) {
  if (e.validation) validation_ = e.validation;
  if (quiet_ || terminal_ || (e.epoch > 1 && !due())) return;
  shown_ = e.epoch;
  say(line(e) + "\n");
  std::fflush(stdout);
}

void Report::note(const std::string& text) {
  if (quiet_) return;
  say((terminal_ ? "\r\033[K" : "") + text + "\n");
  std::fflush(stdout);
}

void Report::resumed(const train::History& before, std::int64_t step) {
  note(fmt::format("going on after {} ({})", count_text(step, "step"),
                   count_text(static_cast<std::int64_t>(before.epochs.size()), "epoch")));
}

void Report::finish(const train::History& history, const std::string& directory) {
  if (!history.skipped.empty())
    fmt::print(stderr, "{}tightloop: warning: {} left out:\n", terminal_ ? "\n" : "",
               count_text(static_cast<std::int64_t>(history.skipped.size()), "sample"));
  warn_of(history.skipped);
  if (quiet_ || history.epochs.empty()) return;
  const train::EpochRecord& last = history.epochs.back();
  if (terminal_) say("\r\033[K");
  if (shown_ != last.epoch) say(line(last) + "\n");
  if (!history.reason.empty()) say(fmt::format("ended early: {}\n", history.reason));
  say(fmt::format("{} {} in {:.2f} s; the run is in {}\n", history.stopped ? "stopped after" : "trained",
                  count_text(history.steps, "step"), last.seconds, directory));
}

}  // namespace tightloop::cli
