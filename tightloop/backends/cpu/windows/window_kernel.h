// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/ir/graph.h>
#include <tightloop/ops/window.h>

namespace tightloop::backends::cpu {

/// One convolution or pooling op as plain loops: vectors along the last dim, f32 and f64. What a result
/// element is summed of, and in which order, follows from the shapes alone.
class WindowKernel {
 public:
  /// `n`: is_window().
  explicit WindowKernel(const ir::Node& n);

  /// Into how many independent items the work is cut: planes of the result, or of a weight gradient's pieces
  /// the output channels.
  std::int64_t items(std::int64_t batch) const;
  /// The share of part `part` of `parts`: consecutive items, on the calling thread. `a` and `b` are the
  /// inputs in the op's order. Allocates nothing.
  void run(std::int64_t batch, const void* a, const void* b, void* out, std::int64_t part,
           std::int64_t parts) const;

 private:
  enum class Work : std::uint8_t {
    convolution,
    input_grad,
    weight_grad,
    argmax,
    sum,
    spread,
    gather,
    scatter
  };

  DType dtype_;  ///< of the floating values
  Work work_;
  ops::ConvolutionShape convolution_;
  ops::WindowDims dims_;
  std::int64_t channels_ = 1;      ///< planes a sample
  std::int64_t in_ = 1, out_ = 1;  ///< elements of a plane of the first input and of the result
  std::int64_t pieces_ = 1;        ///< of a weight gradient

  template <class T>
  void run_typed(std::int64_t batch, const void* a, const void* b, void* out, std::int64_t begin,
                 std::int64_t end) const;
};

}  // namespace tightloop::backends::cpu
