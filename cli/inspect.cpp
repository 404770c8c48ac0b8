// SPDX-License-Identifier: Apache-2.0
#include "command.h"
#include "describe.h"
#include "report.h"

#include <tightloop/base/file.h>
#include <tightloop/data/images/folder.h>
#include <tightloop/data/images/formats.h>
#include <tightloop/data/shards.h>
#include <tightloop/train/sources.h>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

namespace tightloop::cli {
namespace {

namespace fs = std::filesystem;

struct Arguments {
  std::vector<std::string> files;
  std::string format, separator;
  bool json = false;
};

/// A folder stands for the files in it, but for hidden ones, unless it is a data set as a whole.
std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> out;
  std::error_code ec;
  for (fs::directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec))
    if (it->is_regular_file(ec) && !it->path().filename().string().starts_with('.'))
      out.push_back(it->path().string());
  if (ec) throw Error(fmt::format("{}: cannot be read: {}", folder, ec.message()));
  std::sort(out.begin(), out.end());
  if (out.empty()) throw Error(folder + ": holds no files");
  return out;
}

constexpr std::size_t kMostFiles = 1000;  ///< of a folder that are shown

bool holds_image(const std::string& file) {
  const Bytes bytes = map_file(file);
  const auto formats = data::image_formats();
  return std::any_of(formats.begin(), formats.end(), [&](const auto& f) { return f.begins(bytes.span()); });
}

data::SourceOptions options_of(const Arguments& a) {
  if (a.separator.size() > 1) throw Error("--separator: '" + a.separator + "' is not one character");
  data::SourceOptions out{.format = a.format};
  out.csv.separator = a.separator.empty() ? '\0' : a.separator[0];
  return out;
}

/// Collects what is shown: texts at once, objects at the end.
class Output {
 public:
  explicit Output(bool json) : json_(json) {}
  template <class Content>
  void add(const std::string& file, const Content& content) {
    if (!json_) return say(fmt::format("{}: {}", file, text_of(content)));
    nlohmann::ordered_json one{{"file", file}};
    one.update(json_of(content));
    all_.push_back(std::move(one));
  }
  /// By its content; tar shards by their name.
  void add_file(const std::string& file, const data::SourceOptions& options) {
    if (options.format.empty() && data::is_shards(file)) return add(file, data::summary_of_shard(file));
    if (options.format.empty() && holds_image(file)) return add(file, data::summary_at(file));
    add(file, train::open_source(file, options));
  }
  /// A file of a folder that is no data does not hide the others.
  void try_add(const std::string& file, const data::SourceOptions& options) {
    try {
      add_file(file, options);
    } catch (const Error& e) {
      if (json_)
        all_.push_back({{"file", file}, {"error", e.what()}});
      else
        say(fmt::format("{}\n", e.what()));
    }
  }
  void finish() const {
    if (json_) say(all_.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
  }

 private:
  bool json_;
  nlohmann::ordered_json all_ = nlohmann::ordered_json::array();
};

void add_folder(const std::string& folder, const data::SourceOptions& options, Output& out) {
  if (const auto whole = train::open_folder(folder, options)) return out.add(folder, *whole);
  if (options.format.empty() && data::is_image_folder(folder))
    return out.add(folder, data::summary_of_folder(folder));
  const auto files = files_in(folder);
  for (std::size_t i = 0; i < std::min(files.size(), kMostFiles); ++i) out.try_add(files[i], options);
  if (files.size() > kMostFiles)
    warn_of({fmt::format("{}: holds {} files, of which the first {} are shown; name others to see them",
                         folder, files.size(), kMostFiles)});
}

void run(const Arguments& a) {
  const data::SourceOptions options = options_of(a);
  Output out(a.json);
  for (const auto& given : a.files) {
    const bool pattern = !fs::exists(given) && data::is_shards(given);
    for (const auto& file : pattern ? data::expand_braces(given) : std::vector{given}) {
      if (fs::is_directory(file))
        add_folder(file, options, out);
      else
        out.add_file(file, options);
    }
  }
  out.finish();
}

}  // namespace

void add_inspect(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("inspect", "What data files hold: types, ranges, classes, first rows");
  const auto a = std::make_shared<Arguments>();
  command
      ->add_option("file", a->files,
                   "CSV, NPY, NPZ, IDX or CIFAR files, images, tar shards, or folders of them")
      ->required()
      ->type_name("FILE");
  std::vector<std::string> formats;
  for (const auto& f : train::source_formats()) formats.emplace_back(f.key);
  command->add_option("--format", a->format, "Read them as this format, whatever they look like")
      ->type_name("FORMAT")
      ->check(CLI::IsMember(formats));
  command->add_option("--separator", a->separator, "What separates the fields of tables")
      ->type_name("CHARACTER");
  command->add_flag("--json", a->json, "Print one JSON list");
  command->footer("Example: tightloop inspect train.csv images.npy");
  command->callback([&action, a] { action = [a] { return run(*a), 0; }; });
}

}  // namespace tightloop::cli
