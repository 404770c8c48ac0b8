// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/base/mapped.h>
#include <tightloop/data/columns.h>
#include <tightloop/data/source.h>
#include <tightloop/data/vocabulary.h>

#include <algorithm>

namespace tightloop::data {
namespace {

constexpr std::size_t kHead = 4096;

/// Files that people hand over by mistake, by their first bytes.
struct Foreign {
  std::string_view magic;
  std::string_view what;
};
constexpr Foreign kForeign[] = {
    {"PK\x03\x04", "a zip archive, but no .npz: unpack it, or save the sheet as CSV"},
    {"\x89PNG", "a PNG image"},
    {"\xff\xd8\xff", "a JPEG image"},
    {"GIF8", "a GIF image"},
    {"\x89HDF", "an HDF5 file: save its arrays as .npy"},
    {"PAR1", "a Parquet file: save it as CSV or .npy"},
    {"ARROW1", "an Arrow file: save it as CSV or .npy"},
    {"SQLite format 3", "an SQLite data base: export the table as CSV"},
    {"%PDF", "a PDF document"},
    {"BZh", "compressed by bzip2: unpack it, or use gzip"},
    {"\xfd"
     "7zXZ",
     "compressed by xz: unpack it, or use gzip"},
    {"\x28\xb5\x2f\xfd", "compressed by zstd: unpack it, or use gzip"},
    {"version https://git-lfs", "a Git LFS pointer, not the data: run git lfs pull"},
    {"\xd0\xcf\x11\xe0", "an old Excel sheet: save it as CSV"},
};

bool looks_like_html(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  std::string head(text.substr(0, 16));
  for (char& c : head) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return head.starts_with("<!doctype html") || head.starts_with("<html") || head.starts_with("<?xml") ||
         head.starts_with("<head");
}

/// Whether the name, without .gz, ends in one of the suffixes.
bool has_suffix(std::string_view name, std::string_view suffixes) {
  if (name.ends_with(".gz")) name.remove_suffix(3);
  while (!suffixes.empty()) {
    const std::size_t end = std::min(suffixes.find(' '), suffixes.size());
    if (name.ends_with(suffixes.substr(0, end))) return true;
    suffixes.remove_prefix(std::min(end + 1, suffixes.size()));
  }
  return false;
}

void refuse_page(std::string_view text, const std::string& name) {
  if (text.empty()) throw Error(name + ": the file is empty");
  if (looks_like_html(text.substr(0, kHead)))
    throw Error(name + ": looks like HTML, not data (a download that went to a web page?)");
}

void refuse_foreign(std::string_view text, const std::string& name) {
  for (const auto& f : kForeign)
    if (text.starts_with(f.magic)) throw Error(name + ": is " + std::string(f.what));
}

const SourceFormat& recognise(const Bytes& content, const std::string& name,
                              std::span<const SourceFormat> formats) {
  std::string known;
  for (const auto& f : formats) {
    if (f.fits != nullptr && f.fits(content, name)) return f;
    if (!f.asked_only)
      known += (known.empty() ? "" : ", ") + std::string(f.name) + " (" + std::string(f.suffixes) + ")";
  }
  refuse_foreign(content.text(), name);
  for (const auto& f : formats) {
    if (f.asked_only || !has_suffix(name, f.suffixes)) continue;
    if (f.fits == nullptr) return f;
    throw Error(name + ": the name is that of " + std::string(f.name) + ", but the content is not");
  }
  const bool is_text = content.text().substr(0, kHead).find('\0') == std::string_view::npos;
  for (const auto& f : formats)
    if (f.fits == nullptr && !f.asked_only && is_text) return f;
  throw Error(name + ": not a format that is read here: " + known);
}

const SourceFormat& format_of(const Bytes& content, const std::string& name,
                              std::span<const SourceFormat> formats, const std::string& key) {
  if (key.empty()) return recognise(content, name, formats);
  const auto found =
      std::find_if(formats.begin(), formats.end(), [&](const auto& f) { return f.key == key; });
  require(found != formats.end(), "open_source: unknown format");
  return *found;
}

}  // namespace

Array ArrayPack::array(const std::string& name, const std::string& source) const {
  if (std::find(names.begin(), names.end(), name) == names.end())
    throw Error(source + ": holds no array '" + name + "'" + suggestion(name, names) + "; it has " +
                name_list(names));
  return read(name);
}

Source open_source(const Bytes& content, const std::string& name, std::span<const SourceFormat> formats,
                   const SourceOptions& options) {
  refuse_page(content.text(), name);
  const SourceFormat& format = format_of(content, name, formats, options.format);
  return {std::string(format.name), format.read(content, name, options)};
}

Source open_source(const std::string& path, std::span<const SourceFormat> formats,
                   const SourceOptions& options) {
  const Bytes bytes = read_file(path);
  return while_unchanged(bytes, [&] { return open_source(bytes, path, formats, options); });
}

SourceFormat csv_format() {
  return {"csv", "CSV", ".csv .tsv .txt", nullptr,
          [](const Bytes& bytes, const std::string& name, const SourceOptions& options) -> SourceContent {
            return CsvFile::parse(bytes, name, options.csv);
          }};
}

SourceFormat text_format() {
  return {"text",
          "text",
          "any",
          nullptr,
          [](const Bytes& bytes, const std::string& name, const SourceOptions& options) -> SourceContent {
            ArrayPack out{{"text"}, {}};
            out.text = true;
            out.read = [=](const std::string&) {
              return options.vocabulary.empty() ? text_bytes(bytes, name)
                                                : Vocabulary::open(options.vocabulary).ids(bytes, name);
            };
            return out;
          },
          true};
}

}  // namespace tightloop::data
