// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/choice.h>
#include <tightloop/train/job_schedule.h>
#include <tightloop/train/keys/read.h>

#include <optional>

namespace tightloop::train {
namespace {

/// Collects what the parts say about the whole.
class Reader {
 public:
  JobSchedule read(const Value& v) {
    JobSchedule out{schedule(v), false, monitor_};
    out.per_step = every_ ? *every_ == "step" : per_step_;
    return out;
  }

 private:
  optim::SchedulePtr schedule(const Value& v) {
    if (v.as<Value::List>() != nullptr) return sequence(v);
    const Choice choice = keys::choice(v, "the name of a schedule, a table or a list of them");
    if (const Value* every = v.find("every")) note_every(*every);
    if (const Value* monitor = v.find("monitor")) monitor_ = keys::text(*monitor);
    if (choice.name == "product" || choice.name == "sequence") return several(v, choice.name == "product");
    const auto* def = optim::find_schedule(choice.name);
    if (def != nullptr) per_step_ = per_step_ || def->per_step;
    return placed(choice.where, [&] {
      return optim::make_schedule(choice.name, to_options(choice.options, {"every", "steps", "monitor"}));
    });
  }

  optim::SchedulePtr several(const Value& v, bool factors) {
    const Value* of = v.find("of");
    if (of == nullptr || of->as<Value::List>() == nullptr)
      fail(of == nullptr ? v : *of, "needs a list: write { name = \"product\", of = [\"cosine\", …] }");
    for (const auto& [key, value] : *v.as<Value::Table>())
      if (key != "name" && key != "of" && key != "every" && key != "steps")
        fail(value, "is no key of a product or sequence" + suggestion(key, {"of", "every", "steps"}));
    if (!factors) return sequence(*of);
    std::vector<optim::SchedulePtr> out;
    for (const Value& e : *of->as<Value::List>()) out.push_back(schedule(e));
    return placed(keys::place(v), [&] { return optim::product(std::move(out)); });
  }

  optim::SchedulePtr sequence(const Value& v) {
    const auto& list = *v.as<Value::List>();
    std::vector<optim::SchedulePart> parts;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Value* steps = list[i].find("steps");
      if (steps == nullptr && i + 1 < list.size())
        fail(list[i], "needs its length, as another schedule follows: write { name = …, steps = 5 }");
      parts.push_back(
          {schedule(list[i]), steps == nullptr ? 0.0 : static_cast<double>(keys::whole(*steps, 1))});
    }
    return placed(keys::place(v), [&] { return optim::sequence(std::move(parts)); });
  }

  void note_every(const Value& v) {
    const std::string every = keys::one_of(v, {"step", "epoch"});
    if (every_ && *every_ != every) fail(v, "differs from the other parts: all count steps, or all epochs");
    every_ = every;
  }

  std::optional<std::string> every_;
  std::string monitor_;
  bool per_step_ = false;
};

}  // namespace

JobSchedule job_schedule(const Value& value) {
  if (std::holds_alternative<std::monostate>(value.data)) return {};
  return Reader().read(value);
}

}  // namespace tightloop::train
