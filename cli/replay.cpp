// SPDX-License-Identifier: Apache-2.0
#include "command.h"
#include "report.h"

#include <tightloop/train/replay.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace tightloop::cli {
namespace {

struct Arguments {
  std::string run;
  std::int64_t step = 0;
  bool verify = false;
  bool json = false;
};

using Json = nlohmann::ordered_json;

/// A number that JSON has, or null.
Json number(double v) { return std::isfinite(v) ? Json(v) : Json(nullptr); }

/// All of a step; rows count from 1, as in messages.
Json to_json(const train::ReplayedStep& r) {
  Json rows = Json::array(), parameters = Json::array();
  for (const std::int64_t row : r.rows) rows.push_back(row + 1);
  for (const train::ParameterStep& p : r.parameters)
    parameters.push_back({{"path", p.path},
                          {"elements", p.count},
                          {"norm", number(p.norm)},
                          {"gradient", number(p.gradient)},
                          {"update", number(p.update)}});
  Json out{{"step", r.step},
           {"epoch", r.epoch},
           {"checkpoint", r.checkpoint.empty() ? Json(nullptr) : Json(r.checkpoint)},
           {"rows", rows},
           {"loss", number(r.loss)},
           {"lr", number(r.lr)},
           {"gradient_norm", number(r.gradient_norm)},
           {"parameters", parameters}};
  if (!r.names.empty()) out["names"] = r.names;
  if (!r.broken_rule.empty()) out["broken_rule"] = r.broken_rule;
  if (r.origin.kind != train::Origin::Kind::none) out["not_finite"] = r.origin.text;
  return out;
}

/// Rows as messages count them, or the samples' names; 64 at most.
std::string rows_text(const train::ReplayedStep& r) {
  constexpr std::size_t most = 64;
  const std::size_t shown = std::min(most, r.rows.size());
  std::string out;
  for (std::size_t i = 0; i < shown; ++i)
    out += " " + (r.names.empty() ? std::to_string(r.rows[i] + 1) : r.names[i]);
  return out + (shown < r.rows.size() ? fmt::format(" and {} more", r.rows.size() - shown) : "");
}

std::string parameters_text(const train::ReplayedStep& r) {
  std::string out = fmt::format("{:<28} {:>10} {:>12} {:>12} {:>12} {:>12}\n", "parameter", "elements",
                                "norm", "gradient", "update", "update/norm");
  for (const train::ParameterStep& p : r.parameters)
    out += fmt::format("{:<28} {:>10} {:>12.5g} {:>12.5g} {:>12.5g} {:>12.3g}\n", p.path, p.count, p.norm,
                       p.gradient, p.update, p.norm > 0 ? p.update / p.norm : 0);
  return out;
}

void print(const train::ReplayedStep& r) {
  const std::string from = r.checkpoint.empty() ? "from the start" : "from " + r.checkpoint;
  say(fmt::format("step {} in epoch {}, {}\n", r.step, r.epoch, from));
  say(fmt::format("{}{}: {}\n", count_text(static_cast<std::int64_t>(r.rows.size()), "row"),
                  r.names.empty() ? " (they count from 1)" : "", rows_text(r).substr(1)));
  say(fmt::format("loss {:.8g}  lr {:.6g}  norm of all gradients {:.6g}\n", r.loss, r.lr, r.gradient_norm));
  say(parameters_text(r));
  if (!r.broken_rule.empty()) say(r.broken_rule + "\n");
  if (r.origin.kind != train::Origin::Kind::none)
    say(fmt::format("the first value that is not finite: {}\n", r.origin.text));
}

int run(const Arguments& a) {
  catch_interrupt();
  Report report({}, a.json);
  const train::ReplayedStep r = train::replay_run(a.run, a.step, a.verify, &report);
  if (a.json)
    say(to_json(r).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  else
    print(r);
  if (!a.verify) return 0;
  if (r.difference)
    throw Error(fmt::format("verify: step {}: '{}' differs at element {}: compiled {}, interpreted {}",
                            r.step, r.difference->tensor, r.difference->element,
                            train::value_text(r.difference->compiled),
                            train::value_text(r.difference->interpreted)));
  if (!a.json) say("verify: compiled and interpreted values agree\n");
  return 0;
}

}  // namespace

void add_replay(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("replay", "Do one step of a run again and show what it did");
  const auto a = std::make_shared<Arguments>();
  command->add_option("run", a->run, "The run directory")->required()->type_name("RUN");
  command->add_option("--step", a->step, "Which step, from 0 on")->required()->type_name("K");
  command->add_flag("--verify", a->verify, "Run it beside the interpreter and compare every tensor");
  command->add_flag("--json", a->json, "Print one JSON object");
  command->footer("Example: tightloop replay run --step 57 --verify");
  command->callback([&action, a] { action = [a] { return run(*a); }; });
}

}  // namespace tightloop::cli
