// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/run_directory.h>
#include <tightloop/train/series.h>

#include <optional>
#include <string>

namespace tightloop::train {

/// The folder of a series.
class SeriesDirectory {
 public:
  /// Makes the folder and keeps others from writing there. Throws Error when it holds anything but a series,
  /// and unless `resume` when a run of it was interrupted.
  SeriesDirectory(std::string path, const std::vector<Member>& members, bool resume);
  /// Takes the folder away when it made it and it is empty.
  ~SeriesDirectory();
  SeriesDirectory(const SeriesDirectory&) = delete;
  SeriesDirectory& operator=(const SeriesDirectory&) = delete;

  std::string of(const Member& member) const;
  /// Whether an earlier process began this run and can go on with it.
  bool interrupted(const Member& member) const;
  /// What an earlier process has made of it; nothing when it has not finished. Throws Error when that was
  /// another job than `own`.
  std::optional<MemberResult> finished(const Member& member, const Job& own) const;

  void begin(const Member& member) const;  ///< forgets an earlier result
  void finish(const MemberResult& result) const;
  /// repeats.csv or folds.csv, and summary.csv.
  void write_tables(const SeriesResult& result) const;
  /// Runs that lie there and are none of this series.
  std::vector<std::string> others() const;

 private:
  std::string table() const;

  std::string path_;
  std::vector<Member> members_;
  FolderLock lock_;
  bool made_ = false;
};

}  // namespace tightloop::train
