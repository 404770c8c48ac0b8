// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/job.h>

#include <cstddef>
#include <string>

namespace tightloop::train::forward {

/// Throws Error "file:line:column: <problem>", the line, and a caret under byte `at` of the text.
[[noreturn]] void fail_at(const Text& text, std::size_t at, const std::string& problem);

}  // namespace tightloop::train::forward
