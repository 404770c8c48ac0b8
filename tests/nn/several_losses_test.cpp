// SPDX-License-Identifier: Apache-2.0
// The losses of several tensors against PyTorch, in value and in every gradient, and against finite
// differences.
#include <tests/support/cases.h>
#include <tests/support/evaluate.h>
#include <tests/support/files.h>
#include <tightloop/nn/losses.h>
#include <tightloop/passes/differentiate.h>

#include <set>

namespace tightloop::nn {
namespace {

using testing::Case;
using Tensors = std::vector<Tensor>;

Reduction reduction_named(const std::string& word) {
  return word == "mean" ? Reduction::mean : word == "sum" ? Reduction::sum : Reduction::none;
}

Tensor loss_of(const Case& c, const Tensors& in) {
  const Options& o = c.options;
  const Reduction r = reduction_named(o.at<std::string>("reduction"));
  const auto number = [&o](const char* name) { return o.has(name) ? std::get<double>(*o.find(name)) : 0; };
  if (c.name == "margin_ranking") return margin_ranking_loss(in[0], in[1], in[2], {number("margin"), r});
  if (c.name == "cosine_embedding") return cosine_embedding_loss(in[0], in[1], in[2], {number("margin"), r});
  if (c.name == "gaussian_nll")
    return gaussian_nll_loss(in[0], in[2], in[1], {o.at<bool>("full"), number("eps"), r});
  if (c.name == "ctc") {
    const Tensor x = permute(log_softmax(in[0], 2), {1, 0, 2});
    return ctc_loss({x, in[1], in[2], in[3]}, {o.at<std::int64_t>("blank"), o.at<bool>("zero_infinity"), r});
  }
  EXPECT_EQ(c.name, "triplet_margin");
  return triplet_margin_loss(in[0], in[1], in[2],
                             {number("margin"), number("p"), number("eps"), o.at<bool>("swap"), r});
}

/// The tensors in0, in1, ..., in `dtype` where they are floating, and what else the case has.
std::vector<testing::Feed> feeds_of(const Case& c, DType dtype) {
  std::vector<testing::Feed> out;
  for (const char* key : {"in0", "in1", "in2", "target", "input_lengths", "target_lengths"})
    if (const Array* a = c.find(key))
      out.push_back({is_floating(a->dtype()) ? a->cast(dtype) : *a, c.at("in0").rank() >= 2});
  return out;
}

std::size_t inputs_of(const Case& c) { return c.find("in2") ? 3 : c.find("in1") ? 2 : 1; }

/// The loss, and the gradient of its sum by every input.
testing::Function with_gradients(const Case& c) {
  return [&c](const Tensors& in) {
    Tensors out{loss_of(c, in)};
    const Tensors inputs(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(inputs_of(c)));
    for (const Tensor& g : gradients(sum(out[0]), inputs)) out.push_back(g);
    return out;
  };
}

class SeveralLosses : public ::testing::TestWithParam<CompileOptions> {};

TEST_P(SeveralLosses, AgreeWithPyTorch) {
  std::set<std::string> seen;
  for (const Case& c : testing::read_cases("several_losses")) {
    SCOPED_TRACE(c.text + " in0 " + c.at("in0").type_string());
    seen.insert(c.name);
    const auto out = testing::evaluate(GetParam(), feeds_of(c, DType::f32), with_gradients(c));
    testing::expect_close(out[0], c.at("value"), 3e-6, 1e-6);
    for (std::size_t i = 0; i < inputs_of(c); ++i)
      if (const Array* wanted = c.find("gradient" + std::to_string(i)))
        testing::expect_close(out[i + 1], *wanted, 5e-6, 5e-7);
  }
  EXPECT_EQ(seen.size(), 5U);
}

INSTANTIATE_TEST_SUITE_P(Backends, SeveralLosses, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

TEST(SeveralLosses, GradientsAgreeWithFiniteDifferences) {
  const CompileOptions reference = testing::backends().front();
  for (const Case& c : testing::read_cases("several_losses")) {
    if (c.name == "margin_ranking") continue;               // its cases stand on the kink
    if (c.name == "ctc" && !c.find("gradient0")) continue;  // may be infinite
    SCOPED_TRACE(c.text);
    const auto feeds = feeds_of(c, DType::f64);
    testing::Evaluation at(reference, feeds, with_gradients(c));
    const auto slopes = at(feeds);
    const auto total = [&at](const std::vector<testing::Feed>& moved) {
      const Array value = at(moved)[0].clone();
      double out = 0;
      for (std::int64_t i = 0; i < value.count(); ++i) out += value.at(i);
      return out;
    };
    for (std::size_t k = 0; k < inputs_of(c); ++k)
      for (std::int64_t i = 0; i < feeds[k].value.count(); i += 4) {
        auto up = feeds, down = feeds;
        up[k].value = feeds[k].value.clone(), down[k].value = feeds[k].value.clone();
        up[k].value.set(i, feeds[k].value.at(i) + 1e-6), down[k].value.set(i, feeds[k].value.at(i) - 1e-6);
        EXPECT_NEAR(slopes[k + 1].at(i), (total(up) - total(down)) / 2e-6, 1e-5) << k << " element " << i;
      }
  }
}

TEST(CtcErrors, LengthsAndLabelsOutOfRangeAreRefused) {
  const Tensor x(Array(DType::f32, {4, 2, 3}));
  const auto whole = [](std::vector<std::int64_t> dims, std::vector<std::int64_t> v) {
    return Tensor(Array::of<std::int64_t>(std::move(dims), std::span<const std::int64_t>(v)));
  };
  const Tensor labels = whole({2, 2}, {1, 2, 2, 0}), full = whole({2}, {4, 4}), used = whole({2}, {2, 1});
  EXPECT_TRUE(std::isfinite(ctc_loss({x, labels, full, used}).item()));
  EXPECT_ERROR(ctc_loss({x, labels, full, full}), "ctc: target length 4 in row 0 must be 0..2");
  EXPECT_ERROR(ctc_loss({x, labels, whole({2}, {4, 5}), used}), "ctc: input length 5 in row 1 must be 1..4");
  EXPECT_ERROR(ctc_loss({x, labels, full, whole({2}, {2, 2})}),
               "ctc: target 0 in row 1 must be 0..2 and not the blank");
  EXPECT_ERROR(ctc_loss({x, whole({2, 2}, {1, 3, 1, 1}), full, used}), "ctc: target 3 in row 0");
  EXPECT_ERROR(ctc_loss({x, labels, full, used}, {.blank = 3}), "blank must be 0..2, got 3");
  EXPECT_ERROR(ctc_loss({x, full, full, used}), "whole numbers [B, S], got f32[4, 2, 3] and i64[2]");
  EXPECT_ERROR(ctc_loss({x, labels, used, x}), "lengths must be whole numbers [2], got f32[4, 2, 3]");
}

}  // namespace
}  // namespace tightloop::nn
