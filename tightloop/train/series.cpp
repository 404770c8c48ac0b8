// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/series_directory.h>

#include <fmt/format.h>
#include <algorithm>

namespace tightloop::train {
namespace {

/// The data of one fold, read once for all its repeats.
struct Shared {
  std::optional<LoadedData> data;
  std::int64_t fold = -1;
};

PreparedJob prepared_for(const Job& job, const Member& member, Shared& shared) {
  if (shared.fold != member.fold) shared.data.reset();
  shared.fold = member.fold;
  PreparedJob out = prepare(member_job(job, member), nullptr, shared.data);
  if (!shared.data) shared.data = out.data;
  return out;
}

/// What the run came to: the loss of its last epoch, and an evaluation of the model that it kept.
std::vector<std::pair<std::string, double>> values_of(PreparedJob& prepared, const History& history) {
  std::vector<std::pair<std::string, double>> out{{"train_loss", history.epochs.back().train_loss}};
  const TrainingData data = seen_by(prepared.options, prepared.data.data);
  if (!data.validation) return out;
  Trainer trainer(prepared.options, prepared.metrics);
  const Evaluation e =
      trainer.evaluate(prepared.model->model(), prepared.loss, *data.validation, data.scales, data.target);
  out.emplace_back("validation_loss", e.loss);
  for (std::size_t i = 0; i < e.metrics.size(); ++i) out.emplace_back(prepared.metric_names[i], e.metrics[i]);
  return out;
}

class Series {
 public:
  Series(const Job& job, const std::string& directory, SeriesObserver& observer, bool resume)
      : job_(job),
        members_(members_of(job)),
        first_(prepared_for(job, members_.front(), shared_)),
        directory_(directory, members_, resume),
        observer_(observer),
        resume_(resume) {}

  SeriesResult run() {
    for (const Member& member : members_) {
      if (!run_member(member)) break;
      directory_.write_tables(out_);
    }
    out_.others = directory_.others();
    return std::move(out_);
  }

 private:
  PreparedJob prepared(const Member& member) {
    if (first_) return *std::exchange(first_, std::nullopt);
    return prepared_for(job_, member, shared_);
  }

  /// False when the observer ended it.
  bool run_member(const Member& member) {
    const bool first = first_.has_value();
    MemberResult result{member};
    bool earlier = false;
    try {
      PreparedJob job = prepared(member);
      auto found = resume_ ? directory_.finished(member, job.job) : std::nullopt;
      earlier = found.has_value();
      if (found)
        result = std::move(*found);
      else if (!train(job, result))
        return false;
    } catch (const NonFinite& e) {
      result.failure = e.what();
    } catch (const Error& e) {
      if (first) throw;
      result.failure = e.what();
    }
    observer_.end(result, earlier);
    out_.members.push_back(std::move(result));
    return true;
  }

  bool train(PreparedJob& prepared, MemberResult& result) {
    const Member& member = result.member;
    const bool goes_on = resume_ && can_resume(prepared.job) && directory_.interrupted(member);
    directory_.begin(member);
    const History history =
        run_job(prepared, directory_.of(member), observer_.begin(member, prepared), goes_on ? "last" : "");
    if (history.stopped) {
      out_.stopped = true;
      return false;
    }
    result.steps = history.steps;
    result.seconds = history.epochs.back().seconds;
    result.values = values_of(prepared, history);
    directory_.finish(result);
    return true;
  }

  const Job& job_;
  std::vector<Member> members_;
  Shared shared_;
  std::optional<PreparedJob> first_;
  SeriesDirectory directory_;
  SeriesObserver& observer_;
  bool resume_;
  SeriesResult out_;
};

}  // namespace

std::string Member::name() const {
  if (fold < 0) return fmt::format("repeat-{}", repeat);
  return repeat == 0 ? fmt::format("fold-{}", fold) : fmt::format("fold-{}-repeat-{}", fold, repeat);
}

bool is_series(const Job& job) {
  return job.train.repeats > 1 || (job.data.fold.k > 0 && job.data.fold.index < 0);
}

std::vector<Member> members_of(const Job& job) {
  const bool folds = job.data.fold.k > 0 && job.data.fold.index < 0;
  std::vector<Member> out;
  for (std::int64_t fold = 0; fold < (folds ? job.data.fold.k : 1); ++fold)
    for (std::int64_t i = 0; i < job.train.repeats; ++i)
      out.push_back({folds ? fold : -1, job.train.repeats > 1 ? i + 1 : 0, job.seed + i});
  return out;
}

Job member_job(const Job& job, const Member& member) {
  Job out = job;
  out.seed = member.seed;
  out.train.repeats = 1;
  if (member.fold >= 0) out.data.fold.index = member.fold;
  return out;
}

std::int64_t SeriesResult::failures() const {
  return std::count_if(members.begin(), members.end(), [](const auto& m) { return !m.failure.empty(); });
}

std::vector<std::pair<std::string, Spread>> SeriesResult::summary() const {
  std::vector<std::pair<std::string, std::vector<double>>> columns;
  for (const MemberResult& m : members) {
    if (!m.failure.empty()) continue;
    if (columns.empty())
      for (const auto& [name, value] : m.values) columns.emplace_back(name, std::vector<double>());
    for (std::size_t i = 0; i < std::min(columns.size(), m.values.size()); ++i)
      columns[i].second.push_back(m.values[i].second);
  }
  std::vector<std::pair<std::string, Spread>> out;
  for (const auto& [name, values] : columns) out.emplace_back(name, spread_of(values));
  return out;
}

SeriesResult run_series(const Job& job, const std::string& directory, SeriesObserver& observer, bool resume) {
  return Series(job, directory, observer, resume).run();
}

}  // namespace tightloop::train
