// SPDX-License-Identifier: Apache-2.0
#pragma once
// Options by name: what a job file or a forward text gives to a layer, loss, metric or optimizer that it
// names.
#include <tightloop/base/error.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tightloop {

using Numbers = std::vector<double>;
/// monostate is "none": not given and without a default.
using OptionValue = std::variant<std::monostate, bool, std::int64_t, double, std::string, Numbers>;

/// The types of options, in the order of OptionValue's alternatives.
enum class OptionType : std::uint8_t { none, boolean, integer, number, text, list };

/// What an option may be. A whole number serves where a number is wanted, a number as a list of one.
struct OptionSpec {
  std::string_view name;
  OptionType type = OptionType::number;
  OptionValue fallback = {};  ///< none: the option may be left out and then has no value
  std::string_view doc = {};
  bool required = false;
  bool or_none = false;  ///< none may be given although there is a default
};

/// A few named values in the order given.
class Options {
 public:
  using Entry = std::pair<std::string, OptionValue>;
  Options() = default;
  Options(std::initializer_list<Entry> entries) : entries_(entries) {}

  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  void set(std::string name, OptionValue value);  ///< replaces a value of the same name
  const OptionValue* find(std::string_view name) const;

  /// False when absent or none.
  bool has(std::string_view name) const;
  /// The value of an option that resolve() has filled in; throws InternalError when absent or of another
  /// type.
  template <class T>
  const T& at(std::string_view name) const {
    const OptionValue* v = find(name);
    require(v != nullptr && std::holds_alternative<T>(*v), "Options::at: not resolved");
    return std::get<T>(*v);
  }
  friend bool operator==(const Options&, const Options&) = default;

 private:
  std::vector<Entry> entries_;
};

/// `given` checked against `specs`, in the order of the specs and with defaults filled in. `owner` names the
/// thing in messages ("linear", "optimizer adam"). Throws Error on an unknown name (suggesting the nearest),
/// a value of another type, or a required option left out.
Options resolve(std::string_view owner, const Options& given, std::span<const OptionSpec> specs);

/// Names the arguments of a call: positional ones take the specs in order. Throws Error when there are too
/// many or one is given twice; resolve() does the rest.
Options name_arguments(std::string_view owner, std::span<const OptionValue> positional, const Options& named,
                       std::span<const OptionSpec> specs);

/// "0.5", "true", "'mean'", "[1, 2]", "none"
std::string to_string(const OptionValue& value);
/// "a number", "a whole number", "true or false", "a text", "a list of numbers"
std::string_view describe(OptionType type);

}  // namespace tightloop
