// SPDX-License-Identifier: Apache-2.0
// Reads every column of a CSV file of numbers as one array; prints the seconds it took.
#include <tightloop/data/csv.h>

#include <chrono>
#include <cstdio>
#include <numeric>

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const auto start = std::chrono::steady_clock::now();
  const auto csv = tightloop::data::CsvFile::open(argv[1]);
  tightloop::data::ColumnRequest all;
  all.columns.resize(csv.columns().size());
  std::iota(all.columns.begin(), all.columns.end(), std::size_t{0});
  const auto arrays = csv.read({&all, 1});
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  double sum = 0;
  for (const float v : arrays[0].as<float>()) sum += static_cast<double>(v);
  std::printf("{\"seconds\": %.6f, \"rows\": %lld, \"sum\": %.6g}\n", seconds,
              static_cast<long long>(arrays[0].dims()[0]), sum);
}
