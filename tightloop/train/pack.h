// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/job.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tightloop::train {

struct PackOptions {
  std::string source;  ///< a folder with a folder of images a class, or tar shards (jpg, png, webp and cls)
  std::string out;     ///< "data.npy"
  Images images = {};  ///< size and channels; bytes or, with type "f32", numbers 0 .. 1
  std::int64_t workers = -1;      ///< -1: one for each core
  std::string on_error = "stop";  ///< or skip
  /// Told how many samples of how many are done; false ends the packing.
  std::function<bool(std::int64_t done, std::int64_t of)> progress = {};
};

struct Packed {
  std::int64_t rows = 0;
  std::size_t bytes = 0;  ///< of the array
  std::vector<std::string> notes = {};
};

/// Decodes all images into one array [rows, channels, height, width] at `out`, their classes into i64[rows]
/// at "data.labels.npy", and the names of the classes into "data.classes.json" (a list; none for classes that
/// are numbers). Holds a few batches at a time. Each file appears whole, the array last. Throws Error when
/// the source or the disk cannot be used, and when it is ended.
Packed pack(const PackOptions& options);

}  // namespace tightloop::train
