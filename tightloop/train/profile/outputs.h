// SPDX-License-Identifier: Apache-2.0
#pragma once
// A profile for people and for other programs.
#include <tightloop/train/profile/profile.h>
#include <tightloop/train/profile/verdict.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tightloop::train {

enum class ProfileBy : std::uint8_t { layer, kernel, category };
enum class ProfileSort : std::uint8_t { time, calls, flops, bytes, roofline, name };

struct ProfileTableOptions {
  ProfileBy by = ProfileBy::kernel;
  ProfileSort sort = ProfileSort::time;
  int depth = 0;          ///< of layers: 1 puts all of "layer3" together; 0: as deep as they are
  std::size_t most = 20;  ///< lines; the others are added up in one more. 0: all
};

/// Rows of a profile that belong together, added up.
struct ProfileLine {
  std::string name;
  double seconds = 0, calls = 0, flops = 0, bytes = 0, floor = 0;
  bool by_memory = false;  ///< most of the floor is the memory's
};
std::vector<ProfileLine> profile_lines(const Profile& profile, const ProfileTableOptions& options);

/// A table for a terminal, with what the run was like above it and the verdict below.
std::string profile_text(const Profile& profile, const ProfileTableOptions& options = {});

/// The Trace Event Format (JSON object form) that Perfetto and chrome://tracing read: complete events in
/// microseconds, a track for each thread, and what was left out under "otherData".
std::string trace_json(const Profile& profile);
/// Throws Error naming the event and the rule unless `text` is of that format, as far as trace_json() uses
/// it: an own check, for what comes from elsewhere too.
void check_trace(const std::string& text);

/// All numbers of a profile and its findings as one JSON object, on one line.
std::string profile_json(const Profile& profile);

/// "step;layer3;conv1;forward;convolution 1234": nanoseconds a step, a line a stack, for flame graphs.
std::string folded_stacks(const Profile& profile);

/// A self-contained page: verdict, timeline of one step, roofline, memory over the step, tree of the layers.
std::string profile_html(const Profile& profile);

/// Writes profile.html, trace.json and profile.folded; makes the directory. Throws Error when that cannot be.
void write_profile(const std::string& directory, const Profile& profile);

}  // namespace tightloop::train
