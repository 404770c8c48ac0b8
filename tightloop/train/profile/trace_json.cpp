// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/train/profile/outputs.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

namespace tightloop::train {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kProcess = 1;

const char* category_of(SpanKind kind) {
  switch (kind) {
    case SpanKind::kernel:
      return "kernel";
    case SpanKind::step:
      return "step";
    case SpanKind::wait:
    case SpanKind::load:
      return "wait";
    case SpanKind::evaluation:
    case SpanKind::callback:
    case SpanKind::logging:
      return "between steps";
    default:
      return "loop";
  }
}

Json name_event(const char* what, int thread, const std::string& name) {
  return {{"name", what}, {"ph", "M"}, {"pid", kProcess}, {"tid", thread}, {"args", {{"name", name}}}};
}

/// Tenths of a nanosecond are enough, and keep files small.
double micros(double seconds) { return std::round(seconds * 1e10) / 1e4; }

Json event(const TraceSpan& span, const Spans::Name& name, const Profile& p) {
  Json args{{"step", span.step}};
  if (name.kernel >= 0 && static_cast<std::size_t>(name.kernel) < p.facts.kernels.size()) {
    const auto& facts = p.facts.kernels[static_cast<std::size_t>(name.kernel)];
    args["result"] = facts.type;
    args["flops"] = facts.flops;
    args["bytes"] = facts.bytes;
  }
  const std::string text = name.kind == SpanKind::step ? fmt::format("step {}", span.step) : name.text;
  return {{"name", text},
          {"cat", category_of(name.kind)},
          {"ph", "X"},
          {"pid", kProcess},
          {"tid", span.thread},
          {"ts", micros(span.begin)},
          {"dur", micros(span.end - span.begin)},
          {"args", std::move(args)}};
}

/// By their beginning; what holds others comes before them.
std::vector<const TraceSpan*> in_order(const Profile& p) {
  std::vector<const TraceSpan*> out;
  for (const TraceSpan& span : p.trace) out.push_back(&span);
  std::stable_sort(out.begin(), out.end(), [](const TraceSpan* a, const TraceSpan* b) {
    return a->begin != b->begin ? a->begin < b->begin : a->end > b->end;
  });
  return out;
}

[[noreturn]] void wrong(std::size_t index, const std::string& what) {
  throw Error(fmt::format("trace: event {}: {}", index, what));
}

/// What each event must have by its phase.
void check_event(const Json& e, std::size_t index) {
  if (!e.is_object()) wrong(index, "is no object");
  for (const char* key : {"name", "ph"})
    if (!e.contains(key) || !e[key].is_string()) wrong(index, fmt::format("has no text '{}'", key));
  for (const char* key : {"pid", "tid"})
    if (!e.contains(key) || !e[key].is_number_integer()) wrong(index, fmt::format("has no whole '{}'", key));
  if (e.contains("args") && !e["args"].is_object()) wrong(index, "'args' is no object");
  const std::string phase = e["ph"];
  if (phase == "M") {
    if (!e.contains("args") || !e["args"].contains("name")) wrong(index, "metadata without args.name");
    return;
  }
  if (phase != "X") wrong(index, "phase '" + phase + "' is neither X nor M");
  for (const char* key : {"ts", "dur"}) {
    if (!e.contains(key) || !e[key].is_number()) wrong(index, fmt::format("has no number '{}'", key));
    if (!(e[key].get<double>() >= 0)) wrong(index, fmt::format("'{}' is below 0", key));
  }
}

}  // namespace

std::string trace_json(const Profile& p) {
  Json events = Json::array();
  events.push_back(name_event("process_name", 0, p.title.empty() ? "tightloop" : "tightloop " + p.title));
  std::set<int> threads;
  for (const TraceSpan& span : p.trace) threads.insert(span.thread);
  for (const int t : threads)
    events.push_back(name_event("thread_name", t, t == 0 ? "main, team 0" : fmt::format("team {}", t)));
  for (const TraceSpan* span : in_order(p))
    events.push_back(event(*span, p.names[static_cast<std::size_t>(span->name)], p));
  const Json other{{"steps", p.steps}, {"steps_left_out", p.left_out}, {"spans_left_out", p.spans_cut}};
  const Json out{{"displayTimeUnit", "ns"}, {"otherData", other}, {"traceEvents", std::move(events)}};
  return out.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void check_trace(const std::string& text) {
  Json document;
  try {
    document = Json::parse(text);
  } catch (const Json::exception& e) {
    throw Error(fmt::format("trace: is no JSON: {}", e.what()));
  }
  if (!document.is_object() || !document.contains("traceEvents") || !document["traceEvents"].is_array())
    throw Error("trace: has no list 'traceEvents'");
  std::size_t index = 0;
  for (const Json& e : document["traceEvents"]) check_event(e, index++);
}

}  // namespace tightloop::train
