// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/callbacks/checkpoint.h>
#include <tightloop/train/callbacks/index.h>

#include <fmt/format.h>
#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>

namespace tightloop::train {

namespace fs = std::filesystem;

namespace {

constexpr double kBestPause = 1;  ///< seconds from one file of the best epoch to the next

}  // namespace

CheckpointFiles::CheckpointFiles(CheckpointOptions options)
    : options_(std::move(options)), monitor_(options_.monitor, options_.mode) {
  const auto whole = [](const char* what, std::int64_t value) {
    if (value < 0) throw Error(fmt::format("checkpoint: {} must be 0 or greater, not {}", what, value));
  };
  whole("every_epochs", options_.every_epochs);
  whole("every_steps", options_.every_steps);
  whole("keep", options_.keep);
  if (!(options_.every_minutes >= 0) || !std::isfinite(options_.every_minutes))
    throw Error(
        fmt::format("checkpoint: every_minutes must be 0 or greater, not {}", options_.every_minutes));
}

std::int64_t CheckpointFiles::pause_after(std::int64_t step) const {
  if (options_.every_steps == 0) return std::numeric_limits<std::int64_t>::max();
  return (step / options_.every_steps + 1) * options_.every_steps;
}

void CheckpointFiles::start(Run& run) {
  monitor_ = Monitor(options_.monitor, options_.mode);
  monitor_.start(run.facts(), "checkpoint");
  written_ = resumed_at_ = -1;
  written_at_ = run.seconds();
  begun_ = ended_ = false;
  best_epochs_ = 0;
  best_written_at_ = -kBestPause;
  failure_.clear();
}

void CheckpointFiles::step(Run& run) {
  const bool by_steps = options_.every_steps > 0 && run.step() % options_.every_steps == 0;
  const bool by_time =
      options_.every_minutes > 0 && run.seconds() - written_at_ >= 60 * options_.every_minutes;
  if (by_steps || (by_time && !writer_.busy())) write_step(run);
  if (may_write_best(run)) write_best(run);
}

void CheckpointFiles::epoch(Run& run, const EpochRecord& record) {
  if (run.ended_inside_epoch()) return;
  const auto value = options_.best ? monitor_.value(run, record) : std::nullopt;
  if (value && monitor_.better(*value)) keep_best(run);
  if (!ended_ && options_.every_epochs > 0 && record.epoch % options_.every_epochs == 0) {
    written_ = -1;  // one of this step lacks the epoch's record
    write_step(run);
  }
}

bool CheckpointFiles::may_write_best(const Run& run) const {
  return run.seconds() - best_written_at_ >= kBestPause && !writer_.busy();
}

/// The best checkpoint tells that its own epoch was the best.
void CheckpointFiles::keep_best(Run& run) {
  best_ = run.states_only(std::move(best_));
  best_epochs_ = run.history().epochs.size();
  if (ended_ || may_write_best(run)) write_best(run);
}

void CheckpointFiles::write_best(Run& run) {
  if (best_epochs_ == 0) return;
  run.add_history(best_, std::exchange(best_epochs_, 0));
  best_written_at_ = run.seconds();
  write(run, std::exchange(best_, {}), kBestCheckpoint, false);
}

/// The run ends by what it met, and no other function is called.
bool CheckpointFiles::recover(Run& run, const NonFinite&) {
  write_best(run);
  finish(run);
  return false;
}

void CheckpointFiles::end(Run& run) {
  ended_ = true;
  write_best(run);
  if (run.history().stopped ? options_.on_stop : options_.at_end) {
    if (!run.ended_inside_epoch()) written_ = -1;
    write_step(run);
  }
}

void CheckpointFiles::finish(const Run& run) {
  try {
    writer_.wait();
  } catch (const Error& e) {
    fail(run, e);
  }
}

void CheckpointFiles::weights(Run& run) {
  finish(run);
  writer_.take_back();
  if (!failure_.empty() && run.history().stopped)
    throw Error(fmt::format("{}; interrupted, the run can go on from the checkpoints before only", failure_));
}

void CheckpointFiles::write_step(Run& run) {
  if (written_ == run.step()) return;
  written_ = run.step();
  written_at_ = run.seconds();
  write(run, {}, checkpoint_name(run.step()), true);
}

void CheckpointFiles::begin() {
  if (begun_) return;
  if (options_.first) options_.first();
  std::error_code ec;
  fs::create_directories(options_.directory, ec);
  if (ec) throw Error(fmt::format("{}: cannot be made: {}", options_.directory, ec.message()));
  begun_ = true;
  if (resumed_at_ >= 0) forget_later();
}

/// A file that cannot be written does not end the run: those before stay, and the next may go well.
void CheckpointFiles::fail(const Run& run, const Error& e) {
  failure_ = e.what();
  run.note(fmt::format("no checkpoint: {}; the training goes on", failure_));
}

void CheckpointFiles::write(Run& run, std::optional<Checkpoint> given, const std::string& name,
                            bool rotates) {
  try {
    writer_.wait();
    failure_.clear();
    begin();
  } catch (const Error& e) {
    return fail(run, e);
  }
  Checkpoint checkpoint = given ? std::move(*given) : run.checkpoint(writer_.take_back());
  checkpoint.metadata.insert(options_.metadata.begin(), options_.metadata.end());
  writer_.write((fs::path(options_.directory) / name).string(), std::move(checkpoint), [this, rotates] {
    if (rotates) rotate();
  });
}

/// Those of the way that the run has left by going on from an earlier one.
void CheckpointFiles::forget_later() const {
  std::error_code ec;
  for (const auto& path : checkpoints_in(options_.directory))
    if (step_in_name(path) > resumed_at_) fs::remove(path, ec);
}

void CheckpointFiles::rotate() const {
  const auto files = checkpoints_in(options_.directory);
  if (options_.keep == 0) return;
  std::error_code ec;
  for (std::size_t i = static_cast<std::size_t>(options_.keep); i < files.size(); ++i)
    fs::remove(files[i], ec);
}

Saved CheckpointFiles::save() const { return {{"best", Array::scalar<double>(monitor_.best())}}; }

void CheckpointFiles::load(Run& run, const Saved& saved) {
  const auto best = saved.find("best");
  if (best != saved.end() && best->second.count() == 1) monitor_.set_best(best->second.at(0));
  written_ = resumed_at_ = run.step();
  written_at_ = run.seconds();
}

const CallbackDef& checkpoint_callback() {
  static const CallbackDef def{
      "checkpoint",
      "files from which the run can go on",
      "every_epochs",
      {{"every_epochs", OptionType::integer, {}, "epochs; 1 where no other interval is given"},
       {"every_steps", OptionType::integer, std::int64_t{0}},
       {"every_minutes", OptionType::number, 0.0},
       {"keep", OptionType::integer, std::int64_t{1}, "newest files that stay; 0: all"},
       {"best", OptionType::boolean, true, "also one of the best epoch"},
       {"monitor", OptionType::text, std::string(), "the metric that tells the best"},
       {"mode", OptionType::text, {}, "min or max: what is better"}},
      [](const Options& o) -> std::shared_ptr<Callback> {
        CheckpointOptions c;
        c.every_steps = o.at<std::int64_t>("every_steps");
        c.every_minutes = o.at<double>("every_minutes");
        const bool other = c.every_steps > 0 || c.every_minutes > 0;
        c.every_epochs = o.has("every_epochs") ? o.at<std::int64_t>("every_epochs") : other ? 0 : 1;
        c.keep = o.at<std::int64_t>("keep");
        c.best = o.at<bool>("best");
        c.monitor = o.at<std::string>("monitor");
        c.mode = mode_of("checkpoint", o);
        return std::make_shared<CheckpointFiles>(std::move(c));
      }};
  return def;
}

}  // namespace tightloop::train
