// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/tune/moves/index.h>

namespace tightloop::train::tune {
namespace {

bool is_f32(const std::string& value) { return value.empty() || value == "\"f32\"" || value == "\"O0\""; }

Proposal propose(const Situation& s) {
  if (!has_key("train.precision")) return skip("this version has no train.precision");
  const std::string now = value_of(s.job, "train.precision");
  if (!is_f32(now)) return skip("the job chose a precision: " + now);
  Proposal out;
  if (s.has_feature("avx512_bf16") || s.has_feature("amx_bf16") || s.has_feature("bf16"))
    out.variants.push_back({"bf16", {set("train.precision", "\"bf16\"")}});
  if (s.has_feature("avx512_fp16") || s.has_feature("amx_fp16") || s.has_feature("fphp"))
    out.variants.push_back({"f16", {set("train.precision", "\"f16\"")}});
  return out.variants.empty() ? skip("the CPU multiplies neither bf16 nor f16") : out;
}

}  // namespace

const MoveDef& precision_move() {
  static const MoveDef def{"precision", "products of smaller numbers", Effect::numbers, propose};
  return def;
}

}  // namespace tightloop::train::tune
