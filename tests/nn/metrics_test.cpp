// SPDX-License-Identifier: Apache-2.0
#include <tests/support/evaluate.h>
#include <tests/support/files.h>
#include <tightloop/nn/metrics/metric.h>

#include <cmath>
#include <set>

namespace tightloop::nn {
namespace {

Array rows_of(const Array& a, std::int64_t first, std::int64_t rows) {
  auto dims = a.dims();
  const std::int64_t width = dims[0] == 0 ? 0 : a.count() / dims[0];
  dims[0] = rows;
  Array out(a.dtype(), dims);
  for (std::int64_t i = 0; i < rows * width; ++i) out.set(i, a.at(first * width + i));
  return out;
}

/// The metric over the rows of x and t, cut into batches.
double measured(const CompileOptions& backend, const Metric& metric, const Array& x, const Array& t,
                std::int64_t batch) {
  std::vector<Array> states;
  const TensorType type = testing::type_of({x, true});
  for (const auto& s : metric.states(type)) states.emplace_back(DType::f64, s.dims);
  std::optional<testing::Evaluation> update;
  for (std::int64_t first = 0; first < x.dims()[0]; first += batch) {
    const std::int64_t rows = std::min(batch, x.dims()[0] - first);
    std::vector<testing::Feed> feeds{{rows_of(x, first, rows), true}, {rows_of(t, first, rows), true}};
    for (const Array& s : states) feeds.push_back({s});
    if (!update)
      update.emplace(backend, feeds, [&](const std::vector<Tensor>& in) {
        return metric.update(std::span(in).subspan(2), in[0], in[1]);
      });
    states = (*update)(feeds);
  }
  return metric.finish(states);
}

class Metrics : public ::testing::TestWithParam<CompileOptions> {
 protected:
  void expect(const char* name, const Options& options, const Array& x, const Array& t, double wanted) {
    seen_.insert(name);
    for (const std::int64_t batch : {1, 2, 3, 100})
      EXPECT_NEAR(measured(GetParam(), *make_metric(name, options), x, t, batch), wanted,
                  1e-9 * std::abs(wanted))
          << name << " batch " << batch;
  }
  std::set<std::string> seen_;
};

Array floats(std::vector<std::int64_t> dims, std::vector<float> values) {
  return Array::of<float>(std::move(dims), std::span<const float>(values));
}

TEST_P(Metrics, GiveTheDefinitionsForAnyBatch) {
  const Array y = floats({5}, {1, 2, 3, 4, 6}), t = floats({5}, {1, 2.5f, 2, 4, 5});
  expect("mae", {}, y, t, 2.5 / 5);
  expect("rmse", {}, y, t, std::sqrt(2.25 / 5));
  const double mean = 14.5 / 5, spread = 1 + 6.25 + 4 + 16 + 25 - 5 * mean * mean;
  expect("r2", {}, y, t, 1 - 2.25 / spread);
  const Array scores = floats({4, 3}, {3, 2, 1, 0, 1, 5, 1, 1, 0, 0, 2, 2});
  const Array classes = Array::of<std::int64_t>({4}, {0, 1, 0, 2});
  expect("accuracy", {}, scores, classes, 0.5);
  expect("accuracy", {{"ignore_index", std::int64_t{1}}}, scores, classes, 2.0 / 3);
  expect("top_k", {{"k", std::int64_t{1}}}, scores, classes, 0.5);
  expect("top_k", {{"k", std::int64_t{2}}}, scores, classes, 1.0);
  expect("top_k", {}, scores, classes, 1.0);
  expect("accuracy", {}, floats({4, 1}, {2, -1, 0, 3}), floats({4}, {1, 0, 1, 0}), 0.5);
  expect("accuracy", {{"threshold", 0.5}}, floats({2}, {0.6f, 0.4f}), floats({2}, {1, 0}), 1.0);
  for (const MetricDef* def : all_metrics()) EXPECT_TRUE(seen_.contains(std::string(def->name))) << def->name;
}

TEST_P(Metrics, R2AveragesOutputsAndSurvivesALargeMean) {
  Array x(DType::f64, {50, 2}), t(DType::f64, {50, 2});
  for (std::int64_t i = 0; i < 100; ++i) {
    t.set(i, 1e8 + std::sin(static_cast<double>(i)));
    x.set(i, t.at(i) + (i % 2 == 0 ? 0.0 : 0.1));
  }
  double mean = 0, spread = 0;
  for (std::int64_t i = 1; i < 100; i += 2) mean += (t.at(i) - 1e8) / 50;
  for (std::int64_t i = 1; i < 100; i += 2) spread += std::pow(t.at(i) - 1e8 - mean, 2);
  double squares = 0;
  for (std::int64_t i = 1; i < 100; i += 2) squares += std::pow(x.at(i) - t.at(i), 2);
  for (const std::int64_t batch : {1, 7, 50})
    EXPECT_NEAR(measured(GetParam(), *make_metric("r2"), x, t, batch), (1 + 1 - squares / spread) / 2, 1e-6)
        << batch;
}

TEST_P(Metrics, NaNNeverCounts) {
  const Array scores = floats({2, 2}, {NAN, 1, 1, NAN});
  const Array classes = Array::of<std::int64_t>({2}, {0, 0});
  expect("accuracy", {}, scores, classes, 0);
  expect("top_k", {{"k", std::int64_t{2}}}, scores, classes, 0);
  expect("accuracy", {}, floats({2}, {NAN, NAN}), floats({2}, {1, 0}), 0);
}

INSTANTIATE_TEST_SUITE_P(Backends, Metrics, ::testing::ValuesIn(testing::backends()), testing::backend_name);

TEST(MetricErrors, AreClear) {
  EXPECT_ERROR(make_metric("acuracy"), "did you mean 'accuracy'?");
  EXPECT_ERROR(make_metric("top_k", {{"k", std::int64_t{0}}}), "k must be 1 or greater");
  EXPECT_TRUE(std::isnan(
      make_metric("mae")->finish(std::vector<Array>{Array(DType::f64, {}), Array(DType::f64, {})})));
}

}  // namespace
}  // namespace tightloop::nn
