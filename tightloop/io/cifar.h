// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/base/array.h>
#include <tightloop/base/file.h>

#include <string>
#include <string_view>
#include <vector>

namespace tightloop::io {

/// The two data sets of www.cs.toronto.edu/~kriz/cifar.html, binary version. A record is one label byte (10)
/// or two, coarse and fine (100), and 3 × 32 × 32 pixels by colour, row and column.
enum class Cifar : int { ten = 10, hundred = 100 };

struct CifarData {
  Array images;         ///< u8[N, 3, 32, 32]
  Array labels;         ///< i64[N], 0 … 9, or the fine ones, 0 … 99
  Array coarse_labels;  ///< i64[N], 0 … 19; only of Cifar::hundred
};

/// The records of one or more files, one file behind the other. Throws Error naming the file: a size that is
/// no whole number of records, no records, a label out of range with its record.
CifarData parse_cifar(const std::vector<std::pair<std::string, Bytes>>& files, Cifar kind);

/// True when a file is called data_batch_N.bin or test_batch.bin (10), train.bin or test.bin (100), maybe
/// with .gz behind it, and of a size that fits.
bool is_cifar(const Bytes& bytes, std::string_view name, Cifar kind);

/// The files in `folder` that hold training data of `kind`, in order: data_batch_1.bin, … or train.bin.
std::vector<std::string> cifar_training_files(const std::string& folder, Cifar kind);

/// The names of the classes that lie in `folder` (batches.meta.txt, fine_label_names.txt); none without the
/// file. Throws Error when they are not 10 or 100.
std::vector<std::string> cifar_classes(const std::string& folder, Cifar kind);

}  // namespace tightloop::io
