// SPDX-License-Identifier: Apache-2.0
#pragma once
// What changes samples while they are trained on. Transforms are built into the step's graph, in their order,
// and run in the compiled loop. Names, arguments and defaults are those of torchvision.transforms.v2.
#include <tightloop/base/options.h>
#include <tightloop/data/transforms/draws.h>
#include <tightloop/data/transforms/pixels.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tightloop::data {

/// Two images made one: the images, and the first one's share in the target, f32[B].
struct Mixed {
  Pixels pixels;
  Tensor share;
};

/// A transform by name: one of `image`, `values` and `mix` is set. One per file, listed in index.def. The
/// functions throw Error on options and sizes that do not fit.
struct TransformDef {
  std::string_view name;
  std::string_view doc;
  bool random = false;  ///< left out of evaluation, but for `evaluation`
  std::vector<OptionSpec> options;
  /// Images [B, H, W] or [B, C, H, W] as they are stored, before normalisation.
  Pixels (*image)(const Options&, const Pixels&, Draws&) = nullptr;
  /// f32 [B, ...] of any input, after normalisation.
  Tensor (*values)(const Options&, const Tensor&, Draws&) = nullptr;
  /// Images of this sample and of another one.
  Mixed (*mix)(const Options&, const Pixels&, const Pixels&, Draws&) = nullptr;
  /// What stands in its place in evaluation; null: itself, or nothing when random.
  std::vector<std::pair<std::string, Options>> (*evaluation)(const Options&) = nullptr;
};

/// The transforms of index.def, in its order.
std::span<const TransformDef* const> all_transforms();
/// Null when there is none of this name.
const TransformDef* find_transform(std::string_view name);

/// A list of transforms with their options.
class Transforms {
 public:
  /// Puts one at the end. `input`: the one input that it is for; "": all that it fits. `where` begins its
  /// messages. Throws Error on an unknown name or option (suggesting the nearest).
  void add(const std::string& name, const Options& options = {}, const std::string& input = "",
           const std::string& where = "");

  /// The first of the list has the place `place` of a longer one, whose head is done elsewhere: its draws
  /// stay as they are there.
  void start_at(std::int64_t place) { first_ = place; }

  bool empty() const { return entries_.empty(); }
  /// Whether targets become mixtures.
  bool mixes() const;
  /// Whether anything is drawn.
  bool random() const;
  /// The list for evaluation: without its random members; random_resized_crop(s) becomes resize to that and
  /// center_crop, random_crop(s) center_crop.
  Transforms evaluation() const;

  /// Where a batch comes from: `seed`, `epoch`: i64[]; `rows`: i64[B] of the table; `samples`: i64[B], the
  /// numbers that draws depend on; `partners`: the same of the samples that are mixed in, undefined without.
  struct Source {
    Tensor seed = {}, epoch = {}, rows = {}, samples = {}, partners = {};
  };
  /// Whether input `name`, a table [N, ...] of this type, has image transforms to go through.
  bool changes_images(const std::string& name, const TensorType& table) const;
  /// Those of rows of `table`, f32 [B, ...] and not yet normalised, and the share of a row's own target
  /// (f32[B]; undefined unless mixes(); the rest is the partner's). Only when changes_images().
  struct Images {
    Tensor values, share;
  };
  Images images(const std::string& name, const Tensor& table, const Source& source) const;
  /// Whether a transform of the list normalises input `name`.
  bool normalizes(const std::string& name, const TensorType& table) const;
  /// x f32 [B, ...], normalised, after the transforms of values.
  Tensor values(const std::string& name, Tensor x, const Source& source) const;
  /// Throws Error for a transform that fits none of the inputs (name, type of the table), and when samples
  /// are mixed that are not one image each.
  void check(const std::vector<std::pair<std::string, TensorType>>& inputs) const;

 private:
  struct Entry {
    const TransformDef* def;
    Options options;
    std::string input, where;
  };
  bool fits(const Entry& e, const std::string& name, const TensorType& table) const;
  std::vector<Entry> entries_;
  std::int64_t first_ = 0;  ///< place of entry 0
};

/// Option of a probability, and its value; throws Error unless it is in [0, 1].
OptionSpec probability_option(double fallback);
double probability(const Options& options);
/// Height and width of option `name`: one number is both. Throws Error below 1.
std::pair<std::int64_t, std::int64_t> two_sizes(const Options& options, std::string_view name);
/// Low and high of a list of two; throws Error unless low <= high.
std::pair<double, double> range(const Options& options, std::string_view name);

}  // namespace tightloop::data
