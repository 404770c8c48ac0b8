// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tightloop {

/// The user's mistake: what, where, what came, what to do. The command exits with 2.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Our mistake. The command exits with 1.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Throws InternalError naming `what` unless `condition` holds.
inline void require(bool condition, const char* what) {
  if (!condition) throw InternalError(std::string("internal error: ") + what);
}

/// The candidate nearest to `word` by edit distance, or "" when none is near
/// (at most a third of the letters, and at most 3, differ).
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// " (did you mean 'x'?)" or "".
std::string suggestion(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace tightloop
