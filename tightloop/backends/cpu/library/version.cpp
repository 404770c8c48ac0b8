// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/library/version.h>

#include <fmt/format.h>
#include <oneapi/dnnl/dnnl.h>

namespace tightloop::backends::cpu {

std::string library_version() {
  const dnnl_version_t* v = dnnl_version();
  return fmt::format("{}.{}.{}", v->major, v->minor, v->patch);
}

}  // namespace tightloop::backends::cpu
