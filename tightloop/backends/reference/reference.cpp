// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/reference/interpret.h>
#include <tightloop/backends/reference/reference.h>

#include <algorithm>
#include <cstring>

namespace tightloop::backends {
namespace {

class Reference final : public Executable {
 public:
  Reference(const ir::Graph& graph, bool precise) : graph_(graph), precise_(precise) {
    report_.kernels.emplace_back(precise ? "interpreter, f64" : "interpreter");
  }

  void run(const RunArgs& args) override {
    std::int64_t next = args.recorder != nullptr ? args.recorder->steps().after(args.first_step) : -1;
    for (std::int64_t i = 0; i < args.steps; ++i) {
      const std::int64_t done = args.first_step + i + 1;
      step(args, done - 1);
      if (done != next) continue;
      args.recorder->write(done, args.recorded);
      next = args.recorder->steps().after(done);
    }
  }
  void reserve(const Sizes&) override {}
  const Report& report() const override { return report_; }

  std::size_t temporary_bytes(const Sizes& sizes) const override {
    std::size_t bytes = 0;
    for (const ir::Node* node : ir::topological(graph_))
      if (!node->inputs.empty())
        bytes += static_cast<std::size_t>(node->type.shape.count(sizes)) * size_of(node->type.dtype);
    return bytes;
  }

 private:
  void step(const RunArgs& args, std::int64_t number) const {
    const Sampling& s = args.sampling;
    const auto batch = s.at(number);
    const Sizes sizes{batch.size, s.data_rows != 0 ? s.data_rows : s.rows};
    const auto results = interpret(graph_, inputs(args, batch, sizes), {sizes, number, args.seed, precise_});
    for (std::size_t i = 0; i < results.size(); ++i)
      store(results[i], target(args, i), graph_.outputs[i].value);
  }

  std::vector<Array> inputs(const RunArgs& args, const Sampling::Batch& batch, const Sizes& sizes) const {
    std::vector<Array> arrays;
    for (std::size_t i = 0; i < graph_.inputs.size(); ++i) {
      const ir::Node& node = graph_.inputs[i].node();
      const std::string role = ir::input_role(node);
      if (role == "rows") {
        arrays.emplace_back(DType::i64, std::vector<std::int64_t>{batch.size});
        args.sampling.fill(batch, arrays.back().as<std::int64_t>().data());
      } else if (role == "first") {
        arrays.push_back(Array::of<std::int64_t>({}, {{batch.first}}));
      } else if (role == "epoch") {
        arrays.push_back(Array::scalar(batch.epoch));
      } else if (role == "step" || role == "seed") {
        arrays.emplace_back(DType::i64, std::vector<std::int64_t>{});
      } else {
        const Array given = Array::borrow(node.type.dtype, node.type.shape.values(sizes), args.inputs[i]);
        arrays.push_back(role == "state" ? given.clone() : given);
      }
    }
    return arrays;
  }

  /// A state's output goes where the state lives.
  void* target(const RunArgs& args, std::size_t output) const {
    for (std::size_t i = 0; i < graph_.inputs.size(); ++i) {
      const ir::Node& node = graph_.inputs[i].node();
      if (ir::input_name(node) == graph_.outputs[output].name && ir::input_role(node) == "state")
        return args.inputs[i];
    }
    return args.outputs[output];
  }

  static void store(const Array& result, void* to, const Tensor& value) {
    const Array stored = result.dtype() == value.dtype() ? result : result.cast(value.dtype());
    if (stored.size_bytes() != 0) std::memcpy(to, stored.bytes(), stored.size_bytes());
  }

  ir::Graph graph_;
  bool precise_;
  Report report_;
};

}  // namespace

std::unique_ptr<Executable> make_reference(const ir::Graph& graph, bool precise) {
  return std::make_unique<Reference>(graph, precise);
}

}  // namespace tightloop::backends
