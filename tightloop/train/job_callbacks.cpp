// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/callbacks/index.h>
#include <tightloop/train/choice.h>
#include <tightloop/train/job_callbacks.h>
#include <tightloop/train/keys/read.h>

#include <fmt/format.h>
#include <algorithm>

namespace tightloop::train {
namespace {

/// The main option's value; a number serves as a text.
OptionValue main_value(const CallbackDef& def, const Value& v) {
  const auto spec = std::find_if(def.options.begin(), def.options.end(),
                                 [&](const OptionSpec& s) { return s.name == def.main; });
  const OptionValue value = to_option(v);
  if (spec->type != OptionType::text) return value;
  if (const auto* i = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *i);
  if (const auto* d = std::get_if<double>(&value)) return fmt::format("{}", *d);
  return value;
}

/// The main option, if there is no callback without it.
const OptionSpec* required_main(const CallbackDef& def) {
  for (const OptionSpec& s : def.options)
    if (s.name == def.main && s.required) return &s;
  return nullptr;
}

Options options_of(const CallbackDef& def, const Value& v) {
  Options out;
  if (const auto* names = v.as<Value::List>(); names != nullptr && def.main.empty()) {
    for (const Value& name : *names) out.set(keys::text(name), true);
    return out;
  }
  if (const auto* needed = required_main(def); needed != nullptr && v.as<bool>() != nullptr)
    wrong(v, std::string(needed->doc));
  if (def.main.empty() && v.as<Value::Table>() == nullptr && v.as<bool>() == nullptr)
    wrong(v, "true, a list of names or a table");
  if (const auto* table = v.as<Value::Table>()) {
    for (const auto& [name, value] : *table)
      out.set(name, name == def.main ? main_value(def, value) : to_option(value));
  } else if (v.as<bool>() == nullptr) {
    out.set(std::string(def.main), main_value(def, v));
  }
  return out;
}

}  // namespace

std::shared_ptr<Callback> job_callback(std::string_view name, const Value& value) {
  const CallbackDef* def = find_callback(name);
  require(def != nullptr, "job_callback: a key without a callback");
  if (const auto* on = value.as<bool>(); on != nullptr && !*on) return nullptr;
  const Options given = options_of(*def, value);
  auto out = placed(keys::place(value), [&] { return make_callback(name, given); });
  out->where = keys::place(value);
  return out;
}

std::vector<std::shared_ptr<Callback>> job_callbacks(const Job& job) {
  std::vector<std::shared_ptr<Callback>> out;
  for (const CallbackDef* def : all_callbacks())
    for (const auto& [name, value] : job.train.callbacks)
      if (name == def->name)
        if (auto callback = job_callback(name, value)) out.push_back(std::move(callback));
  return out;
}

}  // namespace tightloop::train
