// SPDX-License-Identifier: Apache-2.0
// Every loss against PyTorch: value and gradient, over the grid of arguments in the fixtures.
#include <tests/support/cases.h>
#include <tests/support/evaluate.h>
#include <tightloop/nn/losses.h>
#include <tightloop/passes/differentiate.h>

#include <set>

namespace tightloop::nn {
namespace {

using testing::Case;

Reduction reduction_named(const std::string& word) {
  if (word == "mean") return Reduction::mean;
  if (word == "sum") return Reduction::sum;
  if (word == "none") return Reduction::none;
  EXPECT_EQ(word, "batchmean");
  return Reduction::batchmean;
}

/// The loss of a case; `w` and `pos` are empty where the case has none.
Tensor loss_of(const Case& c, const Tensor& x, const Tensor& t, const Tensor& w, const Tensor& pos) {
  const Options& o = c.options;
  const Reduction r = reduction_named(o.at<std::string>("reduction"));
  std::optional<std::int64_t> ignore;
  if (o.has("ignore_index")) ignore = o.at<std::int64_t>("ignore_index");
  if (c.name == "mse") return mse_loss(x, t, {r});
  if (c.name == "l1") return l1_loss(x, t, {r});
  if (c.name == "huber") return huber_loss(x, t, {o.at<double>("delta"), r});
  if (c.name == "smooth_l1") return smooth_l1_loss(x, t, {o.at<double>("beta"), r});
  if (c.name == "cross_entropy") return cross_entropy(x, t, {w, ignore, o.at<double>("label_smoothing"), r});
  if (c.name == "nll") return nll_loss(x, t, {w, ignore, r});
  if (c.name == "bce") return binary_cross_entropy(x, t, {w, r});
  if (c.name == "bce_with_logits") return binary_cross_entropy_with_logits(x, t, {w, pos, r});
  if (c.name == "hinge_embedding") return hinge_embedding_loss(x, t, {o.at<double>("margin"), r});
  if (c.name == "soft_margin") return soft_margin_loss(x, t, {r});
  if (c.name == "multilabel_margin") return multilabel_margin_loss(x, t, {r});
  if (c.name == "multilabel_soft_margin") return multilabel_soft_margin_loss(x, t, {w, r});
  if (c.name == "multi_margin") {
    const int p = static_cast<int>(o.at<std::int64_t>("p"));
    return multi_margin_loss(x, t, {p, o.at<double>("margin"), w, r});
  }
  if (c.name == "poisson_nll")
    return poisson_nll_loss(x, t, {o.at<bool>("log_input"), o.at<bool>("full"), o.at<double>("eps"), r});
  if (c.name == "gaussian_nll") {
    const std::int64_t half = t.dim(1).factor;
    return gaussian_nll_loss(slice(x, 1, 0, half), t, slice(x, 1, half, 2 * half),
                             {o.at<bool>("full"), o.at<double>("eps"), r});
  }
  EXPECT_EQ(c.name, "kl_div");
  return kl_div(x, t, {r, o.at<bool>("log_target")});
}

class LossFixtures : public ::testing::TestWithParam<CompileOptions> {};

TEST_P(LossFixtures, AgreeWithPyTorch) {
  std::set<std::string> seen;
  for (const Case& c : testing::read_cases("losses")) {
    SCOPED_TRACE(c.text + " x " + c.at("x").type_string());
    seen.insert(c.name);
    const bool rows = c.at("x").rank() > 1 || !c.name.starts_with("multilabel");  // else one row, [C]
    std::vector<testing::Feed> feeds{{c.at("x"), rows}, {c.at("target"), rows}};
    for (const char* key : {"weight", "pos_weight"})
      if (const Array* a = c.find(key))
        feeds.push_back({*a, rows && a->dims() == c.at("x").dims() && std::string(key) == "weight"});
    const auto out = testing::evaluate(GetParam(), feeds, [&](const std::vector<Tensor>& in) {
      std::size_t next = 2;
      const Tensor w = c.find("weight") ? in[next++] : Tensor();
      const Tensor pos = c.find("pos_weight") ? in[next++] : Tensor();
      const Tensor value = loss_of(c, in[0], in[1], w, pos);
      return std::vector<Tensor>{value, gradients(sum(value), {in[0]})[0]};
    });
    testing::expect_close(out[0], c.at("value"), 2e-6, 5e-7);
    testing::expect_close(out[1], c.at("gradient"), 3e-6, 3e-7);
  }
  for (const LossDef* def : all_losses()) EXPECT_TRUE(seen.contains(std::string(def->name))) << def->name;
}

INSTANTIATE_TEST_SUITE_P(Backends, LossFixtures, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace tightloop::nn
