// SPDX-License-Identifier: Apache-2.0
#pragma once
// From what a job chooses by name to the thing that a room's index makes.
#include <tightloop/base/options.h>
#include <tightloop/train/job.h>

#include <string>

namespace tightloop::train {

/// Throws Error with its place unless the value is a number, a text, true, false or a list of numbers.
OptionValue to_option(const Value& v);
/// The entries of a table but those called as in `without`.
Options to_options(const Value& table, const std::vector<std::string>& without = {});

/// Runs `make()`; its errors get the choice's place in the job file.
template <class Make>
auto placed(const std::string& where, Make make) {
  try {
    return make();
  } catch (const Error& e) {
    throw Error(where.empty() ? e.what() : where + ": " + e.what());
  }
}

/// Runs `make(name, options)` alike.
template <class Make>
auto chosen(const Choice& choice, Make make) {
  const Options options = to_options(choice.options);
  return placed(choice.where, [&] { return make(choice.name, options); });
}

}  // namespace tightloop::train
