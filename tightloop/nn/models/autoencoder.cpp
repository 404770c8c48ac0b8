// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/activations.h>
#include <tightloop/nn/layers/linear.h>
#include <tightloop/nn/models/autoencoder.h>
#include <tightloop/nn/models/index.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>

namespace tightloop::nn {
namespace {

/// widths[0] → … → widths.back(), ReLU between.
Sequential chain(const std::vector<std::int64_t>& widths) {
  Sequential layers;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    if (i > 0) layers.add(std::make_unique<ReLU>());
    layers.add(std::make_unique<Linear>(widths[i], widths[i + 1]));
  }
  return layers;
}

std::vector<std::int64_t> widths_of(const AutoencoderOptions& o) {
  std::vector<std::int64_t> widths{o.features};
  widths.insert(widths.end(), o.hidden.begin(), o.hidden.end());
  widths.push_back(o.latent);
  for (const std::int64_t w : widths)
    if (w < 1)
      throw Error(fmt::format("autoencoder: features, hidden and latent must be 1 or greater, got {}", w));
  return widths;
}

}  // namespace

Autoencoder::Autoencoder(AutoencoderOptions o) : options_(std::move(o)) {
  std::vector<std::int64_t> widths = widths_of(options_);
  encoder = chain(widths);
  decoder = chain({widths.rbegin(), widths.rend()});
}

std::string Autoencoder::describe() const {
  return fmt::format("Autoencoder({}, latent {})", options_.features, options_.latent);
}

Tensor Autoencoder::encode(const Tensor& x) { return encoder(x.rank() > 2 ? flatten(x, 1) : x); }

Tensor Autoencoder::forward(const Tensor& x) { return reshape(decoder(encode(x)), x.shape()); }

namespace models {
namespace {

std::unique_ptr<Layer> build(const Options& o, const TensorType& x) {
  AutoencoderOptions a;
  a.features = 1;
  for (std::size_t d = 1; d < x.shape.rank(); ++d) {
    if (!x.shape[d].is_static()) a.features = 0;
    a.features *= x.shape[d].factor;
  }
  if (x.shape.rank() < 2 || a.features == 0 || !is_floating(x.dtype))
    throw Error(fmt::format("autoencoder: x must be floating [B, features...], got {}", to_string(x)));
  a.hidden.clear();
  for (const double width : o.at<Numbers>("hidden")) {
    if (width != static_cast<double>(static_cast<std::int64_t>(width)))
      throw Error(fmt::format("autoencoder: hidden must be whole numbers, got {}", width));
    a.hidden.push_back(static_cast<std::int64_t>(width));
  }
  a.latent = o.at<std::int64_t>("latent");
  return std::make_unique<Autoencoder>(a);
}

}  // namespace

const LayerDef& autoencoder_def() {
  static const LayerDef made{
      "autoencoder",
      "x through a bottleneck and back",
      {{"latent", OptionType::integer, std::int64_t{16}}, {"hidden", OptionType::list, Numbers{128, 64}}},
      build};
  return made;
}

}  // namespace models
}  // namespace tightloop::nn
