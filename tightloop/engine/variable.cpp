// SPDX-License-Identifier: Apache-2.0
#include <tightloop/engine/trace.h>
#include <tightloop/engine/variable.h>

namespace tightloop {

struct Variable::Cell {
  std::string name;
  Tensor leaf;
  bool seen = false;  ///< someone may hold the leaf's bytes
};

namespace {

std::string described(const std::string& name) {
  return name.empty() ? "variable" : "variable '" + name + "'";
}

void check_type(const std::string& name, const TensorType& wanted, const TensorType& came) {
  if (wanted != came)
    throw Error(described(name) + " is " + to_string(wanted) + " and cannot become " + to_string(came));
}

}  // namespace

Variable::Variable(Array initial, std::string name)
    : cell_(std::make_shared<Cell>(Cell{std::move(name), Tensor(std::move(initial)), true})) {}

Variable::Cell& Variable::cell() const {
  require(defined(), "use of an empty Variable");
  return *cell_;
}

const TensorType& Variable::type() const { return cell().leaf.type(); }
const std::string& Variable::name() const { return cell().name; }
void Variable::rename(std::string name) const { cell().name = std::move(name); }

Tensor Variable::value() const {
  Cell& c = cell();
  if (Trace* trace = Trace::current()) return trace->read(*this);
  c.seen = true;
  return c.leaf;
}

void Variable::assign(const Tensor& next) const {
  check_type(name(), type(), next.type());
  if (Trace* trace = Trace::current())
    trace->write(*this, next);
  else
    set(next.array());
}

Array Variable::array() const {
  cell().seen = true;
  return shared();
}

void Variable::set(Array value) const {
  Tensor leaf(std::move(value));
  check_type(name(), type(), leaf.type());
  cell().leaf = std::move(leaf);
  cell().seen = true;
}

Array Variable::shared() const { return *cell().leaf.node().value; }

Array Variable::exclusive() const {
  Cell& c = cell();
  if (c.seen) c.leaf = Tensor(shared().clone());
  c.seen = false;
  return shared();
}

}  // namespace tightloop
