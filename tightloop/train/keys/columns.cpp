// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/train/keys/columns.h>
#include <tightloop/train/keys/read.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace tightloop::train::keys {
namespace {

using data::ColumnRule;
using data::ColumnType;
using data::Encoding;
using data::Missing;

const std::vector<std::string> kTypes{"number", "category"};
const std::vector<std::string> kEncodings{"index", "one_hot"};
const std::vector<std::string> kMissing{"refuse", "mean", "category"};
const std::vector<std::string> kEntries{"type", "encode", "missing", "values"};

ColumnType type_of(const Value& v) {
  return one_of(v, kTypes) == "number" ? ColumnType::number : ColumnType::category;
}

void read_missing(const Value& v, ColumnRule& out) {
  const auto* i = v.as<std::int64_t>();
  const auto* f = v.as<double>();
  if (i == nullptr && f == nullptr && v.as<std::string>() == nullptr)
    wrong(v, "'refuse', 'mean', 'category' or a number");
  if (i != nullptr || f != nullptr) {
    out.missing = Missing::value;
    out.value = f != nullptr ? *f : static_cast<double>(*i);
    if (!std::isfinite(static_cast<float>(out.value))) wrong(v, "a finite number");
    return;
  }
  const std::string word = one_of(v, kMissing);
  out.missing = word == "mean" ? Missing::mean : word == "category" ? Missing::category : Missing::refuse;
}

std::vector<std::string> read_values(const Value& v) {
  const auto* list = v.as<Value::List>();
  if (list == nullptr || list->empty()) wrong(v, "a list of texts");
  std::set<std::string> seen;
  std::vector<std::string> out;
  for (const Value& e : *list) {
    out.push_back(text(e, "a text as it stands in the table, in quotes"));
    if (!seen.insert(out.back()).second) fail(e, "names '" + out.back() + "' twice");
  }
  return out;
}

/// What is said of a category alone must not be said of a number, and the other way round.
void check_together(const Value& v, ColumnRule& rule) {
  const bool category = rule.encode != Encoding::unsaid || rule.values || rule.missing == Missing::category;
  const bool number = rule.missing == Missing::mean || rule.missing == Missing::value;
  if (category && (number || rule.type == ColumnType::number))
    fail(v, "mixes a number with what only categories have (encode, values, missing = \"category\")");
  if (number && rule.type == ColumnType::category)
    fail(v, "gives a category a number for missing values; take missing = \"category\" or name the value");
  if (category) rule.type = ColumnType::category;
  if (number) rule.type = ColumnType::number;
}

ColumnRule read_rule(const std::string& match, const Value& v) {
  ColumnRule out{.match = match, .where = place(v)};
  const auto* table = v.as<Value::Table>();
  if (table == nullptr) {
    out.type = type_of(v);
    return out;
  }
  for (const auto& [key, entry] : *table) {
    if (key == "type")
      out.type = type_of(entry);
    else if (key == "encode")
      out.encode = one_of(entry, kEncodings) == "index" ? Encoding::index : Encoding::one_hot;
    else if (key == "missing")
      read_missing(entry, out);
    else if (key == "values")
      out.values = read_values(entry);
    else
      fail(entry, "is unknown" + suggestion(key, kEntries) + "; there are type, encode, missing and values");
  }
  check_together(v, out);
  return out;
}

Value rule_value(const ColumnRule& r) {
  Value::Table out;
  if (r.type != ColumnType::unsaid)
    out.emplace_back("type", std::string(r.type == ColumnType::number ? "number" : "category"));
  if (r.encode != Encoding::unsaid)
    out.emplace_back("encode", std::string(r.encode == Encoding::index ? "index" : "one_hot"));
  if (r.missing == Missing::value) out.emplace_back("missing", r.value);
  if (r.missing == Missing::mean) out.emplace_back("missing", std::string("mean"));
  if (r.missing == Missing::category) out.emplace_back("missing", std::string("category"));
  if (r.values) out.emplace_back("values", Value::List(r.values->begin(), r.values->end()));
  return out;
}

}  // namespace

std::vector<ColumnRule> column_rules(const Value& v) {
  const auto* table = v.as<Value::Table>();
  if (table == nullptr) wrong(v, "a table such as { city = \"category\" }");
  std::vector<ColumnRule> out;
  for (const auto& [match, rule] : *table) out.push_back(read_rule(match, rule));
  return out;
}

Value column_rules_value(const std::vector<ColumnRule>& rules) {
  Value::Table out;
  for (const auto& r : rules) out.emplace_back(r.match, rule_value(r));
  return out.empty() ? Value{} : Value{out};
}

}  // namespace tightloop::train::keys
