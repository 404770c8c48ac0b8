// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/ops/window.h>

namespace tightloop::backends::cpu {

// One item of a convolution's work each, of T float or double. Planes lie one after the other.

/// y plane (sample b, output channel o).
template <class T>
void convolve_plane(const ops::ConvolutionShape& s, const T* x, const T* w, T* y, std::int64_t b,
                    std::int64_t o);
/// x plane (sample b, input channel c).
template <class T>
void input_grad_plane(const ops::ConvolutionShape& s, const T* y, const T* w, T* x, std::int64_t b,
                      std::int64_t c);
/// The weights of output channel o from samples [first, last), at `w`.
template <class T>
void weight_grad_channel(const ops::ConvolutionShape& s, const T* x, const T* y, T* w, std::int64_t o,
                         std::int64_t first, std::int64_t last);

}  // namespace tightloop::backends::cpu
