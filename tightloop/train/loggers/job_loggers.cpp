// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/choice.h>
#include <tightloop/train/loggers/index.h>
#include <tightloop/train/loggers/job_loggers.h>

#include <algorithm>
#include <array>

namespace tightloop::train {
namespace {

constexpr std::array<std::string_view, 12> kHyperparameters{
    "seed",       "data.batch",      "data.normalize", "data.sampler",     "train.epochs",
    "train.loss", "train.optimizer", "train.schedule", "train.accumulate", "train.clip",
    "train.ema",  "model.forward"};

/// Tables by their entries; what is no single value is left out.
void flatten(const std::string& name, const Value& value, Options& out) {
  if (const auto* table = value.as<Value::Table>()) {
    for (const auto& [key, entry] : *table) flatten(key == "name" ? name : name + "." + key, entry, out);
  } else if (const auto* b = value.as<bool>()) {
    out.set(name, *b);
  } else if (const auto* i = value.as<std::int64_t>()) {
    out.set(name, *i);
  } else if (const auto* d = value.as<double>()) {
    out.set(name, *d);
  } else if (const auto* s = value.as<std::string>()) {
    out.set(name, *s);
  }
}

}  // namespace

std::vector<std::shared_ptr<Logger>> job_loggers(const std::vector<Choice>& choices,
                                                 const std::string& folder) {
  std::vector<std::shared_ptr<Logger>> out;
  for (const Choice& c : choices)
    out.push_back(
        chosen(c, [&](const auto& name, const auto& options) { return make_logger(name, options, folder); }));
  return out;
}

RunDescription describe_job(const Job& job) {
  RunDescription out{to_toml(job), {}};
  for (const Key& key : job_keys())
    if (std::find(kHyperparameters.begin(), kHyperparameters.end(), key.path) != kHyperparameters.end())
      flatten(std::string(key.path), key.write(job), out.hyperparameters);
  return out;
}

}  // namespace tightloop::train
