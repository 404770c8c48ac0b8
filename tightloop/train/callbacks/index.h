// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/base/options.h>
#include <tightloop/optim/plateau.h>
#include <tightloop/train/callback.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tightloop::train {

/// A callback that a job file asks for by `train.<name>`: a table of options, or the value of one of them.
struct CallbackDef {
  std::string_view name;
  std::string_view doc;
  std::string_view main;  ///< the option that a value without a table is; "": all are switches
  std::vector<OptionSpec> options;
  std::shared_ptr<Callback> (*build)(const Options& resolved) = nullptr;
};

/// The callbacks of callbacks/index.def, in its order.
std::span<const CallbackDef* const> all_callbacks();
/// Null when there is none of this name.
const CallbackDef* find_callback(std::string_view name);
/// Checks `given` and builds. Throws Error on an unknown name, option or value.
std::shared_ptr<Callback> make_callback(std::string_view name, const Options& given = {});

/// Option `mode`: "min", "max" or nothing. Throws Error in the name of `who`.
std::optional<optim::Direction> mode_of(std::string_view who, const Options& options);

#define TIGHTLOOP_CALLBACK(name) const CallbackDef& name##_callback();
#include <tightloop/train/callbacks/index.def>
#undef TIGHTLOOP_CALLBACK

}  // namespace tightloop::train
