// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a backend made of a graph, for profiles and explanations.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tightloop::backends {

/// What part of a step a kernel belongs to.
enum class Part : std::uint8_t {
  data,      ///< reads, casts, normalises and transforms the batch
  forward,   ///< model and loss
  backward,  ///< gradients
  update,    ///< the optimizer, and sums that the run keeps
};

enum class Supplier : std::uint8_t {
  generated,  ///< code made for this graph
  library,    ///< oneDNN
  loops,      ///< functions compiled into Tightloop
  none,       ///< nothing is computed: whoever makes the pieces writes them to their place
};

struct KernelFacts {
  std::string path;  ///< of the layer: "layer3.0.conv1"; "" where it is in none
  std::string ops;   ///< "convolution+add+maximum": what it computes, in order
  Part part = Part::forward;
  Supplier supplier = Supplier::generated;
  std::string reason;  ///< why that supplier
  std::string type;    ///< of its first result: "f32[B, 128]"
  bool chain = false;  ///< runs with its neighbours, stretch by stretch of the samples
  int phase = 0;       ///< kernels of a phase need not wait for each other
  double flops = 0;    ///< of a step
  double bytes = 0;    ///< that a step reads and writes of memory, each value once
  double cached = 0;   ///< bytes of values that stay in a thread's cache

  /// "layer3.0.conv1: convolution+add+maximum"
  std::string label() const { return path.empty() ? ops : path + ": " + ops; }
};

struct BufferFacts {
  std::string owner;  ///< the label of the kernel that writes it, or the input's name
  std::string type;
  std::size_t bytes = 0;
  int first = 0;  ///< phases between which its memory is taken
  int last = 0;
  bool local = false;  ///< one for each thread, of a stretch of samples
};

struct CastFacts {
  std::string path, from, to;  ///< "layer1", "u8", "f32"
  std::int64_t count = 1;
};

struct StepFacts {
  std::vector<KernelFacts> kernels;  ///< in the order in which they run
  std::vector<BufferFacts> buffers;  ///< temporaries of a step, the largest first
  int phases = 0;
  std::int64_t stretch = 0;     ///< samples that a thread takes through a chain at a time
  std::size_t arena = 0;        ///< bytes of the shared temporaries, which overlap where they can
  std::size_t local = 0;        ///< bytes of a thread's own temporaries
  std::int64_t copies = 0;      ///< states that are copied at the end of a step
  std::int64_t transposes = 0;  ///< operands that are brought into another order
  std::vector<CastFacts> casts;
};

}  // namespace tightloop::backends
