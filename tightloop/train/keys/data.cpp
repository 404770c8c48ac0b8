// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/keys/columns.h>
#include <tightloop/train/keys/index.h>
#include <tightloop/train/keys/read.h>
#include <tightloop/train/sources.h>

#include <fmt/format.h>

namespace tightloop::train::keys {
namespace {

std::vector<Field> fields(const Value& v) {
  const auto* table = v.as<Value::Table>();
  if (table == nullptr) wrong(v, "a table such as { x = \"x*\" }");
  std::vector<Field> out;
  for (const auto& [name, from] : *table) {
    check_name(from, name);
    out.push_back({name, texts(from, "a column, a list of columns, a pattern, or a file")});
  }
  if (out.empty()) fail(v, "names nothing");
  return out;
}

/// Without data.train the fields are files, whose paths start at the job file's folder.
Value fields_value(const Job& j, const std::vector<Field>& list) {
  Value::Table table;
  for (const Field& f : list) {
    std::vector<std::string> from = f.from;
    for (auto& name : from) name = j.data.train.empty() ? resolve(j, name) : name;
    table.emplace_back(f.name, texts_value(from));
  }
  return table;
}

Validation validation(const Value& v) {
  if (v.as<Value::Table>() != nullptr) return {0, "", fields(v)};
  if (v.as<std::string>() != nullptr) return {0, text(v), {}};
  const auto* i = v.as<std::int64_t>();
  const auto* f = v.as<double>();
  const double fraction = f != nullptr ? *f : i != nullptr ? static_cast<double>(*i) : -1;
  if (!(fraction >= 0 && fraction < 1)) wrong(v, "a fraction from 0 to below 1, a file, or a table of files");
  return {fraction, "", {}};
}

Value validation_value(const Job& j) {
  const Validation& v = j.data.validation;
  if (!v.files.empty()) return fields_value(j, v.files);
  return v.file.empty() ? Value{v.fraction} : Value{resolve(j, v.file)};
}

const std::vector<std::string> kNormalize{"none", "standard", "minmax"};

std::vector<Normalize> normalize(const Value& v) {
  const auto* table = v.as<Value::Table>();
  if (table == nullptr) return {{"", one_of(v, kNormalize), place(v)}};
  std::vector<Normalize> out;
  for (const auto& [input, method] : *table)
    out.push_back({input, one_of(method, kNormalize), place(method)});
  return out;
}

Value normalize_value(const Job& j) {
  Value::Table table;
  for (const Normalize& n : j.data.normalize) {
    if (n.input.empty()) return n.method;
    table.emplace_back(n.input, n.method);
  }
  return table.empty() ? Value{std::string("none")} : Value{table};
}

void read_train(const Value& v, Job& j) {
  std::vector<std::string> all = texts(v, "a file, a folder, or a list of them");
  j.data.train = all.front();
  j.data.train_more.assign(all.begin() + 1, all.end());
}

Value train_value(const Job& j) {
  if (j.data.train_more.empty()) return path_value(j, j.data.train);
  Value::List out{path_value(j, j.data.train)};
  for (const auto& path : j.data.train_more) out.push_back(path_value(j, path));
  return out;
}

std::string separator(const Value& v) {
  std::string out = text(v, "one character, such as ';' or a tab");
  if (out.size() != 1) wrong(v, "one character, such as ';' or a tab");
  return out;
}

std::vector<std::string> format_names() {
  std::vector<std::string> out;
  for (const auto& f : source_formats()) out.emplace_back(f.key);
  return out;
}

Value optional_text(const std::string& text) { return text.empty() ? Value{} : Value{text}; }

}  // namespace

std::vector<Key> data_keys() {
  return {
      {"data.train", "the file with the training rows, or a list of them", false, read_train, train_value},
      {"data.format", "the format of the files, where their content does not show it", false,
       [](const Value& v, Job& j) { j.data.format = one_of(v, format_names()); },
       [](const Job& j) { return optional_text(j.data.format); }},
      {"data.separator", "what separates the fields of a table", false,
       [](const Value& v, Job& j) { j.data.separator = separator(v); },
       [](const Job& j) { return optional_text(j.data.separator); }},
      {"data.header", "whether the first line of a table names its columns", false,
       [](const Value& v, Job& j) { j.data.header = flag(v); },
       [](const Job& j) { return j.data.header ? Value{*j.data.header} : Value{}; }},
      {"data.columns", "what the columns of a table hold: name or pattern = type", false,
       [](const Value& v, Job& j) { j.data.columns = column_rules(v); },
       [](const Job& j) { return column_rules_value(j.data.columns); }},
      {"data.vocabulary", "a file with the tokens of texts, one a line", false,
       [](const Value& v, Job& j) { j.data.vocabulary = text(v); },
       [](const Job& j) { return path_value(j, j.data.vocabulary); }},
      {"data.inputs", "the model's inputs: name = column, list or pattern, or file", true,
       [](const Value& v, Job& j) { j.data.inputs = fields(v); },
       [](const Job& j) { return fields_value(j, j.data.inputs); }},
      {"data.target", "what the model shall predict: name = column, list or pattern, or file", true,
       [](const Value& v, Job& j) {
         j.data.target = fields(v);
         if (j.data.target.size() > 1) fail(v, "must name one target");
       },
       [](const Job& j) { return fields_value(j, j.data.target); }},
      {"data.validation", "a fraction of the rows, a file, or name = file", false,
       [](const Value& v, Job& j) { j.data.validation = validation(v); }, validation_value},
      {"data.normalize", "none, standard or minmax, for all inputs or by input", false,
       [](const Value& v, Job& j) { j.data.normalize = normalize(v); }, normalize_value},
      {"data.batch", "rows of a step", false,
       [](const Value& v, Job& j) { j.data.batch = whole(v, 1, 1 << 30); },
       [](const Job& j) { return Value{j.data.batch}; }},
      {"data.shuffle", "another order of the rows in each epoch", false,
       [](const Value& v, Job& j) { j.data.shuffle = flag(v); },
       [](const Job& j) { return Value{j.data.shuffle}; }},
      {"data.drop_last", "leave out the short last batch of an epoch", false,
       [](const Value& v, Job& j) { j.data.drop_last = flag(v); },
       [](const Job& j) { return Value{j.data.drop_last}; }},
  };
}

}  // namespace tightloop::train::keys
