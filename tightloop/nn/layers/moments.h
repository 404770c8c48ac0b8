// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the normalisation layers share.
#include <tightloop/ops/functions.h>

namespace tightloop::nn {

/// Statistics of x over some axes, which stay as dims of 1.
struct Moments {
  Tensor mean;
  Tensor variance;  ///< biased; from x - mean, so that nothing cancels when the mean is large
  Tensor centered;  ///< x - mean, shaped as x
};
Moments moments(const Tensor& x, const Axes& axes);

/// centered / √(variance + eps)
Tensor normalized(const Moments& m, double eps);

/// c [C] as [1, C, 1, ...] of `rank` dims.
Tensor per_channel(const Tensor& c, std::size_t rank);

/// x as unshifted + shift, where shift is the same along `axes` ([1, C, 1, ...]): a bias in front of a
/// normalisation over these axes, which cancels. shift is empty when x is no such sum, and unless the
/// Context allows it (parameters_only).
struct Shifted {
  Tensor unshifted;
  Tensor shift;
};
Shifted without_shift(const Tensor& x, const Axes& axes);

}  // namespace tightloop::nn
