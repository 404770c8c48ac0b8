// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files from which a run goes on bit for bit: one safetensors file with parameters and buffers under their
// own names, everything else behind "@" or under the names of the step's states, and a checksum of all in the
// metadata.
#include <tightloop/io/safetensors.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace tightloop::train {

struct Checkpoint {
  std::int64_t step = 0;
  std::vector<std::pair<std::string, Array>> tensors;
  std::map<std::string, std::string> metadata;  ///< what else is to be kept, such as the job

  const Array* find(std::string_view name) const;
};

/// Writes by AtomicFile: the file appears whole or not at all.
void write_checkpoint(const std::string& path, const Checkpoint& checkpoint);
/// Throws Error naming the file when it is no checkpoint, is cut short, or does not agree with its checksum.
Checkpoint read_checkpoint(const std::string& path);
/// The same from bytes; `name` stands for the file in messages.
Checkpoint parse_checkpoint(const Bytes& bytes, const std::string& name);

inline constexpr const char* kBestCheckpoint = "best.safetensors";
/// "step-00000120.safetensors"
std::string checkpoint_name(std::int64_t step);
/// The step that a file of this name tells, or -1.
std::int64_t step_in_name(const std::string& path);
/// Files of this name in `folder`, the newest first; empty when there is no such folder.
std::vector<std::string> checkpoints_in(const std::string& folder);

/// A checkpoint that was found, and what was wrong with newer ones.
struct FoundCheckpoint {
  std::string path;
  Checkpoint checkpoint;
  std::vector<std::string> damaged;
};
/// `which`: "last" is the newest of `folder` that is whole, "best" its best.safetensors, all else is a path.
/// Throws Error when there is none.
FoundCheckpoint find_checkpoint(const std::string& folder, const std::string& which);

/// Writes on a thread of its own, one file at a time.
class CheckpointWriter {
 public:
  CheckpointWriter() = default;
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;
  ~CheckpointWriter();
  /// Waits for the file before, then starts. `after` runs on the other thread when the file is written.
  void write(std::string path, Checkpoint checkpoint, std::function<void()> after = {});
  /// True while a file is being written.
  bool busy() const { return busy_.load(); }
  /// What was written last, so that its memory serves again; empty while busy, and the second time.
  Checkpoint take_back();
  /// Throws Error when a file could not be written.
  void wait();

 private:
  std::thread thread_;
  std::atomic<bool> busy_ = false;
  Checkpoint written_;
  std::exception_ptr failure_;
};

}  // namespace tightloop::train
