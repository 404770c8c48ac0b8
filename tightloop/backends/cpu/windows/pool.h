// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/ops/window.h>

#include <cstdint>

namespace tightloop::backends::cpu {

// One plane of a pooling op each, of T float or double.

template <class T>
void argmax_plane(const ops::WindowDims& dims, const T* x, std::int32_t* index);
template <class T>
void sum_plane(const ops::WindowDims& dims, const T* x, T* y);
template <class T>
void spread_plane(const ops::WindowDims& dims, const T* y, T* x);

}  // namespace tightloop::backends::cpu
