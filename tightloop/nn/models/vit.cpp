// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/models/vit.h>

#include <tightloop/nn/models/index.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>

#include <cmath>

namespace tightloop::nn {
namespace {

constexpr double kEps = 1e-6;

ViT::Image whole_patches(ViT::Image image, const ViTOptions& o) {
  const std::pair<const char*, std::int64_t> sizes[] = {
      {"patch_size", o.patch_size}, {"num_layers", o.num_layers}, {"num_heads", o.num_heads},
      {"hidden_dim", o.hidden_dim}, {"mlp_dim", o.mlp_dim},       {"num_classes", o.num_classes}};
  for (const auto& [what, n] : sizes)
    if (n < 1) throw Error(fmt::format("vit: {} must be 1 or greater, got {}", what, n));
  if (image.channels < 1 || image.height < 1 || image.width < 1 || image.height % o.patch_size != 0 ||
      image.width % o.patch_size != 0)
    throw Error(fmt::format("vit: an image [{}, {}, {}] is not made of whole patches of {} x {}",
                            image.channels, image.height, image.width, o.patch_size, o.patch_size));
  return image;
}

std::int64_t patches_of(const ViT::Image& image, const ViTOptions& o) {
  return image.height / o.patch_size * (image.width / o.patch_size);
}

Linear linear_of(std::int64_t in, std::int64_t out, const Initializer& weight, const Initializer& bias) {
  Linear layer(in, out);
  layer.weight = Parameter({out, in}, weight);
  layer.bias.emplace(Shape{out}, bias);
  return layer;
}

}  // namespace

ViT::Patches::Patches(const Image& image, const ViTOptions& o)
    : size(o.patch_size),
      weight({o.hidden_dim, image.channels, size, size},
             init::normal(0, std::sqrt(1 / static_cast<double>(image.channels * size * size)))),
      bias({o.hidden_dim}, init::zeros()) {}

Tensor ViT::Patches::operator()(const Tensor& x) {
  const std::int64_t channels = x.dim(1).factor, rows = x.dim(2).factor / size,
                     columns = x.dim(3).factor / size;
  const Tensor apart = reshape(x, {x.dim(0), channels, rows, size, columns, size});
  const std::int64_t features = channels * size * size;
  const Tensor patches = reshape(permute(apart, {0, 2, 4, 1, 3, 5}), {x.dim(0), rows * columns, features});
  return matmul_transposed(patches, reshape(weight.value(), {weight.dims()[0], features})) + bias.value();
}

ViT::Mlp::Mlp(const ViTOptions& o)
    : first(linear_of(o.hidden_dim, o.mlp_dim, init::xavier_uniform(), init::normal(0, 1e-6))),
      second(linear_of(o.mlp_dim, o.hidden_dim, init::xavier_uniform(), init::normal(0, 1e-6))),
      dropout(o.dropout) {}

Tensor ViT::Mlp::operator()(const Tensor& x) { return dropout(second(dropout(gelu(first(x))))); }

ViT::Block::Block(const ViTOptions& o)
    : ln_1(o.hidden_dim, {.eps = kEps}),
      ln_2(o.hidden_dim, {.eps = kEps}),
      self_attention(o.hidden_dim, o.num_heads, {.dropout = o.attention_dropout, .batch_first = true}),
      dropout(o.dropout),
      mlp(o) {}

void ViT::Block::fields(Fields& f) {
  f("ln_1", ln_1)("self_attention", self_attention)("ln_2", ln_2)("mlp", mlp);
}

Tensor ViT::Block::operator()(const Tensor& x) {
  const ir::Scope scope(name());
  const Tensor h = x + dropout(self_attention(ln_1(x)));
  return h + mlp(ln_2(h));
}

void ViT::Blocks::fields(Fields& f) {
  for (std::size_t i = 0; i < all.size(); ++i) f(fmt::format("encoder_layer_{}", i), *all[i]);
}

ViT::Encoder::Encoder(std::int64_t tokens, const ViTOptions& o)
    : pos_embedding({1, tokens, o.hidden_dim}, init::normal(0, 0.02)),
      dropout(o.dropout),
      ln(o.hidden_dim, {.eps = kEps}) {
  for (std::int64_t i = 0; i < o.num_layers; ++i) layers.all.push_back(std::make_unique<Block>(o));
}

Tensor ViT::Encoder::operator()(const Tensor& x) {
  Tensor h = dropout(x + pos_embedding.value());
  for (const auto& block : layers.all) h = (*block)(h);
  return ln(h);
}

ViT::Heads::Heads(const ViTOptions& o)
    : head(linear_of(o.hidden_dim, o.num_classes, init::zeros(), init::zeros())) {}

ViT::ViT(Image image, ViTOptions options)
    : image_(whole_patches(image, options)),
      options_(options),
      class_token_({1, 1, options.hidden_dim}, init::zeros()),
      conv_proj_(image, options),
      encoder_(patches_of(image, options) + 1, options),
      heads_(options) {}

void ViT::fields(Fields& f) {
  f("class_token", class_token_)("conv_proj", conv_proj_)("encoder", encoder_)("heads", heads_);
}

std::string ViT::describe() const {
  return fmt::format("ViT([{}, {}, {}], patch_size={}, num_layers={}, num_heads={}, hidden_dim={})",
                     image_.channels, image_.height, image_.width, options_.patch_size, options_.num_layers,
                     options_.num_heads, options_.hidden_dim);
}

Tensor ViT::forward(const Tensor& x) {
  const bool fits = x.rank() == 4 && is_compute_float(x.dtype()) && x.dim(1).is(image_.channels) &&
                    x.dim(2).is(image_.height) && x.dim(3).is(image_.width);
  if (!fits)
    throw Error(fmt::format("vit: images must be f32 or f64 [B, {}, {}, {}], got {}", image_.channels,
                            image_.height, image_.width, to_string(x.type())));
  const Tensor token = broadcast_to(class_token_.value(), {x.dim(0), 1, options_.hidden_dim});
  const Tensor h = encoder_(concat({token, conv_proj_(x)}, 1));
  return heads_.head(squeeze(slice(h, 1, 0, 1), 1));
}

namespace models {
namespace {

std::unique_ptr<Layer> build(const Options& o, const TensorType& x) {
  if (x.shape.rank() != 4 || !x.shape[1].is_static() || !x.shape[2].is_static() || !x.shape[3].is_static())
    throw Error(fmt::format("vit: images must be [B, channels, height, width], got {}", to_string(x)));
  const auto n = [&](const char* name) { return o.at<std::int64_t>(name); };
  return std::make_unique<ViT>(
      ViT::Image{x.shape[1].factor, x.shape[2].factor, x.shape[3].factor},
      ViTOptions{n("patch_size"), n("num_layers"), n("num_heads"), n("hidden_dim"), n("mlp_dim"),
                 n("num_classes"), o.at<double>("dropout"), o.at<double>("attention_dropout")});
}

}  // namespace

const LayerDef& vit_def() {
  static const LayerDef def{"vit",
                            "a vision transformer over images [B, channels, height, width]",
                            {{"num_classes", OptionType::integer, {}, "", true},
                             {"patch_size", OptionType::integer, std::int64_t{16}},
                             {"num_layers", OptionType::integer, std::int64_t{12}},
                             {"num_heads", OptionType::integer, std::int64_t{12}},
                             {"hidden_dim", OptionType::integer, std::int64_t{768}},
                             {"mlp_dim", OptionType::integer, std::int64_t{3072}},
                             {"dropout", OptionType::number, 0.0},
                             {"attention_dropout", OptionType::number, 0.0}},
                            build};
  return def;
}

}  // namespace models
}  // namespace tightloop::nn
