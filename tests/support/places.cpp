// SPDX-License-Identifier: Apache-2.0
#include <tests/support/places.h>

namespace tightloop::places {

std::string source_dir() { return TIGHTLOOP_SOURCE_DIR; }
std::string command() { return TIGHTLOOP_COMMAND; }

}  // namespace tightloop::places
