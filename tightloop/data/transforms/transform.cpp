// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/data/normalize.h>
#include <tightloop/data/transforms/index.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>
#include <algorithm>

namespace tightloop::data {
namespace {

bool is_image(const TensorType& table) {
  return is_normalized(table.dtype) && (table.shape.rank() == 3 || table.shape.rank() == 4);
}

/// Runs `build`; its errors get the entry's place and name in front.
template <class Build>
auto placed(const std::string& where, std::string_view name, Build build) {
  try {
    return build();
  } catch (const Error& e) {
    throw Error(fmt::format("{}{}{}", where.empty() ? "" : where + ": ",
                            name.empty() ? "" : fmt::format("{}: ", name), e.what()));
  }
}

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const TransformDef* def : all_transforms()) out.emplace_back(def->name);
  return out;
}

}  // namespace

std::span<const TransformDef* const> all_transforms() {
#define TIGHTLOOP_TRANSFORM(name) &transforms::name##_transform(),
  static const TransformDef* const all[] = {
#include <tightloop/data/transforms/index.def>
  };
#undef TIGHTLOOP_TRANSFORM
  return all;
}

const TransformDef* find_transform(std::string_view name) {
  for (const TransformDef* def : all_transforms())
    if (def->name == name) return def;
  return nullptr;
}

void Transforms::add(const std::string& name, const Options& options, const std::string& input,
                     const std::string& where) {
  const TransformDef* def = find_transform(name);
  const std::string place = where.empty() ? "" : where + ": ";
  if (def == nullptr)
    throw Error(fmt::format("{}there is no transform '{}'{}; there are {}", place, name,
                            suggestion(name, names()), fmt::join(names(), ", ")));
  if (def->mix != nullptr && mixes())
    throw Error(fmt::format("{}{} mixes samples that are mixed already; one of the list can", place, name));
  const Options full = placed(where, "", [&] { return resolve(name, options, def->options); });
  entries_.push_back({def, full, input, where});
}

bool Transforms::mixes() const {
  return std::any_of(entries_.begin(), entries_.end(), [](const Entry& e) { return e.def->mix != nullptr; });
}

bool Transforms::random() const {
  return std::any_of(entries_.begin(), entries_.end(), [](const Entry& e) { return e.def->random; });
}

Transforms Transforms::evaluation() const {
  Transforms out;
  for (const Entry& e : entries_) {
    if (e.def->evaluation != nullptr)
      for (const auto& [name, options] : e.def->evaluation(e.options))
        out.add(name, options, e.input, e.where);
    else if (!e.def->random)
      out.entries_.push_back(e);
  }
  return out;
}

bool Transforms::fits(const Entry& e, const std::string& name, const TensorType& table) const {
  if (!e.input.empty() && e.input != name) return false;
  return e.def->values != nullptr ? is_normalized(table.dtype) : is_image(table);
}

bool Transforms::changes_images(const std::string& name, const TensorType& table) const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const Entry& e) { return e.def->values == nullptr && fits(e, name, table); });
}

bool Transforms::normalizes(const std::string& name, const TensorType& table) const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const Entry& e) { return e.def->name == "normalize" && fits(e, name, table); });
}

Transforms::Images Transforms::images(const std::string& name, const Tensor& table, const Source& s) const {
  Pixels own = pixels_of(table, s.rows);
  Pixels other = s.partners.defined() ? pixels_of(table, s.partners) : Pixels{};
  Images out;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& e = entries_[i];
    if (e.def->values != nullptr || !fits(e, name, table.type())) continue;
    placed(e.where, e.def->name, [&] {
      const std::int64_t place = first_ + static_cast<std::int64_t>(i);
      Draws draws(s.seed, s.epoch, s.samples, place);
      if (e.def->mix != nullptr) {
        Mixed mixed = e.def->mix(e.options, own, other, draws);
        own = std::move(mixed.pixels);
        out.share = std::move(mixed.share);
        return;
      }
      own = e.def->image(e.options, own, draws);
      if (!s.partners.defined() || out.share.defined()) return;
      Draws partners(s.seed, s.epoch, s.partners, place);
      other = e.def->image(e.options, other, partners);
    });
  }
  const Tensor all = own.values();
  const Dim batch = s.rows.dim(0);
  out.values = own.channels == 0 ? reshape(all, {batch, own.height, own.width}) : all;
  return out;
}

Tensor Transforms::values(const std::string& name, Tensor x, const Source& s) const {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& e = entries_[i];
    if (e.def->values == nullptr || (!e.input.empty() && e.input != name)) continue;
    Draws draws(s.seed, s.epoch, s.samples, first_ + static_cast<std::int64_t>(i));
    x = placed(e.where, e.def->name, [&] { return e.def->values(e.options, x, draws); });
  }
  return x;
}

void Transforms::check(const std::vector<std::pair<std::string, TensorType>>& inputs) const {
  std::vector<std::string> known;
  for (const auto& [name, type] : inputs) known.push_back(name);
  for (const Entry& e : entries_)
    placed(e.where, e.def->name, [&] {
      if (!e.input.empty() && std::find(known.begin(), known.end(), e.input) == known.end())
        throw Error(fmt::format("there is no input '{}'{}; there are {}", e.input, suggestion(e.input, known),
                                fmt::join(known, ", ")));
      if (std::none_of(inputs.begin(), inputs.end(),
                       [&](const auto& input) { return fits(e, input.first, input.second); }))
        throw Error(fmt::format("fits no input: it takes {}",
                                e.def->values != nullptr
                                    ? "inputs of floating numbers or u8"
                                    : "images [N, height, width] or [N, channels, height, width] of u8 or "
                                      "floating numbers"));
      if (e.def->mix != nullptr && inputs.size() != 1)
        throw Error(
            fmt::format("mixes images and their targets; the model has {} inputs, and one image must "
                        "be all that it sees",
                        inputs.size()));
    });
}

OptionSpec probability_option(double fallback) {
  return {"p", OptionType::number, fallback, "how often it is applied, 0..1"};
}

double probability(const Options& options) {
  const double p = options.at<double>("p");
  if (!(p >= 0 && p <= 1)) throw Error(fmt::format("p must be in [0, 1], not {}", p));
  return p;
}

std::pair<std::int64_t, std::int64_t> two_sizes(const Options& options, std::string_view name) {
  const Numbers& n = options.at<Numbers>(name);
  if (n.empty() || n.size() > 2 ||
      std::any_of(n.begin(), n.end(), [](double v) { return !(v >= 1 && v <= 65536); }))
    throw Error(fmt::format("{} must be one number or [height, width], each 1..65536", name));
  return {static_cast<std::int64_t>(n.front()), static_cast<std::int64_t>(n.back())};
}

std::pair<double, double> range(const Options& options, std::string_view name) {
  const Numbers& n = options.at<Numbers>(name);
  if (n.size() != 2 || !(n[0] <= n[1]))
    throw Error(fmt::format("{} must be two numbers, low and high", name));
  return {n[0], n[1]};
}

}  // namespace tightloop::data
