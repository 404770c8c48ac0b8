// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/train/batch_limit.h>

#include <fmt/format.h>
#include <algorithm>

namespace tightloop::train {

std::int64_t BatchLimit::of(std::int64_t batches, const std::string& name) const {
  const std::string& who = where_.empty() ? name : where_;
  if (all()) return batches;
  if (const auto* count = std::get_if<std::int64_t>(&limit_)) {
    if (*count < 1) throw Error(fmt::format("{}: must be at least 1 batch, not {}", who, *count));
    return std::min(*count, batches);
  }
  const double share = std::get<double>(limit_);
  if (!(share > 0 && share <= 1))
    throw Error(fmt::format("{}: a share must be above 0 and at most 1, not {}", who, share));
  const auto out = static_cast<std::int64_t>(share * static_cast<double>(batches));
  if (out < 1)
    throw Error(
        fmt::format("{}: {} of {} batches is less than one batch; take a larger share or a number of batches",
                    who, share, batches));
  return out;
}

}  // namespace tightloop::train
