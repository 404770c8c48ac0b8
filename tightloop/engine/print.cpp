// SPDX-License-Identifier: Apache-2.0
#include <tightloop/engine/evaluate.h>
#include <tightloop/engine/print.h>
#include <tightloop/ir/op.h>

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

namespace tightloop {
namespace {

constexpr std::int64_t kFull = 1000;
constexpr std::int64_t kEdge = 3;

std::string element(const Array& a, std::int64_t i) {
  if (a.dtype() == DType::boolean) return a.int_at(i) != 0 ? "true" : "false";
  return is_floating(a.dtype()) ? fmt::format("{:.6g}", a.at(i)) : std::to_string(a.int_at(i));
}

class ArrayPrinter {
 public:
  explicit ArrayPrinter(const Array& array)
      : array_(array), strides_(row_major_strides(array.dims())), short_(array.count() > kFull) {
    each(0, 0, [&](std::int64_t i) { width_ = std::max(width_, element(array_, i).size()); });
  }

  std::string run() {
    nested(0, 0);
    return std::move(out_);
  }

 private:
  bool skips(std::int64_t n) const { return short_ && n > 2 * kEdge; }

  template <class Visit>
  void each(std::size_t axis, std::int64_t at, Visit visit) const {
    if (axis == array_.rank()) return visit(at);
    const std::int64_t n = array_.dims()[axis];
    for (std::int64_t i = 0; i < n; ++i) {
      if (skips(n) && i == kEdge) i = n - kEdge;
      each(axis + 1, at + i * strides_[axis], visit);
    }
  }

  void nested(std::size_t axis, std::int64_t at) {
    if (axis == array_.rank()) {
      out_ += array_.rank() == 0 ? element(array_, at) : fmt::format("{:>{}}", element(array_, at), width_);
      return;
    }
    const std::int64_t n = array_.dims()[axis];
    const std::string separator = axis + 1 == array_.rank() ? ", " : ",\n" + std::string(axis + 1, ' ');
    out_ += '[';
    for (std::int64_t i = 0; i < n; ++i) {
      if (i != 0) out_ += separator;
      if (skips(n) && i == kEdge) {
        out_ += "..." + separator;
        i = n - kEdge;
      }
      nested(axis + 1, at + i * strides_[axis]);
    }
    out_ += ']';
  }

  const Array& array_;
  std::vector<std::int64_t> strides_;
  bool short_;
  std::size_t width_ = 0;
  std::string out_;
};

}  // namespace

std::string to_string(const Array& array) { return ArrayPrinter(array).run(); }

std::string to_string(const Tensor& tensor) {
  if (!tensor.defined()) return "empty Tensor";
  const std::string type = to_string(tensor.type());
  if (!can_evaluate(tensor)) return fmt::format("<{} of {}>", tensor.node().op->name, type);
  return to_string(tensor.array()) + " " + type;
}

std::ostream& operator<<(std::ostream& out, const Array& array) { return out << to_string(array); }
std::ostream& operator<<(std::ostream& out, const Tensor& tensor) { return out << to_string(tensor); }

}  // namespace tightloop
