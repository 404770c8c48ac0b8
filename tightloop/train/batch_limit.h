// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <concepts>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

namespace tightloop::train {

/// A part of some batches: so many (a whole number), or a share of them (a number above 0, at most 1, rounded
/// down). Nothing said: all.
class BatchLimit {
 public:
  BatchLimit() = default;
  template <std::integral T>
  // NOLINTNEXTLINE(google-explicit-constructor): .limit_batches = 10
  BatchLimit(T batches) : limit_(static_cast<std::int64_t>(batches)) {}
  // NOLINTNEXTLINE(google-explicit-constructor): .limit_batches = 0.1
  BatchLimit(double share) : limit_(share) {}

  bool all() const { return std::holds_alternative<std::monostate>(limit_); }
  /// The limit as it was given: nothing, batches or a share.
  const std::variant<std::monostate, std::int64_t, double>& given() const { return limit_; }
  /// The same, whose errors begin with its place in a job.
  BatchLimit at(std::string where) const {
    BatchLimit out = *this;
    out.where_ = std::move(where);
    return out;
  }
  /// How many of `batches`. Throws Error in the name of `who` when that is none, or the share is no share.
  std::int64_t of(std::int64_t batches, const std::string& who) const;

 private:
  std::variant<std::monostate, std::int64_t, double> limit_;
  std::string where_;
};

}  // namespace tightloop::train
