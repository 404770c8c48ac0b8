// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/backends/cpu/library/convolution.h>
#include <tightloop/backends/cpu/plan/plan.h>

namespace tightloop::backends::cpu {

/// How the library computes a node for which is_library_convolution() holds.
LibraryConvolution library_convolution(const ir::Node& n);

/// Bytes that a runner takes for batches of up to sizes.batch and a team of `threads`: temporaries, what each
/// thread has for its stretch of samples, the library's scratch memory and the numbers of the rows.
std::size_t temporary_bytes(const Plan& plan, const Sizes& sizes, int threads);

/// Floating-point operations of a step by which values of the forward are computed again, as a share of all
/// others. `again`: the nodes that do so.
double recomputed_share(const Plan& plan, const std::unordered_set<const ir::Node*>& again,
                        const Sizes& sizes);

}  // namespace tightloop::backends::cpu
