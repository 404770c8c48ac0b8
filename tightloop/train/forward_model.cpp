// SPDX-License-Identifier: Apache-2.0
#include <tightloop/engine/trace.h>
#include <tightloop/nn/context.h>
#include <tightloop/nn/models/model.h>
#include <tightloop/ops/functions.h>
#include <tightloop/train/forward/parser.h>
#include <tightloop/train/forward/source.h>
#include <tightloop/train/forward_model.h>

#include <fmt/format.h>
#include <algorithm>

namespace tightloop::train {
namespace {

struct NamedInitializer {
  std::string_view name;
  nn::Initializer (*make)();
};

/// What `init = "…"` of a free parameter may say.
const NamedInitializer kInitializers[] = {
    {"zeros", [] { return nn::init::zeros(); }},
    {"ones", [] { return nn::init::ones(); }},
    {"uniform", [] { return nn::init::uniform(-1, 1); }},
    {"normal", [] { return nn::init::normal(); }},
    {"kaiming_uniform", [] { return nn::init::kaiming_uniform(); }},
    {"kaiming_normal", [] { return nn::init::kaiming_normal(); }},
    {"xavier_uniform", [] { return nn::init::xavier_uniform(); }},
    {"xavier_normal", [] { return nn::init::xavier_normal(); }},
};

nn::Initializer initializer_of(const FreeParameter& p) {
  if (const auto* i = p.init.as<std::int64_t>()) return nn::init::constant(static_cast<double>(*i));
  if (const auto* d = p.init.as<double>()) return nn::init::constant(*d);
  const std::string& wanted = *p.init.as<std::string>();
  std::vector<std::string> names;
  for (const auto& known : kInitializers) {
    if (known.name == wanted) return known.make();
    names.emplace_back(known.name);
  }
  fail(p.init,
       fmt::format("is no initialiser{}; there are {}", suggestion(wanted, names), fmt::join(names, ", ")));
}

Parameter make_parameter(const FreeParameter& p) {
  return Parameter(Shape(std::vector<Dim>(p.shape.begin(), p.shape.end())), initializer_of(p));
}

/// Enough of a value for the trace that makes the layers.
void fill_with_zeros(nn::Module& module) {
  for (const auto& [path, p] : module.parameters())
    if (!p->has_value()) p->assign(Array(p->type().dtype, p->dims()));
}

}  // namespace

ForwardModel::ForwardModel(const Job::Model& job,
                           const std::vector<std::pair<std::string, TensorType>>& inputs)
    : text_(job.forward), program_(forward::parse(text_)) {
  std::vector<Tensor> placeholders;
  for (const auto& [name, type] : inputs) {
    inputs_.push_back(name);
    placeholders.push_back(input(name, "argument", type));
  }
  for (const FreeParameter& p : job.parameters) {
    if (std::find(inputs_.begin(), inputs_.end(), p.name) != inputs_.end())
      throw Error(fmt::format("{}: model.parameters.{} has the name of an input; rename one of them",
                              text_.source, p.name));
    free_.push_back({p.name, make_parameter(p)});
  }
  fill_with_zeros(*this);
  const Trace trace;
  const nn::Context context(false);
  output_ = (*this)(placeholders).type();
}

ForwardModel::~ForwardModel() = default;

void ForwardModel::fields(nn::Fields& f) {
  for (auto& [name, layer] : layers_) f(name, *layer);
  for (auto& p : free_) f(p.name, p.parameter);
}

Tensor ForwardModel::operator()(std::span<const Tensor> inputs) {
  require(inputs.size() == inputs_.size(), "ForwardModel: number of inputs");
  forward::Names named, parameters;
  for (std::size_t i = 0; i < inputs.size(); ++i) named.emplace_back(inputs_[i], inputs[i]);
  for (auto& p : free_) parameters.emplace_back(p.name, p.parameter.value());
  return forward::trace(program_, text_, named, parameters, *this);
}

Model ForwardModel::model() {
  return {this, [this](std::span<const Tensor> inputs) { return (*this)(inputs); }, precision_};
}

void ForwardModel::set_precision(const Precision& precision) {
  precision_ = precision;
  if (precision.type == DType::f64) to(DType::f64);
}

bool ForwardModel::knows(std::string_view kind) const { return nn::find_layer_or_model(kind) != nullptr; }

std::vector<std::string> ForwardModel::kinds() const {
  std::vector<std::string> out;
  for (const auto* def : nn::all_layers()) out.emplace_back(def->name);
  for (const auto* def : nn::all_models()) out.emplace_back(def->name);
  return out;
}

/// Parameters of equal name and type become those of the earlier layer.
void ForwardModel::tie(nn::Layer& layer, const std::string& kind, const forward::Term& reuse) {
  const std::string& name = *reuse.as<std::string>();
  const auto earlier =
      std::find_if(layers_.begin(), layers_.end(), [&](const auto& l) { return l.first == name; });
  require(earlier != layers_.end(), "ForwardModel: reuse of an unknown layer");
  bool tied = false;
  std::vector<std::string> has;
  for (const auto& s : earlier->second->state_dict()) {
    has.push_back(fmt::format("{} {}", s.path, to_string(s.type())));
    for (const auto& own : layer.state_dict()) {
      if (own.path != s.path || own.type() != s.type() || own.parameter == nullptr || s.parameter == nullptr)
        continue;
      *own.parameter = s.parameter->share();
      tied = true;
    }
  }
  if (tied) return;
  std::vector<std::string> wants;
  for (const auto& own : layer.state_dict())
    wants.push_back(fmt::format("{} {}", own.path, to_string(own.type())));
  forward::fail_at(text_, reuse.at,
                   fmt::format("{} has no parameter in common with '{}': {} against {}", kind, name,
                               wants.empty() ? "none" : fmt::format("{}", fmt::join(wants, ", ")),
                               has.empty() ? "none" : fmt::format("{}", fmt::join(has, ", "))));
}

Tensor ForwardModel::call(const std::string& kind, const std::string& name,
                          const std::vector<forward::Term>& terms, const std::vector<std::string>& keywords,
                          std::size_t at) {
  if (terms.empty() || !keywords[0].empty() || terms[0].as<Tensor>() == nullptr)
    forward::fail_at(text_, terms.empty() ? at : terms[0].at, kind + ": the first argument must be a tensor");
  const Tensor& x = *terms[0].as<Tensor>();
  auto found = std::find_if(layers_.begin(), layers_.end(), [&](const auto& l) { return l.first == name; });
  if (found == layers_.end()) {
    std::vector<OptionValue> positional;
    Options named;
    const forward::Term* reuse = nullptr;
    for (std::size_t i = 1; i < terms.size(); ++i) {
      if (keywords[i] == "reuse")
        reuse = &terms[i];
      else if (keywords[i].empty())
        positional.push_back(to_option(terms[i], text_));
      else
        named.set(keywords[i], to_option(terms[i], text_));
    }
    const nn::LayerDef& def = *nn::find_layer_or_model(kind);
    const Options given = name_arguments(kind, positional, named, def.options);
    layers_.emplace_back(name, def.build(resolve(kind, given, def.options), x.type()));
    if (reuse != nullptr) tie(*layers_.back().second, kind, *reuse);
    fill_with_zeros(*this);
    found = layers_.end() - 1;
  }
  return (*found->second)(x);
}

}  // namespace tightloop::train
