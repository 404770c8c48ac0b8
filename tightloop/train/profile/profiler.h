// SPDX-License-Identifier: Apache-2.0
#pragma once
//   const auto profiler = std::make_shared<tl::Profiler>(tl::ProfilerOptions{.schedule = {.active = 50}});
//   tl::Trainer trainer{{.epochs = 3, .callbacks = {profiler}}};
//   trainer.fit(net, loss, optimizer, data);
//   profiler->write("profile");              // profile.html, trace.json, profile.folded
//   std::cout << profile_text(profiler->profile());
#include <tightloop/train/profile/profile.h>
#include <tightloop/train/profile/schedule.h>
#include <tightloop/train/run.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tightloop::train {

struct ProfilerOptions {
  ProfileSchedule schedule = {};
  /// The most spans that a trace keeps, the first ones; all of them count in the sums.
  std::size_t most_spans = 100'000;
  bool counters = true;  ///< those of the processor, where Linux permits it
};

/// Traces steps of a run by a schedule, and what happens between them.
class Profiler final : public Callback {
 public:
  /// Throws Error for a schedule that check() refuses.
  explicit Profiler(ProfilerOptions options = {});
  ~Profiler() override;

  std::string_view name() const override { return "profile"; }
  std::int64_t pause_after(std::int64_t step) const override;
  void start(Run& run) override;
  void step(Run& run) override;
  void end(Run& run) override;

  /// Whether every step of the schedule is done.
  bool done() const;
  /// What was found so far. Measures what this machine reaches at the first call, in about 50 ms.
  Profile profile() const;
  /// Writes profile.html, trace.json and profile.folded into `directory`, which is made where it is missing.
  void write(const std::string& directory, const std::string& title = "") const;

  /// Adds the time while it lives to what the run does between steps, and to the trace.
  class Scope {
   public:
    /// With a null profiler nothing happens.
    Scope(Profiler* profiler, SpanKind kind, std::string_view name);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Profiler* profiler_;
    std::size_t activity_ = 0;
    std::uint64_t begin_ = 0;
  };

 private:
  struct Found;
  void attach(Run& run);
  void enter(std::int64_t step);
  void leave();
  std::size_t activity(SpanKind kind, std::string_view name);

  ProfilerOptions options_;
  std::shared_ptr<Spans> spans_;
  std::unique_ptr<Found> found_;
  Session* session_ = nullptr;
  ProfileSchedule::Mode mode_ = ProfileSchedule::Mode::rest;
  std::int64_t first_ = 0, at_ = 0;  ///< steps of the run, where this one began and stands
};

/// The profiler among a run's callbacks, or null.
Profiler* find_profiler(const std::vector<std::shared_ptr<Callback>>& callbacks);

}  // namespace tightloop::train

namespace tightloop {
using train::Profiler;
using train::ProfilerOptions;
}  // namespace tightloop
