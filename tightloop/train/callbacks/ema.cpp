// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/callbacks/ema.h>
#include <tightloop/train/callbacks/index.h>

#include <fmt/format.h>
#include <cstring>

namespace tightloop::train {

Ema::Ema(EmaOptions options) : options_(options) {
  if (!(options.decay > 0 && options.decay < 1))
    throw Error(fmt::format("ema: decay must be between 0 and 1, not {}", options.decay));
}

void Ema::prepare(UpdateOptions& update) const {
  update.ema = options_.decay;
  update.evaluate_average = options_.evaluate;
}

void Ema::weights(Run& run) {
  if (!options_.evaluate) return;
  for (auto& [path, array] : run.changing()) {
    const Array average = run.evaluated(path);
    if (average.bytes() != array.bytes()) std::memcpy(array.bytes(), average.bytes(), array.size_bytes());
  }
}

const CallbackDef& ema_callback() {
  static const CallbackDef def{
      "ema",
      "moving averages of the weights",
      "decay",
      {{"decay", OptionType::number, 0.999},
       {"evaluate", OptionType::boolean, true, "validation and the saved model have the averages"}},
      [](const Options& o) -> std::shared_ptr<Callback> {
        return std::make_shared<Ema>(EmaOptions{o.at<double>("decay"), o.at<bool>("evaluate")});
      }};
  return def;
}

}  // namespace tightloop::train
