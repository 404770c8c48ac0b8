// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/array.h>
#include <tightloop/ir/node.h>

namespace tightloop {

const TensorType& Tensor::type() const { return node().type; }

namespace ir {
namespace {

std::string& thread_path() {
  thread_local std::string path;
  return path;
}

std::vector<Tensor> take_inputs(const Tensor& last_owner) {
  return std::move(const_cast<Node&>(last_owner.node()).inputs);
}

}  // namespace

Node::~Node() {
  std::vector<Tensor> pending = std::move(inputs);
  while (!pending.empty()) {
    const Tensor next = std::move(pending.back());
    pending.pop_back();
    if (!next.defined() || next.pointer().use_count() != 1) continue;
    for (Tensor& t : take_inputs(next)) pending.push_back(std::move(t));
  }
}

Scope::Scope(const std::string& name) : length_(thread_path().size()) {
  std::string& path = thread_path();
  if (!path.empty() && !name.empty()) path += '.';
  path += name;
}

Scope::~Scope() { thread_path().resize(length_); }

const std::string& Scope::path() { return thread_path(); }

ScopeOf::ScopeOf(const Node& node) : saved_(thread_path()) { thread_path() = node.scope; }
ScopeOf::~ScopeOf() { thread_path() = std::move(saved_); }

}  // namespace ir
}  // namespace tightloop
