// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/engine/autocast.h>
#include <tightloop/train/precision.h>

#include <fmt/format.h>
#include <array>

namespace tightloop::train {
namespace {

struct Named {
  std::string_view name;
  Precision precision;
};

constexpr std::array<Named, 8> kNamed{{
    {"f32", {}},
    {"f64", {DType::f64}},
    {"bf16", {DType::bf16}},
    {"f16", {DType::f16}},
    {"O0", {DType::f32, Precision::Level::O0}},
    {"O1", {DType::f16, Precision::Level::O1}},
    {"O2", {DType::f16, Precision::Level::O2}},
    {"O3", {DType::f16, Precision::Level::O3}},
}};

const char* needs(DType type) {
  return type == DType::bf16 ? "it has neither AVX512-BF16 nor AMX" : "oneDNN has no f16 on CPUs";
}

}  // namespace

Precision precision_named(std::string_view name) {
  for (const Named& n : kNamed)
    if (n.name == name) return n.precision;
  throw Error(
      fmt::format("there is no precision '{}': f32, f64, bf16 and f16 are types, O0 to O3 levels", name));
}

std::string to_string(const Precision& p) {
  if (!p.is_mixed()) return p.type == DType::f64 ? "f64" : "f32";
  const std::string type(name(p.type));
  return p.level == Precision::Level::O1 ? type : fmt::format("{} O{}", type, static_cast<int>(p.level));
}

ChosenPrecision on_this_machine(const Precision& asked) {
  if (!asked.is_mixed() || asked.force || computes_fast(asked.type)) return {asked, ""};
  return {{},
          fmt::format("precision {}: this processor is no faster with it ({}), so it computes in f32; "
                      "force = true computes in {} all the same",
                      to_string(asked), needs(asked.type), name(asked.type))};
}

}  // namespace tightloop::train
