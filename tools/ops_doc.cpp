// SPDX-License-Identifier: Apache-2.0
// Prints docs/ops.md from the indexes: every op, layer, loss, metric and optimizer with its own document.
#include <tightloop/nn/layers/layer.h>
#include <tightloop/nn/losses/loss.h>
#include <tightloop/nn/metrics/metric.h>
#include <tightloop/nn/models/model.h>
#include <tightloop/ops/index.h>
#include <tightloop/optim/optimizer.h>

#include <array>
#include <iostream>
#include <string>

namespace tl = tightloop;

namespace {

constexpr const char* kIntroduction = R"(# Ops, layers, losses, metrics, optimizers

Printed by `ops_doc` (`tools/ops_doc.cpp`) from the lists that the library itself uses; a test holds this page against them.

)";

constexpr const char* kOps = R"(## Primitive ops

What a graph is made of, as `tightloop check` and error messages name it. In C++ and in forward texts one calls the functions
of `tightloop/ops/functions.h` and `functions_spatial.h`, which broadcast, promote dtypes, and are made of these. "typed" ops carry the type of
their result. An op without a gradient stops it. ulp: units in the last place of f32, the largest error measured.

)";

constexpr const char* kLayers = R"(
## Layers

As a forward text calls them: `linear(x, 64, bias=false)`; the first argument is the input. In C++ they are classes of
`tl::nn`: `tl::nn::Linear(40, 64, {.bias = false})`.

)";

constexpr const char* kModels = R"(
## Models

Whole networks, called like a layer: `lenet5(image)`; `tl::nn::LeNet5` in C++.

)";

constexpr const char* kLosses = R"(
## Losses

`loss = "mse"` or `loss = { name = "huber", delta = 0.5 }` in a job; `tl::nn::make_loss("huber", {{"delta", 0.5}})` for the
Trainer; as functions of tensors in `tightloop/nn/losses.h`. The target holds values, shaped as the prediction, or classes.
Losses of more than two tensors are functions only: `margin_ranking_loss`, `cosine_embedding_loss`, `triplet_margin_loss`,
`ctc_loss`.

)";

constexpr const char* kMetrics = R"(
## Metrics

)";

constexpr const char* kOptimizers = R"(
## Optimizers

)";

/// A cell of a Markdown table.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

void heading(std::initializer_list<const char*> columns) {
  std::cout << "|";
  for (const char* c : columns) std::cout << " " << c << " |";
  std::cout << "\n|";
  for (std::size_t i = 0; i < columns.size(); ++i) std::cout << "---|";
  std::cout << "\n";
}

std::string option_list(const std::vector<tl::OptionSpec>& options) {
  std::string out;
  for (const auto& o : options) {
    if (!out.empty()) out += ", ";
    out += "`" + std::string(o.name) + (o.required ? "" : "=" + tl::to_string(o.fallback)) + "`";
  }
  return out;
}

std::string attr_list(const tl::ir::OpDef& op) {
  std::string out;
  for (const auto& a : op.attrs)
    out += (out.empty() ? "`" : ", `") + std::string(a.name) + (a.required ? "`" : "`?");
  return out;
}

std::string kind_name(tl::ir::OpKind kind) {
  constexpr std::array<const char*, 8> names{"source",      "elementwise", "view",   "reduction",
                                             "contraction", "indexing",    "window", "random"};
  return names.at(static_cast<std::size_t>(kind));
}

void print_ops() {
  std::cout << kOps;
  heading({"op", "kind", "inputs", "attributes", "gradient", "meaning"});
  for (const auto* op : tl::ops::all_ops())
    std::cout << "| `" << op->name << "` | " << kind_name(op->kind) << (op->typed ? ", typed" : "") << " | "
              << (op->arity < 0 ? std::string("1 or more") : std::to_string(op->arity)) << " | "
              << attr_list(*op) << " | " << (op->vjp != nullptr ? "yes" : "") << " | " << cell(op->doc)
              << " |\n";
}

template <class Defs>
void print_defs(const char* introduction, const char* what, const Defs& defs) {
  std::cout << introduction;
  heading({what, "options", "meaning"});
  for (const auto* def : defs)
    std::cout << "| `" << def->name << "` | " << option_list(def->options) << " | " << cell(def->doc)
              << " |\n";
}

const char* target_name(tl::nn::TargetKind kind) {
  constexpr std::array<const char*, 3> names{"values", "classes", "classes or probabilities"};
  return names.at(static_cast<std::size_t>(kind));
}

void print_losses() {
  std::cout << kLosses;
  heading({"loss", "target", "options", "meaning"});
  for (const auto* def : tl::nn::all_losses())
    std::cout << "| `" << def->name << "` | " << target_name(def->target) << " | "
              << option_list(def->options) << " | " << cell(def->doc) << " |\n";
}

}  // namespace

int main() {
  std::cout << kIntroduction;
  print_ops();
  print_defs(kLayers, "layer", tl::nn::all_layers());
  print_defs(kModels, "model", tl::nn::all_models());
  print_losses();
  print_defs(kMetrics, "metric", tl::nn::all_metrics());
  print_defs(kOptimizers, "optimizer", tl::optim::all_optimizers());
}
