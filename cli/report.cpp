// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include "command.h"

#include <tightloop/train/plan.h>

#include <fmt/format.h>

#include <unistd.h>
#include <algorithm>
#include <cstdio>

namespace tightloop::cli {
namespace {

using Clock = std::chrono::steady_clock;

std::string rate_text(double samples_per_s) {
  if (samples_per_s >= 1e6) return fmt::format("{:.1f} M samples/s", samples_per_s / 1e6);
  if (samples_per_s >= 1e4) return fmt::format("{:.0f} k samples/s", samples_per_s / 1e3);
  return fmt::format("{:.0f} samples/s", samples_per_s);
}

std::string bar(double share) {
  constexpr int width = 28;
  const int full = std::clamp(static_cast<int>(share * width), 0, width);
  return std::string(static_cast<std::size_t>(full), '#') +
         std::string(static_cast<std::size_t>(width - full), '.');
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
    : metrics_(std::move(metrics)), quiet_(quiet), terminal_(isatty(STDOUT_FILENO) != 0) {}

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
  if (!terminal_ || !due()) return;
  const double share = static_cast<double>(p.step) / static_cast<double>(std::max<std::int64_t>(1, p.steps));
  say(fmt::format("\r\033[K[{}] {:3.0f}%  epoch {}/{}  loss {:.5g}  {}", bar(share), 100 * share, p.epoch,
                  p.epochs, p.loss, rate_text(p.samples_per_s)));
  std::fflush(stdout);
}

std::string Report::line(const train::EpochRecord& e) const {
  std::string out = fmt::format("epoch {}  step {}  train loss {:.6g}", e.epoch, e.step, e.train_loss);
  if (e.validation) out += "  validation " + evaluation_text(*e.validation, metrics_);
  return out + "  " + rate_text(e.samples_per_s);
}

void Report::epoch(const train::EpochRecord& e) {
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
