// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/file.h>
#include <tightloop/io/safetensors.h>
#include <tightloop/train/checkpoint.h>
#include <tightloop/train/loggers/index.h>
#include <tightloop/train/run_directory.h>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace tightloop::train {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kMark = "# A finished job, written by tightloop.";
constexpr const char* kModel = "model.safetensors";
constexpr const char* kJob = "job.toml";
constexpr const char* kNormalization = "normalization.safetensors";
constexpr const char* kSplit = "split.json";
constexpr const char* kReport = "report.html";
constexpr const char* kOwn = ".tightloop-";  // what hidden names begin with
constexpr const char* kUnfinished = ".tightloop-unfinished";
constexpr const char* kProbe = ".tightloop-probe";
constexpr const char* kCheckpoints = "checkpoints";
constexpr const char* kNotEnded = "not-ended";  // in the folder of checkpoints, while they are to go on from

bool is_log(const fs::path& path) {
  const std::string name = path.filename().string();
  return name == kJsonLines || name == kStepTable || name.starts_with(kEventFiles);
}

bool is_run(const std::string& path) {
  const std::string job = (fs::path(path) / kJob).string();
  std::error_code ec;
  return fs::is_regular_file(job, ec) && read_file(job).text().starts_with(kMark);
}

void check_no_file(const std::string& path) {
  std::error_code ec;
  if (fs::exists(path, ec) && !fs::is_directory(path, ec))
    throw Error(path + ": is a file; the run needs a folder: choose another by --out");
}

/// Empty but for what a killed run left.
bool is_free(const std::string& path, std::error_code& ec) {
  for (fs::directory_iterator it(path, ec), end; !ec && it != end; it.increment(ec))
    if (!it->path().filename().string().starts_with(kOwn) && it->path().filename() != kCheckpoints &&
        !is_log(it->path()))
      return false;
  return !ec;
}

/// Half-written files of a killed run. Nobody else writes here: the folder is locked.
void remove_halves(const fs::path& folder) {
  std::error_code ec;
  std::vector<fs::path> halves;
  for (fs::directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec)) {
    const std::string name = it->path().filename().string();
    const bool checkpoint = name.starts_with("step-") || name.starts_with("best.");
    if (name.starts_with(kProbe) || (checkpoint && name.find(".safetensors.tmp-") != std::string::npos))
      halves.push_back(it->path());
  }
  for (const fs::path& half : halves) fs::remove(half, ec);
}

void check_free(const std::string& path) {
  std::error_code ec;
  if (is_free(path, ec) || is_run(path)) return;
  if (ec) throw Error(fmt::format("{}: cannot be read: {}", path, ec.message()));
  throw Error(path + ": holds files, but no run of tightloop; choose another folder by --out");
}

void check_ended(const std::string& path) {
  if (RunDirectory::interrupted(path))
    throw Error(
        fmt::format("{}: holds a training that was interrupted: go on with it by --resume, choose another "
                    "folder by --out, or delete {} to begin anew",
                    path, (fs::path(path) / kCheckpoints).string()));
}

/// A disk that is full or read-only shows here, before any training.
void check_writable(const std::string& path, std::uintmax_t bytes) {
  const std::string probe = (fs::path(path) / kProbe).string();
  write_file(probe, std::string(4096, ' '));
  std::error_code ec;
  fs::remove(probe, ec);
  const fs::space_info space = fs::space(path, ec);
  if (!ec && space.available < bytes)
    throw Error(
        fmt::format("{}: the run needs {} bytes, the disk has {} left", path, bytes, space.available));
}

Json to_json(const SplitRecord& s) {
  Json out{{"kind", s.kind}, {"fraction", s.fraction}, {"rows", s.rows}, {"validation", s.validation}};
  if (!s.method.empty()) out.update({{"method", s.method}, {"column", s.column}, {"seed", s.seed}});
  if (s.folds > 0) out.update({{"folds", s.folds}, {"fold", s.fold}});
  return out;
}

SplitRecord split_from(const Json& j) {
  SplitRecord out{j.at("kind").get<std::string>(), j.at("fraction").get<double>(),
                  j.at("rows").get<std::int64_t>(), j.at("validation").get<std::vector<std::int64_t>>()};
  out.method = j.value("method", "");
  out.column = j.value("column", "");
  out.seed = j.value("seed", std::int64_t{0});
  out.folds = j.value("folds", std::int64_t{0});
  out.fold = j.value("fold", std::int64_t{0});
  return out;
}

Json parse_json(std::string_view text, const std::string& path) {
  try {
    return Json::parse(text);
  } catch (const Json::exception&) {
    throw Error(path + ": is no JSON; was the run written by tightloop?");
  }
}

}  // namespace

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void FolderLock::take(const std::string& path) {
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor_ >= 0 && ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    throw Error(path + ": another run is being written there; choose another folder by --out");
}

RunDirectory::RunDirectory(std::string path, std::uintmax_t bytes, Begin begin)
    : path_(std::move(path)), begin_(begin) {
  check_no_file(path_);
  std::error_code ec;
  made_ = fs::create_directories(path_, ec);
  if (ec) throw Error(fmt::format("{}: cannot make the folder of the run: {}", path_, ec.message()));
  lock_.take(path_);
  try {
    check_free(path_);
    if (begin_ == Begin::anew) check_ended(path_);
    discard();
    remove_halves(path_);
    remove_halves(checkpoints());
    check_writable(path_, bytes);
  } catch (const Error&) {
    if (made_) fs::remove(path_, ec);
    throw;
  }
}

RunDirectory::~RunDirectory() {
  discard();
  std::error_code ec;
  if (made_) fs::remove(path_, ec);
}

std::string RunDirectory::file(const char* name) const { return (fs::path(path_) / name).string(); }

std::string RunDirectory::unfinished(const char* name) const {
  return (fs::path(path_) / kUnfinished / name).string();
}

void RunDirectory::write_start(const Job& job, const LoadedData& data) {
  std::error_code ec;
  fs::create_directory(unfinished(), ec);
  if (ec) throw Error(fmt::format("{}: cannot be made: {}", unfinished(), ec.message()));
  started_ = true;
  write_file(unfinished(kJob), fmt::format("{}\n{}", kMark, to_toml(job)));
  io::write_safetensors(unfinished(kNormalization), {data::to_tensors(data.data.scales), {}});
  write_file(unfinished(kSplit), to_json(data.split).dump() + "\n");
}

void RunDirectory::discard() {
  std::error_code ec;
  fs::remove_all(unfinished(), ec);
}

std::string RunDirectory::report() const { return file(kReport); }

bool RunDirectory::interrupted(const std::string& path) {
  const fs::path folder = fs::path(path) / kCheckpoints;
  std::error_code ec;
  return fs::exists(folder / kNotEnded, ec) && !checkpoints_in(folder.string()).empty();
}

std::string RunDirectory::checkpoints() const { return file(kCheckpoints); }

void RunDirectory::remove_checkpoints() {
  std::error_code ec;
  for (const std::string& old : checkpoints_in(checkpoints())) fs::remove(old, ec);
  fs::remove(fs::path(checkpoints()) / kBestCheckpoint, ec);
  fs::remove(fs::path(checkpoints()) / kNotEnded, ec);
}

void RunDirectory::begin_checkpoints() {
  if (checkpointed_) return;
  checkpointed_ = true;
  if (begin_ == Begin::anew) remove_checkpoints();
  std::error_code ec;
  fs::create_directory(checkpoints(), ec);
  if (ec) throw Error(fmt::format("{}: cannot be made: {}", checkpoints(), ec.message()));
  write_file((fs::path(checkpoints()) / kNotEnded).string(), "", false);
}

void RunDirectory::finish(bool ended) {
  if (!checkpointed_ && begin_ == Begin::anew) remove_checkpoints();
  std::error_code gone;
  if (ended) fs::remove(fs::path(checkpoints()) / kNotEnded, gone);
  if (fs::is_empty(checkpoints(), gone)) fs::remove(checkpoints(), gone);
  // The job first: a folder with it is a run, to which one may come back when this is cut short.
  for (const char* name : {kJob, kNormalization, kSplit, kMetricsTable, kModel}) {
    std::error_code ec;
    if (name == kMetricsTable && !fs::exists(unfinished(name), ec)) {  // its logger has said why
      fs::remove(file(name), ec);
      continue;
    }
    fs::rename(unfinished(name), file(name), ec);
    if (ec) throw Error(fmt::format("{}: cannot be written: {}", file(name), ec.message()));
  }
  fs::remove(report(), gone);
  discard();
}

void RunDirectory::write_model(nn::Module& module, const std::vector<std::string>& classes) {
  io::TensorFile out;
  out.metadata["format"] = "pt";
  if (!classes.empty()) out.metadata["classes"] = Json(classes).dump();
  for (const auto& s : module.state_dict()) out.tensors.emplace_back(s.path, s.array());
  io::write_safetensors(unfinished(kModel), out);
}

void RunDirectory::begin_logs() const {
  if (begin_ != Begin::anew) return;
  std::error_code ec;
  std::vector<fs::path> old;
  for (fs::directory_iterator it(path_, ec), end; !ec && it != end; it.increment(ec))
    if (is_log(it->path())) old.push_back(it->path());
  for (const fs::path& path : old) fs::remove(path, ec);
}

RunFiles find_run(const std::string& path) {
  std::error_code ec;
  if (!fs::is_directory(path, ec)) throw Error(path + ": is no run directory (there is no such folder)");
  const fs::path own = path, unfinished = own / kUnfinished;
  if (is_run(path)) {
    const bool waits = fs::exists(own / kCheckpoints / kNotEnded, ec);
    const std::string report = fs::exists(own / kReport, ec) ? (own / kReport).string() : "";
    return {(own / kJob).string(), (own / kMetricsTable).string(), report, waits ? "interrupted" : "finished",
            (own / kStepTable).string()};
  }
  if (fs::exists(unfinished / kMetricsTable, ec))
    return {(unfinished / kJob).string(), (unfinished / kMetricsTable).string(), "",
            "not ended: it runs, or was killed", (own / kStepTable).string()};
  throw Error(path + (fs::exists(unfinished, ec) || fs::exists(own / kCheckpoints, ec)
                          ? ": is a run that has not ended and has written no epochs"
                          : ": is no run directory (it has no job.toml written by tightloop)"));
}

SavedRun read_run(const std::string& path) {
  const auto file = [&](const char* name) { return (fs::path(path) / name).string(); };
  if (!fs::is_directory(path)) throw Error(path + ": is no run directory (there is no such folder)");
  if (!is_run(path)) throw Error(path + ": is no run directory (it has no job.toml written by tightloop)");
  SavedRun out{load_job(file(kJob)), {}, {}, {}, file(kModel)};
  out.scales = data::from_tensors(io::read_safetensors(file(kNormalization)).tensors);
  try {
    out.split = split_from(parse_json(read_file(file(kSplit)).text(), file(kSplit)));
  } catch (const Json::exception&) {
    throw Error(file(kSplit) + ": does not hold a split as tightloop writes it");
  }
  const auto metadata = io::read_safetensors(out.model_path).metadata;
  const auto classes = metadata.find("classes");
  if (classes != metadata.end())
    out.classes = parse_json(classes->second, out.model_path).get<std::vector<std::string>>();
  return out;
}

}  // namespace tightloop::train
