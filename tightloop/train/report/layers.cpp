// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/report/layers.h>

#include <algorithm>
#include <map>
#include <set>

namespace tightloop::train {
namespace {

/// `path` is `scope` or lies in it.
bool inside(std::string_view path, std::string_view scope) {
  return path.starts_with(scope) && (path.size() == scope.size() || path[scope.size()] == '.');
}

/// For each scope: the shape of the last value in it that something outside of it uses.
std::map<std::string, std::string> outputs_of(const ir::Graph& graph) {
  std::vector<Tensor> results;
  for (const auto& o : graph.outputs) results.push_back(o.value);
  std::map<std::string, std::string> out;
  const auto leaves = [&](const ir::Node& node, std::string_view user) {
    const std::string shape = to_string(node.type.shape);
    for (std::string scope = node.scope; !scope.empty();) {
      if (inside(user, scope)) return;
      out[scope] = shape;
      const auto dot = scope.rfind('.');
      scope.resize(dot == std::string::npos ? 0 : dot);
    }
  };
  for (const ir::Node* node : ir::topological(results))
    for (const Tensor& input : node->inputs) leaves(input.node(), node->scope);
  for (const Tensor& result : results) leaves(result.node(), "");
  return out;
}

LayerRow row_of(const std::string& path, const std::string& type) {
  return {path, type, "", 0, false, static_cast<int>(std::count(path.begin(), path.end(), '.'))};
}

}  // namespace

std::vector<LayerRow> layers_of(const Model& model, const DataSpec& data) {
  std::vector<LayerRow> out;
  if (model.module == nullptr) return out;
  const auto outputs = outputs_of(prediction_step(model, data).graph);
  const auto parameters = model.module->parameters();
  std::set<std::string> held;
  for (const auto& [path, module] : model.module->modules()) {
    if (path.empty()) continue;
    LayerRow row = row_of(path, module->describe());
    if (const auto found = outputs.find(path); found != outputs.end()) row.output = found->second;
    row.frozen = true;
    for (const auto& p : parameters) {
      if (!inside(p.path, path)) continue;
      held.insert(p.path);
      row.parameters += p.parameter->count();
      row.frozen = row.frozen && p.parameter->frozen();
    }
    row.frozen = row.frozen && row.parameters > 0;
    out.push_back(std::move(row));
  }
  for (const auto& p : parameters) {
    if (held.contains(p.path)) continue;
    LayerRow row = row_of(p.path, "Parameter");
    row.output = to_string(p.parameter->type().shape);
    row.parameters = p.parameter->count();
    row.frozen = p.parameter->frozen();
    out.push_back(std::move(row));
  }
  return out;
}

}  // namespace tightloop::train
