// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/random.h>
#include <tightloop/ops/random.h>

namespace tightloop::ops {
namespace {

/// Low and high half of the product of two words.
std::pair<Scalar, Scalar> product_halves(ScalarBuilder& b, std::int64_t factor, Scalar word) {
  const Scalar wide = b.constant_int(DType::i64, factor) * b.widen_unsigned(word);
  return {b.convert(wide, DType::i32), b.convert(b.shift_right(wide, 32), DType::i32)};
}

Scalar low_word(ScalarBuilder& b, Scalar x) { return b.convert(x, DType::i32); }
Scalar high_word(ScalarBuilder& b, Scalar x) { return b.convert(b.shift_right(x, 32), DType::i32); }
Scalar word(ScalarBuilder& b, std::int64_t value) {
  return b.constant_int(DType::i32, static_cast<std::int32_t>(value));
}

}  // namespace
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

Words random_words(ScalarBuilder& b, Scalars inputs, const ir::Node& node, Scalar index) {
  const Scalar seed = inputs[0], step = inputs[1];
  Words c{low_word(b, index), b.bit_xor(high_word(b, index), high_word(b, step)), low_word(b, step),
          word(b, node.attrs.at<std::int64_t>("stream"))};
  Scalar key0 = low_word(b, seed), key1 = high_word(b, seed);
  for (int round = 0; round < 10; ++round) {
    const auto [low_a, high_a] = product_halves(b, 0xD2511F53, c[0]);
    const auto [low_b, high_b] = product_halves(b, 0xCD9E8D57, c[2]);
    c = {b.bit_xor(b.bit_xor(high_b, c[1]), key0), low_b, b.bit_xor(b.bit_xor(high_a, c[3]), key1), low_a};
    key0 = key0 + word(b, 0x9E3779B9);
    key1 = key1 + word(b, 0xBB67AE85);
  }
  return c;
}

Scalar choose_word(ScalarBuilder& b, const Words& words, Scalar choice, std::size_t stride,
                   std::size_t first) {
  Scalar chosen = words[first];
  for (std::size_t i = first + stride, k = 1; i < words.size(); i += stride, ++k)
    chosen =
        b.select(b.compare(ir::Compare::eq, choice, b.constant_int(DType::i64, static_cast<std::int64_t>(k))),
                 words[i], chosen);
  return chosen;
}

Scalar emit_uniform_f32(ScalarBuilder& b, Scalar word) {
  return b.convert(b.shift_right(word, 8), DType::f32) * 0x1p-24;
}

Scalar emit_uniform_f64(ScalarBuilder& b, Scalar high, Scalar low) {
  const Scalar bits = b.bit_or(b.shift_left(b.widen_unsigned(high), 32), b.widen_unsigned(low));
  return b.convert(b.shift_right(bits, 11), DType::f64) * 0x1p-53;
}

}  // namespace tightloop::ops
