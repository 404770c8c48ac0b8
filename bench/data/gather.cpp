// SPDX-License-Identifier: Apache-2.0
// Rows in random order out of an array larger than the caches: by the compiled loop, and by a copy written by
// hand, in turn. Prints bytes a second of both, the median of the rounds.
#include <tightloop/engine/program.h>
#include <tightloop/ops/functions.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kBatch = 512;
constexpr std::int64_t kBytes = std::int64_t{512} << 20;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

/// What a step does besides copying, so that both pay for it: the numbers of the rows.
double copy_by_hand(const tightloop::Array& x, const tightloop::Sampling& sampling, std::int64_t first,
                    std::int64_t steps, tightloop::Array& out) {
  const auto row = x.size_bytes() / static_cast<std::size_t>(x.dims()[0]);
  std::vector<std::int64_t> rows(kBatch);
  const auto start = Clock::now();
  for (std::int64_t s = first; s < first + steps; ++s) {
    const auto batch = sampling.at(s);
    sampling.fill(batch, rows.data());
    for (std::int64_t i = 0; i < batch.size; ++i)
      std::memcpy(out.bytes() + static_cast<std::size_t>(i) * row,
                  x.bytes() + static_cast<std::size_t>(rows[static_cast<std::size_t>(i)]) * row, row);
  }
  return seconds_since(start);
}

}  // namespace

int main(int argc, char** argv) {
  namespace tl = tightloop;
  const std::int64_t width = argc > 1 ? std::atoll(argv[1]) : 64;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 9;
  const std::int64_t n = kBytes / (width * 4), steps = std::max<std::int64_t>(1, n / kBatch / 4);
  tl::Array x(tl::DType::f32, {n, width});
  for (float& v : x.as<float>()) v = 1;
  const tl::Tensor data = tl::input("x", "data", {tl::DType::f32, {tl::Dim::rows(), width}});
  const tl::Tensor rows = tl::input("rows", "rows", {tl::DType::i64, {tl::Dim::batch()}});
  tl::CompileOptions options;
  options.threads = 1;
  auto program = tl::Program::compile({"gather", {data, rows}, {{"y", tl::gather(data, rows)}}}, options);
  program.bind("x", x);
  const tl::Sampling sampling{.rows = n, .batch = kBatch, .shuffle = true, .seed = 1};
  program.reserve(sampling);
  tl::Array out(tl::DType::f32, {kBatch, width});
  std::vector<double> ours, by_hand;
  for (int r = -1; r < rounds; ++r) {
    const auto start = Clock::now();
    program.run(sampling, r + 1, steps);
    const double compiled = seconds_since(start);
    const double hand = copy_by_hand(x, sampling, r + 1, steps, out);
    if (r >= 0) ours.push_back(compiled), by_hand.push_back(hand);
  }
  std::vector<double> ratio;
  for (std::size_t i = 0; i < ours.size(); ++i) ratio.push_back(by_hand[i] / ours[i]);
  const double bytes = static_cast<double>(steps * kBatch * width * 4);
  std::printf("{\"row_bytes\": %lld, \"gb_per_s\": %.2f, \"by_hand_gb_per_s\": %.2f, \"share\": %.3f}\n",
              static_cast<long long>(width * 4), bytes / median(ours) * 1e-9, bytes / median(by_hand) * 1e-9,
              median(ratio));
}
