// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/loggers/hub.h>

#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <utility>

namespace tightloop::train {
namespace {

/// Between two looks at the ring: far less than the time in which the fastest steps fill it.
constexpr std::chrono::milliseconds kPause{10};
/// Records handed to loggers at once, so that memory stays small.
constexpr std::size_t kBatch = 4096;
/// Bytes of weights that may wait for the loggers; a single copy may be larger.
constexpr std::size_t kWaitingBytes = 32 << 20;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

LogHub::LogHub(std::vector<std::shared_ptr<Logger>> loggers, std::shared_ptr<Recorder> recorder,
               std::vector<double> constant)
    : loggers_(std::move(loggers)),
      recorder_(std::move(recorder)),
      constant_(std::move(constant)),
      budget_(now()) {
  for (const auto& logger : loggers_) {
    const LoggerWants w = logger->wants();
    wants_ = {wants_.weights || w.weights, wants_.model || w.model, std::max(wants_.samples, w.samples),
              wants_.thinned || w.thinned};
  }
}

LogHub::~LogHub() { close(); }

void LogHub::start(RunInfo info) {
  steps_per_epoch_ = std::max<std::int64_t>(1, info.steps_per_epoch);
  last_step_ = info.resumed_at;
  const auto shared = std::make_shared<const RunInfo>(std::move(info));
  // Before any record, even those that were written before this call.
  messages_.push_back({0, [shared](Logger& logger) {
                         logger.start(*shared);
                         if (shared->resumed_at > 0) logger.rewind(shared->resumed_at);
                       }});
  thread_ = std::thread([this] { run(); });
}

bool LogHub::takes_weights(std::size_t bytes) const {
  if (!wants_.weights) return false;
  const std::lock_guard lock(mutex_);
  return bytes_waiting_ == 0 || bytes_waiting_ + bytes <= kWaitingBytes;
}

void LogHub::epoch(const EpochRecord& record, Weights weights) {
  std::size_t bytes = 0;
  for (const auto& [path, value] : weights) bytes += value.size_bytes();
  post([record, weights = std::move(weights)](Logger& logger) { logger.epoch(record, weights); }, bytes);
}

void LogHub::end(const History& history) {
  if (!started()) return;
  post([&history](Logger& logger) { logger.end(history); });
  close();
}

std::vector<std::string> LogHub::notes() {
  const std::lock_guard lock(mutex_);
  return std::exchange(notes_, {});
}

void LogHub::post(std::function<void(Logger&)> call, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  messages_.push_back({recorder_ == nullptr ? 0 : recorder_->written(), std::move(call), bytes});
  bytes_waiting_ += bytes;
}

void LogHub::close() {
  if (!started()) return;
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void LogHub::run() {
  std::unique_lock lock(mutex_);
  for (bool last = false; !last;) {
    wake_.wait_for(lock, kPause, [this] { return closing_; });
    last = closing_;
    // What is written from here on belongs behind messages that are yet to come.
    const std::uint64_t written = recorder_ == nullptr ? 0 : recorder_->written();
    const std::vector<Message> messages = std::exchange(messages_, {});
    lock.unlock();
    share_out(written);
    std::size_t bytes = 0;
    for (const Message& m : messages) {
      pass_on(m.written);
      tell(m.tell);
      bytes += m.bytes;
    }
    pass_on(written);
    tell([](Logger& logger) { logger.flush(); });
    lock.lock();
    bytes_waiting_ -= bytes;
  }
}

/// How many of the records up to there loggers that want few are told.
void LogHub::share_out(std::uint64_t written) {
  const std::size_t waiting = static_cast<std::size_t>(written - passed_);
  share_ =
      waiting == 0 ? 1 : static_cast<double>(budget_.take(waiting, now())) / static_cast<double>(waiting);
}

void LogHub::tell(const std::function<void(Logger&)>& call) {
  for (auto& logger : loggers_) {
    if (logger == nullptr) continue;
    try {
      call(*logger);
    } catch (const std::exception& e) {
      const std::lock_guard lock(mutex_);
      notes_.push_back(
          fmt::format("logger {}: {}; it writes no more, the training goes on", logger->name(), e.what()));
      logger = nullptr;
    }
  }
}

/// A step that is not later than the one before comes again, and what followed it counts no more.
void LogHub::pass_on(std::uint64_t until) {
  if (recorder_ == nullptr) return;
  const std::size_t own = recorder_->names().size(), width = own + constant_.size();
  values_.resize(kBatch * width);
  steps_.reserve(kBatch);
  recorder_->read(
      [&](std::int64_t step, std::span<const double> values) {
        if (step <= last_step_) {
          pass_on_batch();
          tell([step](Logger& logger) { logger.rewind(step - 1); });
        }
        last_step_ = step;
        double* place = values_.data() + steps_.size() * width;
        std::copy(values.begin(), values.end(), place);
        std::copy(constant_.begin(), constant_.end(), place + own);
        steps_.push_back(step);
        if (steps_.size() == kBatch) pass_on_batch();
      },
      until);
  pass_on_batch();
}

std::int64_t LogHub::epoch_of(std::int64_t step) {
  if (step > epoch_end_ || step <= epoch_end_ - steps_per_epoch_) {
    epoch_ = (step - 1) / steps_per_epoch_ + 1;
    epoch_end_ = epoch_ * steps_per_epoch_;
  }
  return epoch_;
}

void LogHub::pass_on_batch() {
  if (steps_.empty()) return;
  const std::size_t width = values_.size() / kBatch;
  batch_.clear();
  for (std::size_t i = 0; i < steps_.size(); ++i)
    batch_.push_back({steps_[i], epoch_of(steps_[i]), std::span(values_).subspan(i * width, width)});
  thin_batch_.clear();
  if (wants_.thinned) {
    thinner_.thin(batch_, share_ * static_cast<double>(batch_.size()), thin_batch_);
    thinned_ += static_cast<std::int64_t>(batch_.size() - thin_batch_.size());
  }
  passed_ += batch_.size();
  tell([this](Logger& logger) { logger.steps(logger.wants().thinned ? thin_batch_ : batch_); });
  steps_.clear();
}

}  // namespace tightloop::train
