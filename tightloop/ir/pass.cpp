// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ir/pass.h>

#include <algorithm>
#include <chrono>
#include <fstream>

namespace tightloop::ir {
namespace {

void check_disabled(std::span<const Pass> passes, const std::vector<std::string>& disabled) {
  std::vector<std::string> known;
  for (const Pass& p : passes) known.emplace_back(p.name);
  for (const std::string& name : disabled)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw Error("there is no pass '" + name + "'" + suggestion(name, known));
}

void dump(const Graph& graph, const std::string& directory, std::size_t index, std::string_view name) {
  const std::string number = (index < 10 ? "0" : "") + std::to_string(index);
  const std::string path = directory + "/" + number + "-" + std::string(name) + ".txt";
  std::ofstream out(path);
  out << print(graph);
  if (!out) throw Error("cannot write the graph dump '" + path + "'");
}

PassRecord run_one(const Pass& pass, Graph& graph) {
  const auto start = std::chrono::steady_clock::now();
  graph = pass.run(graph);
  const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - start;
  return {pass.name, spent.count(), topological(graph).size(), false};
}

}  // namespace

PassResult run_passes(Graph graph, std::span<const Pass> passes, const PassOptions& options) {
  check_disabled(passes, options.disabled);
  if (options.verify) verify(graph);
  if (!options.dump_directory.empty()) dump(graph, options.dump_directory, 0, "traced");
  PassResult result{std::move(graph), {}};
  for (const Pass& pass : passes) {
    const auto& off = options.disabled;
    if (std::find(off.begin(), off.end(), pass.name) != off.end()) {
      result.records.push_back({pass.name, 0, 0, true});
      continue;
    }
    result.records.push_back(run_one(pass, result.graph));
    if (options.verify) verify(result.graph);
    if (!options.dump_directory.empty())
      dump(result.graph, options.dump_directory, result.records.size(), pass.name);
  }
  return result;
}

}  // namespace tightloop::ir
