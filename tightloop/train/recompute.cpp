// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/options.h>
#include <tightloop/optim/optimizer.h>
#include <tightloop/train/recompute.h>

#include <fmt/format.h>
#include <algorithm>
#include <set>

namespace tightloop::train {
namespace {

/// Paths of all layers, those that hold others included: a layer comes before what it holds.
std::set<std::string> layers_of(const ir::Graph& graph) {
  std::set<std::string> out;
  for (const ir::Node* node : ir::topological(graph)) {
    const std::string& scope = node->scope;
    if (scope.empty()) continue;
    for (std::size_t dot = scope.find('.'); dot != std::string::npos; dot = scope.find('.', dot + 1))
      out.insert(scope.substr(0, dot));
    out.insert(scope);
  }
  return out;
}

bool inside(const std::string& path, const std::vector<std::string>& layers) {
  return std::any_of(layers.begin(), layers.end(), [&](const std::string& layer) {
    return path.starts_with(layer) && path.size() > layer.size() && path[layer.size()] == '.';
  });
}

}  // namespace

Recompute recompute_in(const ir::Graph& graph, Recompute what) {
  if (graph.output("loss") == nullptr) return {};
  if (what.what != Recompute::What::layers) return what;
  const std::set<std::string> known = layers_of(graph);
  std::vector<std::string> out;
  for (const std::string& pattern : what.layers) {
    bool found = false;
    for (const std::string& path : known) {
      if (!optim::matches(pattern, path)) continue;
      found = true;
      if (!inside(path, out) && std::find(out.begin(), out.end(), path) == out.end()) out.push_back(path);
    }
    if (found) continue;
    const std::vector<std::string> names(known.begin(), known.end());
    throw Error(fmt::format("recompute: no layer matches '{}'{}; the layers are {}", pattern,
                            suggestion(pattern, names), fmt::join(names, ", ")));
  }
  what.layers = std::move(out);
  return what;
}

}  // namespace tightloop::train
