// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/ops/window.h>

#include <array>
#include <cstddef>
#include <memory>
#include <span>

namespace tightloop::backends::cpu {

/// Which of x, w, y a convolution computes from the other two: y of (x, w), x of (y, w), w of (x, y).
enum class ConvolutionDirection : std::uint8_t { forward, input_grad, weight_grad };

/// One convolution by oneDNN, of f32 or of values stored as bf16 or f16: computed in bf16 where the processor
/// has instructions for it and both inputs are bf16, else in f32, to which a stretch is widened. The batch is
/// cut into stretches of samples by shape alone; each is computed by one thread, so that no bit depends on
/// how many there are. Arrays are dense and row-major; the library's own layouts exist for one stretch at a
/// time, in scratch memory of the thread.
class LibraryConvolution {
 public:
  /// `pieces`: of a weight gradient, which is then [pieces, weights] (see plan/windows.h).
  /// `stored`: the types of the two inputs in memory.
  LibraryConvolution(const ops::ConvolutionShape& shape, ConvolutionDirection direction, std::int64_t pieces,
                     std::array<DType, 2> stored = {DType::f32, DType::f32});
  ~LibraryConvolution();
  LibraryConvolution(LibraryConvolution&&) noexcept;
  LibraryConvolution& operator=(LibraryConvolution&&) = delete;

  /// An input lies in memory as bf16 or f16.
  bool reads_low() const;
  /// Into how many stretches a batch is cut.
  std::int64_t items(std::int64_t batch) const;
  /// About what a thread needs for a batch: known before prepare().
  std::size_t expected_scratch(std::int64_t batch) const;

  /// Makes what batches of this size need. False when the library cannot compute this convolution.
  bool prepare(std::int64_t batch);
  /// Bytes that a thread needs for the batches prepared so far.
  std::size_t scratch_bytes() const;
  /// Gives each thread its scratch memory, aligned to 64 bytes; again after each prepare() that made
  /// something.
  void attach(std::span<std::byte* const> scratch);
  /// Whether attach() was called for so many threads and what is prepared.
  bool attached(std::size_t threads) const;

  /// The share of part `part` of `parts`, on thread `thread` of those given to attach(). Throws InternalError
  /// when the library fails. (oneDNN keeps a small table of each call's arguments; nothing else is
  /// allocated.)
  void run(std::int64_t batch, const void* a, const void* b, float* out, std::int64_t part,
           std::int64_t parts, std::size_t thread) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tightloop::backends::cpu
