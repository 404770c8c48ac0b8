// SPDX-License-Identifier: Apache-2.0
#include <tightloop/data/columns.h>
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
using data::Encoding;
using data::Missing;

constexpr std::int64_t kUnknown = -1;
constexpr std::size_t kMostOneHot = 4096;

bool is_category(const ColumnRule& r) { return r.type == ColumnType::category; }
bool by_index(const InputColumns& input, const ColumnRule& r) {
  return is_category(r) &&
         (r.encode == Encoding::index || (r.encode == Encoding::unsaid && input.rules.size() == 1));
}
/// Numbers of the values, that for what is missing or unknown included.
std::size_t width(const ColumnRule& r) {
  return is_category(r) ? r.values->size() + (r.missing == Missing::category ? 1 : 0) : 1;
}

/// Calls `visit(element)` with column `k` of the rows that train.
template <class Visit>
void each_row(const Array& raw, std::size_t k, std::span<const std::int64_t> rows, Visit visit) {
  const auto all = raw.as<float>();
  const auto columns = static_cast<std::size_t>(raw.dims()[1]);
  const std::size_t n = rows.empty() ? all.size() / columns : rows.size();
  for (std::size_t i = 0; i < n; ++i)
    visit(all[(rows.empty() ? i : static_cast<std::size_t>(rows[i])) * columns + k]);
}

void find_values(ColumnRule& rule, const std::vector<std::string>& texts, const Array& raw, std::size_t k,
                 std::span<const std::int64_t> rows) {
  std::vector<char> present(texts.size());
  each_row(raw, k, rows, [&](float v) { present[static_cast<std::size_t>(v)] = 1; });
  std::vector<std::string> values;
  for (std::size_t t = 0; t < texts.size(); ++t) {
    const bool missing =
        texts[t].empty() || (rule.missing == Missing::category && data::is_missing(texts[t]));
    if (present[t] != 0 && !missing) values.push_back(texts[t]);
  }
  if (values.empty()) throw Error(fmt::format("column '{}' has no value in the training rows", rule.match));
  std::sort(values.begin(), values.end());
  rule.values = std::move(values);
}

void find_mean(ColumnRule& rule, const Array& raw, std::size_t k, std::span<const std::int64_t> rows) {
  double sum = 0;
  std::int64_t count = 0;
  each_row(raw, k, rows, [&](float v) {
    if (!std::isnan(v)) sum += v, ++count;
  });
  if (count == 0) throw Error(fmt::format("column '{}' has no number in the training rows", rule.match));
  rule.missing = Missing::value;
  rule.value = static_cast<float>(sum / static_cast<double>(count));
}

void decide(InputColumns& input, const Array& raw, std::span<const std::int64_t> rows) {
  for (std::size_t k = 0; k < input.rules.size(); ++k) {
    ColumnRule& rule = input.rules[k];
    if (is_category(rule) && !rule.values) find_values(rule, input.texts[k], raw, k, rows);
    if (rule.missing == Missing::mean) find_mean(rule, raw, k, rows);
  }
}

/// The number of each text by the rule; kUnknown where there is none.
std::vector<std::int64_t> numbers_of(const ColumnRule& rule, const std::vector<std::string>& texts) {
  std::unordered_map<std::string_view, std::int64_t> known;
  for (const auto& value : *rule.values) known.emplace(value, static_cast<std::int64_t>(known.size()));
  const std::int64_t other =
      rule.missing == Missing::category ? static_cast<std::int64_t>(known.size()) : kUnknown;
  std::vector<std::int64_t> out;
  for (const auto& text : texts) {
    const auto it = known.find(text);
    out.push_back(it == known.end() ? other : it->second);
  }
  return out;
}

[[noreturn]] void unknown(const ColumnRule& rule, const std::string& text, std::size_t row,
                          const std::vector<RowsOf>& files) {
  const auto number = static_cast<std::int64_t>(row);
  const auto behind = std::upper_bound(files.begin(), files.end(), number,
                                       [](std::int64_t r, const RowsOf& f) { return r < f.first; });
  require(behind != files.begin(), "encoded: rows of no file");
  const RowsOf& of = *std::prev(behind);
  const std::string where =
      fmt::format("{}: row {}, column '{}': ", of.file, number - of.first + 1, rule.match);
  const std::string hint =
      "; data.columns can give such rows a category of their own: missing = \"category\"";
  if (text.empty()) throw Error(where + "the value is missing" + hint);
  throw Error(fmt::format("{}'{}' is not one of the {} values of the training rows{}{}", where, text,
                          rule.values->size(), suggestion(text, *rule.values), hint));
}

Array indices(const InputColumns& input, const Array& raw, const std::vector<RowsOf>& files) {
  const auto from = raw.as<float>();
  const std::size_t columns = input.rules.size();
  Array out(DType::i64, columns == 1 ? std::vector{raw.dims()[0]} : raw.dims());
  const auto to = out.as<std::int64_t>();
  for (std::size_t k = 0; k < columns; ++k) {
    const auto numbers = numbers_of(input.rules[k], input.texts[k]);
    for (std::size_t i = k; i < from.size(); i += columns) {
      const auto text = static_cast<std::size_t>(from[i]);
      if (numbers[text] == kUnknown) unknown(input.rules[k], input.texts[k][text], i / columns, files);
      to[i] = numbers[text];
    }
  }
  return out;
}

void check_widths(const InputColumns& input) {
  for (const ColumnRule& r : input.rules) {
    if (by_index(input, r))
      throw Error(
          fmt::format("input '{}': column '{}' is encoded by index and cannot stand beside numbers or "
                      "one-hot columns; give it an input of its own",
                      input.field, r.match));
    if (is_category(r) && width(r) > kMostOneHot)
      throw Error(
          fmt::format("input '{}': column '{}' has {} different values, too many for one-hot columns; "
                      "give it an input of its own with encode = \"index\", for an embedding",
                      input.field, r.match, width(r)));
  }
}

/// Numbers with what is missing filled in, and a column of 0 and 1 for each value of a category.
Array wide(const InputColumns& input, const Array& raw, const std::vector<RowsOf>& files) {
  check_widths(input);
  std::size_t total = 0;
  for (const ColumnRule& r : input.rules) total += width(r);
  const auto from = raw.as<float>();
  const std::size_t columns = input.rules.size();
  Array out(DType::f32, {raw.dims()[0], static_cast<std::int64_t>(total)});
  float* to = out.as<float>().data();
  for (std::size_t k = 0; k < columns; ++k) {
    const ColumnRule& rule = input.rules[k];
    const auto numbers = is_category(rule) ? numbers_of(rule, input.texts[k]) : std::vector<std::int64_t>();
    for (std::size_t i = k, row = 0; i < from.size(); i += columns, ++row) {
      if (!is_category(rule)) {
        to[row * total] = std::isnan(from[i]) ? static_cast<float>(rule.value) : from[i];
        continue;
      }
      const auto text = static_cast<std::size_t>(from[i]);
      if (numbers[text] == kUnknown) unknown(rule, input.texts[k][text], row, files);
      to[row * total + static_cast<std::size_t>(numbers[text])] = 1;
    }
    to += width(rule);
  }
  return out;
}

data::Dataset with_field(const data::Dataset& data, const std::string& name, const Array& values) {
  std::vector<data::Field> fields = data.fields();
  for (auto& f : fields)
    if (f.name == name) f.values = values;
  return data::Dataset(std::move(fields));
}

/// The rules that another reading of such data needs: those of plain numbers say nothing.
std::vector<ColumnRule> needed(const std::vector<ColumnRule>& rules) {
  std::vector<ColumnRule> out;
  for (const ColumnRule& r : rules) {
    const bool says = r.type == ColumnType::category || r.missing != Missing::refuse || !r.where.empty();
    const bool again =
        std::any_of(out.begin(), out.end(), [&](const ColumnRule& o) { return o.match == r.match; });
    if (says && !again) out.push_back(r);
  }
  return out;
}

}  // namespace

Array encoded(const InputColumns& input, const Array& raw, const std::vector<RowsOf>& files) {
  const bool index = std::all_of(input.rules.begin(), input.rules.end(),
                                 [&](const ColumnRule& r) { return by_index(input, r); });
  return index ? indices(input, raw, files) : wide(input, raw, files);
}

void encode_columns(LoadedData& data, Request& request) {
  if (!request.first) return;
  request.first = false;
  DataPart& train = data.data.train;
  std::vector<ColumnRule> decided;
  for (InputColumns& input : request.raw) {
    const Array raw = train.data[input.field];
    decide(input, raw, train.rows);
    train.data = with_field(train.data, input.field, encoded(input, raw, request.files));
    decided.insert(decided.end(), input.rules.begin(), input.rules.end());
  }
  if (data.data.validation && !request.raw.empty()) data.data.validation->data = train.data;
  request.raw.clear();
  decided.insert(decided.end(), request.rules.begin(), request.rules.end());
  request.rules = decided;
  data.columns = needed(decided);
}

}  // namespace tightloop::train
