// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/data/images/formats.h>

namespace tightloop::data::images {

#define TIGHTLOOP_IMAGE_FORMAT(name) ImageFormat name##_format();
#include <tightloop/data/images/index.def>
#undef TIGHTLOOP_IMAGE_FORMAT

}  // namespace tightloop::data::images
