// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/train/keys/index.h>
#include <tightloop/train/keys/read.h>

#include <fmt/format.h>
#include <cmath>

namespace tightloop::train::keys {
namespace {

using optim::LossScale;

double positive(const Value& v) {
  const double number = not_negative(v);
  if (number == 0) wrong(v, "a number above 0");
  return number;
}

/// One entry, by PyTorch's name or by DeepSpeed's.
void scale_entry(const std::string& key, const Value& v, LossScale& out) {
  if (key == "init_scale")
    out.init = positive(v);
  else if (key == "initial_scale_power")
    out.init = std::ldexp(1.0, static_cast<int>(whole(v, 0, 127)));
  else if (key == "growth_factor")
    out.growth = positive(v);
  else if (key == "backoff_factor")
    out.backoff = positive(v);
  else if (key == "growth_interval" || key == "loss_scale_window")
    out.growth_interval = whole(v, 1);
  else if (key == "hysteresis")
    out.hysteresis = whole(v, 1);
  else if (key == "min_loss_scale")
    out.minimum = positive(v);
  else
    fail(v, "is no key of train.loss_scale" +
                suggestion(key, {"init_scale", "initial_scale_power", "growth_factor", "backoff_factor",
                                 "growth_interval", "loss_scale_window", "hysteresis", "min_loss_scale"}));
}

LossScale loss_scale(const Value& v) {
  LossScale out;
  if (const auto* table = v.as<Value::Table>(); table != nullptr) {
    out.kind = LossScale::Kind::dynamic;
    for (const auto& [key, value] : *table) scale_entry(key, value, out);
    for (const auto& [one, other] :
         {std::pair("init_scale", "initial_scale_power"), std::pair("growth_interval", "loss_scale_window")})
      if (v.find(one) != nullptr && v.find(other) != nullptr)
        fail(v, fmt::format("has {} and {}, which are two names of one thing", one, other));
  } else if (v.as<std::string>() != nullptr) {
    const std::string name = one_of(v, {"auto", "dynamic", "none"});
    out.kind = name == "auto"   ? LossScale::Kind::automatic
               : name == "none" ? LossScale::Kind::none
                                : LossScale::Kind::dynamic;
  } else {
    if (v.as<double>() == nullptr && v.as<std::int64_t>() == nullptr)
      wrong(v, "\"auto\", \"dynamic\", \"none\", a number or a table");
    out = LossScale::fixed(positive(v));
  }
  try {
    optim::check(out);
  } catch (const Error& e) {
    throw Error(fmt::format("{}: {}", place(v), e.what()));
  }
  return out;
}

Value loss_scale_value(const Job& j) {
  const LossScale &s = j.train.loss_scale, usual = {};
  if (s.kind == LossScale::Kind::automatic) return std::string("auto");
  if (s.kind == LossScale::Kind::none) return std::string("none");
  if (s.kind == LossScale::Kind::fixed) return s.init;
  Value::Table table;
  if (s.init != usual.init) table.emplace_back("init_scale", s.init);
  if (s.growth != usual.growth) table.emplace_back("growth_factor", s.growth);
  if (s.backoff != usual.backoff) table.emplace_back("backoff_factor", s.backoff);
  if (s.growth_interval != usual.growth_interval) table.emplace_back("growth_interval", s.growth_interval);
  if (s.hysteresis != usual.hysteresis) table.emplace_back("hysteresis", s.hysteresis);
  if (s.minimum != usual.minimum) table.emplace_back("min_loss_scale", s.minimum);
  return table.empty() ? Value{std::string("dynamic")} : Value{table};
}

}  // namespace

std::vector<Key> update_keys() {
  return {
      {"train.loss_scale", "what the loss is multiplied by before differentiation: a word, a number, a table",
       false, [](const Value& v, Job& j) { j.train.loss_scale = loss_scale(v); }, loss_scale_value},
      {"train.denormals", "flush: floats too small for their full precision count as 0; or keep", false,
       [](const Value& v, Job& j) {
         j.train.denormals = one_of(v, {"flush", "keep"});
       },
       [](const Job& j) { return Value{j.train.denormals}; }},
      {"train.deterministic", "a run repeats bit for bit", false,
       [](const Value& v, Job& j) { j.train.deterministic = flag(v); },
       [](const Job& j) { return Value{j.train.deterministic}; }},
  };
}

}  // namespace tightloop::train::keys
