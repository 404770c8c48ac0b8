// SPDX-License-Identifier: Apache-2.0
#include <tightloop/data/shards.h>
#include <tightloop/io/cifar.h>
#include <tightloop/train/choice.h>
#include <tightloop/train/load/parts.h>
#include <tightloop/train/load/stream.h>

#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <filesystem>

namespace tightloop::train {
namespace {

namespace fs = std::filesystem;

enum class Kind { none, folder, shards, arrays };

using Files = std::vector<std::pair<std::string, std::string>>;

std::uint64_t physical_memory() {
  return static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::vector<std::string> names_of(const std::vector<Choice>& list) {
  std::vector<std::string> out;
  for (const Choice& c : list) out.push_back(c.name);
  return out;
}

/// In memory there are whole images, of which each epoch's step takes other parts.
bool crops_in_step(const Job& job) {
  return job.data.memory == "resident" && !job.data.transforms.empty() &&
         job.data.transforms[0].name == "random_resized_crop";
}

std::size_t decoded_count(const Job& job, const std::vector<Choice>& list) {
  if (!job.data.images.size.empty() || crops_in_step(job)) return 0;
  return data::leading_geometries(names_of(list));
}

data::Geometry geometry_of(const Choice& c) {
  return chosen(c, [](const auto& name, const auto& options) { return data::make_geometry(name, options); });
}

/// In evaluation the middle takes the place of a random part.
data::Geometries evaluated(const data::Geometries& steps) {
  data::Geometries out;
  for (const data::Geometry& g : steps) {
    if (g.kind != data::Geometry::Kind::random_resized_crop) {
      out.push_back(g);
      continue;
    }
    out.push_back({data::Geometry::Kind::resize, std::max(g.height, g.width), 0});
    out.push_back({data::Geometry::Kind::center_crop, g.height, g.width});
  }
  return out;
}

/// The files of the fields, when all are NPY.
Files npy_files(const Job& job, const std::string& path, const std::vector<Field>& given, bool with_target) {
  const bool folder = path.empty() || fs::is_directory(path);
  if (!folder && !path.ends_with(".npy")) return {};
  const fs::path root = path.empty() ? fs::path(job.folder)
                        : folder     ? fs::path(path)
                                     : fs::path(path).parent_path();
  std::vector<Field> wanted = job.data.inputs;
  if (with_target) wanted.push_back(job.data.target[0]);
  Files out;
  for (const Field& f : wanted) {
    const auto own =
        std::find_if(given.begin(), given.end(), [&](const Field& g) { return g.name == f.name; });
    const std::vector<std::string>& from = own == given.end() ? f.from : own->from;
    if (from.size() != 1 || !from[0].ends_with(".npy")) return {};
    out.emplace_back(f.name, (root / from[0]).string());
  }
  return out;
}

std::uint64_t bytes_of(const Files& files) {
  std::uint64_t out = 0;
  std::error_code ec;
  for (const auto& [name, path] : files) {
    const auto size = fs::file_size(path, ec);
    if (!ec) out += size;
  }
  return out;
}

bool wants_images(const Job& job, const std::string& path) {
  if (job.data.images.given) return true;
  const auto holds = [&](io::Cifar kind) { return !io::cifar_training_files(path, kind).empty(); };
  return job.data.inputs[0].from == std::vector<std::string>{"image"} && !holds(io::Cifar::ten) &&
         !holds(io::Cifar::hundred);
}

Kind kind_of(const Job& job, const std::string& path, const Files& files) {
  if (data::is_shards(path)) return Kind::shards;
  if (files.empty() && !path.empty() &&
      (wants_images(job, path) ? fs::is_directory(path) : data::is_image_folder(path)))
    return Kind::folder;
  const bool arrays =
      job.data.memory == "stream" || (job.data.memory == "auto" && bytes_of(files) > physical_memory() / 2);
  return !files.empty() && arrays ? Kind::arrays : Kind::none;
}

std::shared_ptr<const data::Samples> make_samples(Kind kind, const std::string& path, const Files& files,
                                                  StreamRequest& request) {
  return kind == Kind::folder   ? folder_samples(path, request)
         : kind == Kind::shards ? shard_samples(path, request)
                                : array_samples(files, request);
}

DataPart part_of(const Job& job, std::shared_ptr<const data::Samples> samples) {
  return stream(std::move(samples), {.workers = static_cast<int>(job.data.workers),
                                     .prefetch = static_cast<int>(job.data.prefetch),
                                     .skip = job.data.on_error == "skip"});
}

/// Says every few seconds how far it is.
std::function<bool(std::int64_t, std::int64_t)> decoding_notes(Observer* observer) {
  if (observer == nullptr) return {};
  using Clock = std::chrono::steady_clock;
  return [observer, last = Clock::now()](std::int64_t done, std::int64_t of) mutable {
    constexpr std::chrono::seconds kEvery(3);
    if (Clock::now() - last >= kEvery) {
      last = Clock::now();
      observer->note(fmt::format("decoded {} of {} samples", done, of));
    }
    return !observer->stop();
  };
}

/// Decodes images once where that is asked for, or where they fit well.
void settle_memory(const StreamRequest& request, Kind kind, DataPart& part, std::vector<std::string>& notes) {
  const Job& job = request.job;
  const bool random = request.training && data::is_random(image_options(job, true).steps);
  std::uint64_t bytes = 0;
  for (const data::SampleField& f : part.samples->fields()) bytes += f.bytes();
  const bool fits = bytes * static_cast<std::uint64_t>(part.samples->size()) <= physical_memory() / 4;
  const bool automatic = job.data.memory == "auto" && kind != Kind::arrays && fits && !random;
  if (job.data.memory != "resident" && !automatic) return;
  data::Loaded loaded = data::load_all(part.samples, {}, part.loader, decoding_notes(request.observer));
  for (const auto& [number, what] : loaded.skipped) notes.push_back("left out: " + what);
  part = DataPart{std::move(loaded.data)};
}

void check_same_types(const data::Dataset& train, const data::Dataset& other) {
  for (const auto& f : train.fields()) {
    const Array& o = other[f.name];
    auto a = f.values.dims(), b = o.dims();
    a[0] = b[0] = 0;
    if (a != b || f.values.dtype() != o.dtype())
      throw Error(
          fmt::format("data.validation: '{}' is {} a row, in the training data {}; set data.images.size, or "
                      "transforms that end in one size",
                      f.name, Array(o.dtype(), {o.dims().begin() + 1, o.dims().end()}).type_string(),
                      Array(o.dtype(), {f.values.dims().begin() + 1, f.values.dims().end()}).type_string()));
  }
}

/// Fits the normalisation on samples that are spread evenly, when there are too many to look at all.
std::vector<data::FieldScale> stream_scales(const Job& job, const DataPart& part) {
  if (!part.is_stream()) return fit_scales(job, part);
  const auto& methods = job.data.normalize;
  if (std::all_of(methods.begin(), methods.end(), [](const Normalize& n) { return n.method == "none"; }))
    return {};
  constexpr std::int64_t kSamples = 4096;
  const std::int64_t count = part.count(), take = std::min(count, kSamples);
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < take; ++i) {
    const std::int64_t at = i * count / take;
    rows.push_back(part.rows.empty() ? at : part.rows[static_cast<std::size_t>(at)]);
  }
  return fit_scales(job, DataPart{data::load_all(part.samples, rows, part.loader).data});
}

ColumnOf column_of(const Job& job, const DataPart& part, Kind kind) {
  return [&job, &part, kind](const std::string& name, bool text) {
    return sample_column(job, part, kind == Kind::arrays, name, text);
  };
}

void add_stream_validation(LoadedData& out, StreamRequest& request, Kind kind, const std::string& path,
                           const Files& files) {
  const Validation& v = request.job.data.validation;
  DataPart& train = out.data.train;
  out.split.rows = train.total();
  const bool held = v.fraction > 0 || request.job.data.fold.k > 0;
  if (v.none() && !held) return;
  request.training = false;
  if (held) {
    auto [split, record] = hold_back(request.job, train.total(), column_of(request.job, train, kind));
    out.data.validation =
        train.is_stream() ? part_of(request.job, make_samples(kind, path, files, request)) : train;
    train.rows = std::move(split.train);
    out.data.validation->rows = std::move(split.validation);
    out.split = std::move(record);
  } else {
    const std::string other = v.files.empty() ? resolve(request.job, v.file) : path;
    const Files own = npy_files(request.job, other, v.files, true);
    Kind its = kind_of(request.job, other, own);
    if (kind == Kind::arrays && !own.empty()) its = kind;  // however small
    if (its == Kind::none)
      throw Error(other + ": data.validation must be of the kind of data.train: images, shards or NPY");
    out.data.validation = part_of(request.job, make_samples(its, other, own, request));
    settle_memory(request, its, *out.data.validation, request.notes);
    out.split.kind = "file";
  }
  check_same_types(train.data, out.data.validation->data);
}

/// The transforms that are left for the step.
Job left_for_step(const Job& job, Kind kind) { return kind == Kind::arrays ? job : after_decoding(job); }

void refuse_windows(const Job& job) {
  if (job.data.window)
    throw Error(job.source +
                ": data.window reads rows of a series in memory, which images, shards and samples made "
                "batch by batch (by data.memory or their size) are not");
}

}  // namespace

data::ImageOptions image_options(const Job& job, bool training) {
  const Images& images = job.data.images;
  data::ImageOptions out{static_cast<int>(images.channels), images.type == "f32" ? DType::f32 : DType::u8};
  if (!images.size.empty()) {
    out.steps.push_back({data::Geometry::Kind::resize, images.size[0], images.size[1]});
    return out;
  }
  const bool own = !training && job.data.eval_transforms.has_value();
  const std::vector<Choice>& list = own ? *job.data.eval_transforms : job.data.transforms;
  for (std::size_t i = 0; i < decoded_count(job, list); ++i) out.steps.push_back(geometry_of(list[i]));
  if (!training && !own) out.steps = evaluated(out.steps);
  return out;
}

data::ImageOptions StreamRequest::images() const {
  data::ImageOptions out = image_options(job, training);
  if (crops_in_step(job))
    out.advice.size =
        "data.memory = \"resident\" keeps whole images, from which the step takes random crops, so they need "
        "one size: set data.images.size, or data.memory = \"stream\"";
  if (advice) out.advice = *advice;
  return out;
}

Job after_decoding(Job job) {
  const auto take = [](std::vector<Choice>& list, std::size_t count) {
    list.erase(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(count));
  };
  if (job.data.eval_transforms)
    take(*job.data.eval_transforms, decoded_count(job, *job.data.eval_transforms));
  take(job.data.transforms, decoded_count(job, job.data.transforms));
  return job;
}

std::optional<LoadedData> load_streams(const Job& job, nn::TargetKind target, Observer* observer) {
  const std::string path = resolve(job, job.data.train);
  const Files files = npy_files(job, job.data.train.empty() ? "" : path, {}, true);
  const Kind kind = kind_of(job, job.data.train.empty() ? "" : path, files);
  if (kind == Kind::none) {
    if (!path.empty() && !job.data.train.empty() && !fs::exists(path))
      return std::nullopt;  // said by the reader
    if (job.data.memory == "stream" || job.data.images.given)
      throw Error(
          fmt::format("{}: data.{} is for a folder of images, tar shards and NPY files; data.train is none",
                      job.source, job.data.images.given ? "images" : "memory = \"stream\""));
    return std::nullopt;
  }
  if (!job.data.train_more.empty())
    throw Error(job.source +
                ": data.train is a list, whose rows must lie in memory; images, shards and streams of "
                "NPY files come from one place");
  check_keys(job, kind == Kind::folder   ? SourceKind::images
                  : kind == Kind::shards ? SourceKind::shards
                                         : SourceKind::npy_rows);
  StreamRequest request{job, target};
  request.observer = observer;
  request.training = job.train.overfit_batches == 0;
  LoadedData out{
      {.train = part_of(job, make_samples(kind, path, files, request)), .target = job.data.target[0].name},
      {},
      {}};
  settle_memory(request, kind, out.data.train, request.notes);
  out.classes = request.classes;
  refuse_windows(job);
  add_stream_validation(out, request, kind, path, files);
  out.data.scales = stream_scales(job, out.data.train);
  add_views(left_for_step(job, kind), out, column_of(job, out.data.train, kind));
  if (kind != Kind::arrays)
    out.data.train.transforms->start_at(static_cast<std::int64_t>(decoded_count(job, job.data.transforms)));
  out.notes = std::move(request.notes);
  return out;
}

std::optional<DataPart> load_other_streams(const Job& job, nn::TargetKind target,
                                           const std::vector<std::string>& sources,
                                           const std::vector<std::string>& classes, bool with_target) {
  std::vector<Field> given;
  for (const auto& s : sources) {
    const auto equals = s.find('=');
    if (equals != std::string::npos && !fs::exists(s))
      given.push_back({s.substr(0, equals), {fs::absolute(s.substr(equals + 1)).string()}});
  }
  if (given.empty() && sources.size() != 1) return std::nullopt;
  const std::string path = given.empty() ? fs::absolute(sources[0]).string() : "";
  std::vector<Field> wanted = job.data.inputs;
  if (with_target) wanted.push_back(job.data.target[0]);
  if (!given.empty() && given.size() != wanted.size()) return std::nullopt;  // load_other() says what lacks
  const Files files = npy_files(job, path, given, with_target);
  const Kind kind = kind_of(job, path, files);
  if (kind == Kind::none) return std::nullopt;
  StreamRequest request{job, target, with_target, false, classes};
  DataPart part = part_of(job, make_samples(kind, path, files, request));
  part.transforms = evaluation_transforms(left_for_step(job, kind));
  return part;
}

}  // namespace tightloop::train
