// SPDX-License-Identifier: Apache-2.0
#include "command.h"

#include <tightloop/train/doctor/doctor.h>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>

namespace tightloop::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
  bool json = false;
  bool quick = false;
};

Json to_json(const std::vector<train::Symptom>& findings) {
  Json list = Json::array();
  for (const train::Symptom& f : findings) {
    Json entry{{"what", f.what}, {"health", train::name(f.health)}, {"found", f.found}};
    if (!f.advice.empty()) entry["advice"] = f.advice;
    list.push_back(std::move(entry));
  }
  return list;
}

Json to_json(const train::Measured& m) {
  const auto peaks = [](const std::vector<TypePeak>& list) {
    Json out = Json::array();
    for (const TypePeak& p : list)
      out.push_back({{"type", p.type}, {"units", p.units}, {"gflops", p.gflops}});
    return out;
  };
  return {{"threads", m.threads},
          {"peaks_1_thread", peaks(m.peaks)},
          {"peaks", peaks(m.all_peaks.empty() ? m.peaks : m.all_peaks)},
          {"read_gb_per_s_1_thread", m.bandwidth},
          {"read_gb_per_s", m.all_bandwidth > 0 ? m.all_bandwidth : m.bandwidth}};
}

void run(const Arguments& a) {
  const train::MachineFacts facts = train::read_machine();
  const train::Probed probed = train::probe();
  std::optional<train::Measured> measured;
  if (!a.quick) measured = train::measure_machine(facts, probed.usable);
  const std::vector<train::Symptom> findings = train::examine(facts, probed, measured);
  const auto warnings = std::count_if(findings.begin(), findings.end(),
                                      [](const auto& f) { return f.health == train::Health::warn; });
  if (a.json) {
    Json out{{"version", TIGHTLOOP_VERSION}, {"warnings", warnings}, {"findings", to_json(findings)}};
    if (measured) out["measured"] = to_json(*measured);
    return say(out.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  }
  say(fmt::format("tightloop {}\n{}", TIGHTLOOP_VERSION, train::findings_text(findings)));
  say(warnings == 0
          ? "nothing here costs speed\n"
          : fmt::format("{} cost{} speed\n", count_text(warnings, "thing"), warnings == 1 ? "s" : ""));
}

}  // namespace

void add_doctor(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("doctor", "Look at this machine: what it can do, and what of it costs speed");
  const auto a = std::make_shared<Arguments>();
  command->add_flag("--json", a->json, "Print one JSON object");
  command->add_flag("--quick", a->quick, "Measure nothing");
  command->footer("Example: tightloop doctor --quick");
  command->callback([&action, a] { action = [a] { return run(*a), 0; }; });
}

}  // namespace tightloop::cli
