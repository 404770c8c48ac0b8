// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/library/low_matmul.h>
#include <tightloop/backends/cpu/plan/schedule.h>
#include <tightloop/backends/cpu/plan/windows.h>
#include <tightloop/engine/autocast.h>
#include <tightloop/engine/trace.h>

namespace tightloop {

std::vector<Tensor> autocast_traced(const std::vector<Tensor>& values, const AutocastOptions& options) {
  std::vector<Tensor> all = values;
  Trace* trace = Trace::current();
  if (trace != nullptr)
    for (const Trace::Used& u : trace->used())
      if (u.next.defined()) all.push_back(u.next);
  all = autocast(all, options);
  if (trace == nullptr) return all;
  auto next = all.begin() + static_cast<std::ptrdiff_t>(values.size());
  for (const Trace::Used& u : trace->used())
    if (u.next.defined()) trace->write(u.variable, *next++);
  all.resize(values.size());
  return all;
}

Tensor autocast(const Tensor& value, const AutocastOptions& options) {
  return autocast_traced({value}, options).front();
}

bool computes_fast(DType low) { return backends::cpu::library_computes(low); }

bool gains_by_low(const ir::Node& node) {
  return backends::cpu::goes_to_library(&node) || backends::cpu::is_library_convolution(node);
}

}  // namespace tightloop
