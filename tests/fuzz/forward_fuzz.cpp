// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/train/forward_model.h>

using namespace tightloop;

/// Whatever the text, making a model of it ends in a model or in an Error.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  train::Job::Model job;
  job.forward.text.assign(reinterpret_cast<const char*>(data), size);
  job.parameters = {{"par", {1}}, {"w", {4, 3}}};
  // Layers of a billion outputs are a matter of memory, not of the parser.
  int digits = 0;
  for (const char c : job.forward.text) {
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    if (digits > 3) return 0;
  }
  if (job.forward.text.find("**") != std::string::npos) return 0;
  try {
    train::ForwardModel model(job, {{"x", {DType::f32, {Dim::batch(), 4}}},
                                    {"image", {DType::f32, {Dim::batch(), 2, 3, 5}}},
                                    {"k", {DType::i64, {Dim::batch()}}}});
  } catch (const Error&) {
  }
  return 0;
}
