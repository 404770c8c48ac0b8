// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/options.h>

#include <fmt/format.h>

#include <algorithm>

namespace tightloop {
namespace {

const OptionSpec* find_spec(std::span<const OptionSpec> specs, std::string_view name) {
  const auto found = std::find_if(specs.begin(), specs.end(), [&](const auto& s) { return s.name == name; });
  return found == specs.end() ? nullptr : &*found;
}

std::vector<std::string> names(std::span<const OptionSpec> specs) {
  std::vector<std::string> out;
  for (const auto& s : specs) out.emplace_back(s.name);
  return out;
}

std::string known(std::span<const OptionSpec> specs) {
  return specs.empty() ? "it takes none" : fmt::format("it takes {}", fmt::join(names(specs), ", "));
}

[[noreturn]] void refuse_type(std::string_view owner, const OptionSpec& spec, const OptionValue& value) {
  throw Error(
      fmt::format("{}: '{}' must be {}, not {}", owner, spec.name, describe(spec.type), to_string(value)));
}

OptionValue converted(std::string_view owner, const OptionSpec& spec, const OptionValue& value) {
  const auto type = static_cast<OptionType>(value.index());
  if (type == spec.type) return value;
  const bool may_be_none = spec.or_none || (!spec.required && spec.fallback.index() == 0);
  if (type == OptionType::none && may_be_none) return value;
  const bool whole = type == OptionType::integer;
  if (whole && spec.type == OptionType::number) return static_cast<double>(std::get<std::int64_t>(value));
  if (whole && spec.type == OptionType::list)
    return Numbers{static_cast<double>(std::get<std::int64_t>(value))};
  if (type == OptionType::number && spec.type == OptionType::list) return Numbers{std::get<double>(value)};
  refuse_type(owner, spec, value);
}

struct Printer {
  std::string operator()(std::monostate) const { return "none"; }
  std::string operator()(bool v) const { return v ? "true" : "false"; }
  std::string operator()(std::int64_t v) const { return fmt::format("{}", v); }
  std::string operator()(double v) const { return fmt::format("{}", v); }
  std::string operator()(const std::string& v) const { return fmt::format("'{}'", v); }
  std::string operator()(const Numbers& v) const { return fmt::format("[{}]", fmt::join(v, ", ")); }
};

}  // namespace

void Options::set(std::string name, OptionValue value) {
  for (auto& [key, old] : entries_)
    if (key == name) {
      old = std::move(value);
      return;
    }
  entries_.emplace_back(std::move(name), std::move(value));
}

const OptionValue* Options::find(std::string_view name) const {
  for (const auto& [key, value] : entries_)
    if (key == name) return &value;
  return nullptr;
}

bool Options::has(std::string_view name) const {
  const OptionValue* v = find(name);
  return v != nullptr && !std::holds_alternative<std::monostate>(*v);
}

Options resolve(std::string_view owner, const Options& given, std::span<const OptionSpec> specs) {
  for (const auto& [key, value] : given)
    if (find_spec(specs, key) == nullptr)
      throw Error(fmt::format("{}: unknown option '{}'{}; {}", owner, key, suggestion(key, names(specs)),
                              known(specs)));
  Options out;
  for (const OptionSpec& spec : specs) {
    const OptionValue* value = given.find(spec.name);
    if (value == nullptr && spec.required)
      throw Error(fmt::format("{}: '{}' is missing ({})", owner, spec.name, describe(spec.type)));
    out.set(std::string(spec.name), value == nullptr ? spec.fallback : converted(owner, spec, *value));
  }
  return out;
}

Options name_arguments(std::string_view owner, std::span<const OptionValue> positional, const Options& named,
                       std::span<const OptionSpec> specs) {
  if (positional.size() > specs.size())
    throw Error(fmt::format("{}: {} arguments are too many; {}", owner, positional.size(), known(specs)));
  Options out;
  for (std::size_t i = 0; i < positional.size(); ++i) out.set(std::string(specs[i].name), positional[i]);
  for (const auto& [key, value] : named) {
    if (out.find(key) != nullptr) throw Error(fmt::format("{}: '{}' is given twice", owner, key));
    out.set(key, value);
  }
  return out;
}

std::string to_string(const OptionValue& value) { return std::visit(Printer{}, value); }

std::string_view describe(OptionType type) {
  static constexpr std::string_view kWords[] = {"none",     "true or false", "a whole number",
                                                "a number", "a text",        "a list of numbers"};
  return kWords[static_cast<std::size_t>(type)];
}

}  // namespace tightloop
