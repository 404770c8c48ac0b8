// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/functions.h>
#include <tightloop/optim/schedule.h>

namespace tightloop::optim {
namespace {

class Sequence final : public Schedule {
 public:
  explicit Sequence(std::vector<SchedulePart> parts) : parts_(std::move(parts)) {}
  Tensor rate(const Tensor& time, double lr, double length) const override {
    Tensor out;
    double start = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const double rest = std::max(1.0, length - start);
      const double own = i + 1 < parts_.size() ? parts_[i].length : rest;
      const Tensor rate = parts_[i].schedule->rate(i == 0 ? time : time - start, lr, own);
      out = i == 0 ? rate : select(time >= start, rate, out);
      start += own;
    }
    return out;
  }
  const PlateauOptions* plateau() const override {
    for (const auto& part : parts_)
      if (const auto* found = part.schedule->plateau()) return found;
    return nullptr;
  }

 private:
  std::vector<SchedulePart> parts_;
};

class Product final : public Schedule {
 public:
  explicit Product(std::vector<SchedulePtr> factors) : factors_(std::move(factors)) {}
  Tensor rate(const Tensor& time, double lr, double length) const override {
    Tensor out = factors_[0]->rate(time, lr, length);
    for (std::size_t i = 1; i < factors_.size() && lr > 0; ++i)
      out = out * (factors_[i]->rate(time, lr, length) / lr);
    return out;
  }
  const PlateauOptions* plateau() const override {
    for (const auto& factor : factors_)
      if (const auto* found = factor->plateau()) return found;
    return nullptr;
  }

 private:
  std::vector<SchedulePtr> factors_;
};

}  // namespace

SchedulePtr sequence(std::vector<SchedulePart> parts) {
  if (parts.empty()) throw Error("schedule: a sequence needs at least one part");
  for (std::size_t i = 0; i + 1 < parts.size(); ++i)
    if (!(parts[i].length > 0))
      throw Error("schedule: every part of a sequence but the last needs its length: steps above 0");
  return std::make_shared<Sequence>(std::move(parts));
}

SchedulePtr product(std::vector<SchedulePtr> factors) {
  if (factors.empty()) throw Error("schedule: a product needs at least one factor");
  return std::make_shared<Product>(std::move(factors));
}

}  // namespace tightloop::optim
