// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/functions.h>
#include <tightloop/optim/schedules/index.h>

namespace tightloop::optim {
namespace {

/// The optimizer's rate; optim::Plateau scales it between epochs.
class Reduced final : public Schedule {
 public:
  explicit Reduced(const PlateauOptions& options) : options_(options) { optim::check(options); }
  Tensor rate(const Tensor&, double lr, double) const override { return scalar(lr, DType::f64); }
  const PlateauOptions* plateau() const override { return &options_; }

 private:
  PlateauOptions options_;
};

bool is_first(const Options& o, const char* option, const char* first, const char* second) {
  const std::string& text = o.at<std::string>(option);
  if (text != first && text != second)
    throw Error(std::string("schedule reduce_on_plateau: ") + option + " must be '" + first + "' or '" +
                second + "', not '" + text + "'");
  return text == first;
}

SchedulePtr build(const Options& o) {
  PlateauOptions p;
  p.mode_of_metric = !o.has("mode");
  if (o.has("mode")) p.mode = is_first(o, "mode", "min", "max") ? Direction::min : Direction::max;
  p.factor = o.at<double>("factor");
  p.patience = o.at<std::int64_t>("patience");
  p.threshold = o.at<double>("threshold");
  p.relative = is_first(o, "threshold_mode", "rel", "abs");
  p.cooldown = o.at<std::int64_t>("cooldown");
  p.min_lr = o.at<double>("min_lr");
  p.eps = o.at<double>("eps");
  return std::make_shared<Reduced>(p);
}

}  // namespace

const ScheduleDef& reduce_on_plateau_schedule() {
  static const ScheduleDef def{
      "reduce_on_plateau",
      "falls when a metric has stopped getting better",
      {{"mode", OptionType::text, {}, "min or max: what is better; the metric's if left out"},
       {"factor", OptionType::number, 0.1},
       {"patience", OptionType::integer, std::int64_t{10}, "epochs"},
       {"threshold", OptionType::number, 1e-4},
       {"threshold_mode", OptionType::text, std::string("rel"), "rel or abs"},
       {"cooldown", OptionType::integer, std::int64_t{0}, "epochs after a fall that do not count"},
       {"min_lr", OptionType::number, 0.0},
       {"eps", OptionType::number, 1e-8}},
      build};
  return def;
}

}  // namespace tightloop::optim
