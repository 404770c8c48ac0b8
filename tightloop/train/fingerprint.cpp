// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/fingerprint.h>

#include <fmt/format.h>
#include <xxhash.h>
#include <algorithm>
#include <map>
#include <memory>
#include <sstream>
#include <vector>

namespace tightloop::train {
namespace {

constexpr std::size_t kWhole = std::size_t{16} << 20, kStretch = 4096, kStretches = 4096;

class Hash {
 public:
  Hash() : state_(XXH3_createState(), XXH3_freeState) {
    if (state_ == nullptr) throw std::bad_alloc();
    XXH3_128bits_reset(state_.get());
  }
  void add(const void* bytes, std::size_t size) { XXH3_128bits_update(state_.get(), bytes, size); }
  /// All of it, or stretches.
  void add_sampled(const std::byte* bytes, std::size_t size) {
    if (size <= kWhole) return add(bytes, size);
    for (std::size_t i = 0; i < kStretches; ++i)
      add(bytes + (size - kStretch) / (kStretches - 1) * i, kStretch);
    add(bytes + size - kStretch, kStretch);
  }
  std::string text() const {
    XXH128_canonical_t bytes;
    XXH128_canonicalFromHash(&bytes, XXH3_128bits_digest(state_.get()));
    std::string out;
    for (const unsigned char b : bytes.digest) out += fmt::format("{:02x}", b);
    return out;
  }

 private:
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state_;
};

/// name, tab, type, tab, hash.
std::string line(const std::string& what, const std::string& type, const Hash& hash) {
  return fmt::format("{}\t{}\t{}\n", what, type, hash.text());
}

std::string samples_line(const data::Samples& samples, const std::string& part) {
  Hash hash;
  const std::int64_t count = samples.size(), named = std::min<std::int64_t>(count, kStretches);
  for (std::int64_t i = 0; i < named; ++i) {
    const std::string name = samples.name(i * (count / named));
    hash.add(name.c_str(), name.size() + 1);
  }
  return line("the names of the samples of the " + part, fmt::format("{} samples", count), hash);
}

std::string rows_line(const DataPart& part, const std::string& name) {
  Hash hash;
  hash.add_sampled(reinterpret_cast<const std::byte*>(part.rows.data()),
                   part.rows.size() * sizeof(std::int64_t));
  return line("the choice of rows of the " + name, fmt::format("{} rows", part.count()), hash);
}

std::string part_lines(const DataPart& part, const std::string& name) {
  std::string out = rows_line(part, name);
  if (part.is_stream()) return out + samples_line(*part.samples, name);
  for (const auto& field : part.data.fields()) {
    Hash hash;
    hash.add_sampled(field.values.bytes(), field.values.size_bytes());
    out += line(fmt::format("field '{}' of the {}", field.name, name), field.values.type_string(), hash);
  }
  return out;
}

std::map<std::string, std::pair<std::string, std::string>> read_lines(const std::string& text) {
  std::map<std::string, std::pair<std::string, std::string>> out;
  std::istringstream in(text);
  for (std::string own; std::getline(in, own);) {
    const auto first = own.find('\t'), second = own.rfind('\t');
    if (first == std::string::npos || first == second) continue;
    out[own.substr(0, first)] = {own.substr(first + 1, second - first - 1), own.substr(second + 1)};
  }
  return out;
}

}  // namespace

std::string fingerprint(const TrainingData& data) {
  std::string out = part_lines(data.train, "training data");
  if (data.validation) out += part_lines(*data.validation, "validation data");
  return out;
}

std::string fingerprint_difference(const std::string& before, const std::string& now) {
  const auto was = read_lines(before), is = read_lines(now);
  std::vector<std::string> out;
  for (const auto& [what, value] : is) {
    const auto own = was.find(what);
    if (own == was.end())
      out.push_back(what + " is new");
    else if (own->second.first != value.first)
      out.push_back(fmt::format("{}: {} instead of {}", what, value.first, own->second.first));
    else if (own->second.second != value.second)
      out.push_back(what + " has changed");
  }
  for (const auto& [what, value] : was)
    if (!is.contains(what)) out.push_back(what + " is gone");
  return fmt::format("{}", fmt::join(out, "; "));
}

}  // namespace tightloop::train
