// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/bound_step.h>
#include <tightloop/train/recompute.h>

#include <fmt/format.h>
#include <algorithm>
#include <cstring>
#include <numeric>

namespace tightloop::train {
namespace {

std::string check_state(std::size_t index, const char* what) {
  return fmt::format("check.{}.{}", index, what);
}

/// No row or window may reach beyond the data.
void check_rows(const DataPart& part, bool with_target) {
  if (part.window && part.rows.empty())
    throw Error("a part that is seen in windows lists their first rows; data::window_rows() gives them");
  const std::int64_t span = part.window ? part.window->span(with_target) : 1;
  for (const std::int64_t r : part.rows)
    if (r < 0 || r > part.total() - span)
      throw Error(
          fmt::format("row {} of a part needs {} row{} from it on, but the data have {} (rows count from 0)",
                      r, span, span == 1 ? "" : "s", part.total()));
  if (!part.weighted.empty() && static_cast<std::int64_t>(part.weighted.size()) != part.count())
    throw Error(fmt::format("there are weights for {} rows, but the part has {}", part.weighted.size(),
                            part.count()));
}

CompileOptions options_for(const StepGraph& step, CompileOptions options) {
  options.recompute = recompute_in(step.graph, std::move(options.recompute));
  return options;
}

}  // namespace

DataSpec walked(DataSpec data, const DataPart& part, bool shuffle) {
  check_rows(part, !data.target.empty());
  data.streamed = part.is_stream();
  data.in_order = data.streamed || (!shuffle && part.rows.empty());
  data.window = part.window;
  data.repeats = shuffle && !part.weighted.empty() && !data.streamed;
  data.transforms = part.transforms.value_or(data::Transforms());
  if (data.transforms.mixes() && !part.rows.empty() && !data.streamed)
    data.partners = Array::of<std::int64_t>({static_cast<std::int64_t>(part.rows.size())}, part.rows);
  return data;
}

DataPart stream(std::shared_ptr<const data::Samples> samples, const data::LoaderOptions& loader) {
  data::Dataset types = data::prototype(*samples);
  DataPart out{std::move(types)};
  out.samples = std::move(samples);
  out.loader = loader;
  return out;
}

Sampling sampling_of(const DataPart& part, std::int64_t batch, bool shuffle, bool drop_last,
                     std::uint64_t seed) {
  Sampling s{.rows = part.count(), .batch = batch, .shuffle = shuffle, .drop_last = drop_last, .seed = seed};
  s.subset = part.rows.empty() ? nullptr : part.rows.data();
  s.data_rows = part.total();
  if (shuffle && !part.weighted.empty()) s.weighted = part.weighted.data();
  return s;
}

std::unique_ptr<data::Loader> begin_loading(const DataPart& part, const Sampling& sampling) {
  if (!part.is_stream()) return nullptr;
  check_rows(part, true);
  auto out = std::make_unique<data::Loader>(part.samples, sampling, part.loader);
  out->begin(0);
  return out;
}

DataPart first_rows(DataPart part, std::int64_t count) {
  count = std::min(count, part.count());
  part.weighted.clear();
  if (count == part.total() && part.rows.empty()) return part;
  if (part.rows.empty()) {
    part.rows.resize(static_cast<std::size_t>(count));
    std::iota(part.rows.begin(), part.rows.end(), 0);
  }
  part.rows.resize(static_cast<std::size_t>(count));
  return part;
}

BoundStep::BoundStep(StepGraph step, const DataPart& part, const CompileOptions& options,
                     std::unique_ptr<data::Loader> ahead)
    : step_(std::move(step)),
      part_(part),
      program_(Program::compile(step_.graph, options_for(step_, options))),
      loader_(std::move(ahead)) {
  for (const Tensor& t : program_.graph().inputs) {
    if (ir::input_role(t.node()) != "data") continue;
    const std::string name = ir::input_name(t.node());
    data_inputs_.emplace_back(program_.input_index(name), name.substr(data_name("").size()));
    if (part_.is_stream()) continue;
    program_.bind(name, part_.data[data_inputs_.back().second]);
    files_.add(part_.data[data_inputs_.back().second].bytes());
  }
}

void BoundStep::reserve(const Sampling& sampling) {
  if (!part_.is_stream()) return program_.reserve(sampling);
  const std::int64_t rows = std::min(sampling.batch, sampling.rows);
  program_.reserve({.rows = rows, .batch = rows});
}

Sizes BoundStep::sizes(const Sampling& sampling) const {
  const std::int64_t rows = std::min(sampling.batch, sampling.rows);
  return {rows, part_.is_stream() ? rows : part_.data.rows()};
}

void BoundStep::bind_batch(const data::LoadedBatch& batch) {
  batch_ = batch;
  for (const auto& [input, field] : data_inputs_) program_.bind(input, bound_data(field));
}

const Array& BoundStep::bound_data(const std::string& field) const {
  if (!part_.is_stream()) return part_.data[field];
  if (field == kSampleField) return batch_.numbers;
  const auto& fields = part_.samples->fields();
  for (std::size_t f = 0; f < fields.size(); ++f)
    if (fields[f].name == field) return batch_.fields[f];
  throw InternalError("bound_data: no field '" + field + "'");
}

Sampling BoundStep::load(const Sampling& sampling, std::int64_t step) {
  if (!part_.is_stream()) return sampling;
  if (loader_ == nullptr) {
    data::LoaderOptions options = part_.loader;
    options.repeat = !step_.training;
    loader_ = std::make_unique<data::Loader>(part_.samples, sampling, options);
  }
  bind_batch(loader_->at(step));
  return {.rows = batch_.rows, .batch = batch_.rows, .passes = sampling.steps_per_epoch()};
}

void BoundStep::run(const Sampling& sampling, std::int64_t first, std::int64_t steps) {
  if (!part_.is_stream()) return program_.run(sampling, first, steps);
  Spans* spans = program_.spans();
  const std::int32_t name = spans == nullptr ? 0 : spans->name_of(SpanKind::load);
  const auto traced = [&](std::int64_t step) {
    const SpanScope waiting(spans, name, step);
    return load(sampling, step);
  };
  for (std::int64_t step = first; step < first + steps; ++step) program_.run(traced(step), step, 1);
}

std::string BoundStep::row_text(std::int64_t row) const {
  if (!part_.is_stream()) return fmt::format("row {} (rows count from 1)", row + 1);
  const std::int64_t number = batch_.numbers.int_at(row);
  const std::string plain = fmt::format("sample {}", number + 1), name = part_.samples->name(number);
  return plain + (name == plain ? "" : fmt::format(" ({})", name));
}

std::map<std::int64_t, std::string> BoundStep::skipped() const {
  return loader_ == nullptr ? std::map<std::int64_t, std::string>() : loader_->skipped();
}

Sampling BoundStep::sampling(std::int64_t batch, bool shuffle, bool drop_last, std::uint64_t seed) const {
  require(part_.is_stream() || step_.graph.input(kFirstRow) == nullptr || (!shuffle && part_.rows.empty()),
          "a step that reads rows in order");
  return sampling_of(part_, batch, shuffle, drop_last, seed);
}

void BoundStep::find_states() {
  for (const std::string& name : program_.state_names()) {
    const Array state = program_.state(name);
    if (name == kLossSum) loss_sum_ = state;
    if (name == kWeightSum) weight_sum_ = state;
    if (name == kBadStep) bad_step_ = state;
    if (name == kLossSum || name == kWeightSum || name.starts_with("metric.") ||
        name.starts_with(kGradientSum) || name.starts_with(kEpochSum))
      sums_.push_back(state);
  }
  for (std::size_t i = 0; i < step_.checks.size(); ++i) {
    check_rows_.push_back(program_.state(check_state(i, "row")));
    check_values_.push_back(program_.state(check_state(i, "value")));
  }
}

void BoundStep::reset() {
  if (check_rows_.empty() && sums_.empty()) find_states();
  for (Array& a : sums_) std::memset(a.bytes(), 0, a.size_bytes());
  for (Array& a : check_rows_) a.set_int(0, -1);
  if (bad_step_.dtype() == DType::i64) bad_step_.set_int(0, -1);
}

void BoundStep::check_files() { files_.check(true); }

double BoundStep::mean_loss() { return loss_sum_.at(0) / weight_sum_.at(0); }

std::int64_t BoundStep::bad_step() { return bad_step_.int_at(0); }

void BoundStep::check_data() {
  files_.check();
  for (std::size_t i = 0; i < check_rows_.size(); ++i)
    if (const std::int64_t row = check_rows_[i].int_at(0); row >= 0) {
      const nn::Check& check = step_.checks[i];
      const bool named = part_.is_stream() && check.least_rows == 0;
      throw Error(check.text(row + 1, check_values_[i].at(0)) +
                  (check.least_rows > 0 ? "" : " (rows count from 1)") +
                  (named ? "; " + part_.samples->name(row) : ""));
    }
}

}  // namespace tightloop::train
