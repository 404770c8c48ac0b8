// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tightloop::train {

/// A value read from a job file, with the place it came from.
struct Value {
  using List = std::vector<Value>;
  using Table = std::vector<std::pair<std::string, Value>>;  ///< in the order written

  std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Table> data;
  std::string where;  ///< "job.toml:5:9" or "--set data.batch=x"
  std::string path;   ///< "data.batch"
  int line = 0;       ///< of the first character of a string's text; 0 when unknown
  int column = 0;

  Value() = default;
  template <class T>
  requires(!std::is_same_v<std::decay_t<T>, Value>)
      // NOLINTNEXTLINE(google-explicit-constructor): values are written as they are.
      Value(T v)
      : data(std::move(v)) {}

  template <class T>
  const T* as() const {
    return std::get_if<T>(&data);
  }
  template <class T>
  T* as() {
    return std::get_if<T>(&data);
  }
  /// The entry of a table, null when absent or not a table.
  const Value* find(std::string_view key) const;
  Value* find(std::string_view key);
};

/// "the string 'many'", "the whole number 3", "a list", …
std::string describe(const Value& value);

/// Throws Error "<where>: <path> <problem>".
[[noreturn]] void fail(const Value& value, const std::string& problem);
/// Throws Error "<where>: <path> must be <wanted>, not <what came>".
[[noreturn]] void wrong(const Value& value, const std::string& wanted);

}  // namespace tightloop::train
