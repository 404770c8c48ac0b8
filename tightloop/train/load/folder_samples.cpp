// SPDX-License-Identifier: Apache-2.0
#include <tightloop/data/columns.h>
#include <tightloop/data/images/folder.h>
#include <tightloop/train/load/stream.h>

#include <fmt/format.h>

namespace tightloop::train {
namespace {

bool is(const Field& f, const char* what) { return f.from.size() == 1 && f.from[0] == what; }

void check_fields(const StreamRequest& request, const std::string& path) {
  const Job& job = request.job;
  if (job.data.inputs.size() != 1 || !is(job.data.inputs[0], "image"))
    throw Error(fmt::format("{}: a folder of images gives one input: write inputs = {{ {} = \"image\" }}",
                            path, job.data.inputs[0].name));
  if (!request.with_target) return;
  if (!is(job.data.target[0], "class"))
    throw Error(
        fmt::format("{}: the target of a folder of images is the class: write target = {{ {} = \"class\" }}",
                    path, job.data.target[0].name));
  if (request.kind == nn::TargetKind::values)
    throw Error(
        fmt::format("{}: the target of a folder of images is a class, but the loss takes values; take "
                    "cross_entropy",
                    path));
}

}  // namespace

std::shared_ptr<const data::Samples> folder_samples(const std::string& path, StreamRequest& request) {
  check_fields(request, path);
  const std::vector<std::string>* known = request.classes.empty() ? nullptr : &request.classes;
  data::ImageFolder folder = request.with_target ? data::list_classes(path, known) : data::list_images(path);
  if (request.with_target) request.classes = folder.classes;
  if (!folder.left_out.empty())
    request.notes.push_back(
        fmt::format("{}: no images by their names, left out: {}", path, data::name_list(folder.left_out)));
  return data::image_samples(std::move(folder), request.images(), request.job.data.inputs[0].name,
                             request.job.data.target[0].name);
}

}  // namespace tightloop::train
