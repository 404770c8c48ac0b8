// SPDX-License-Identifier: Apache-2.0
#pragma once
// Several arrays as one flat vector of doubles, one after the other.
#include <tightloop/base/array.h>

#include <span>
#include <vector>

namespace tightloop::optim {

std::int64_t flat_size(const std::vector<Array>& arrays);
/// Throws InternalError unless `to` has flat_size(arrays) elements.
void flatten(const std::vector<Array>& arrays, std::span<double> to);
/// Overwrites the arrays' elements.
void unflatten(std::span<const double> from, std::vector<Array>& arrays);

}  // namespace tightloop::optim
