// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/base/mapped.h>
#include <tightloop/train/checkpoint.h>

#include <fmt/format.h>
#include <xxhash.h>
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>

namespace tightloop::train {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFormat = "tightloop.checkpoint.1";
constexpr const char* kChecksum = "xxh3";
constexpr const char* kStep = "step";
constexpr std::string_view kPrefix = "step-", kSuffix = ".safetensors";

/// XXH3 (128 bits) of names, types, shapes and bytes of all tensors and of the metadata but the checksum.
std::string checksum_of(const io::TensorFile& file) {
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), XXH3_freeState);
  if (state == nullptr) throw std::bad_alloc();
  XXH3_128bits_reset(state.get());
  const auto add = [&](std::string_view text) {
    XXH3_128bits_update(state.get(), text.data(), text.size());
    XXH3_128bits_update(state.get(), "", 1);
  };
  for (const auto& [key, value] : file.metadata)
    if (key != kChecksum) add(key), add(value);
  for (const auto& [name, array] : file.tensors) {
    add(name);
    add(array.type_string());
    XXH3_128bits_update(state.get(), array.bytes(), array.size_bytes());
  }
  XXH128_canonical_t bytes;
  XXH128_canonicalFromHash(&bytes, XXH3_128bits_digest(state.get()));
  std::string out;
  for (const unsigned char b : bytes.digest) out += fmt::format("{:02x}", b);
  return out;
}

std::int64_t number_in(const std::string& text) {
  std::int64_t value = -1;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

FoundCheckpoint newest(const std::string& folder) {
  FoundCheckpoint out;
  for (const std::string& path : checkpoints_in(folder)) {
    try {
      out.checkpoint = read_checkpoint(path);
      out.path = path;
      return out;
    } catch (const Error& e) {
      out.damaged.emplace_back(e.what());
    }
  }
  if (out.damaged.empty())
    throw Error(folder + ": holds no checkpoint to go on from; train without --resume first");
  throw Error(
      fmt::format("{}: holds no checkpoint that is whole:\n  {}", folder, fmt::join(out.damaged, "\n  ")));
}

}  // namespace

const Array* Checkpoint::find(std::string_view name) const {
  for (const auto& [key, array] : tensors)
    if (key == name) return &array;
  return nullptr;
}

void write_checkpoint(const std::string& path, const Checkpoint& checkpoint) {
  io::TensorFile file{checkpoint.tensors, checkpoint.metadata};
  file.metadata["format"] = kFormat;
  file.metadata[kStep] = std::to_string(checkpoint.step);
  file.metadata[kChecksum] = checksum_of(file);
  io::write_safetensors(path, file);
}

Checkpoint read_checkpoint(const std::string& path) {
  const Bytes bytes = map_file(path);
  return while_unchanged(bytes, [&] { return parse_checkpoint(bytes, path); });
}

Checkpoint parse_checkpoint(const Bytes& bytes, const std::string& path) {
  io::TensorFile file = io::parse_safetensors(bytes, path);
  const auto text = [&](const char* key) {
    const auto found = file.metadata.find(key);
    return found == file.metadata.end() ? std::string() : found->second;
  };
  if (text("format") != kFormat)
    throw Error(path + ": is no checkpoint of a run; weights alone are loaded by model.weights");
  if (text(kChecksum) != checksum_of(file))
    throw Error(path + ": is damaged: its content does not agree with its checksum");
  Checkpoint out{number_in(text(kStep)), std::move(file.tensors), std::move(file.metadata)};
  if (out.step < 0) throw Error(path + ": is damaged: it tells no step");
  return out;
}

std::string checkpoint_name(std::int64_t step) { return fmt::format("{}{:08}{}", kPrefix, step, kSuffix); }

std::int64_t step_in_name(const std::string& path) {
  const std::string name = fs::path(path).filename().string();
  const bool fits =
      name.size() > kPrefix.size() + kSuffix.size() && name.starts_with(kPrefix) && name.ends_with(kSuffix);
  if (!fits) return -1;
  const std::string digits = name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size());
  const bool number = digits.find_first_not_of("0123456789") == std::string::npos;
  return number ? number_in(digits) : -1;
}

std::vector<std::string> checkpoints_in(const std::string& folder) {
  std::vector<std::pair<std::int64_t, std::string>> found;
  std::error_code ec;
  for (fs::directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec))
    if (const auto step = step_in_name(it->path().string()); step >= 0)
      found.emplace_back(step, it->path().string());
  std::sort(found.rbegin(), found.rend());
  std::vector<std::string> out;
  for (auto& [step, path] : found) out.push_back(std::move(path));
  return out;
}

FoundCheckpoint find_checkpoint(const std::string& folder, const std::string& which) {
  if (which == "last") return newest(folder);
  const std::string path = which == "best" ? (fs::path(folder) / kBestCheckpoint).string() : which;
  std::error_code ec;
  if (which == "best" && !fs::exists(path, ec))
    throw Error(folder +
                ": holds no checkpoint of the best epoch to go on from; train.checkpoint writes one");
  return {path, read_checkpoint(path), {}};
}

CheckpointWriter::~CheckpointWriter() {
  if (thread_.joinable()) thread_.join();
}

void CheckpointWriter::write(std::string path, Checkpoint checkpoint, std::function<void()> after) {
  wait();
  written_ = std::move(checkpoint);
  busy_ = true;
  thread_ = std::thread([this, path = std::move(path), after = std::move(after)] {
    try {
      write_checkpoint(path, written_);
      if (after) after();
    } catch (...) {
      failure_ = std::current_exception();
    }
    busy_ = false;
  });
}

Checkpoint CheckpointWriter::take_back() {
  if (busy_) return {};
  if (thread_.joinable()) thread_.join();
  return std::exchange(written_, {});
}

void CheckpointWriter::wait() {
  if (thread_.joinable()) thread_.join();
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

}  // namespace tightloop::train
