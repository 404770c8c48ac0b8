// SPDX-License-Identifier: Apache-2.0
#include <tightloop/io/state_dict.h>

#include <cmath>
#include <unordered_map>

namespace tightloop::io {
namespace {

enum class Conversion { exact, rounding, refused };

/// Bits of the mantissa and of the exponent: a float widens when both grow.
struct FloatFormat {
  int mantissa;
  int exponent;
};
FloatFormat format_of(DType d) {
  switch (d) {
    case DType::f64:
      return {52, 11};
    case DType::f32:
      return {23, 8};
    case DType::f16:
      return {10, 5};
    default:
      return {7, 8};
  }
}

Conversion conversion(DType from, DType to) {
  if (from == to) return Conversion::exact;
  if (is_floating(from) && is_floating(to)) {
    const auto a = format_of(from), b = format_of(to);
    return a.mantissa <= b.mantissa && a.exponent <= b.exponent ? Conversion::exact : Conversion::rounding;
  }
  if (is_integer(from) && is_integer(to) && size_of(from) < size_of(to)) return Conversion::exact;
  return Conversion::refused;
}

std::string type_text(const Slot& slot) {
  std::string out(name(slot.dtype));
  out += "[";
  for (std::size_t i = 0; i < slot.dims.size(); ++i) out += (i ? ", " : "") + std::to_string(slot.dims[i]);
  return out + "]";
}

std::string difference(const Slot& slot, const Array& array) {
  return slot.name + ": " + array.type_string() + " in the file, " + type_text(slot) + " wanted";
}

std::string line(const std::string& head, const std::vector<std::string>& names, const char* separator) {
  if (names.empty()) return "";
  std::string out = "\n  " + head + " (" + std::to_string(names.size()) + "): ";
  for (std::size_t i = 0; i < names.size(); ++i) out += (i ? separator : "") + names[i];
  return out;
}

Array converted(const Array& from, const Slot& slot, const std::string& source) {
  Array out = from.cast(slot.dtype);
  for (std::int64_t i = 0; i < out.count(); ++i)
    if (std::isinf(out.at(i)) && !std::isinf(from.at(i)))
      throw Error(source + ": element " + std::to_string(i) + " of '" + slot.name + "' is " +
                  std::to_string(from.at(i)) + ", which is infinite in " + std::string(name(slot.dtype)));
  return out;
}

}  // namespace

bool LoadReport::fits() const {
  return missing.empty() && unexpected.empty() && mis_shaped.empty() && mis_typed.empty();
}

std::string LoadReport::text() const {
  const std::string out = line("missing", missing, ", ") + line("unexpected", unexpected, ", ") +
                          line("mis-shaped", mis_shaped, "; ") + line("type refused", mis_typed, "; ") +
                          line("rounded to nearest even", rounded, "; ");
  return out.empty() ? out : out.substr(1);
}

LoadReport load_report(const TensorFile& file, const std::vector<Slot>& slots) {
  std::unordered_map<std::string, const Array*> unused;
  for (const auto& [key, array] : file.tensors) unused[key] = &array;
  LoadReport report;
  for (const Slot& slot : slots) {
    const auto it = unused.find(slot.name);
    if (it == unused.end()) {
      report.missing.push_back(slot.name);
      continue;
    }
    const Array& array = *it->second;
    unused.erase(it);
    ++report.matched;
    const Conversion how = conversion(array.dtype(), slot.dtype);
    if (array.dims() != slot.dims) report.mis_shaped.push_back(difference(slot, array));
    if (how == Conversion::refused) report.mis_typed.push_back(difference(slot, array));
    if (how == Conversion::rounding) report.rounded.push_back(difference(slot, array));
  }
  for (const auto& [key, array] : file.tensors)
    if (unused.contains(key)) report.unexpected.push_back(key);
  return report;
}

LoadedState load_state(const TensorFile& file, const std::vector<Slot>& slots, const std::string& source,
                       LoadOptions options) {
  LoadedState state{{}, load_report(file, slots)};
  const LoadReport& report = state.report;
  if (report.matched == 0 && !(slots.empty() && file.tensors.empty()))
    throw Error(source + ": no tensor has the name that a slot wants\n" + report.text());
  const bool names_fit = report.missing.empty() && report.unexpected.empty();
  if (!report.mis_shaped.empty() || !report.mis_typed.empty() || (options.strict && !names_fit))
    throw Error(source + ": the tensors do not fit the model\n" + report.text());
  std::unordered_map<std::string, const Array*> by_name;
  for (const auto& [key, array] : file.tensors) by_name[key] = &array;
  for (const Slot& slot : slots) {
    const auto it = by_name.find(slot.name);
    if (it == by_name.end())
      state.values.emplace_back();
    else
      state.values.emplace_back(it->second->dtype() == slot.dtype ? *it->second
                                                                  : converted(*it->second, slot, source));
  }
  return state;
}

}  // namespace tightloop::io
