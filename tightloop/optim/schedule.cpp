// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/functions.h>
#include <tightloop/optim/schedule.h>

#include <algorithm>

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
  Tensor momentum(const Tensor& time, double own, double length) const override {
    Tensor out;
    double start = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const double part = i + 1 < parts_.size() ? parts_[i].length : std::max(1.0, length - start);
      const Tensor next = parts_[i].schedule->momentum(i == 0 ? time : time - start, own, part);
      if (next.defined() || out.defined()) {
        const Tensor plain = scalar(own, DType::f64), value = next.defined() ? next : plain;
        out = i == 0 ? value : select(time >= start, value, out.defined() ? out : plain);
      }
      start += part;
    }
    return out;
  }
  bool needs_momentum() const override {
    return std::any_of(parts_.begin(), parts_.end(),
                       [](const auto& p) { return p.schedule->needs_momentum(); });
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
  /// That of the first factor that moves it.
  Tensor momentum(const Tensor& time, double own, double length) const override {
    for (const auto& factor : factors_)
      if (Tensor out = factor->momentum(time, own, length); out.defined()) return out;
    return {};
  }
  bool needs_momentum() const override {
    return std::any_of(factors_.begin(), factors_.end(), [](const auto& f) { return f->needs_momentum(); });
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
