// SPDX-License-Identifier: Apache-2.0
// Writes series.csv into the folder given (or here): hours of two machines, each with a daily load, a weekly
// one, and a temperature that follows the load.
#include <tightloop/tightloop.h>

#include <cmath>
#include <string>

namespace tl = tightloop;

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? std::string(argv[1]) + "/" : "";
  const std::int64_t hours = 24 * 7 * 20, machines = 2;
  tl::Array machine(tl::DType::i64, {machines * hours}), load(tl::DType::f32, {machines * hours}),
      heat(tl::DType::f32, {machines * hours});
  for (std::int64_t m = 0; m < machines; ++m) {
    double temperature = 20;
    for (std::int64_t t = 0; t < hours; ++t) {
      const double day = 2 * M_PI * static_cast<double>(t) / 24, week = day / 7;
      const double use =
          3 + static_cast<double>(m) + std::sin(day) + 0.5 * std::cos(week + static_cast<double>(m));
      temperature += 0.3 * (18 + 2 * use - temperature);
      machine.set_int(m * hours + t, m);
      load.set(m * hours + t, use);
      heat.set(m * hours + t, temperature);
    }
  }
  tl::data::write_csv(folder + "series.csv", {"machine", "load", "temperature"}, {machine, load, heat});
}
