// SPDX-License-Identifier: Apache-2.0
// Walks the optimizers, with the options of the fixtures: native code against the interpreter for odd sizes
// in f32 and f64, and every update graph through print and parse.
#include <tests/support/cases.h>
#include <tests/support/evaluate.h>
#include <tests/support/update_rules.h>
#include <tightloop/optim/optimizer.h>

#include <set>

namespace tightloop::optim {
namespace {

using testing::Feed;

Array numbers(DType dtype, const std::vector<std::int64_t>& dims, double phase, bool positive) {
  Array a(dtype, dims);
  for (std::int64_t i = 0; i < a.count(); ++i) {
    const double x = std::sin(phase + 12.9898 * static_cast<double>(i + 1));
    a.set(i, positive ? x * x + 0.01 : x);
  }
  return a;
}

/// A slot as it may be found in the middle of a training: squares and lengths are positive, and no average of
/// gradients is larger than the average of their squares allows.
Array slot_numbers(const std::string& slot, DType dtype, const std::vector<std::int64_t>& dims,
                   double phase) {
  const bool negative = slot == "exp_avg" || slot == "momentum_buffer" || slot == "grad_avg";
  Array a = numbers(dtype, dims, phase, !negative);
  if (slot == "grad_avg")
    for (std::int64_t i = 0; i < a.count(); ++i) a.set(i, 0.05 * a.at(i));
  return a;
}

/// The update of one parameter as a function of it, its gradient, its slots and the step.
testing::Function update_of(const Optimizer& rule) {
  return [&rule](const std::vector<Tensor>& in) {
    const Item item{"p", in[0], in[1], {in.begin() + 2, in.end() - 1}};
    const Update u = apply(rule, {&item, 1}, in.back(), scalar(rule.lr(), DType::f64))[0];
    std::vector<Tensor> out{u.parameter};
    out.insert(out.end(), u.slots.begin(), u.slots.end());
    return out;
  };
}

std::vector<Feed> feeds_of(const Optimizer& rule, DType dtype, const std::vector<std::int64_t>& dims,
                           std::int64_t step) {
  std::vector<Feed> out{{numbers(dtype, dims, 0, false)}, {numbers(dtype, dims, 1, false)}};
  double phase = 2;
  for (const auto& slot : rule.slots()) out.push_back({slot_numbers(slot, dtype, dims, phase++)});
  out.push_back({Array::scalar(step)});
  return out;
}

/// A vector of `count`, or a matrix of so many rows where the case has one.
std::vector<std::int64_t> dims_of(const testing::Case& c, std::int64_t count) {
  if (c.at("start").rank() == 1) return {count};
  return {count, 3};
}

void compare(const Optimizer& rule, DType dtype, const std::vector<std::int64_t>& dims) {
  CompileOptions exact;
  exact.backend = Backend::reference;
  exact.precise = true;
  testing::Evaluation compiled(testing::backends().back(), feeds_of(rule, dtype, dims, 0), update_of(rule));
  testing::Evaluation interpreted(exact, feeds_of(rule, dtype, dims, 0), update_of(rule));
  for (const std::int64_t step : {0, 1, 1000}) {
    const auto feeds = feeds_of(rule, dtype, dims, step);
    const auto got = compiled(feeds), wanted = interpreted(feeds);
    const double relative = dtype == DType::f32 ? 2e-6 : 1e-13;
    for (std::size_t i = 0; i < wanted.size(); ++i)
      testing::expect_close(got.at(i), wanted[i], relative, relative);
  }
}

TEST(Walk, NativeCodeAgreesWithTheInterpreter) {
  std::set<std::string> seen;
  std::set<std::string_view> met;
  for (const auto& c : testing::read_cases("optimizers")) {
    if (!seen.insert(c.text).second) continue;
    const auto rule = make_optimizer(c.name, c.options);
    met.insert(find_optimizer(c.name)->name);
    for (const DType dtype : {DType::f32, DType::f64})
      for (const std::int64_t count : {1, 3, 17, 257}) {
        SCOPED_TRACE(c.text + " " + std::string(name(dtype)) + " " + std::to_string(count));
        compare(*rule, dtype, dims_of(c, count));
      }
  }
  EXPECT_EQ(met.size(), testing::update_rules().size());
}

TEST(Walk, GraphsPrintAndParseBack) {
  for (const auto& c : testing::read_cases("optimizers")) {
    const auto rule = make_optimizer(c.name, c.options);
    const ir::Graph graph = testing::trace(feeds_of(*rule, DType::f32, dims_of(c, 3), 0), update_of(*rule));
    ir::verify(graph);
    const std::string text = ir::print(graph);
    EXPECT_EQ(ir::print(ir::parse(text, ops::find_op)), text) << c.text;
  }
}

}  // namespace
}  // namespace tightloop::optim
