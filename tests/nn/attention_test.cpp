// SPDX-License-Identifier: Apache-2.0
// Attention beyond the fixtures: rows that see nothing, dropout, memory, and rotary positions.
#include <tests/support/evaluate.h>
#include <tests/support/files.h>
#include <tightloop/nn/attention.h>
#include <tightloop/nn/context.h>
#include <tightloop/nn/layers/multihead_attention.h>
#include <tightloop/nn/positions.h>
#include <tightloop/passes/differentiate.h>

#include <cmath>

namespace tightloop::nn {
namespace {

using testing::Feed;
using Tensors = std::vector<Tensor>;

Array numbers(std::vector<std::int64_t> dims, double phase, DType dtype = DType::f32) {
  Array a(dtype, std::move(dims));
  for (std::int64_t i = 0; i < a.count(); ++i)
    a.set(i, 2 * std::sin(phase + 12.9898 * static_cast<double>(i + 1)));
  return a;
}

/// q, k, v [B, H, T, E]
std::vector<Feed> three(std::int64_t batch, std::int64_t heads, std::int64_t steps, std::int64_t features) {
  std::vector<Feed> out;
  for (int i = 0; i < 3; ++i) out.push_back({numbers({batch, heads, steps, features}, i), true});
  return out;
}

/// The output, and gradients by q, k and v of a sum that sees every element of it.
testing::Function with_gradients(ScaledDotProductOptions options) {
  return [options](const Tensors& in) {
    const Tensor y = scaled_dot_product_attention(in[0], in[1], in[2], options);
    Tensors out{y};
    for (const Tensor& g :
         gradients(sum(y * sin(cast(iota(y.shape(), 2), y.dtype()))), {in[0], in[1], in[2]}))
      out.push_back(g);
    return out;
  };
}

class Attention : public ::testing::TestWithParam<CompileOptions> {};

TEST_P(Attention, ARowThatSeesNothingGivesZeroAndZeroGradients) {
  for (const double hidden : {-std::numeric_limits<double>::infinity(), 0.0}) {
    Array mask(hidden == 0 ? DType::boolean : DType::f32, {2, 2});
    for (std::int64_t i = 0; i < 4; ++i) mask.set(i, i < 2 ? hidden : 1 - std::abs(hidden == 0 ? 0.0 : 1.0));
    const auto out = testing::evaluate(GetParam(), three(3, 1, 2, 4), [&](const Tensors& in) {
      return with_gradients({.attn_mask = Tensor(mask)})(in);
    });
    for (std::int64_t b = 0; b < 3; ++b)
      for (std::int64_t i = 0; i < 4; ++i) {
        EXPECT_EQ(out[0].at(b * 8 + i), 0);
        EXPECT_EQ(out[1].at(b * 8 + i), 0);
        EXPECT_NE(out[0].at(b * 8 + 4 + i), 0);
      }
    for (const Array& a : out)
      for (std::int64_t i = 0; i < a.count(); ++i) EXPECT_TRUE(std::isfinite(a.at(i)));
  }
}

TEST_P(Attention, DropsWeightsTheSameInBothDirections) {
  const std::int64_t steps = 70;
  std::vector<Feed> feeds = three(2, 2, steps, 8);
  feeds.push_back({Array::scalar<std::int64_t>(3)});
  feeds.push_back({Array::scalar<std::int64_t>(9)});
  const auto out = testing::evaluate(GetParam(), feeds, [&](const Tensors& in) {
    Context context(true, in[3], in[4]);
    // Equal scores and a v that counts the columns kept.
    const Tensor q = zeros(in[0].shape()), ones_like_v = in[2] * 0.0 + 1.0;
    const Tensor y = scaled_dot_product_attention(q, in[1], ones_like_v, {.dropout_p = 0.25});
    return Tensors{y, gradients(sum(y), {ones_like_v})[0]};
  });
  double forward = 0, backward = 0;
  for (std::int64_t i = 0; i < out[0].count(); ++i) {
    const double kept = out[0].at(i) * 0.75 * static_cast<double>(steps);
    EXPECT_NEAR(kept, std::round(kept), 1e-3);
    forward += out[0].at(i);
    backward += out[1].at(i);
  }
  const auto n = static_cast<double>(out[0].count());
  EXPECT_NEAR(forward / n, 1, 0.02);
  EXPECT_NEAR(forward, backward, 1e-3 * n);
  EXPECT_GT(std::abs(forward / n - 1), 1e-6);
}

TEST_P(Attention, DropoutGradientsAgreeWithDifferences) {
  const auto f = [](const Tensors& in) {
    Context context(true, in[1], in[2]);
    const Tensor x = in[0];
    const Tensor y = scaled_dot_product_attention(x, cos(x), sin(x), {.dropout_p = 0.3, .is_causal = true});
    const Tensor loss = sum(y * y);
    return Tensors{loss, gradients(loss, {x})[0]};
  };
  const std::vector<Feed> feeds{{numbers({2, 67, 2}, 0.3, DType::f64), true},
                                {Array::scalar<std::int64_t>(3)},
                                {Array::scalar<std::int64_t>(9)}};
  testing::Evaluation at(GetParam(), feeds, f);
  const Array slope = at(feeds)[1];
  for (std::int64_t i = 0; i < slope.count(); i += 29) {
    double sides[2];
    for (int side = 0; side < 2; ++side) {
      auto moved = feeds;
      moved[0].value = feeds[0].value.clone();
      moved[0].value.set(i, feeds[0].value.at(i) + (side == 0 ? 1e-5 : -1e-5));
      sides[side] = at(moved)[0].at(0);
    }
    EXPECT_NEAR(slope.at(i), (sides[0] - sides[1]) / 2e-5, 1e-6) << "element " << i;
  }
}

TEST(AttentionWeights, AreZeroInARowThatSeesNothing) {
  Array mask(DType::boolean, {2, 3});
  mask.set(4, 1);
  const Tensor x = numbers({2, 4}, 1), y = numbers({3, 4}, 2);
  const Array w = attention_weights(x, y, {.attn_mask = Tensor(mask)}).array();
  const double wanted[] = {0, 0, 0, 0, 1, 0};
  for (std::int64_t i = 0; i < 6; ++i) EXPECT_EQ(w.at(i), wanted[i]) << i;
}

TEST(AttentionWeights, DropoutDropsThemFromTheOutputToo) {
  MultiheadAttention layer(4, 2, {.dropout = 0.5, .batch_first = true});
  layer.initialize(3);
  const Context context(true, scalar(1, DType::i64), scalar(2, DType::i64));
  const Tensor x = numbers({2, 6, 4}, 1);
  const auto [y, weights] = layer.with_weights(x, x, x, {}, false);
  EXPECT_EQ(weights.shape(), (Shape{2, 2, 6, 6}));
  int dropped = 0;
  for (std::int64_t i = 0; i < weights.array().count(); ++i) dropped += weights.array().at(i) == 0 ? 1 : 0;
  EXPECT_GT(dropped, 40);
  EXPECT_LT(dropped, 104);
  EXPECT_EQ(y.shape(), x.shape());
}

TEST(GroupedQueries, RefuseHeadsThatDoNotDivide) {
  const auto attend = [](std::initializer_list<std::int64_t> q, std::initializer_list<std::int64_t> k) {
    const Tensor keys = numbers(k, 2);
    return scaled_dot_product_attention(numbers(q, 1), keys, keys, {.enable_gqa = true});
  };
  EXPECT_ERROR(attend({1, 4, 5, 2}, {1, 3, 5, 2}), "must be a multiple of those of k and v");
  EXPECT_ERROR(attend({5, 2}, {5, 2}), "enable_gqa needs [..., heads, rows, features]");
}

INSTANTIATE_TEST_SUITE_P(Backends, Attention, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

/// Bytes that a training step of attention needs beside its inputs and results, for one sample.
std::size_t bytes_for(std::int64_t steps, bool causal) {
  const auto feeds = three(1, 1, steps, 16);
  CompileOptions options = testing::backends().back();
  options.threads = 1;
  Program program = Program::compile(testing::trace(feeds, with_gradients({.is_causal = causal})), options);
  return program.memory({1, 1}).temporaries;
}

TEST(AttentionMemory, GrowsWithTheSequenceAndNotWithItsSquare) {
  for (const bool causal : {false, true}) {
    const auto half = static_cast<double>(bytes_for(512, causal)),
               whole = static_cast<double>(bytes_for(1024, causal));
    EXPECT_LT(whole, 2.2 * half) << causal;
    // The weights of one head would be 64 samples of 1024 · 1024 · 4 bytes.
    EXPECT_LT(whole, 0.5 * 64 * 1024 * 1024 * 4) << causal;
  }
}

TEST(Rotary, ScoresDependOnDistancesAlone) {
  for (const bool interleaved : {false, true}) {
    const Tensor q(numbers({5, 6}, 0.1)), k(numbers({5, 6}, 0.7));
    const auto scores = [&](std::int64_t first) {
      const RotaryOptions options{.interleaved = interleaved, .first = first};
      return matmul(rotary(q, options), transpose(rotary(k, options), 0, 1)).array().clone();
    };
    testing::expect_close(scores(40), scores(0), 1e-4, 1e-4);
    EXPECT_GT(std::abs(scores(0).at(1) - matmul(q, transpose(k, 0, 1)).array().at(1)), 1e-2);
  }
}

TEST(AttentionErrors, NameTheRule) {
  const Tensor x(numbers({2, 5, 6}, 0)), other(numbers({2, 4, 3}, 0));
  EXPECT_ERROR(scaled_dot_product_attention(x, other, other), "attention: q and k must have equal last dims");
  EXPECT_ERROR(scaled_dot_product_attention(x, x, other), "k and v must have equal numbers of columns");
  EXPECT_ERROR(scaled_dot_product_attention(x, x, x, {.attn_mask = other}),
               "the mask must stretch to [.., L, S]");
  EXPECT_ERROR(scaled_dot_product_attention(x, x, x, {.dropout_p = 1.5}), "dropout_p must be 0..1, got 1.5");
  EXPECT_ERROR(MultiheadAttention(6, 4), "embed_dim 6 must be a multiple of num_heads 4");
  MultiheadAttention heads(6, 2, {.batch_first = true});
  heads.initialize(1);
  EXPECT_ERROR(heads(other), "query must be f32 or f64 [B, rows, 6] or [rows, 6], got f32[2, 4, 3]");
  EXPECT_ERROR(heads(x, x, x, {.key_padding_mask = other}),
               "key_padding_mask must be [2, 5], got f32[2, 4, 3]");
  EXPECT_ERROR(heads(x, x, x, {.attn_mask = other}),
               "attn_mask must be [5, 5] or [4, 5, 5], got f32[2, 4, 3]");
  EXPECT_ERROR(rotary(other), "rotary: x must be f32 or f64 [..., T, D] with even D, got f32[2, 4, 3]");
}

}  // namespace
}  // namespace tightloop::nn
