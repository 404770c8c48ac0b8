// SPDX-License-Identifier: Apache-2.0
#include <tightloop/engine/interpret.h>
#include <tightloop/engine/lift.h>
#include <tightloop/train/diagnose.h>

#include <fmt/format.h>
#include <cmath>
#include <unordered_set>

namespace tightloop::train {
namespace {

std::int64_t first_bad_element(const Array& a) {
  if (!is_floating(a.dtype())) return -1;
  for (std::int64_t i = 0; i < a.count(); ++i)
    if (!std::isfinite(a.at(i))) return i;
  return -1;
}

bool reads_data(const ir::Node& node) {
  return node.op->name == "gather" && node.inputs[0].node().op->name == "input" &&
         ir::input_role(node.inputs[0].node()) == "data";
}

/// Watches the interpreter and keeps the first node that made a value not finite of finite ones.
class Watch : public backends::Observer {
 public:
  Watch(BoundStep& bound, const std::vector<std::int64_t>& rows) : bound_(bound), rows_(rows) {}

  void saw(const ir::Node& node, const Array& value) override {
    if (node.op->name == "constant") return;
    const bool is_input = node.op->name == "input";
    if (is_input && ir::input_role(node) == "data") return;
    const std::int64_t at = first_bad_element(value);
    if (at < 0) return;
    bool inherited = false;
    for (const Tensor& t : node.inputs) inherited = inherited || bad_.contains(t.id());
    bad_.insert(&node);
    if (is_input && is_no_cause(node)) return;
    if (inherited || found_.kind != Origin::Kind::none) return;
    found_ = is_input ? describe_state(node, value, at) : describe(node, value, at);
  }

  const Origin& found() const { return found_; }

 private:
  /// A sum of gradients that the step begins anew, or that may be infinite because its update is skipped
  /// then.
  bool is_no_cause(const ir::Node& input) const {
    if (!ir::input_name(input).starts_with(kAccumulated)) return false;
    const bool scaled = bound_.step().graph.input(kLossScale) != nullptr;
    return scaled || bound_.program().state(kAccumulatedWeight).at(0) == 0;
  }

  static Origin describe_state(const ir::Node& node, const Array& value, std::int64_t at) {
    return {Origin::Kind::state, fmt::format("{} in '{}' at the start of the step", value_text(value.at(at)),
                                             ir::input_name(node))};
  }

  Origin describe(const ir::Node& node, const Array& value, std::int64_t at) const {
    if (reads_data(node)) {
      const std::int64_t row =
          rows_[static_cast<std::size_t>(at / std::max<std::int64_t>(1, value.count() / value.dims()[0]))];
      return {Origin::Kind::data,
              fmt::format("{} in the data of '{}', {}", value_text(value.at(at)),
                          ir::input_name(node.inputs[0].node()).substr(data_name("").size()),
                          bound_.row_text(row))};
    }
    const std::string where = node.scope.empty() ? "" : fmt::format(" in '{}'", node.scope);
    return {Origin::Kind::operation, fmt::format("op {}{} of type {}: {}", node.op->name, where,
                                                 to_string(node.type), value_text(value.at(at)))};
  }

  BoundStep& bound_;
  const std::vector<std::int64_t>& rows_;
  std::unordered_set<const ir::Node*> bad_;
  Origin found_;
};

/// A graph without leaves that hold data, and the values of its inputs.
struct Interpretable {
  ir::Graph graph;
  std::vector<Array> inputs;
};

Interpretable interpretable(BoundStep& bound, const std::vector<std::int64_t>& rows,
                            const Sampling::Batch& batch) {
  Lifted lifted = lift_values(bound.step().graph, Scalars::constants);
  Interpretable out{std::move(lifted.graph), {}};
  for (const Tensor& t : out.graph.inputs) {
    const std::string name = ir::input_name(t.node()), role = ir::input_role(t.node());
    if (role == "data")
      out.inputs.push_back(bound.bound_data(name.substr(data_name("").size())));
    else if (role == "rows")
      out.inputs.push_back(Array::of<std::int64_t>({static_cast<std::int64_t>(rows.size())}, rows));
    else if (role == "first")
      out.inputs.push_back(Array::of<std::int64_t>({}, {{batch.first}}));
    else if (role == "epoch")
      out.inputs.push_back(Array::scalar(batch.epoch));
    else if (role == "state")
      out.inputs.push_back(bound.program().state(name).clone());
    else if (role == "argument") {
      for (const auto& [known, value] : lifted.bound)
        if (known == name) out.inputs.push_back(value);
    } else
      out.inputs.push_back(Array(t.dtype(), {}));
  }
  return out;
}

/// The value that a state had before the step; null for other outputs.
const Array* before_of(const Interpretable& run, const std::string& name) {
  for (std::size_t i = 0; i < run.graph.inputs.size(); ++i)
    if (ir::input_name(run.graph.inputs[i].node()) == name) return &run.inputs[i];
  return nullptr;
}

std::vector<std::int64_t> rows_of(const Sampling& sampling, std::int64_t step) {
  const auto batch = sampling.at(step);
  std::vector<std::int64_t> rows(static_cast<std::size_t>(batch.size));
  sampling.fill(batch, rows.data());
  return rows;
}

backends::InterpretOptions options_for(const std::vector<std::int64_t>& rows, const Sampling& sampling,
                                       std::int64_t step, std::uint64_t seed) {
  backends::InterpretOptions options;
  options.sizes = {static_cast<std::int64_t>(rows.size()),
                   sampling.data_rows != 0 ? sampling.data_rows : sampling.rows};
  options.step = step;
  options.seed = seed;
  return options;
}

/// Lengths over all elements, and where the two are furthest apart.
struct Distance {
  double error = 0;
  double change = 0;
  double size = 0;
  double worst = 0;
  std::int64_t at = -1;
};

Distance distance(const Array& compiled, const Array& interpreted, const Array* before) {
  Distance d;
  for (std::int64_t i = 0; i < compiled.count(); ++i) {
    const double a = compiled.at(i), b = interpreted.at(i), c = before != nullptr ? before->at(i) : 0;
    if (a == b || (std::isnan(a) && std::isnan(b))) {
      if (std::isfinite(b)) d.change += (b - c) * (b - c), d.size += b * b;
      continue;
    }
    const double off = std::isfinite(a) && std::isfinite(b) ? std::fabs(a - b) : INFINITY;
    if (off > d.worst) d.worst = off, d.at = i;
    d.error += off * off, d.change += (b - c) * (b - c), d.size += b * b;
  }
  return d;
}

/// The worst element of an output that differs, or -1. Integers must be equal; f32 rounding of the values
/// themselves is allowed for.
std::int64_t first_difference(const Array& compiled, const Array& interpreted, const Array* before,
                              double tolerance) {
  const Distance d = distance(compiled, interpreted, before);
  if (d.at < 0) return -1;
  const bool same = is_floating(compiled.dtype()) &&
                    std::sqrt(d.error) <= tolerance * std::sqrt(d.change) + 1e-6 * std::sqrt(d.size) + 1e-30;
  return same ? -1 : d.at;
}

}  // namespace

std::string value_text(double value) { return std::isnan(value) ? "nan" : fmt::format("{}", value); }

Origin first_non_finite(BoundStep& bound, const Sampling& whole, std::int64_t step, std::uint64_t seed) {
  const Sampling sampling = bound.load(whole, step);
  const auto rows = rows_of(sampling, step);
  const Interpretable run = interpretable(bound, rows, sampling.at(step));
  Watch watch(bound, rows);
  auto options = options_for(rows, sampling, step, seed);
  options.observer = &watch;
  backends::interpret(run.graph, run.inputs, options);
  return watch.found();
}

std::optional<Difference> verify_step(BoundStep& bound, const Sampling& whole, std::int64_t step,
                                      std::uint64_t seed, double tolerance) {
  const Sampling sampling = bound.load(whole, step);
  const auto rows = rows_of(sampling, step);
  const Interpretable run = interpretable(bound, rows, sampling.at(step));
  const auto interpreted =
      backends::interpret(run.graph, run.inputs, options_for(rows, sampling, step, seed));
  bound.program().set_seed(seed);
  bound.program().run(sampling, step, 1);
  for (std::size_t i = 0; i < interpreted.size(); ++i) {
    const std::string& name = run.graph.outputs[i].name;
    const Array compiled = bound.program().result(name);
    const std::int64_t at = first_difference(compiled, interpreted[i], before_of(run, name), tolerance);
    if (at >= 0) return Difference{name, compiled.at(at), interpreted[i].at(at), at};
  }
  return std::nullopt;
}

}  // namespace tightloop::train
