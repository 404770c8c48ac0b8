// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/step_trace.h>

#include <algorithm>

namespace tightloop::backends::cpu {

void ThreadTrace::chain_lap(std::size_t first, std::size_t last, std::int32_t names) {
  const std::uint64_t now = ticks(), begin = last_;
  double total = 0;
  for (std::size_t k = first; k < last; ++k) total += static_cast<double>(shares_[k]);
  const double scale = static_cast<double>(now - begin) / std::max(total, 1.0);
  double sum = 0;
  for (std::size_t k = first; k < last; ++k) {
    sum += static_cast<double>(shares_[k]);
    const std::uint64_t end = k + 1 == last ? now : begin + static_cast<std::uint64_t>(sum * scale);
    ring_->write({last_, end, step_, names + static_cast<std::int32_t>(k)});
    last_ = end;
  }
}

StepTrace::StepTrace(std::shared_ptr<Spans> spans, const std::vector<std::string>& kernels, int phases)
    : spans_(std::move(spans)), kernel_count_(kernels.size()) {
  // A thread that is late waits once more a phase; then rows, copies, records, each with a wait, and the
  // step.
  most_ = kernels.size() + 2 * static_cast<std::size_t>(phases) + 8;
  const int program = spans_->add_program();
  kernels_ = static_cast<std::int32_t>(spans_->names().size());
  for (std::size_t k = 0; k < kernels.size(); ++k)
    spans_->add({kernels[k], SpanKind::kernel, program, static_cast<int>(k)});
  rows_ = spans_->add({"choosing rows", SpanKind::rows, program});
  wait_ = spans_->add({"waiting for other threads", SpanKind::wait, program});
  copy_ = spans_->add({"copying states", SpanKind::copy, program});
  record_ = spans_->add({"recording numbers", SpanKind::record, program});
  step_ = spans_->add({"step", SpanKind::step, program});
}

void StepTrace::reserve(int threads) {
  spans_->reserve(threads, most_);
  threads_.clear();
  for (int t = 0; t < threads; ++t) threads_.emplace_back(&spans_->ring(t), kernel_count_);
}

std::int64_t StepTrace::steps_with_room(std::int64_t steps, int threads) const {
  for (int t = 0; t < threads; ++t)
    steps = std::min(steps, static_cast<std::int64_t>(spans_->ring(t).room() / most_));
  return steps;
}

}  // namespace tightloop::backends::cpu
