// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a run leaves behind: model.safetensors, job.toml (resolved), normalization.safetensors, split.json,
// metrics.csv and report.html. Each of these appears whole or not at all, and all of them at the end: until
// then they lie in a hidden folder inside, and an earlier run stays as it is. The report comes last, when the
// others are in place. Checkpoints lie in checkpoints/ from the start; as long as they belong to a run that
// has not ended, only a run that goes on from them may write here. What loggers write lies in the folder
// itself from the first step on, in the place of an earlier run's.
#include <tightloop/train/load.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tightloop::train {

/// Keeps two runs from writing into one folder at once: their files would be mixed. It ends with the process
/// at the latest. Where the file system knows no locks, nothing is kept.
class FolderLock {
 public:
  FolderLock() = default;
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();
  /// Throws Error when another holds it.
  void take(const std::string& path);

 private:
  int descriptor_ = -1;
};

class RunDirectory {
 public:
  enum class Begin : std::uint8_t { anew, resume };

  /// Makes the folder, and checks that it can be written, has room for `bytes`, is not in use by another run,
  /// and is new, empty, or that of an earlier run, whose files are replaced; other files in it are left
  /// alone. A run that starts anew is refused where another was interrupted. What a killed run left
  /// unfinished is taken away. Throws Error otherwise.
  RunDirectory(std::string path, std::uintmax_t bytes, Begin begin = Begin::anew);
  /// Takes unfinished files away, and the folder when it made it and it is empty.
  ~RunDirectory();
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;

  /// Writes the job, the normalisation and the split to the hidden folder.
  void write_start(const Job& job, const LoadedData& data);
  bool started() const { return started_; }
  void write_model(nn::Module& module, const std::vector<std::string>& classes);
  /// Where metrics.csv is to be written, after write_start().
  std::string unfinished_folder() const { return unfinished(); }
  /// Before a logger writes into the folder itself: takes away what those of an earlier run wrote.
  void begin_logs() const;

  /// The page about the run, which is written when all else is in place; finish() takes away an earlier one.
  std::string report() const;
  /// Where checkpoints go.
  std::string checkpoints() const;
  /// Before the first checkpoint is written: those of an earlier run go, and the run counts as not ended.
  void begin_checkpoints();

  /// Puts the files that were written into the places of an earlier run's. `ended` false: the run is to go on
  /// from its checkpoints.
  void finish(bool ended = true);

  const std::string& path() const { return path_; }
  /// Whether the folder holds a run that was interrupted and can be gone on with.
  static bool interrupted(const std::string& path);

 private:
  std::string file(const char* name) const;
  std::string unfinished(const char* name = "") const;
  void discard();
  void remove_checkpoints();

  std::string path_;
  Begin begin_;
  FolderLock lock_;
  bool made_ = false;
  bool started_ = false;
  bool checkpointed_ = false;
};

/// The files of a run that has ended, was interrupted, or has not ended yet.
struct RunFiles {
  std::string job, metrics, report;  ///< report "": there is none
  std::string state;                 ///< "finished", "interrupted", "not ended: it runs, or was killed"
  std::string steps = {};            ///< where the table of its steps would be
};

/// Throws Error where there is no run, or none of whose epochs anything is known.
RunFiles find_run(const std::string& path);

/// A run read back.
struct SavedRun {
  Job job;
  std::vector<data::FieldScale> scales;
  SplitRecord split;
  std::vector<std::string> classes;
  std::string model_path;
};

/// Throws Error naming what lacks or is broken.
SavedRun read_run(const std::string& path);

}  // namespace tightloop::train
