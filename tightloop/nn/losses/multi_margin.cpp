// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/losses.h>
#include <tightloop/nn/losses/class_target.h>
#include <tightloop/nn/losses/index.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>

namespace tightloop::nn {
namespace {

void check_power(std::int64_t p) {
  if (p != 1 && p != 2) throw Error(fmt::format("multi_margin: p must be 1 or 2, got {}", p));
}

}  // namespace

LossValue multi_margin_value(const Tensor& scores, const Tensor& target, const MultiMarginOptions& o) {
  check_power(o.p);
  const Tensor x = classes_last("multi_margin", scores);
  const std::int64_t classes = x.dim(x.rank() - 1).factor;
  const ClassTarget t = class_target("multi_margin", x, target, {}, {});
  const Tensor short_of = relu(o.margin - unsqueeze(take_last(x, t.index), -1) + x);
  const Tensor own = unsqueeze(t.index, -1) == iota({classes}, 0);
  const Tensor each = select(own, zeros({}, x.dtype()), o.p == 1 ? short_of : square(short_of));
  Tensor losses = sum(each, {-1}) / static_cast<double>(classes);
  if (const Tensor w = class_weight("multi_margin", x, o.weight); w.defined())
    losses = losses * gather(w, t.index);
  return class_loss("multi_margin", losses, t, classes, o.reduction);
}

Tensor multi_margin_loss(const Tensor& scores, const Tensor& target, const MultiMarginOptions& options) {
  return multi_margin_value(scores, target, options).value;
}

namespace losses {
namespace {

LossFn build(const Options& o) {
  const std::int64_t p = o.at<std::int64_t>("p");
  check_power(p);
  const MultiMarginOptions options{static_cast<int>(p), o.at<double>("margin"), vector_option(o, "weight"),
                                   reduction_of("multi_margin", o)};
  return [options](const Tensor& prediction, const Tensor& target) {
    return multi_margin_value(prediction, target, options);
  };
}

}  // namespace

const LossDef& multi_margin_def() {
  static const LossDef def{"multi_margin",
                           "by how much the score of the target class fails to lead each other by the margin",
                           TargetKind::classes,
                           {{"p", OptionType::integer, std::int64_t{1}, "1, or 2 to square"},
                            {"margin", OptionType::number, 1.0},
                            {"weight", OptionType::list, {}, "one factor for each class"},
                            reduction_option()},
                           build};
  return def;
}

}  // namespace losses
}  // namespace tightloop::nn
