// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/base/array.h>
#include <tightloop/ir/tensor.h>

#include <iosfwd>
#include <string>

namespace tightloop {

/// The elements in nested brackets, as NumPy prints them: six significant digits, columns aligned, and only
/// three at each end of a dim when there are more than 1000 elements.
std::string to_string(const Array& array);
/// Reads the tensor and adds its type: "[1, 2.5] f32[2]". A tensor that depends on an input without value
/// prints as its type and op alone.
std::string to_string(const Tensor& tensor);
std::ostream& operator<<(std::ostream& out, const Array& array);
std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

}  // namespace tightloop
