// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/mapped.h>
#include <tightloop/io/safetensors.h>
#include <tightloop/io/stored_type.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <optional>
#include <set>

namespace tightloop::io {
namespace {

using nlohmann::json;

constexpr std::string_view kMetadata = "__metadata__";
constexpr std::size_t kPrefix = 8;               // the header's length, u64 little endian
constexpr std::size_t kMaxHeader = 100'000'000;  // as the reference implementation
constexpr int kMaxDepth = 3;                     // file, tensor, shape

struct NamedType {
  std::string_view name;
  DType dtype;
};
constexpr NamedType kTypes[] = {
    {"F64", DType::f64}, {"F32", DType::f32}, {"BF16", DType::bf16}, {"F16", DType::f16},
    {"I64", DType::i64}, {"I32", DType::i32}, {"U8", DType::u8},     {"BOOL", DType::boolean},
};

std::optional<DType> type_of(std::string_view name) {
  for (const auto& t : kTypes)
    if (t.name == name) return t.dtype;
  return std::nullopt;
}

std::string_view name_of(DType dtype) {
  for (const auto& t : kTypes)
    if (t.dtype == dtype) return t.name;
  throw InternalError("internal error: safetensors has no name for a dtype");
}

std::string type_list() {
  std::string out;
  for (const auto& t : kTypes) out += (out.empty() ? "" : ", ") + std::string(t.name);
  return out;
}

struct Entry {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::int64_t> dims;
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct Header {
  json tree;
  std::vector<std::string> keys;  // in the order of the file
};

/// JSON that refuses what the parser itself lets pass: a key twice, and deep nesting.
Header parse_header(std::string_view text, const std::string& name) {
  Header header;
  std::array<std::set<std::string>, kMaxDepth + 2> seen;
  const auto check = [&](int depth, json::parse_event_t event, json& value) {
    if (depth > kMaxDepth) throw Error(name + ": the safetensors header is nested too deep");
    const auto level = static_cast<std::size_t>(depth);
    if (event == json::parse_event_t::object_start) seen[level + 1].clear();
    if (event != json::parse_event_t::key) return true;
    const auto& key = value.get_ref<const std::string&>();
    if (!seen[level].insert(key).second)
      throw Error(name + ": the safetensors header has the key '" + key + "' twice");
    if (level == 1) header.keys.push_back(key);
    return true;
  };
  try {
    header.tree = json::parse(text.begin(), text.end(), check);
  } catch (const json::parse_error& e) {
    throw Error(name + ": the safetensors header is not JSON (at its byte " + std::to_string(e.byte) + ")");
  } catch (const json::exception&) {
    throw Error(name + ": the safetensors header holds a number that is out of range");
  }
  if (!header.tree.is_object()) throw Error(name + ": the safetensors header is not a JSON object");
  return header;
}

std::map<std::string, std::string> parse_metadata(const json& tree, const std::string& name) {
  if (!tree.is_object()) throw Error(name + ": __metadata__ is not a JSON object");
  std::map<std::string, std::string> out;
  for (const auto& [key, value] : tree.items()) {
    if (!value.is_string())
      throw Error(name + ": the value of '" + key + "' in __metadata__ is not a string");
    out[key] = value.get<std::string>();
  }
  return out;
}

/// Reads one tensor's entry; `where` is "FILE: tensor 'NAME'".
class EntryParser {
 public:
  EntryParser(const json& tree, std::string where) : tree_(tree), where_(std::move(where)) {}

  Entry parse(const std::string& name, std::size_t data_size) const {
    if (!tree_.is_object()) fail("is not described by a JSON object");
    for (const auto& [key, value] : tree_.items())
      if (key != "dtype" && key != "shape" && key != "data_offsets")
        fail("has the unknown key '" + key + "'");
    Entry e{name, dtype(), {}, 0, 0};
    for (const std::uint64_t d : numbers("shape")) e.dims.push_back(static_cast<std::int64_t>(d));
    const auto offsets = numbers("data_offsets");
    if (offsets.size() != 2) fail("needs two data_offsets, has " + std::to_string(offsets.size()));
    e.begin = offsets[0];
    e.end = offsets[1];
    const std::string range = "[" + std::to_string(e.begin) + ", " + std::to_string(e.end) + ")";
    if (e.begin > e.end) fail("has data_offsets that run backwards: " + range);
    if (e.end > data_size)
      fail("lies at bytes " + range + ", but the file has only " + std::to_string(data_size) +
           " bytes of data (cut short?)");
    const std::size_t wanted = stored_bytes(e.dims, size_of(e.dtype), where_);
    if (wanted != e.end - e.begin)
      fail("needs " + std::to_string(wanted) + " bytes for its shape, its data_offsets give " +
           std::to_string(e.end - e.begin));
    return e;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw Error(where_ + " " + what); }
  const json& field(const char* key) const {
    const auto it = tree_.find(key);
    if (it == tree_.end()) fail(std::string("lacks '") + key + "'");
    return *it;
  }
  DType dtype() const {
    const json& value = field("dtype");
    if (!value.is_string()) fail("has a dtype that is not a string");
    const auto& text = value.get_ref<const std::string&>();
    const auto found = type_of(text);
    if (!found) fail("has the dtype '" + text + "', which is not supported (supported: " + type_list() + ")");
    return *found;
  }
  std::vector<std::uint64_t> numbers(const char* key) const {
    const json& list = field(key);
    if (!list.is_array()) fail(std::string("has a ") + key + " that is not a list");
    std::vector<std::uint64_t> out;
    for (const json& v : list) {
      if (!v.is_number_unsigned() || v.get<std::uint64_t>() > (std::uint64_t{1} << 62))
        fail(std::string("has a ") + key + " with an entry that is not a whole number from 0 to 2^62");
      out.push_back(v.get<std::uint64_t>());
    }
    return out;
  }

  const json& tree_;
  std::string where_;
};

/// The data must be covered exactly, without holes and overlaps.
void check_cover(const std::vector<Entry>& entries, std::size_t data_size, const std::string& name) {
  std::vector<const Entry*> order;
  for (const auto& e : entries) order.push_back(&e);
  std::sort(order.begin(), order.end(), [](const Entry* a, const Entry* b) {
    return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
  });
  std::size_t at = 0;
  for (const Entry* e : order) {
    if (e->begin != at)
      throw Error(name + ": tensor '" + e->name + "' begins at byte " + std::to_string(e->begin) +
                  " of the data, " + (e->begin < at ? "inside" : "leaving a hole behind") + " what ends at " +
                  std::to_string(at));
    at = e->end;
  }
  if (at != data_size)
    throw Error(name + ": " + std::to_string(data_size - at) + " bytes follow the last tensor");
}

Array array_of(const Entry& e, const Bytes& data, const std::string& name) {
  std::byte* bytes = data.data() + e.begin;
  const bool aligned = reinterpret_cast<std::uintptr_t>(bytes) % size_of(e.dtype) == 0;
  const bool borrowed = aligned && e.end != e.begin;
  Array out = borrowed ? Array::borrow(e.dtype, e.dims, bytes, data.owner()) : Array(e.dtype, e.dims);
  if (!borrowed && e.end != e.begin) std::memcpy(out.bytes(), bytes, e.end - e.begin);
  check_bools(out, name + ": tensor '" + e.name + "'");
  return out;
}

std::uint64_t header_length(const Bytes& bytes, const std::string& name) {
  if (bytes.size() < kPrefix)
    throw Error(name + ": not a safetensors file: it has only " + std::to_string(bytes.size()) + " bytes");
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kPrefix);
  if (length > bytes.size() - kPrefix || length > kMaxHeader)
    throw Error(name + ": not a safetensors file, or cut short: its header would have " +
                std::to_string(length) + " bytes, the file has " + std::to_string(bytes.size()));
  return length;
}

/// Places of the data in the file: by falling element size, which keeps every array aligned.
std::vector<Entry> lay_out(const TensorFile& file) {
  std::vector<std::size_t> order(file.tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return size_of(file.tensors[a].second.dtype()) > size_of(file.tensors[b].second.dtype());
  });
  std::vector<Entry> entries(file.tensors.size());
  std::size_t at = 0;
  for (const std::size_t i : order) {
    const auto& [name, array] = file.tensors[i];
    entries[i] = {name, array.dtype(), array.dims(), at, at + array.size_bytes()};
    at = entries[i].end;
  }
  return entries;
}

void check_names(const std::string& path, const TensorFile& file) {
  std::set<std::string_view> seen;
  for (const auto& [name, array] : file.tensors) {
    if (name == kMetadata)
      throw Error("cannot write '" + path + "': a tensor must not be named __metadata__");
    if (!seen.insert(name).second)
      throw Error("cannot write '" + path + "': two tensors are named '" + name + "'");
  }
}

std::string header_text(const std::vector<Entry>& entries, const TensorFile& file) {
  std::string out = "{";
  const auto append = [&out](std::string_view key, const nlohmann::ordered_json& value) {
    out += (out.size() > 1 ? "," : "") + json(key).dump() + ":" + value.dump();
  };
  if (!file.metadata.empty()) append(kMetadata, file.metadata);
  for (const Entry& e : entries)
    append(e.name, {{"dtype", name_of(e.dtype)}, {"shape", e.dims}, {"data_offsets", {e.begin, e.end}}});
  out += "}";
  out.resize((out.size() + kPrefix - 1) / kPrefix * kPrefix, ' ');
  return out;
}

}  // namespace

const Array* TensorFile::find(std::string_view name) const {
  for (const auto& [key, array] : tensors)
    if (key == name) return &array;
  return nullptr;
}

TensorFile parse_safetensors(const Bytes& bytes, const std::string& name) {
  const std::size_t length = header_length(bytes, name);
  const Header header = parse_header(bytes.text().substr(kPrefix, length), name);
  const Bytes data = bytes.from(kPrefix + length);
  TensorFile file;
  std::vector<Entry> entries;
  for (const std::string& key : header.keys) {
    const json& tree = header.tree.at(key);
    if (key == kMetadata)
      file.metadata = parse_metadata(tree, name);
    else
      entries.push_back(EntryParser(tree, name + ": tensor '" + key + "'").parse(key, data.size()));
  }
  check_cover(entries, data.size(), name);
  for (const Entry& e : entries) file.tensors.emplace_back(e.name, array_of(e, data, name));
  return file;
}

TensorFile read_safetensors(const std::string& path) {
  const Bytes bytes = map_file(path);
  return while_unchanged(bytes, [&] { return parse_safetensors(bytes, path); });
}

void write_safetensors(const std::string& path, const TensorFile& file) {
  check_names(path, file);
  const auto entries = lay_out(file);
  std::string header;
  try {
    header = header_text(entries, file);
  } catch (const json::exception&) {
    throw Error("cannot write '" + path + "': a tensor name or metadata text is not UTF-8");
  }
  std::vector<std::size_t> order(entries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return entries[a].begin < entries[b].begin; });
  const std::uint64_t length = header.size();
  AtomicFile out(path);
  out.write(std::as_bytes(std::span(&length, 1)));
  out.write(header);
  for (const std::size_t i : order)
    out.write({file.tensors[i].second.bytes(), file.tensors[i].second.size_bytes()});
  out.commit();
}

}  // namespace tightloop::io
