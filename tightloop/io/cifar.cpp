// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/io/cifar.h>

#include <cstring>
#include <filesystem>
#include <sstream>

namespace tightloop::io {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPixels = std::size_t{3} * 32 * 32;
constexpr int kCoarse = 20;

std::size_t label_bytes(Cifar kind) { return kind == Cifar::ten ? 1 : 2; }
std::size_t record_bytes(Cifar kind) { return label_bytes(kind) + kPixels; }

void check_size(const Bytes& bytes, const std::string& name, Cifar kind) {
  const std::size_t record = record_bytes(kind);
  if (bytes.empty() || bytes.size() % record != 0)
    throw Error(name + ": has " + std::to_string(bytes.size()) +
                " bytes, which is no whole number of CIFAR-" + std::to_string(static_cast<int>(kind)) +
                " records of " + std::to_string(record) + " (is it cut short?)");
}

std::int64_t checked_label(std::byte raw, int classes, const std::string& name, std::size_t record) {
  const int label = std::to_integer<int>(raw);
  if (label >= classes)
    throw Error(name + ": record " + std::to_string(record + 1) + " has the label " + std::to_string(label) +
                "; there are " + std::to_string(classes) + " classes from 0");
  return label;
}

}  // namespace

CifarData parse_cifar(const std::vector<std::pair<std::string, Bytes>>& files, Cifar kind) {
  const std::size_t record = record_bytes(kind);
  std::size_t records = 0;
  for (const auto& [name, bytes] : files) {
    check_size(bytes, name, kind);
    records += bytes.size() / record;
  }
  const auto n = static_cast<std::int64_t>(records);
  const bool coarse = kind == Cifar::hundred;
  CifarData out{Array(DType::u8, {n, 3, 32, 32}), Array(DType::i64, {n}),
                Array(DType::i64, {coarse ? n : 0})};
  std::size_t row = 0;
  for (const auto& [name, bytes] : files)
    for (std::size_t r = 0; r < bytes.size() / record; ++r, ++row) {
      const std::byte* from = bytes.data() + r * record;
      if (coarse) out.coarse_labels.as<std::int64_t>()[row] = checked_label(from[0], kCoarse, name, r);
      out.labels.as<std::int64_t>()[row] =
          checked_label(from[label_bytes(kind) - 1], static_cast<int>(kind), name, r);
      std::memcpy(out.images.bytes() + row * kPixels, from + label_bytes(kind), kPixels);
    }
  return out;
}

bool is_cifar(const Bytes& bytes, std::string_view name, Cifar kind) {
  if (bytes.empty() || bytes.size() % record_bytes(kind) != 0) return false;
  if (name.ends_with(".gz")) name.remove_suffix(3);
  const auto slash = name.rfind('/');
  const std::string_view file = slash == std::string_view::npos ? name : name.substr(slash + 1);
  if (kind == Cifar::hundred) return file == "train.bin" || file == "test.bin";
  return file == "test_batch.bin" || (file.starts_with("data_batch_") && file.ends_with(".bin"));
}

std::vector<std::string> cifar_training_files(const std::string& folder, Cifar kind) {
  std::vector<std::string> out;
  std::error_code ec;
  const auto add = [&](const std::string& name) {
    for (const char* suffix : {"", ".gz"}) {
      const std::string path = (fs::path(folder) / (name + suffix)).string();
      if (!fs::is_regular_file(path, ec)) continue;
      out.push_back(path);
      return;
    }
  };
  if (kind == Cifar::hundred) add("train.bin");
  for (int i = 1; kind == Cifar::ten && i <= 9; ++i) add("data_batch_" + std::to_string(i) + ".bin");
  return out;
}

std::vector<std::string> cifar_classes(const std::string& folder, Cifar kind) {
  const char* file = kind == Cifar::ten ? "batches.meta.txt" : "fine_label_names.txt";
  const std::string path = (fs::path(folder) / file).string();
  std::error_code ec;
  if (!fs::is_regular_file(path, ec)) return {};
  std::istringstream lines(std::string(read_file(path).text()));
  std::vector<std::string> out;
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) out.push_back(line);
  }
  if (out.size() != static_cast<std::size_t>(kind))
    throw Error(path + ": names " + std::to_string(out.size()) + " classes, " +
                std::to_string(static_cast<int>(kind)) + " expected");
  return out;
}

}  // namespace tightloop::io
