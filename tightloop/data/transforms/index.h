// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/data/transforms/transform.h>

namespace tightloop::data::transforms {

#define TIGHTLOOP_TRANSFORM(name) const TransformDef& name##_transform();
#include <tightloop/data/transforms/index.def>
#undef TIGHTLOOP_TRANSFORM

}  // namespace tightloop::data::transforms
