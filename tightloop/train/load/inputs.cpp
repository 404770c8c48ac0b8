// SPDX-License-Identifier: Apache-2.0
#include <tightloop/data/columns.h>
#include <tightloop/data/csv_records.h>
#include <tightloop/data/number.h>
#include <tightloop/train/load/parts.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace tightloop::train {
namespace {

using data::ColumnRule;
using data::ColumnType;
using data::Missing;

bool is_category(const ColumnRule& r) { return r.type == ColumnType::category; }
bool may_lack(const ColumnRule& r) { return !is_category(r) && r.missing != Missing::refuse; }

void check_rules(const data::CsvFile& csv, const Request& request) {
  for (const ColumnRule& r : request.rules) {
    const auto fits = [&](const std::string& c) { return c == r.match || data::matches(r.match, c); };
    if (std::none_of(csv.columns().begin(), csv.columns().end(), fits))
      throw Error(fmt::format("{}: {} has no such column{}; it has {}", r.where, csv.name(),
                              suggestion(r.match, csv.columns()), data::name_list(csv.columns())));
  }
}

/// Text that is a word, so that it cannot be a number gone wrong ("1,234", "5%", "inf").
bool is_word(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return false;
  const auto c = static_cast<unsigned char>(text[first]);
  std::string start(text.substr(first, 3));
  for (char& l : start) l = static_cast<char>(std::tolower(static_cast<unsigned char>(l)));
  return (std::isalpha(c) != 0 || c >= 0x80) && start != "inf";
}

/// Columns of which nothing is said are categories when they hold words and nothing else. False when there
/// are none.
bool find_categories(const data::CsvFile& csv, const std::vector<std::vector<std::size_t>>& columns,
                     std::vector<InputColumns>& inputs) {
  std::vector<char> words(csv.columns().size()), others(csv.columns().size());
  csv.for_each_row([&](const data::CsvRow& row) {
    for (std::size_t c = 0; c < words.size(); ++c) {
      const std::string_view text = row.cells[c].text;
      if (data::is_missing(text)) continue;
      (is_word(text) ? words : others)[c] = 1;
    }
  });
  bool any = false;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    for (std::size_t k = 0; k < columns[i].size(); ++k) {
      ColumnRule& rule = inputs[i].rules[k];
      if (rule.type != ColumnType::unsaid || words[columns[i][k]] == 0 || others[columns[i][k]] != 0)
        continue;
      rule.type = ColumnType::category;
      any = true;
    }
  return any;
}

std::vector<data::ColumnValues> read_raw(const data::CsvFile& csv,
                                         const std::vector<std::vector<std::size_t>>& columns,
                                         const std::vector<InputColumns>& inputs) {
  std::vector<data::ColumnRequest> wanted;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto& rules = inputs[i].rules;
    data::ColumnRequest r{.columns = columns[i]};
    r.missing = std::any_of(rules.begin(), rules.end(), may_lack);
    for (std::size_t k = 0; k < rules.size(); ++k)
      if (is_category(rules[k])) r.texts.push_back(k);
    wanted.push_back(std::move(r));
  }
  return csv.read_columns(wanted);
}

/// Columns that must not lack a number were read together with some that may.
void check_missing(const data::CsvFile& csv, const std::vector<std::size_t>& columns,
                   const InputColumns& input, const Array& values) {
  if (std::none_of(input.rules.begin(), input.rules.end(), may_lack)) return;
  const auto all = values.as<float>();
  for (std::size_t k = 0; k < columns.size(); ++k) {
    if (is_category(input.rules[k]) || may_lack(input.rules[k])) continue;
    for (std::size_t i = k; i < all.size(); i += columns.size()) {
      if (!std::isnan(all[i])) continue;
      const data::ColumnRequest again{{columns[k]}, DType::f32};
      csv.read({&again, 1});  // says where
    }
  }
}

/// Gives the texts of `more` numbers after those of `all`, and renumbers the column.
void join_texts(std::vector<std::string>& all, const std::vector<std::string>& more, Array& values,
                std::size_t k) {
  std::unordered_map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < all.size(); ++i) known.emplace(all[i], i);
  std::vector<float> numbers;
  for (const auto& text : more) {
    const auto [it, fresh] = known.emplace(text, all.size());
    if (fresh) all.push_back(text);
    numbers.push_back(static_cast<float>(it->second));
  }
  const auto stored = values.as<float>();
  const auto columns = static_cast<std::size_t>(values.dims()[1]);
  for (std::size_t i = k; i < stored.size(); i += columns)
    stored[i] = numbers[static_cast<std::size_t>(stored[i])];
}

/// Keeps what the raw values stand for; of a second file, in the numbers of the first.
void keep(const InputColumns& input, Array& values, Request& request) {
  const auto kept = std::find_if(request.raw.begin(), request.raw.end(),
                                 [&](const InputColumns& r) { return r.field == input.field; });
  if (kept == request.raw.end()) {
    request.raw.push_back(input);
    return;
  }
  for (std::size_t k = 0; k < input.rules.size(); ++k)
    if (is_category(input.rules[k])) join_texts(kept->texts[k], input.texts[k], values, k);
}

/// Later files must follow what was found in the first.
void fix_types(const std::vector<InputColumns>& inputs, Request& request) {
  std::vector<ColumnRule> fixed;
  for (const auto& input : inputs)
    for (ColumnRule rule : input.rules) {
      if (rule.type == ColumnType::unsaid) rule.type = ColumnType::number;
      fixed.push_back(std::move(rule));
    }
  fixed.insert(fixed.end(), request.rules.begin(), request.rules.end());
  request.rules = std::move(fixed);
}

}  // namespace

std::vector<data::Field> read_inputs(const data::CsvFile& csv, Request& request,
                                     const std::vector<std::string>& reserved) {
  if (request.first) check_rules(csv, request);
  std::vector<std::vector<std::size_t>> columns;
  std::vector<InputColumns> inputs;
  for (const Field& f : request.job.data.inputs) {
    columns.push_back(csv.select(f.from, reserved));
    auto& input = inputs.emplace_back(InputColumns{f.name, {}, {}});
    for (const std::size_t c : columns.back())
      input.rules.push_back(data::rule_for(request.rules, csv.columns()[c]));
  }
  std::vector<data::ColumnValues> read;
  try {
    read = read_raw(csv, columns, inputs);
  } catch (const Error&) {
    if (!request.first || !find_categories(csv, columns, inputs)) throw;
    read = read_raw(csv, columns, inputs);
  }
  std::vector<data::Field> out;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    check_missing(csv, columns[i], inputs[i], read[i].values);
    note_rounded(csv, columns[i], read[i].values, request);
    inputs[i].texts.resize(inputs[i].rules.size());
    for (std::size_t k = 0, t = 0; k < inputs[i].rules.size(); ++k)
      if (is_category(inputs[i].rules[k])) inputs[i].texts[k] = std::move(read[i].names[t++]);
    const auto& rules = inputs[i].rules;
    const bool plain =
        std::none_of(rules.begin(), rules.end(), [](const auto& r) { return is_category(r) || may_lack(r); });
    if (!plain && request.first) keep(inputs[i], read[i].values, request);
    const bool done = plain || request.first;
    out.push_back(
        {inputs[i].field, done ? read[i].values : encoded(inputs[i], read[i].values, {{csv.name()}})});
  }
  if (request.first) fix_types(inputs, request);
  return out;
}

}  // namespace tightloop::train
