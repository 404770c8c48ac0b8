// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace tightloop::backends::cpu {

/// Of the oneDNN that is loaded: "2.6.3".
std::string library_version();

}  // namespace tightloop::backends::cpu
