// SPDX-License-Identifier: Apache-2.0
// Another project's program: compiles a function and its gradient.
#include <tightloop/tightloop.h>
#include <cstdio>

namespace tl = tightloop;

int main() {
  auto slope = tl::compile(tl::grad([](const tl::Tensor& x) { return tl::sum(x * x); }));
  const double at_three = slope(tl::scalar(3)).item();
  std::printf("the slope of x*x at 3 is %g\n", at_three);
  return at_three == 6 ? 0 : 1;
}
