// SPDX-License-Identifier: Apache-2.0
#include <tightloop/io/events.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace tightloop::io {
namespace {

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t c = i;
    for (int bit = 0; bit < 8; ++bit) c = (c & 1) != 0 ? (c >> 1) ^ 0x82f63b78U : c >> 1;
    table[i] = c;
  }
  return table;
}
constexpr auto kTable = make_table();

std::string little_endian(std::uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}

std::uint32_t masked_crc(std::string_view bytes) {
  const std::uint32_t crc = crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

ProtoMessage event(double time, std::int64_t step = 0) {
  ProtoMessage out;
  out.number(1, time);
  if (step != 0) out.whole(2, step);
  return out;
}

/// google.protobuf.Value
ProtoMessage value_message(const OptionValue& value) {
  ProtoMessage out;
  if (const auto* b = std::get_if<bool>(&value)) return out.flag(4, *b);
  if (const auto* i = std::get_if<std::int64_t>(&value)) return out.number(2, static_cast<double>(*i));
  if (const auto* d = std::get_if<double>(&value)) return out.number(2, *d);
  if (const auto* s = std::get_if<std::string>(&value)) return out.text(3, *s);
  return out.text(3, to_string(value));
}

/// The plugin's DataType: 1 text, 2 true or false, 3 number.
int type_of(const OptionValue& value) {
  if (std::holds_alternative<bool>(value)) return 2;
  return std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value) ? 3 : 1;
}

/// An attribute of a node whose value is the field `field` of AttrValue.
ProtoMessage attribute(std::string_view name, int field, std::string_view bytes) {
  ProtoMessage entry, value;
  value.text(field, bytes);
  return entry.text(1, name).message(2, value);
}

ProtoMessage shape_message(std::span<const std::int64_t> dims) {
  ProtoMessage out;
  for (const std::int64_t d : dims) out.message(2, ProtoMessage().whole(1, d));
  return out;
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  std::uint32_t crc = ~0U;
  for (const char c : bytes) crc = kTable[(crc ^ static_cast<unsigned char>(c)) & 0xff] ^ (crc >> 8);
  return ~crc;
}

std::string event_record(std::string_view event) {
  const std::string length = little_endian(event.size(), 8);
  return length + little_endian(masked_crc(length), 4) + std::string(event) +
         little_endian(masked_crc(event), 4);
}

std::string version_event(double time) { return event(time).text(3, "brain.Event:2").bytes(); }

std::string restart_event(double time, std::int64_t step) {
  return event(time, step).message(7, ProtoMessage().whole(1, 1)).bytes();
}

ProtoMessage histogram(std::span<const double> values) {
  constexpr std::size_t kBins = 30;
  double low = INFINITY, high = -INFINITY, sum = 0, squares = 0, count = 0;
  for (const double v : values) {
    if (!std::isfinite(v)) continue;
    low = std::min(low, v);
    high = std::max(high, v);
    sum += v;
    squares += v * v;
    ++count;
  }
  if (count == 0) low = high = 0;
  const std::size_t bins = high > low ? kBins : 1;
  const double width = (high - low) / static_cast<double>(bins);
  std::vector<double> limits(bins, high), counts(bins, 0);
  for (std::size_t i = 0; i + 1 < bins; ++i) limits[i] = low + width * static_cast<double>(i + 1);
  for (const double v : values) {
    if (!std::isfinite(v)) continue;
    const double at = width > 0 ? (v - low) / width : 0;
    counts[std::min(bins - 1, static_cast<std::size_t>(at))] += 1;
  }
  ProtoMessage out;
  out.number(1, low).number(2, high).number(3, count).number(4, sum).number(5, squares);
  return out.numbers(6, limits).numbers(7, counts);
}

void EventSummary::scalar(std::string_view tag, double value) {
  summary_.message(1, ProtoMessage().text(1, tag).small_number(2, static_cast<float>(value)));
}

void EventSummary::histogram(std::string_view tag, const ProtoMessage& histogram) {
  summary_.message(1, ProtoMessage().text(1, tag).message(5, histogram));
}

void EventSummary::image(std::string_view tag, std::int64_t height, std::int64_t width, std::int64_t channels,
                         std::string_view png) {
  ProtoMessage image;
  image.whole(1, height).whole(2, width).whole(3, channels).text(4, png);
  summary_.message(1, ProtoMessage().text(1, tag).message(4, image));
}

void EventSummary::text(std::string_view tag, std::string_view text) {
  const ProtoMessage metadata = ProtoMessage().message(1, ProtoMessage().text(1, "text"));
  const std::int64_t one[] = {1};
  ProtoMessage tensor;
  tensor.whole(1, 7).message(2, shape_message(one)).text(8, text);  // 7: strings
  summary_.message(1, ProtoMessage().text(1, tag).message(9, metadata).message(8, tensor));
}

void EventSummary::plugin(std::string_view tag, std::string_view name, const ProtoMessage& content) {
  const ProtoMessage data = ProtoMessage().text(1, name).message(2, content);
  const ProtoMessage metadata = ProtoMessage().message(1, data);
  summary_.message(1, ProtoMessage().text(1, tag).message(9, metadata));
}

void EventSummary::hyperparameters(const Options& values, const std::vector<std::string>& metrics,
                                   double time) {
  ProtoMessage experiment, session;
  experiment.number(4, time);
  for (const auto& [name, value] : values) {
    experiment.message(5, ProtoMessage().text(1, name).whole(4, type_of(value)));
    session.message(1, ProtoMessage().text(1, name).message(2, value_message(value)));
  }
  for (const std::string& tag : metrics)
    experiment.message(6, ProtoMessage().message(1, ProtoMessage().text(2, tag)));
  session.number(5, time);
  plugin("_hparams_/experiment", "hparams", ProtoMessage().message(2, experiment));
  plugin("_hparams_/session_start_info", "hparams", ProtoMessage().message(3, session));
}

void EventSummary::finished(double time) {
  plugin("_hparams_/session_end_info", "hparams",
         ProtoMessage().message(4, ProtoMessage().whole(1, 1).number(2, time)));
}

std::string EventSummary::event(double time, std::int64_t step) const {
  return io::event(time, step).message(5, summary_).bytes();
}

std::string graph_event(double time, const std::vector<GraphNode>& nodes) {
  ProtoMessage graph;
  for (const GraphNode& node : nodes) {
    ProtoMessage out;
    out.text(1, node.name).text(2, node.op);
    for (const std::string& input : node.inputs) out.text(3, input);
    out.message(5, attribute("config", 2, node.label));
    const ProtoMessage shapes = ProtoMessage().message(7, shape_message(node.dims));
    out.message(5, attribute("_output_shapes", 1, shapes.bytes()));
    graph.message(1, out);
  }
  graph.message(4, ProtoMessage().whole(1, 22));  // versions.producer
  return event(time).text(4, graph.bytes()).bytes();
}

}  // namespace tightloop::io
