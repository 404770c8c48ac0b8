// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/base/file.h>
#include <tightloop/train/profile/outputs.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

namespace tightloop::train {
namespace {

/// What separates frames and the number from the stack becomes something else.
std::string frame(std::string text) {
  for (char& c : text)
    if (c == ';' || static_cast<unsigned char>(c) < 0x20) c = '_';
  return text;
}

std::string stack(const ProfileRow& row) {
  if (row.kind != SpanKind::kernel) return "step;" + frame(row.category);
  std::string out = "step;" + frame(row.category);
  std::string path = frame(row.path);
  std::replace(path.begin(), path.end(), '.', ';');
  if (!path.empty()) out += ";" + path;
  const auto colon = row.label.find(": ");
  return out + ";" + frame(colon == std::string::npos ? row.label : row.label.substr(colon + 2));
}

}  // namespace

std::string folded_stacks(const Profile& profile) {
  std::map<std::string, double> sums;
  for (const ProfileRow& row : profile.rows) sums[stack(row)] += 1e9 * row.seconds;
  std::string out;
  for (const auto& [text, nanoseconds] : sums)
    if (nanoseconds >= 0.5) out += fmt::format("{} {:.0f}\n", text, nanoseconds);
  return out;
}

void write_profile(const std::string& directory, const Profile& profile) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error)
    throw Error(fmt::format("profile: the folder {} cannot be made: {}", directory, error.message()));
  const std::filesystem::path folder(directory);
  write_file((folder / "trace.json").string(), trace_json(profile), false);
  write_file((folder / "profile.folded").string(), folded_stacks(profile), false);
  write_file((folder / "profile.html").string(), profile_html(profile), false);
}

}  // namespace tightloop::train
