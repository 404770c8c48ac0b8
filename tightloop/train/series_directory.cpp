// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/file.h>
#include <tightloop/train/checkpoint.h>
#include <tightloop/train/resume.h>
#include <tightloop/train/series_directory.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

namespace tightloop::train {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kRepeats = "repeats.csv";
constexpr const char* kFolds = "folds.csv";
constexpr const char* kSummary = "summary.csv";
constexpr const char* kResult = "result.json";

bool is_member_name(const std::string& name) {
  return name.starts_with("repeat-") || name.starts_with("fold-");
}

std::vector<std::string> entries_of(const std::string& path) {
  std::vector<std::string> out;
  std::error_code ec;
  for (fs::directory_iterator it(path, ec), end; !ec && it != end; it.increment(ec))
    out.push_back(it->path().filename().string());
  if (ec) throw Error(fmt::format("{}: cannot be read: {}", path, ec.message()));
  std::sort(out.begin(), out.end());
  return out;
}

void check_free(const std::string& path) {
  for (const std::string& name : entries_of(path)) {
    const bool own = name == kRepeats || name == kFolds || name == kSummary || is_member_name(name);
    if (!own)
      throw Error(
          fmt::format("{}: holds {}, which is no part of several runs of a job; choose another folder "
                      "by --out",
                      path, name));
  }
}

std::string number(double v) { return std::isnan(v) ? "nan" : fmt::format("{}", v); }

std::string quoted(std::string text) {
  for (auto at = text.find('"'); at != std::string::npos; at = text.find('"', at + 2))
    text.insert(at, 1, '"');
  return text.empty() ? text : '"' + text + '"';
}

Json to_json(const MemberResult& r) {
  Json values = Json::object();
  for (const auto& [name, value] : r.values) values[name] = value;  // NaN and infinity become null
  return {{"seed", r.member.seed}, {"steps", r.steps}, {"seconds", r.seconds}, {"values", values}};
}

MemberResult result_from(const Json& j, const Member& member) {
  MemberResult out{member, j.at("steps").get<std::int64_t>(), j.at("seconds").get<double>()};
  for (const auto& [name, value] : j.at("values").items())
    out.values.emplace_back(name,
                            value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>());
  return out;
}

/// The columns of the table that tell the runs apart.
std::string header(const std::vector<Member>& members) {
  std::string out;
  if (members.front().fold >= 0) out += "fold,";
  if (members.front().repeat > 0) out += "repeat,";
  return out + "seed,steps,seconds";
}

std::string line(const MemberResult& r) {
  std::string out;
  if (r.member.fold >= 0) out += fmt::format("{},", r.member.fold);
  if (r.member.repeat > 0) out += fmt::format("{},", r.member.repeat);
  return out + fmt::format("{},{},{:.3f}", r.member.seed, r.steps, r.seconds);
}

}  // namespace

SeriesDirectory::SeriesDirectory(std::string path, const std::vector<Member>& members, bool resume)
    : path_(std::move(path)), members_(members) {
  std::error_code ec;
  if (fs::exists(path_, ec) && !fs::is_directory(path_, ec))
    throw Error(path_ + ": is a file; the runs need a folder: choose another by --out");
  made_ = fs::create_directories(path_, ec);
  if (ec) throw Error(fmt::format("{}: cannot make the folder of the runs: {}", path_, ec.message()));
  lock_.take(path_);
  check_free(path_);
  for (const Member& m : members_)
    if (!resume && interrupted(m))
      throw Error(
          fmt::format("{}: holds a training that was interrupted: go on with it by --resume, choose another "
                      "folder by --out, or delete {} to begin anew",
                      path_, of(m)));
}

SeriesDirectory::~SeriesDirectory() {
  std::error_code ec;
  if (made_) fs::remove(path_, ec);
}

std::string SeriesDirectory::table() const { return members_.front().fold >= 0 ? kFolds : kRepeats; }

std::string SeriesDirectory::of(const Member& member) const {
  return (fs::path(path_) / member.name()).string();
}

bool SeriesDirectory::interrupted(const Member& member) const {
  return RunDirectory::interrupted(of(member));
}

std::optional<MemberResult> SeriesDirectory::finished(const Member& member, const Job& own) const {
  const std::string folder = of(member), path = (fs::path(folder) / kResult).string();
  std::error_code ec;
  if (!fs::exists(path, ec)) return std::nullopt;
  const SavedRun saved = read_run(folder);
  const auto changes = changes_on_resume(saved.job, own, folder);
  if (!changes.empty())
    throw Error(fmt::format("{}: was trained by another job ({}); leave --resume out to train all anew",
                            folder, fmt::join(changes, "; ")));
  try {
    return result_from(Json::parse(read_file(path).text()), member);
  } catch (const Json::exception&) {
    throw Error(path + ": does not hold a result as tightloop writes it; delete it to train this run anew");
  }
}

void SeriesDirectory::begin(const Member& member) const {
  std::error_code ec;
  fs::remove(fs::path(of(member)) / kResult, ec);
}

void SeriesDirectory::finish(const MemberResult& result) const {
  write_file((fs::path(of(result.member)) / kResult).string(), to_json(result).dump() + "\n");
}

void SeriesDirectory::write_tables(const SeriesResult& result) const {
  std::vector<std::string> names;
  for (const MemberResult& r : result.members)
    if (r.failure.empty() && names.empty())
      for (const auto& [name, value] : r.values) names.push_back(name);
  std::string text = header(members_);
  for (const auto& name : names) text += "," + name;
  text += ",failure\n";
  for (const MemberResult& r : result.members) {
    text += line(r);
    for (std::size_t i = 0; i < names.size(); ++i)
      text += "," + (r.failure.empty() ? number(r.values[i].second) : "");
    text += "," + quoted(r.failure) + "\n";
  }
  write_file((fs::path(path_) / table()).string(), text, false);
  std::string summary = "metric,runs,mean,std,low95,high95\n";
  for (const auto& [name, s] : result.summary())
    summary += fmt::format("{},{},{},{},{},{}\n", name, s.count, number(s.mean), number(s.deviation),
                           number(s.low), number(s.high));
  write_file((fs::path(path_) / kSummary).string(), summary, false);
}

std::vector<std::string> SeriesDirectory::others() const {
  std::vector<std::string> out;
  for (const std::string& name : entries_of(path_))
    if (is_member_name(name) &&
        std::none_of(members_.begin(), members_.end(), [&](const Member& m) { return m.name() == name; }))
      out.push_back(name);
  return out;
}

}  // namespace tightloop::train
