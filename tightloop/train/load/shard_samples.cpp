// SPDX-License-Identifier: Apache-2.0
#include <tightloop/data/columns.h>
#include <tightloop/data/shards.h>
#include <tightloop/io/npy.h>
#include <tightloop/train/load/stream.h>

#include <fmt/format.h>
#include <algorithm>
#include <charconv>
#include <cstring>
#include <set>

namespace tightloop::train {
namespace {

/// "image" and "class" stand for the extensions that they usually have.
std::vector<std::string> extensions(const Field& f) {
  if (f.from.size() == 1 && f.from[0] == "image") return {"jpg", "jpeg", "png", "webp"};
  if (f.from.size() == 1 && f.from[0] == "class") return {"cls"};
  return f.from;
}

bool is_image(const std::string& extension) {
  return extension == "jpg" || extension == "jpeg" || extension == "png" || extension == "webp";
}
bool is_class(const std::string& extension) { return extension == "cls" || extension == "txt"; }

std::string trimmed(const std::vector<std::byte>& bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1));
}

bool whole_number(const std::string& text, std::int64_t& out) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), out);
  return code == std::errc() && end == text.data() + text.size();
}

class ShardSamples final : public data::Samples {
 public:
  ShardSamples(data::Shards shards, std::vector<Field> fields, StreamRequest& request)
      : shards_(std::move(shards)) {
    for (std::size_t f = 0; f < fields.size(); ++f) add_field(f, fields[f], request);
  }

  std::int64_t size() const override { return shards_.size(); }
  const std::vector<data::SampleField>& fields() const override { return fields_; }
  std::string name(std::int64_t i) const override { return shards_.name(i); }

  void get(std::int64_t i, const data::SampleKey& key, std::span<std::byte* const> out) const override {
    thread_local std::vector<std::byte> bytes;
    for (std::size_t f = 0; f < out.size(); ++f) {
      shards_.read(i, f, bytes);
      const std::string file = name(i) + "." + shards_.extension(i, f);
      if (readers_[f])
        readers_[f]->read(bytes, file, key, i, out[f]);
      else if (is_class(shards_.extension(i, f)))
        write_class(f, bytes, file, out[f]);
      else
        write_array(bytes, file, fields_[f], out[f]);
    }
  }

 private:
  void add_field(std::size_t f, const Field& field, StreamRequest& request) {
    std::vector<std::byte> bytes;
    shards_.read(0, f, bytes);
    const std::string& extension = shards_.extension(0, f);
    const std::string file = name(0) + "." + extension;
    readers_.emplace_back();
    if (is_image(extension)) {
      readers_.back().emplace(request.images(), bytes, file);
      fields_.push_back({field.name, readers_.back()->options().dtype, readers_.back()->dims()});
    } else if (is_class(extension)) {
      fields_.push_back({field.name, DType::i64, {}});
      if (field.name == request.job.data.target[0].name) find_classes(f, bytes, request);
    } else if (extension == "npy") {
      const Array a = io::parse_npy(Bytes::copy_of(bytes), file);
      fields_.push_back({field.name, a.dtype(), a.dims()});
    } else {
      throw Error(fmt::format("{}: '{}' is read from jpg, png, webp, npy, cls or txt files, not from {}",
                              file, field.name, extension));
    }
  }

  /// Texts as classes: all are read once, in the order of their bytes they are numbered.
  void find_classes(std::size_t f, std::vector<std::byte>& bytes, StreamRequest& request) {
    std::int64_t number = 0;
    if (whole_number(trimmed(bytes), number) && request.classes.empty()) return;
    if (request.classes.empty()) {
      std::set<std::string> seen;
      for (std::int64_t i = 0; i < size(); ++i) shards_.read(i, f, bytes), seen.insert(trimmed(bytes));
      request.classes.assign(seen.begin(), seen.end());
    }
    classes_ = request.classes;
    text_field_ = f;
  }

  void write_class(std::size_t f, const std::vector<std::byte>& bytes, const std::string& file,
                   std::byte* out) const {
    const std::string text = trimmed(bytes);
    std::int64_t number = 0;
    if (f != text_field_) {
      if (!whole_number(text, number))
        throw Error(fmt::format("{}: the class '{}' is no whole number, the first one was", file, text));
    } else {
      const auto at = std::find(classes_.begin(), classes_.end(), text);
      if (at == classes_.end())
        throw Error(fmt::format("{}: the class '{}' was not trained on{}; there are {}", file, text,
                                suggestion(text, classes_), data::name_list(classes_)));
      number = at - classes_.begin();
    }
    std::memcpy(out, &number, sizeof(number));
  }

  static void write_array(const std::vector<std::byte>& bytes, const std::string& file,
                          const data::SampleField& field, std::byte* out) {
    const Array a = io::parse_npy(Bytes::copy_of(bytes), file);
    if (a.dtype() != field.dtype || a.dims() != field.dims)
      throw Error(fmt::format("{}: is {}, in the first sample it was {}", file, a.type_string(),
                              Array(field.dtype, field.dims).type_string()));
    std::memcpy(out, a.bytes(), a.size_bytes());
  }

  data::Shards shards_;
  std::vector<data::SampleField> fields_;
  std::vector<std::optional<data::ImageReader>> readers_;
  std::vector<std::string> classes_;
  std::size_t text_field_ = ~std::size_t{0};  ///< whose classes are texts
};

}  // namespace

std::shared_ptr<const data::Samples> shard_samples(const std::string& path, StreamRequest& request) {
  std::vector<Field> fields = request.job.data.inputs;
  if (request.with_target) fields.push_back(request.job.data.target[0]);
  std::vector<std::vector<std::string>> wanted;
  for (const Field& f : fields) wanted.push_back(extensions(f));
  data::Shards shards(path, wanted);
  request.notes.insert(request.notes.end(), shards.notes().begin(), shards.notes().end());
  return std::make_shared<ShardSamples>(std::move(shards), std::move(fields), request);
}

}  // namespace tightloop::train
