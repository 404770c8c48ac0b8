// SPDX-License-Identifier: Apache-2.0
// A whole job against the loss curve and the weights that PyTorch reaches from the same start
// (fixtures/make_curve.py).
#include "command.h"

#include <tightloop/io/safetensors.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

namespace tightloop::cli {
namespace {

std::vector<double> train_losses(const std::string& metrics) {
  std::stringstream text(metrics);
  std::vector<double> out;
  std::string line;
  std::getline(text, line);
  while (std::getline(text, line)) {
    const auto start = line.find(',', line.find(',') + 1) + 1;
    out.push_back(std::stod(line.substr(start, line.find(',', start) - start)));
  }
  return out;
}

class Curve : public testing::TestWithParam<const char*> {};

TEST_P(Curve, IsPyTorchs) {
  const std::string fixture = places::source_dir() + "/tests/cli/fixtures/curve/";
  std::ifstream in(fixture + "curve.json");
  const auto wanted = nlohmann::json::parse(in);
  const Folder folder;
  const Outcome o = tightloop(folder, "train " + fixture + "job.toml --out run " + GetParam());
  ASSERT_EQ(o.status, 0) << o.out;
  const auto losses = train_losses(folder.read("run/metrics.csv"));
  ASSERT_EQ(losses.size(), wanted["losses"].size());
  for (std::size_t i = 0; i < losses.size(); ++i)
    EXPECT_NEAR(losses[i], wanted["losses"][i].get<double>(), 2e-5 * losses[i]) << "epoch " << i + 1;
  const auto model = io::read_safetensors(folder / "run/model.safetensors");
  for (const auto& [name, values] : wanted["weights"].items())
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_NEAR(model.find(name)->at(static_cast<std::int64_t>(i)), values[i].get<double>(), 1e-4)
          << name << " " << i;
}

INSTANTIATE_TEST_SUITE_P(Backends, Curve,
                         testing::Values("--threads 1", "--threads 2", "--set train.backend=reference"));

}  // namespace
}  // namespace tightloop::cli
