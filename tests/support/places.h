// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where things lie. One file knows, so that no other test depends on the folder it is built in and a cache of
// the compiler serves every copy of the project.
#include <string>

namespace tightloop::places {

/// The project's folder.
std::string source_dir();
/// The built command; "" where it is not built.
std::string command();

}  // namespace tightloop::places
