// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/loggers/model_parts.h>
#include <tightloop/train/step.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

namespace tightloop::train {
namespace {

constexpr const char* kLoss = "loss";

class Parts {
 public:
  explicit Parts(nn::Module& module) {
    for (const auto& m : module.modules())
      if (!m.path.empty()) kinds_[m.path] = m.module->describe();
    for (const auto& s : module.states())
      if (s.path.find('.') == std::string::npos)
        kinds_[s.path] = s.parameter != nullptr ? "parameter" : "buffer";
  }

  std::vector<ModelPart> of(const ir::Graph& graph) {
    const Tensor& loss = graph.output(kLoss)->value;
    for (const ir::Node* node : ir::topological(std::vector<Tensor>{loss})) visit(*node);
    add_edges(kLoss, sources_[loss.id()]);
    kinds_[kLoss] = kLoss;
    types_[kLoss] = loss.type();
    std::vector<ModelPart> out;
    for (const std::string& path : order_)
      out.push_back({path, kinds_[path], {from_[path].begin(), from_[path].end()}, types_[path]});
    return out;
  }

 private:
  using Sources = std::set<std::string>;

  void visit(const ir::Node& node) {
    const std::string part = part_of(node);
    Sources inputs;
    for (const Tensor& t : node.inputs) inputs.merge(Sources(sources_[t.id()]));
    if (part.empty()) {
      sources_[&node] = std::move(inputs);
      return;
    }
    add_edges(part, inputs);
    types_[part] = node.type;
    sources_[&node] = {part};
  }

  /// The layer, free parameter or data input that a node belongs to; "": none.
  std::string part_of(const ir::Node& node) {
    if (node.inputs.empty() && !node.value && ir_input(node)) {
      const std::string name = ir::input_name(node), data = data_name("");
      if (ir::input_role(node) == "data" && name.starts_with(data))
        return input_part(name.substr(data.size()));
      return kinds_.contains(name) ? name : "";
    }
    for (std::string path = node.scope; !path.empty();
         path.resize(path.find('.') == std::string::npos ? 0 : path.rfind('.')))
      if (kinds_.contains(path)) return path;
    return "";
  }

  static bool ir_input(const ir::Node& node) {
    return node.op != nullptr && node.op->name == std::string_view("input");
  }

  std::string input_part(const std::string& name) {
    if (name == kSampleField) return "";
    const std::string path = kinds_.contains(name) && kinds_[name] != "input" ? "data." + name : name;
    kinds_[path] = "input";
    return path;
  }

  void add_edges(const std::string& part, const Sources& from) {
    if (std::find(order_.begin(), order_.end(), part) == order_.end()) order_.push_back(part);
    for (const std::string& source : from)
      if (source != part) from_[part].insert(source);
  }

  std::map<std::string, std::string> kinds_;
  std::map<std::string, Sources> from_;
  std::map<std::string, TensorType> types_;
  std::vector<std::string> order_;
  std::unordered_map<const ir::Node*, Sources> sources_;
};

}  // namespace

std::vector<ModelPart> model_parts(const ir::Graph& graph, nn::Module& module) {
  if (graph.output(kLoss) == nullptr) return {};
  return Parts(module).of(graph);
}

}  // namespace tightloop::train
