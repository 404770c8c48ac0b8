// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/base/dtype.h>
#include <tightloop/base/error.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tightloop::ir {

using Ints = std::vector<std::int64_t>;
using AttrValue = std::variant<bool, std::int64_t, double, std::string, Ints, DType>;

/// The attributes of a node: a few named values, kept in the order given.
class Attrs {
 public:
  using Entry = std::pair<std::string, AttrValue>;
  Attrs() = default;
  Attrs(std::initializer_list<Entry> entries) : entries_(entries) {}

  bool empty() const { return entries_.empty(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  void set(std::string name, AttrValue value) { entries_.emplace_back(std::move(name), std::move(value)); }
  const AttrValue* find(std::string_view name) const {
    for (const auto& [key, value] : entries_)
      if (key == name) return &value;
    return nullptr;
  }
  /// Throws InternalError when absent or of another type: make_node() has checked both.
  template <class T>
  const T& at(std::string_view name) const {
    const AttrValue* v = find(name);
    require(v != nullptr && std::holds_alternative<T>(*v), "Attrs::at: no such attribute");
    return std::get<T>(*v);
  }
  template <class T>
  T get(std::string_view name, T fallback) const {
    const AttrValue* v = find(name);
    return v == nullptr ? fallback : at<T>(name);
  }
  friend bool operator==(const Attrs&, const Attrs&) = default;

 private:
  std::vector<Entry> entries_;
};

}  // namespace tightloop::ir
