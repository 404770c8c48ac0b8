// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the keys of a job share: each function reads a value of one kind, or throws Error with its place in
// the job file and what would be right; or makes the value that is written back.
#include <tightloop/train/job.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace tightloop::train::keys {

std::int64_t whole(const Value& v, std::int64_t low,
                   std::int64_t high = std::numeric_limits<std::int64_t>::max());
bool flag(const Value& v);
std::string text(const Value& v, const std::string& wanted = "a string that is not empty");
std::string one_of(const Value& v, const std::vector<std::string>& names);
/// A name that the forward text can use.
void check_name(const Value& v, const std::string& name);
/// A text or a list of them.
std::vector<std::string> texts(const Value& v, const std::string& wanted);
double not_negative(const Value& v);

/// "job.toml:5:9: train.loss"
std::string place(const Value& v);
/// `"mse"` or `{ name = "huber", delta = 0.5 }`.
Choice choice(const Value& v, const std::string& wanted);
/// One or a list of them; the same name does not come twice without options.
std::vector<Choice> choices(const Value& v, const std::string& wanted);

Value texts_value(const std::vector<std::string>& list);
Value choice_value(const Choice& c);
Value choices_value(const std::vector<Choice>& list);
/// The absolute path, or nothing.
Value path_value(const Job& j, const std::string& path);

}  // namespace tightloop::train::keys
