// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/data/csv.h>
#include <tightloop/data/csv_records.h>
#include <tightloop/data/number.h>

#include <algorithm>
#include <set>
#include <unordered_map>

namespace tightloop::data {
namespace {

bool is_number(const std::string& text) {
  double ignored = 0;
  return parse_number(text, ignored);
}

/// Where each of the texts `found` stands in `wanted`; empty when one does not.
std::vector<std::int64_t> places(const std::vector<std::string>& found,
                                 const std::vector<std::string>& wanted) {
  std::unordered_map<std::string_view, std::int64_t> known;
  for (std::size_t i = 0; i < wanted.size(); ++i) known.emplace(wanted[i], static_cast<std::int64_t>(i));
  std::vector<std::int64_t> out;
  for (const auto& text : found) {
    const auto it = known.find(text);
    if (it == known.end()) return {};
    out.push_back(it->second);
  }
  return out;
}

}  // namespace

ClassColumn CsvFile::classes(std::size_t column, const std::vector<std::string>* names,
                             std::size_t limit) const {
  require(column < columns_.size(), "CsvFile::classes: column out of range");
  const ColumnRequest request{.columns = {column}, .dtype = DType::i64, .texts = {0}};
  std::optional<std::vector<ColumnValues>> read = try_read({&request, 1}, limit);
  if (!read) explain_classes(column, names, limit);
  auto& found = (*read)[0].names[0];
  Array codes = (*read)[0].values.reshaped({(*read)[0].values.count()});
  const bool numbers = std::any_of(found.begin(), found.end(), is_number);
  for (const auto& text : found)
    if (text.empty() || (names == nullptr && numbers && is_missing(text)))
      explain_classes(column, names, limit);
  if (names == nullptr) return {std::move(codes), std::move(found)};
  const auto place = places(found, *names);
  if (place.empty()) explain_classes(column, names, limit);
  for (auto& code : codes.as<std::int64_t>()) code = place[static_cast<std::size_t>(code)];
  return {std::move(codes), *names};
}

void CsvFile::explain_classes(std::size_t column, const std::vector<std::string>* names,
                              std::size_t limit) const {
  const std::set<std::string> known =
      names == nullptr ? std::set<std::string>() : std::set(names->begin(), names->end());
  std::set<std::string> found;
  std::string missing;  // what is wrong with the first field that is missing, where the others are numbers
  bool numbers = false;
  const std::int64_t rows = for_each_row([&](const CsvRow& row) {
    const std::string text = row.cells[column].value();
    if (text.empty()) throw Error(where(row, column) + "the class is missing");
    if (names != nullptr && !known.contains(text))
      throw Error(where(row, column) + "'" + text + "' is not one of the known classes" +
                  suggestion(text, *names));
    if (names != nullptr || !found.insert(text).second) return;
    if (found.size() > limit) throw Error(where(row, column) + too_many_texts(limit));
    numbers = numbers || is_number(text);
    if (missing.empty() && is_missing(text)) missing = where(row, column) + not_a_number(text, true);
  });
  if (rows == 0) no_rows();
  if (numbers && !missing.empty()) throw Error(missing);
  throw InternalError("internal error: CsvFile::classes: nothing is wrong");
}

}  // namespace tightloop::data
