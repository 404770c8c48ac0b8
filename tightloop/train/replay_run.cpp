// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/checkpoint.h>
#include <tightloop/train/job_run.h>
#include <tightloop/train/replay.h>

#include <fmt/format.h>
#include <algorithm>
#include <filesystem>

namespace tightloop::train {
namespace {

namespace fs = std::filesystem;

/// The run's files of checkpoints, the newest first; the best one last.
std::vector<std::string> files_of(const std::string& folder) {
  std::vector<std::string> out = checkpoints_in(folder);
  const std::string best = (fs::path(folder) / kBestCheckpoint).string();
  std::error_code ec;
  if (fs::exists(best, ec)) out.push_back(best);
  return out;
}

struct Found {
  std::string start;       ///< the newest checkpoint at or before the step; "": none
  std::int64_t at = -1;    ///< its step
  std::optional<Job> job;  ///< of the newest checkpoint
};

Found find(const std::string& run, std::int64_t step, Observer* observer) {
  Found out;
  for (const std::string& path : files_of((fs::path(run) / "checkpoints").string())) {
    const bool wanted = !out.job || step_in_name(path) < 0 || step_in_name(path) <= step;
    if (!wanted) continue;
    try {
      const Checkpoint checkpoint = read_checkpoint(path);
      const auto job = checkpoint.metadata.find("job");
      if (job == checkpoint.metadata.end()) continue;
      if (!out.job) out.job = parse_job(job->second, path);
      if (checkpoint.step <= step && checkpoint.step > out.at) out.at = checkpoint.step, out.start = path;
    } catch (const Error& e) {
      if (observer != nullptr) observer->note(std::string(e.what()) + "; left out");
    }
  }
  return out;
}

/// What writes files or looks at the clock has no part in a replay.
void drop_outside(std::vector<std::shared_ptr<Callback>>& callbacks) {
  std::erase_if(callbacks,
                [](const auto& c) { return c->name() == "checkpoint" || c->name() == "max_time"; });
}

}  // namespace

ReplayedStep replay_run(const std::string& run, std::int64_t step, bool verify, Observer* observer) {
  std::error_code ec;
  if (!fs::is_directory(run, ec)) throw Error(run + ": is no run directory (there is no such folder)");
  const Found found = find(run, step, observer);
  const Job job = found.job ? *found.job : read_run(run).job;
  if (!can_resume(job))
    throw Error(fmt::format("optimizer {}: looks at all rows at once; there is no step to replay",
                            job.train.optimizer.name));
  PreparedJob prepared = prepare(job);
  TrainerOptions options = prepared.options;
  drop_outside(options.callbacks);
  options.observer = observer;
  options.resume = found.start;
  return replay(prepared.model->model(), prepared.loss, *prepared.optimizer, prepared.data.data, options,
                prepared.metrics, step, verify);
}

}  // namespace tightloop::train
