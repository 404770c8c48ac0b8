// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/ir/graph.h>
#include <tightloop/ops/index.h>

#include <cstdlib>

/// Any bytes parse or give an Error, and what parses prints to the same text twice.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace tightloop;
  ir::Graph graph;
  try {
    graph = ir::parse({reinterpret_cast<const char*>(data), size}, ops::find_op);
  } catch (const Error&) {
    return 0;
  }
  const std::string text = ir::print(graph);
  if (ir::print(ir::parse(text, ops::find_op)) != text) std::abort();
  return 0;
}
