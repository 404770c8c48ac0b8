// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/random.h>
#include <tightloop/ops/random.h>

namespace tightloop::ops {
TensorType random_type(const InferArgs& a) {
  for (const Tensor& t : a.inputs)
    expect(a, t.type() == TensorType{DType::i64, {}}, "seed and step must be i64 scalars");
  const auto stream = a.attrs.at<std::int64_t>("stream");
  expect(a, stream >= 0 && stream <= 0xffffffff, "stream must fit 32 bits");
  return *a.declared;
}

Samples random_samples(const ir::Attrs& attrs, std::initializer_list<DType> dtypes) {
  const TensorType word{DType::i64, {}};
  Samples all;
  for (const DType d : dtypes)
    for (const Shape& shape : {Shape{257}, Shape{Dim::batch(), 3}, Shape{}})
      all.push_back(
          {.inputs = {word, word}, .attrs = attrs, .declared = {{d, shape}}, .low = 0, .high = 1e9});
  return all;
}

std::array<std::uint32_t, 4> random_block(const EvalArgs& a, std::uint64_t index) {
  return philox_block(static_cast<std::uint64_t>(a.inputs[0]->int_at(0)),
                      static_cast<std::uint32_t>(a.node.attrs.at<std::int64_t>("stream")),
                      static_cast<std::uint64_t>(a.inputs[1]->int_at(0)), index);
}

}  // namespace tightloop::ops
