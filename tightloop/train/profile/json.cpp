// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/profile/outputs.h>

#include <nlohmann/json.hpp>

namespace tightloop::train {
namespace {

using Json = nlohmann::ordered_json;

Json rows_of(const Profile& p) {
  Json out = Json::array();
  for (const ProfileRow& row : p.rows)
    out.push_back({{"name", row.label},
                   {"layer", row.path},
                   {"category", row.category},
                   {"us", 1e6 * row.seconds},
                   {"calls", row.calls},
                   {"flops", row.flops},
                   {"bytes", row.bytes},
                   {"roofline", row.seconds > 0 ? row.floor / row.seconds : 0}});
  return out;
}

Json findings_of(const Profile& p) {
  Json out = Json::array();
  for (const Finding& f : judge(p))
    out.push_back(
        {{"cause", f.cause}, {"share", f.share}, {"gain", f.gain}, {"what", f.what}, {"next", f.next}});
  return out;
}

}  // namespace

std::string profile_json(const Profile& p) {
  Json activities = Json::array(), trials = Json::array();
  for (const ProfileActivity& a : p.activities)
    activities.push_back({{"name", a.name}, {"seconds", a.seconds}, {"count", a.count}});
  for (const ProfileTrial& t : p.trials)
    trials.push_back({{"what", t.what}, {"before", t.before}, {"after", t.after}});
  const Json out{{"job", p.title},
                 {"steps", p.steps},
                 {"steps_left_out", p.left_out},
                 {"step_us", 1e6 * p.step},
                 {"whole_step_us", 1e6 * whole_step(p)},
                 {"threads", p.threads},
                 {"peak_gflops", p.peak_gflops},
                 {"bandwidth_gb_s", p.bandwidth},
                 {"findings", findings_of(p)},
                 {"rows", rows_of(p)},
                 {"activities", std::move(activities)},
                 {"trials", std::move(trials)}};
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tightloop::train
