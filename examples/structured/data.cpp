// SPDX-License-Identifier: Apache-2.0
// Writes the data of job.toml: row i of x is 40 consecutive numbers from 40·i on, and f = y = i.
#include <tightloop/io/npy.h>

#include <string>

namespace tl = tightloop;

tl::Array counting(std::int64_t rows, std::int64_t columns) {
  tl::Array a(tl::DType::f32, {rows, columns});
  auto values = a.as<float>();
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  return a;
}

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : ".";
  tl::io::write_npy(folder + "/x.npy", counting(38400, 40));
  tl::io::write_npy(folder + "/f.npy", counting(38400, 1));
  tl::io::write_npy(folder + "/y.npy", counting(38400, 1));
}
