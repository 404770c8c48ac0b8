// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <tightloop/tightloop.h>

int main() {
  tightloop::Shape shape{2, 3};
  std::printf("%s\n", to_string(shape).c_str());
}
