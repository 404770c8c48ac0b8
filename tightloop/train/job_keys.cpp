// SPDX-License-Identifier: Apache-2.0
// The keys of the job file: one entry each, in the order the resolved job is written.
#include <tightloop/base/error.h>
#include <tightloop/train/job.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>

namespace tightloop::train {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

std::int64_t whole(const Value& v, std::int64_t low, std::int64_t high = kMost) {
  const auto* i = v.as<std::int64_t>();
  if (i != nullptr && *i >= low && *i <= high) return *i;
  wrong(v, i != nullptr && *i > high ? fmt::format("a whole number of at most {}", high)
                                     : fmt::format("a whole number of at least {}", low));
}

bool flag(const Value& v) {
  if (const auto* b = v.as<bool>()) return *b;
  wrong(v, "true or false");
}

std::string text(const Value& v, const std::string& wanted = "a string that is not empty") {
  const auto* s = v.as<std::string>();
  if (s != nullptr && !s->empty() && s->find('\0') == std::string::npos) return *s;
  wrong(v, wanted);
}

std::string one_of(const Value& v, const std::vector<std::string>& names) {
  const auto* s = v.as<std::string>();
  if (s != nullptr && std::find(names.begin(), names.end(), *s) != names.end()) return *s;
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i)
    list += (i == 0 ? "'" : i + 1 == names.size() ? " or '" : ", '") + names[i] + "'";
  fail(v, "must be " + list + ", not " + describe(v) + (s != nullptr ? suggestion(*s, names) : ""));
}

/// A name that the forward text can use.
void check_name(const Value& v, const std::string& name) {
  const bool starts = !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0;
  const auto letter = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  if (!starts || !std::all_of(name.begin(), name.end(), letter))
    fail(v, fmt::format("has the name '{}', which the forward text cannot use: take letters, digits and _",
                        name));
}

std::vector<std::string> texts(const Value& v, const std::string& wanted) {
  const auto* list = v.as<Value::List>();
  if (list == nullptr) return {text(v, wanted)};
  std::vector<std::string> out;
  for (const Value& e : *list) out.push_back(text(e, wanted));
  if (out.empty()) wrong(v, wanted);
  return out;
}

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

Value texts_value(const std::vector<std::string>& list) {
  if (list.size() == 1) return list[0];
  return Value::List(list.begin(), list.end());
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

std::string place(const Value& v) { return v.where + ": " + v.path; }

Choice choice(const Value& v, const std::string& wanted) {
  if (v.as<Value::Table>() == nullptr) return {text(v, wanted), Value::Table{}, place(v)};
  const Value* name = v.find("name");
  if (name == nullptr) fail(v, "has no name: write { name = \"…\", … }");
  Choice out{text(*name, wanted), v, place(v)};
  auto& options = *out.options.as<Value::Table>();
  std::erase_if(options, [](const auto& entry) { return entry.first == "name"; });
  return out;
}

Value choice_value(const Choice& c) {
  const auto& options = *c.options.as<Value::Table>();
  if (c.name.empty() || options.empty()) return c.name.empty() ? Value{} : Value{c.name};
  Value::Table table{{"name", c.name}};
  table.insert(table.end(), options.begin(), options.end());
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

std::vector<std::int64_t> static_shape(const Value& v) {
  const auto* list = v.as<Value::List>();
  if (list == nullptr || list->size() > 8) wrong(v, "a shape such as [3, 4] (at most 8 dims)");
  std::vector<std::int64_t> shape;
  std::int64_t elements = 1;
  for (const Value& e : *list) {
    shape.push_back(whole(e, 1));
    if (__builtin_mul_overflow(elements, shape.back(), &elements) || elements > (std::int64_t{1} << 40))
      fail(v, "has too many elements");
  }
  return shape;
}

FreeParameter parameter(const std::string& name, const Value& v) {
  check_name(v, name);
  const auto* table = v.as<Value::Table>();
  if (table == nullptr) return {name, static_shape(v)};
  FreeParameter out{name, {}};
  bool shaped = false;
  for (const auto& [key, value] : *table) {
    if (key == "shape")
      out.shape = static_shape(value), shaped = true;
    else if (key == "init")
      out.init = value;
    else
      fail(value, "is no key of a parameter; use shape and init" + suggestion(key, {"shape", "init"}));
  }
  if (!shaped) fail(v, "has no shape: write { shape = [3, 4], init = 0.1 }");
  if (out.init.as<std::string>() == nullptr && out.init.as<double>() == nullptr &&
      out.init.as<std::int64_t>() == nullptr)
    wrong(out.init, "a number or the name of an initialiser");
  if (const auto* number = out.init.as<double>(); number != nullptr && !std::isfinite(*number))
    wrong(out.init, "a finite number");
  return out;
}

std::vector<FreeParameter> parameters(const Value& v) {
  const auto* table = v.as<Value::Table>();
  if (table == nullptr) wrong(v, "a table such as { par = [1] }");
  std::vector<FreeParameter> out;
  for (const auto& [name, p] : *table) out.push_back(parameter(name, p));
  return out;
}

Value parameters_value(const Job& j) {
  Value::Table table;
  for (const FreeParameter& p : j.model.parameters) {
    Value shape = Value::List(p.shape.begin(), p.shape.end());
    table.emplace_back(p.name, Value::Table{{"shape", shape}, {"init", p.init}});
  }
  return table.empty() ? Value{} : Value{table};
}

Text placed_text(const Value& v) {
  std::string source = v.where;
  if (v.line > 0)
    for (int i = 0; i < 2; ++i) source.resize(source.rfind(':'));
  else
    source = v.path;
  return {text(v), source, v.line, v.column};
}

std::vector<Choice> choices(const Value& v) {
  const std::string wanted = "a list of names such as [\"accuracy\"]";
  const auto* list = v.as<Value::List>();
  if (list == nullptr) return {choice(v, wanted)};
  std::vector<Choice> out;
  for (const Value& e : *list) {
    out.push_back(choice(e, wanted));
    const auto* name = e.as<std::string>();
    for (std::size_t i = 0; name != nullptr && i + 1 < out.size(); ++i)
      if ((*list)[i].as<std::string>() != nullptr && out[i].name == *name)
        fail(e, "names " + *name + " twice");
  }
  return out;
}

Value choices_value(const std::vector<Choice>& list) {
  Value::List out;
  for (const Choice& c : list) out.push_back(choice_value(c));
  return out;
}

double not_negative(const Value& v) {
  const auto* i = v.as<std::int64_t>();
  const auto* f = v.as<double>();
  const double number = f != nullptr ? *f : i != nullptr ? static_cast<double>(*i) : -1;
  if (!(number >= 0) || !std::isfinite(number)) wrong(v, "a number of at least 0");
  return number;
}

ParameterGroup group(const Value& v) {
  const auto* table = v.as<Value::Table>();
  if (table == nullptr) wrong(v, "a table: write [[train.group]]");
  ParameterGroup out{{}, {}, {}, place(v)};
  for (const auto& [key, value] : *table) {
    if (key == "match")
      out.match = texts(value, "a pattern such as \"*.bias\", or a list of patterns");
    else if (key == "lr")
      out.lr = not_negative(value);
    else if (key == "weight_decay")
      out.weight_decay = not_negative(value);
    else
      fail(value, "is no key of a group; use match, lr and weight_decay" +
                      suggestion(key, {"match", "lr", "weight_decay"}));
  }
  if (out.match.empty()) fail(v, "has no match: write match = \"*.bias\"");
  if (!out.lr && !out.weight_decay) fail(v, "changes nothing: give it lr or weight_decay");
  return out;
}

std::vector<ParameterGroup> groups(const Value& v) {
  const auto* list = v.as<Value::List>();
  if (list == nullptr) wrong(v, "a list of tables: write [[train.group]]");
  std::vector<ParameterGroup> out;
  for (const Value& e : *list) out.push_back(group(e));
  return out;
}

Value groups_value(const Job& j) {
  Value::List out;
  for (const ParameterGroup& g : j.train.groups) {
    Value::Table table{{"match", texts_value(g.match)}};
    if (g.lr) table.emplace_back("lr", *g.lr);
    if (g.weight_decay) table.emplace_back("weight_decay", *g.weight_decay);
    out.emplace_back(std::move(table));
  }
  return out.empty() ? Value{} : Value{out};
}

Value path_value(const Job& j, const std::string& path) {
  return path.empty() ? Value{} : Value{resolve(j, path)};
}

const std::vector<Key> kKeys{
    {"seed", "starts every random draw of the run", false,
     [](const Value& v, Job& j) { j.seed = whole(v, 0); }, [](const Job& j) { return Value{j.seed}; }},
    {"data.train", "the file with the training rows", false,
     [](const Value& v, Job& j) { j.data.train = text(v); },
     [](const Job& j) { return path_value(j, j.data.train); }},
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
    {"model.parameters", "free parameters: name = shape, or { shape, init }", false,
     [](const Value& v, Job& j) { j.model.parameters = parameters(v); }, parameters_value},
    {"model.weights", "a safetensors file to start from", false,
     [](const Value& v, Job& j) { j.model.weights = text(v); },
     [](const Job& j) { return path_value(j, j.model.weights); }},
    {"model.forward", "how the output follows from the inputs", true,
     [](const Value& v, Job& j) { j.model.forward = placed_text(v); },
     [](const Job& j) { return Value{j.model.forward.text}; }},
    {"train.epochs", "passes over the training rows", false,
     [](const Value& v, Job& j) { j.train.epochs = whole(v, 1); },
     [](const Job& j) { return Value{j.train.epochs}; }},
    {"train.max_steps", "ends the run early; 0 is no limit", false,
     [](const Value& v, Job& j) { j.train.max_steps = whole(v, 0); },
     [](const Job& j) { return Value{j.train.max_steps}; }},
    {"train.loss", "a loss by name, or { name, options }", true,
     [](const Value& v, Job& j) { j.train.loss = choice(v, "the name of a loss"); },
     [](const Job& j) { return choice_value(j.train.loss); }},
    {"train.optimizer", "an optimizer by name, or { name, lr, options }", false,
     [](const Value& v, Job& j) { j.train.optimizer = choice(v, "the name of an optimizer"); },
     [](const Job& j) { return choice_value(j.train.optimizer); }},
    {"train.group", "parameters that learn with another rate or decay: match, lr, weight_decay", false,
     [](const Value& v, Job& j) { j.train.groups = groups(v); }, groups_value},
    {"train.metrics", "what else to report of the validation rows", false,
     [](const Value& v, Job& j) { j.train.metrics = choices(v); },
     [](const Job& j) { return choices_value(j.train.metrics); }},
    {"train.evaluate_every", "epochs from one validation to the next", false,
     [](const Value& v, Job& j) { j.train.evaluate_every = whole(v, 1); },
     [](const Job& j) { return Value{j.train.evaluate_every}; }},
    {"train.threads", "threads of the step; 0 lets the machine decide", false,
     [](const Value& v, Job& j) { j.train.threads = whole(v, 0, 4096); },
     [](const Job& j) { return Value{j.train.threads}; }},
    {"train.backend", "compiled, or reference: the plain interpreter", false,
     [](const Value& v, Job& j) {
       j.train.backend = one_of(v, {"compiled", "reference"});
     },
     [](const Job& j) { return Value{j.train.backend}; }},
    {"output.directory", "where the run is written", false,
     [](const Value& v, Job& j) { j.output.directory = text(v); },
     [](const Job& j) { return Value{j.output.directory}; }},
};

}  // namespace

std::span<const Key> job_keys() { return kKeys; }

}  // namespace tightloop::train
