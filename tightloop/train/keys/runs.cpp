// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/keys/index.h>
#include <tightloop/train/keys/read.h>

namespace tightloop::train::keys {
namespace {

constexpr std::int64_t kMostRepeats = 100000;

BatchLimit limit(const Value& v) {
  if (const auto* count = v.as<std::int64_t>(); count != nullptr && *count >= 1)
    return BatchLimit(*count).at(place(v));
  if (const auto* share = v.as<double>(); share != nullptr && *share > 0 && *share <= 1)
    return BatchLimit(*share).at(place(v));
  wrong(v, "a number of batches from 1 on, or a share of them above 0.0 and up to 1.0");
}

Value limit_value(const BatchLimit& limit) {
  return std::visit([](const auto& given) { return Value{given}; }, limit.given());
}

}  // namespace

std::vector<Key> run_keys() {
  return {
      {"train.limit_batches", "batches of an epoch, or a share of them", false,
       [](const Value& v, Job& j) { j.train.limit_batches = limit(v); },
       [](const Job& j) { return limit_value(j.train.limit_batches); }},
      {"train.limit_validation_batches", "batches of a validation, or a share of them", false,
       [](const Value& v, Job& j) { j.train.limit_validation_batches = limit(v); },
       [](const Job& j) { return limit_value(j.train.limit_validation_batches); }},
      {"train.overfit_batches", "trains and validates on the first so many batches alone; 0: no", false,
       [](const Value& v, Job& j) { j.train.overfit_batches = whole(v, 0); },
       [](const Job& j) { return Value{j.train.overfit_batches}; }},
      {"train.sanity_check", "batches of validation before the first step", false,
       [](const Value& v, Job& j) { j.train.sanity_check = whole(v, 0); },
       [](const Job& j) { return j.train.sanity_check ? Value{*j.train.sanity_check} : Value{}; }},
      {"train.repeats", "runs from one seed after the other, whose mean and spread are reported", false,
       [](const Value& v, Job& j) { j.train.repeats = whole(v, 1, kMostRepeats); },
       [](const Job& j) { return Value{j.train.repeats}; }},
  };
}

}  // namespace tightloop::train::keys
