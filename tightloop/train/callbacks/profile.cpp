// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/callbacks/index.h>
#include <tightloop/train/profile/profiler.h>

namespace tightloop::train {
namespace {

OptionSpec whole(const char* name, std::int64_t value, const char* doc) {
  return {name, OptionType::integer, value, doc};
}

}  // namespace

const CallbackDef& profile_callback() {
  static const ProfileSchedule usual;
  static const CallbackDef def{
      "profile",
      "shows where the time of some steps goes: profile.html and trace.json",
      "active",
      {whole("active", usual.active, "steps that count"),
       whole("skip_first", usual.skip_first, "steps that go by before anything else"),
       whole("wait", usual.wait, "steps that go by in each round"),
       whole("warmup", usual.warmup, "steps that are traced and forgotten"),
       whole("repeat", usual.repeat, "rounds; 0: to the end of the run")},
      [](const Options& o) -> std::shared_ptr<Callback> {
        const auto at = [&](const char* name) { return o.at<std::int64_t>(name); };
        return std::make_shared<Profiler>(ProfilerOptions{
            .schedule = {at("skip_first"), at("wait"), at("warmup"), at("active"), at("repeat")}});
      }};
  return def;
}

}  // namespace tightloop::train
