// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/facts.h>
#include <tightloop/backends/cpu/kernel_facts.h>
#include <tightloop/backends/cpu/plan/batchwise.h>
#include <tightloop/ops/index.h>

#include <algorithm>

namespace tightloop::backends::cpu {
namespace {

/// The owners of temporaries, by buffer: labels of the kernels that write them.
std::vector<std::string> owners_of(const Plan& plan, const std::vector<KernelFacts>& kernels) {
  std::vector<std::string> out(plan.buffers.size());
  for (const auto& [node, buffers] : plan.stores)
    for (const int b : buffers)
      out[static_cast<std::size_t>(b)] =
          kernels[static_cast<std::size_t>(plan.schedule.home.at(node))].label();
  for (const auto& copy : plan.copies)
    if (auto& owner = out[static_cast<std::size_t>(copy.to)]; owner.empty()) owner = "a copy of a state";
  return out;
}

std::vector<BufferFacts> buffers_of(const Plan& plan, const std::vector<KernelFacts>& kernels,
                                    const Sizes& sizes) {
  const auto owners = owners_of(plan, kernels);
  const Sizes stretch{std::min(sizes.batch, plan.stretch), sizes.rows, sizes.groups};
  std::vector<BufferFacts> out;
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    const Buffer& b = plan.buffers[i];
    const bool local = b.kind == Buffer::Kind::local;
    if (!local && b.kind != Buffer::Kind::temporary) continue;
    const Sizes& own = local ? stretch : sizes;
    const int phase = local ? plan.schedule.phase_of(b.first) : 0;
    out.push_back({owners[i], to_string(b.type),
                   static_cast<std::size_t>(b.type.shape.count(own)) * size_of(b.type.dtype),
                   local ? phase : b.first, local ? phase : b.last, local});
  }
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  return out;
}

/// Casts that cost something, those of a kind together.
std::vector<CastFacts> casts_of(const ir::Graph& graph) {
  std::vector<CastFacts> out;
  for (const ir::Node* n : ir::topological(graph)) {
    if (n->op != &ops::cast_op()) continue;
    const std::string from(name(n->inputs[0].dtype())), to(name(n->type.dtype));
    const auto same = std::find_if(out.begin(), out.end(), [&](const CastFacts& c) {
      return c.path == n->scope && c.from == from && c.to == to;
    });
    if (same == out.end())
      out.push_back({n->scope, from, to, 1});
    else
      ++same->count;
  }
  return out;
}

}  // namespace

std::vector<std::string> kernel_labels(const Plan& plan) {
  const KernelReader reader(plan);
  std::vector<std::string> out;
  for (std::size_t k = 0; k < plan.schedule.kernels.size(); ++k) out.push_back(reader.describe(k).label());
  return out;
}

StepFacts facts_of(const Plan& plan, const Sizes& most) {
  const Sizes sizes{most.batch, most.rows, groups_of(most.batch, plan.stretch).count};
  const KernelReader reader(plan);
  StepFacts out;
  for (std::size_t k = 0; k < plan.schedule.kernels.size(); ++k) {
    out.kernels.push_back(reader.measure(k, sizes));
    out.transposes += plan.schedule.kernels[k].kind == KernelKind::transpose ? 1 : 0;
  }
  out.buffers = buffers_of(plan, out.kernels, sizes);
  out.phases = static_cast<int>(plan.schedule.phases.size());
  out.stretch = plan.stretch;
  const Layout layout = lay_out(plan, sizes);
  out.arena = layout.bytes;
  out.local = layout.local_bytes;
  out.copies = static_cast<std::int64_t>(plan.copies.size());
  out.casts = casts_of(plan.graph);
  return out;
}

}  // namespace tightloop::backends::cpu
