// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/file.h>
#include <tightloop/data/loader.h>
#include <tightloop/data/shards.h>
#include <tightloop/engine/machine.h>
#include <tightloop/io/npy.h>
#include <tightloop/train/load/stream.h>
#include <tightloop/train/pack.h>

#include <fmt/format.h>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace tightloop::train {
namespace {

Job job_for(const PackOptions& o) {
  if (!o.out.ends_with(".npy"))
    throw Error(o.out + ": images are packed into a .npy file; choose such a name");
  if (o.images.channels != 1 && o.images.channels != 3 && o.images.channels != 4)
    throw Error(fmt::format("pack: channels must be 1, 3 or 4, not {}", o.images.channels));
  for (const std::int64_t side : o.images.size)
    if (side < 1 || side > 1 << 16)
      throw Error(fmt::format("pack: a size must lie between 1 and 65536, not be {}", side));
  Job job;
  job.source = "pack";
  job.data.inputs = {{"image", {"image"}}};
  job.data.target = {{"class", {"class"}}};
  job.data.images = o.images;
  job.data.images.given = true;
  return job;
}

void check_room(const std::string& out, std::uintmax_t bytes) {
  std::error_code ec;
  const auto parent = std::filesystem::absolute(out).parent_path();
  const auto space = std::filesystem::space(parent, ec);
  if (ec) throw Error(fmt::format("{}: cannot be written: {}", out, ec.message()));
  if (space.available < bytes)
    throw Error(fmt::format("{}: needs {} bytes, the disk has {} left", out, bytes, space.available));
}

}  // namespace

Packed pack(const PackOptions& options) {
  const Job job = job_for(options);
  StreamRequest request{job, nn::TargetKind::classes};
  request.advice = {"give --size", "give --type f32"};
  const auto samples = data::is_shards(options.source) ? shard_samples(options.source, request)
                                                       : folder_samples(options.source, request);
  const data::SampleField& image = samples->fields()[0];
  const std::int64_t rows = samples->size();
  check_room(options.out, image.bytes() * static_cast<std::uintmax_t>(rows));
  const Sampling sampling{.rows = rows, .batch = std::min<std::int64_t>(rows, 64)};
  const int workers = options.workers < 0 ? available_cores() - 1 : static_cast<int>(options.workers);
  data::Loader loader(samples, sampling, {.workers = workers, .skip = options.on_error == "skip"});
  AtomicFile file(options.out);
  std::vector<std::int64_t> dims{rows};
  dims.insert(dims.end(), image.dims.begin(), image.dims.end());
  const std::string header = io::npy_header(image.dtype, dims, options.out);
  file.write(header);
  std::vector<std::int64_t> labels;
  for (std::int64_t step = 0; step < sampling.steps_per_epoch(); ++step) {
    if (options.progress && !options.progress(std::min(rows, step * sampling.batch), rows))
      throw Error(options.out + ": ended before all images were packed; nothing was written");
    const data::LoadedBatch& batch = loader.at(step);
    file.write({batch.fields[0].bytes(), batch.fields[0].size_bytes()});
    const auto made = batch.fields[1].as<std::int64_t>();
    labels.insert(labels.end(), made.begin(), made.end());
  }
  Packed out{static_cast<std::int64_t>(labels.size()), labels.size() * image.bytes(), request.notes};
  for (const auto& [number, what] : loader.skipped()) out.notes.push_back("left out: " + what);
  dims[0] = out.rows;
  if (out.rows != rows) file.rewrite_start(io::npy_header(image.dtype, dims, options.out, header.size()));
  const std::string stem = options.out.substr(0, options.out.size() - 4);
  io::write_npy(stem + ".labels.npy", Array::of<std::int64_t>({out.rows}, labels));
  if (!request.classes.empty())
    write_file(stem + ".classes.json", nlohmann::json(request.classes).dump() + "\n");
  file.commit();
  return out;
}

}  // namespace tightloop::train
