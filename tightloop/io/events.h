// SPDX-License-Identifier: Apache-2.0
#pragma once
// Event files as TensorBoard reads them: records (TFRecord) of Event messages. Messages and field numbers
// follow event.proto, summary.proto, graph.proto and the plugins' protocols of TensorBoard.
#include <tightloop/base/options.h>
#include <tightloop/io/proto.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tightloop::io {

/// CRC-32C (Castagnoli, RFC 3720).
std::uint32_t crc32c(std::string_view bytes);

/// A record of a file: length, its checksum, bytes, their checksum; checksums are masked.
std::string event_record(std::string_view event);

/// The first event of a file.
std::string version_event(double time);
/// What other files say from `step` on counts no more.
std::string restart_event(double time, std::int64_t step);

/// A histogram of at most 30 bins of equal width over the finite `values`.
ProtoMessage histogram(std::span<const double> values);

/// Values of one step that go into one event.
class EventSummary {
 public:
  void scalar(std::string_view tag, double value);
  void histogram(std::string_view tag, const ProtoMessage& histogram);
  /// `png` is a file of that kind with 1 (gray), 3 or 4 channels.
  void image(std::string_view tag, std::int64_t height, std::int64_t width, std::int64_t channels,
             std::string_view png);
  /// Shown as Markdown.
  void text(std::string_view tag, std::string_view text);
  /// The values of a run that its metrics (tags of scalars) are set against. Numbers, texts, true and false.
  void hyperparameters(const Options& values, const std::vector<std::string>& metrics, double time);
  /// The run has ended.
  void finished(double time);

  bool empty() const { return summary_.bytes().empty(); }
  std::string event(double time, std::int64_t step) const;
  void clear() { summary_.clear(); }

 private:
  void plugin(std::string_view tag, std::string_view name, const ProtoMessage& content);

  ProtoMessage summary_;
};

/// A node of a graph that is shown. Names with '/' are folded.
struct GraphNode {
  std::string name, op;
  std::vector<std::string> inputs;  ///< names of other nodes
  std::string label;                ///< shown as attribute `config`
  std::vector<std::int64_t> dims;   ///< of its result, -1: any
};
std::string graph_event(double time, const std::vector<GraphNode>& nodes);

}  // namespace tightloop::io
