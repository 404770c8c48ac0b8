// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/data/loader.h>
#include <tightloop/engine/machine.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>

namespace tightloop::data {
namespace {

using Clock = std::chrono::steady_clock;

double seconds(Clock::duration d) { return std::chrono::duration<double>(d).count(); }

/// A sample that could not be made.
struct Failure {
  std::int64_t position;  ///< in the batch
  std::string what;
};

/// A buffer and the batch that is being made in it.
struct Slot {
  LoadedBatch batch;
  std::vector<Array> buffers;  ///< of full batches
  Array numbers;
  SampleKey key;
  std::int64_t size = 0;
  std::int64_t claimed = 0;  ///< samples that a thread has taken on
  std::int64_t done = 0;
  std::vector<Failure> failures;

  Slot(const Samples& samples, std::int64_t rows) : numbers(DType::i64, {rows}) {
    for (const SampleField& f : samples.fields()) {
      std::vector<std::int64_t> dims{rows};
      dims.insert(dims.end(), f.dims.begin(), f.dims.end());
      buffers.emplace_back(f.dtype, std::move(dims));
    }
  }

  std::byte* row(std::size_t field, std::int64_t position) {
    Array& a = buffers[field];
    return a.bytes() +
           static_cast<std::size_t>(position) * (a.size_bytes() / static_cast<std::size_t>(a.dims()[0]));
  }
};

/// Part of a slot's batch.
struct Claim {
  Slot* slot = nullptr;
  std::int64_t first = 0;
  std::int64_t end = 0;
};

Array first_rows(Array& buffer, std::int64_t rows) {
  std::vector<std::int64_t> dims = buffer.dims();
  dims[0] = rows;
  return Array::borrow(buffer.dtype(), std::move(dims), buffer.bytes(), std::make_shared<Array>(buffer));
}

std::string message_of(const Samples& samples, std::int64_t number, const std::string& what) {
  const std::string name = samples.name(number), plain = "sample " + std::to_string(number + 1);
  return (what.starts_with(name) ? what : name + ": " + what) + (name == plain ? "" : " (" + plain + ")");
}

/// The time of steps, from when a batch was handed over until the next is asked for.
class StepClock {
 public:
  void asked() {
    if (given_) steps_.push_back(seconds(Clock::now() - end_));
  }
  void answered() {
    given_ = true;
    end_ = Clock::now();
  }
  /// The first step is not like the others.
  bool knows() const { return steps_.size() > 2; }
  double typical() const {
    std::vector<double> v(steps_.begin() + 1, steps_.end());
    std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
    return v[v.size() / 2];
  }

 private:
  bool given_ = false;
  Clock::time_point end_;
  std::vector<double> steps_;
};

}  // namespace

int workers_that_pay(double fill_s, double step_s, int cores) {
  constexpr double kHandOver = 100e-6;  // waking threads and caches that must be filled anew
  if (cores < 2 || fill_s < kHandOver || fill_s < 0.01 * step_s) return 0;
  const double wanted = std::ceil(fill_s / std::max(step_s, 1e-9));  // the caller helps while it waits
  return static_cast<int>(std::clamp(wanted, 1.0, static_cast<double>(cores - 1)));
}

class Loader::Impl {
 public:
  Impl(std::shared_ptr<const Samples> samples, const Sampling& sampling, const LoaderOptions& options)
      : samples_(std::move(samples)), sampling_(sampling), options_(options) {
    if (options.workers < kAutomatic || options.workers > 1024)
      throw Error("loader: workers must lie between 0 and 1024, not be " + std::to_string(options.workers));
    if (options.prefetch < 1 || options.prefetch > 1024)
      throw Error("loader: prefetch must lie between 1 and 1024, not be " + std::to_string(options.prefetch));
    add_slots(1);
    hire(std::max(options.workers, 0));
  }
  ~Impl() {
    abandon_ = true;
    dismiss();
  }

  void begin(std::int64_t step) {
    if (options_.workers == kAutomatic && !settled_ && threads_.empty() && available_cores() > 1) hire(1);
    std::unique_lock lock(mutex_);
    if (!begun_ || wrapped(step) != next_step()) begin_at(wrapped(step), lock);
    work_.notify_all();
  }

  const LoadedBatch& at(std::int64_t step) {
    const bool trying = options_.workers == kAutomatic && !settled_;
    if (trying) clock_.asked();
    if (trying && clock_.knows()) settle();
    const auto start = Clock::now();
    if (!begun_) begin(step);
    Slot& slot = wait_for(step);
    waited_s_ += seconds(Clock::now() - start);
    if (trying) clock_.answered();
    return slot.batch;
  }

  std::map<std::int64_t, std::string> skipped_;
  std::vector<std::thread> threads_;
  double waited_s_ = 0;

 private:
  std::int64_t rows() const { return std::min(sampling_.batch, sampling_.rows); }

  /// `workers` more, and the batches that they make ahead.
  void hire(int workers) {
    const int all = static_cast<int>(threads_.size()) + workers;
    {
      const std::lock_guard lock(mutex_);
      add_slots(static_cast<std::size_t>(all * options_.prefetch + 1));
      chunk_ = all == 0 ? rows() : std::max<std::int64_t>(1, rows() / (4 * all));
    }
    try {
      for (int i = 0; i < workers; ++i) threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {  // no more threads to have: the caller helps those there are
    }
  }

  void add_slots(std::size_t count) {
    while (slots_.size() < count) {
      slots_.push_back(std::make_unique<Slot>(*samples_, rows()));
      free_.push_back(slots_.back().get());
    }
  }

  /// What the workers have begun they finish; the rest is left to the caller.
  void dismiss() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    work_.notify_all();
    for (std::thread& t : threads_) t.join();
    threads_.clear();
    stop_ = false;
  }

  void settle() {
    settled_ = true;
    double fill_s = 0;
    {
      const std::lock_guard lock(mutex_);
      fill_s = made_s_ / static_cast<double>(std::max<std::int64_t>(1, made_)) * static_cast<double>(rows());
    }
    const int workers = workers_that_pay(fill_s, clock_.typical(), available_cores());
    if (workers == 0)
      dismiss();
    else
      hire(std::max(0, workers - static_cast<int>(threads_.size())));
  }

  std::int64_t wrapped(std::int64_t step) const {
    return options_.repeat ? step % sampling_.steps_per_epoch() : step;
  }
  /// The one after the batch that was asked for last.
  std::int64_t next_step() const { return wrapped(begin_ + given_); }

  Slot& wait_for(std::int64_t step) {
    std::unique_lock lock(mutex_);
    if (wrapped(step) != next_step()) begin_at(wrapped(step), lock);
    release();
    if (window_.empty()) plan();
    Slot& slot = *window_.front();
    held_ = true;
    ++given_;
    work_.notify_all();
    while (slot.done < slot.size) {
      if (const Claim claim = claim_of(slot); claim.slot != nullptr)
        run(claim, lock);
      else
        done_.wait(lock);
    }
    finish(slot);
    return slot;
  }

  /// The caller is done with its batch.
  void release() {
    if (!held_) return;
    held_ = false;
    free_.push_back(window_.front());
    window_.pop_front();
  }

  /// Forgets what was made ahead.
  void begin_at(std::int64_t step, std::unique_lock<std::mutex>& lock) {
    paused_ = true;
    abandon_ = true;
    done_.wait(lock, [&] { return busy_ == 0; });
    paused_ = false;
    abandon_ = false;
    free_.insert(free_.end(), window_.begin(), window_.end());
    window_.clear();
    held_ = false;
    begun_ = true;
    begin_ = step;
    given_ = planned_ = 0;
  }

  /// Gives a free slot the rows of the next batch.
  void plan() {
    Slot& slot = *free_.back();
    free_.pop_back();
    const Sampling::Batch batch = sampling_.at(wrapped(begin_ + planned_));
    sampling_.fill(batch, slot.numbers.as<std::int64_t>().data());
    slot.key = {sampling_.seed, options_.repeat ? 0 : batch.epoch};
    slot.size = batch.size;
    slot.claimed = slot.done = 0;
    slot.failures.clear();
    window_.push_back(&slot);
    ++planned_;
  }

  Claim claim_of(Slot& slot) const {
    if (slot.claimed == slot.size) return {};
    const std::int64_t first = slot.claimed;
    slot.claimed = std::min(slot.size, first + chunk_);
    return {&slot, first, slot.claimed};
  }

  /// Work of the oldest batch that has any.
  Claim claim() {
    if (paused_ || !begun_) return {};
    for (Slot* slot : window_)
      if (const Claim c = claim_of(*slot); c.slot != nullptr) return c;
    if (free_.empty()) return {};
    plan();
    return claim_of(*window_.back());
  }

  void work() {
    std::unique_lock lock(mutex_);
    while (!stop_) {
      if (const Claim c = claim(); c.slot != nullptr)
        run(c, lock);
      else
        work_.wait(lock);
    }
  }

  void run(const Claim& c, std::unique_lock<std::mutex>& lock) {
    ++busy_;
    lock.unlock();
    std::vector<Failure> failures;
    std::vector<std::byte*> out(c.slot->buffers.size());
    const std::int64_t* numbers = c.slot->numbers.as<std::int64_t>().data();
    const auto start = Clock::now();
    for (std::int64_t p = c.first; p < c.end && !abandon_; ++p) {
      for (std::size_t f = 0; f < out.size(); ++f) out[f] = c.slot->row(f, p);
      try {
        samples_->get(numbers[p], c.slot->key, out);
      } catch (const std::exception& e) {
        failures.push_back({p, message_of(*samples_, numbers[p], e.what())});
      }
    }
    const double took = seconds(Clock::now() - start);
    lock.lock();
    --busy_;
    made_s_ += took;
    made_ += c.end - c.first;
    c.slot->done += c.end - c.first;
    c.slot->failures.insert(c.slot->failures.end(), failures.begin(), failures.end());
    done_.notify_all();
  }

  void finish(Slot& slot) {
    std::int64_t rows = slot.size;
    if (!slot.failures.empty()) {
      std::sort(slot.failures.begin(), slot.failures.end(),
                [](const Failure& a, const Failure& b) { return a.position < b.position; });
      if (!options_.skip) throw Error(slot.failures.front().what);
      rows = close_gaps(slot);
    }
    slot.batch.rows = rows;
    slot.batch.fields.clear();
    for (Array& buffer : slot.buffers) slot.batch.fields.push_back(first_rows(buffer, rows));
    slot.batch.numbers = first_rows(slot.numbers, rows);
  }

  /// Moves the good samples together; the number of them.
  std::int64_t close_gaps(Slot& slot) {
    auto numbers = slot.numbers.as<std::int64_t>();
    std::size_t failure = 0;
    std::int64_t to = 0;
    for (std::int64_t p = 0; p < slot.size; ++p) {
      if (failure < slot.failures.size() && slot.failures[failure].position == p) {
        skipped_.emplace(numbers[static_cast<std::size_t>(p)], slot.failures[failure++].what);
        continue;
      }
      numbers[static_cast<std::size_t>(to)] = numbers[static_cast<std::size_t>(p)];
      for (std::size_t f = 0; to != p && f < slot.buffers.size(); ++f)
        std::memcpy(slot.row(f, to), slot.row(f, p), samples_->fields()[f].bytes());
      ++to;
    }
    if (to == 0)
      throw Error("none of the " + std::to_string(slot.size) +
                  " samples of a batch can be read; the first: " + slot.failures.front().what);
    return to;
  }

  const std::shared_ptr<const Samples> samples_;
  const Sampling sampling_;
  const LoaderOptions options_;
  StepClock clock_;
  bool settled_ = false;

  std::mutex mutex_;  ///< guards all below and the counters of slots
  std::condition_variable work_, done_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<Slot*> free_;
  std::deque<Slot*> window_;  ///< batches in their order: the one that the caller holds, and those ahead
  bool begun_ = false;
  bool held_ = false;         ///< the first of the window is the caller's
  std::int64_t begin_ = 0;    ///< the first step
  std::int64_t given_ = 0;    ///< batches since that the caller got
  std::int64_t planned_ = 0;  ///< batches since that have a slot, those that are done included
  std::int64_t chunk_ = 1;    ///< samples that a thread takes on at once
  double made_s_ = 0;         ///< the time that making `made_` samples took
  std::int64_t made_ = 0;
  std::int64_t busy_ = 0;
  bool paused_ = false;
  bool stop_ = false;
  std::atomic<bool> abandon_ = false;  ///< what is being made is not wanted any more
};

Loader::Loader(std::shared_ptr<const Samples> samples, const Sampling& sampling, const LoaderOptions& options)
    : impl_(std::make_unique<Impl>(std::move(samples), sampling, options)) {}
Loader::~Loader() = default;

void Loader::begin(std::int64_t step) { impl_->begin(step); }
const LoadedBatch& Loader::at(std::int64_t step) { return impl_->at(step); }
const std::map<std::int64_t, std::string>& Loader::skipped() const { return impl_->skipped_; }
double Loader::waited_s() const { return impl_->waited_s_; }
int Loader::workers() const { return static_cast<int>(impl_->threads_.size()); }

std::size_t Loader::buffer_bytes(const Samples& samples, std::int64_t batch, const LoaderOptions& options) {
  const int workers = options.workers == kAutomatic ? available_cores() - 1 : options.workers;
  std::size_t bytes = sizeof(std::int64_t);
  for (const SampleField& f : samples.fields()) bytes += f.bytes();
  return bytes * static_cast<std::size_t>(batch) * static_cast<std::size_t>(workers * options.prefetch + 1);
}

}  // namespace tightloop::data
