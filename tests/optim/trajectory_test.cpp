// SPDX-License-Identifier: Apache-2.0
// Twenty steps of every optimizer against PyTorch, on gradients of very different size. Errors are relative
// to the largest value that an element has had, or to the way that it has gone. Newton-Schulz steps of muon
// enlarge rounding.
#include <tests/support/cases.h>
#include <tests/support/evaluate.h>
#include <tests/support/update_rules.h>
#include <tightloop/optim/optimizer.h>

#include <set>

namespace tightloop::optim {
namespace {

using testing::Case;

/// A graph whose states are the parameter and its slots, and whose data are the gradients of all steps.
Program step_program(const Optimizer& rule, const Case& c, const CompileOptions& options) {
  const TensorType type = testing::type_of({c.at("start"), false});
  ir::Graph graph;
  std::vector<Dim> dims{Dim::rows()};
  dims.insert(dims.end(), type.shape.begin(), type.shape.end());
  const Tensor all = input("gradients", "data", {type.dtype, Shape(dims)});
  const Tensor rows = input("rows", "rows", {DType::i64, Shape{Dim::batch()}});
  const Tensor step = input("step", "step", {DType::i64, {}});
  const Tensor p = input("p", "state", type);
  graph.inputs = {all, rows, step, p};
  std::vector<Tensor> slots;
  for (const auto& slot : rule.slots()) {
    slots.push_back(input(slot_name(slot, "p"), "state", type));
    graph.inputs.push_back(slots.back());
  }
  const Item item{"p", p, sum(gather(all, rows), {0}), slots};
  const auto updates = apply(rule, {&item, 1}, step, scalar(rule.lr(), DType::f64));
  graph.outputs.push_back({"p", updates[0].parameter});
  for (std::size_t i = 0; i < slots.size(); ++i)
    graph.outputs.push_back({slot_name(rule.slots()[i], "p"), updates[0].slots[i]});
  Program program = Program::compile(graph, options);
  program.bind("gradients", c.at("gradients"));
  program.set_state("p", c.at("start"));
  return program;
}

class Trajectories : public ::testing::TestWithParam<CompileOptions> {};

TEST_P(Trajectories, AgreeWithPyTorch) {
  std::set<std::string> seen;
  for (const Case& c : testing::read_cases("optimizers")) {
    SCOPED_TRACE(c.text + " " + c.at("start").type_string());
    seen.insert(c.name);
    const auto rule = make_optimizer(c.name, c.options);
    Program program = step_program(*rule, c, GetParam());
    const bool wide = c.at("start").dtype() == DType::f64;
    const double allowed = (wide ? 1e-13 : 1e-6) * (c.name == "muon" ? 20 : 1);
    const Array& path = c.at("path");
    const std::int64_t n = c.at("start").count();
    std::vector<double> largest(static_cast<std::size_t>(n), 0.0), way = largest;
    for (std::int64_t step = 0; step < path.dims()[0]; ++step) {
      program.run({.rows = 20, .batch = 1}, step, 1);
      const Array p = program.state("p");
      for (std::int64_t i = 0; i < n; ++i) {
        const auto e = static_cast<std::size_t>(i);
        const double wanted = path.at(step * n + i);
        largest[e] = std::max(largest[e], std::abs(wanted));
        way[e] += std::abs(wanted - (step == 0 ? c.at("start").at(i) : path.at((step - 1) * n + i)));
        const double scale = std::max(largest[e], way[e]);
        ASSERT_NEAR(p.at(i), wanted, allowed * scale) << "step " << step << " element " << i;
      }
    }
  }
  for (const OptimizerDef* def : testing::update_rules())
    EXPECT_TRUE(seen.contains(std::string(def->name))) << def->name;
}

INSTANTIATE_TEST_SUITE_P(Backends, Trajectories, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace tightloop::optim
