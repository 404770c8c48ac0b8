// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/data/split.h>
#include <tightloop/train/keys/index.h>
#include <tightloop/train/keys/read.h>

#include <fmt/format.h>
#include <algorithm>

namespace tightloop::train::keys {
namespace {

const std::vector<std::string> kSamplers{"shuffled", "sequential", "balanced", "weighted"};

template <class List>
std::vector<std::string> names_in(const List& list) {
  std::vector<std::string> out;
  for (const auto& [value, name] : list) out.emplace_back(name);
  return out;
}

/// Calls read(value) for each entry of a table, by name; throws Error on another name.
using Reader = std::pair<std::string, std::function<void(const Value&)>>;
void read_table(const Value& v, const std::string& example, const std::vector<Reader>& readers) {
  const auto* table = v.as<Value::Table>();
  if (table == nullptr) wrong(v, "a table such as " + example);
  std::vector<std::string> known;
  for (const auto& [name, read] : readers) known.push_back(name);
  for (const auto& [name, value] : *table) {
    const auto at = std::find(known.begin(), known.end(), name);
    if (at == known.end())
      fail(value,
           fmt::format("is no key here; there are {}{}", fmt::join(known, ", "), suggestion(name, known)));
    readers[static_cast<std::size_t>(at - known.begin())].second(value);
  }
}

Choice sampler(const Value& v) {
  Choice out = choice(v, "the name of a sampler");
  const Value* name = v.as<Value::Table>() != nullptr ? v.find("name") : &v;
  one_of(*name, kSamplers);
  for (const auto& [key, value] : *out.options.as<Value::Table>()) {
    if (key != "column" || out.name == "shuffled" || out.name == "sequential")
      fail(value, fmt::format("is no option of the sampler {}", out.name));
    text(value, "the name of a column");
  }
  if (out.name == "weighted" && out.options.find("column") == nullptr)
    fail(v, "has no column: write { name = \"weighted\", column = \"w\" }");
  return out;
}

SplitChoice split(const Value& v) {
  SplitChoice out;
  out.where = place(v);
  read_table(v, "{ method = \"stratified\" }",
             {{"method", [&](const Value& x) { out.method = one_of(x, names_in(data::kSplitMethods)); }},
              {"column", [&](const Value& x) { out.column = text(x, "the name of a column"); }},
              {"seed", [&](const Value& x) { out.seed = whole(x, 0); }}});
  return out;
}

Value split_value(const Job& j) {
  if (!j.data.split) return {};
  const SplitChoice& s = *j.data.split;
  Value::Table table;
  if (!s.method.empty()) table.emplace_back("method", s.method);
  if (!s.column.empty()) table.emplace_back("column", s.column);
  table.emplace_back("seed", s.seed);
  return table;
}

FoldChoice fold(const Value& v) {
  FoldChoice out;
  read_table(v, "{ k = 5, index = 0 }",
             {{"k", [&](const Value& x) { out.k = whole(x, 2); }},
              {"index", [&](const Value& x) { out.index = whole(x, 0); }}});
  if (out.k == 0) fail(v, "has no k: write { k = 5 }");
  if (out.index >= out.k)
    fail(v, fmt::format("has index {}; of {} folds there are 0 to {}", out.index, out.k, out.k - 1));
  return out;
}

Value fold_value(const Job& j) {
  if (j.data.fold.k == 0) return {};
  Value::Table table{{"k", j.data.fold.k}};
  if (j.data.fold.index >= 0) table.emplace_back("index", j.data.fold.index);
  return table;
}

WindowChoice window(const Value& v) {
  WindowChoice out;
  constexpr std::int64_t most = 1 << 30;
  out.window.length = 0;
  const auto target = [&](const Value& x) {
    const std::string name = one_of(x, names_in(data::kWindowTargets));
    for (const auto& [value, known] : data::kWindowTargets)
      if (known == name) out.window.target = value;
  };
  read_table(v, "{ length = 24, horizon = 1 }",
             {{"length", [&](const Value& x) { out.window.length = whole(x, 1, most); }},
              {"horizon", [&](const Value& x) { out.window.horizon = whole(x, 1, most); }},
              {"stride", [&](const Value& x) { out.window.stride = whole(x, 1, most); }},
              {"target", target},
              {"group", [&](const Value& x) { out.group = text(x, "the name of a column"); }}});
  if (out.window.length == 0) fail(v, "has no length: write { length = 24, horizon = 1 }");
  return out;
}

Value window_value(const Job& j) {
  if (!j.data.window) return {};
  const data::Window& w = j.data.window->window;
  Value::Table table{
      {"length", w.length},
      {"horizon", w.horizon},
      {"stride", w.stride},
      {"target", std::string(data::kWindowTargets[static_cast<std::size_t>(w.target)].second)}};
  if (!j.data.window->group.empty()) table.emplace_back("group", j.data.window->group);
  return table;
}

std::vector<Choice> transforms(const Value& v) {
  if (const auto* list = v.as<Value::List>(); list != nullptr && list->empty()) return {};
  return choices(v, "a list of transforms such as [\"horizontal_flip\"]");
}

void check_sampler(const Value& data, Job& job) {
  const Value* sampler = data.find("sampler");
  if (sampler == nullptr) return;
  const bool shuffled = job.data.sampler.name != "sequential";
  const Value* shuffle = data.find("shuffle");
  if (shuffle != nullptr && job.data.shuffle != shuffled)
    fail(*shuffle, fmt::format("is {}, but data.sampler is {}; leave one out", job.data.shuffle,
                               job.data.sampler.name));
  job.data.shuffle = shuffled;
}

void check_split(const Value& data, const Job& job) {
  const Job::Data& d = job.data;
  const bool fraction = d.validation.fraction > 0;
  if (d.fold.k > 0 && !d.validation.none())
    fail(*data.find("fold"), "holds back the validation rows, and so does data.validation; leave one out");
  if (d.split && !fraction && d.fold.k == 0)
    fail(*data.find("split"),
         "says how rows are held back, but none are: give data.validation a fraction, such as "
         "0.2, or data.fold");
  if (d.split && d.split->method == "group" && d.split->column.empty() &&
      (!d.window || d.window->group.empty()))
    fail(*data.find("split"), "has no column: write { method = \"group\", column = \"name\" }");
  if (d.window && d.split && (d.split->method == "random" || d.split->method == "stratified"))
    fail(*data.find("split"),
         fmt::format("is {}, but windows share rows, so the model would be trained on rows "
                     "that validate; use time or group",
                     d.split->method));
}

}  // namespace

void check_views(const Value& document, Job& job) {
  const Value* data = document.find("data");
  if (data == nullptr) return;
  check_sampler(*data, job);
  check_split(*data, job);
}

std::vector<Key> view_keys() {
  return {
      {"data.sampler", "shuffled, sequential, balanced, or { name = \"weighted\", column }", false,
       [](const Value& v, Job& j) { j.data.sampler = sampler(v); },
       [](const Job& j) {
         return j.data.shuffle ? choice_value(j.data.sampler) : Value{std::string("sequential")};
       }},
      {"data.split", "how validation rows are chosen: method, column, seed", false,
       [](const Value& v, Job& j) { j.data.split = split(v); }, split_value},
      {"data.fold", "each of k folds validates in turn, or the one of an index: k, index", false,
       [](const Value& v, Job& j) { j.data.fold = fold(v); }, fold_value},
      {"data.window", "rows of a time series as samples: length, horizon, stride, target, group", false,
       [](const Value& v, Job& j) { j.data.window = window(v); }, window_value},
      {"data.transforms", "what changes the samples in training, in order", false,
       [](const Value& v, Job& j) { j.data.transforms = transforms(v); },
       [](const Job& j) { return choices_value(j.data.transforms); }},
      {"data.eval_transforms", "the same for validation, evaluation and prediction", false,
       [](const Value& v, Job& j) { j.data.eval_transforms = transforms(v); },
       [](const Job& j) {
         return j.data.eval_transforms ? choices_value(*j.data.eval_transforms) : Value{};
       }},
  };
}

}  // namespace tightloop::train::keys
