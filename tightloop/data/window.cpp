// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/data/window.h>

#include <fmt/format.h>
#include <set>

namespace tightloop::data {
namespace {

void check(const Window& w) {
  const auto at_least_one = [](const char* name, std::int64_t n) {
    if (n < 1) throw Error(fmt::format("window: {} must be at least 1, not {}", name, n));
  };
  at_least_one("length", w.length);
  at_least_one("horizon", w.horizon);
  at_least_one("stride", w.stride);
  constexpr std::int64_t most = std::int64_t{1} << 40;
  if (w.length > most || w.horizon > most)
    throw Error(
        fmt::format("window: length {} and horizon {} must be at most {}", w.length, w.horizon, most));
}

/// Whether all of rows first .. first + count - 1 are marked, by the marks summed up.
bool all_marked(const std::vector<std::int64_t>& sums, std::int64_t first, std::int64_t count) {
  return sums[static_cast<std::size_t>(first + count)] - sums[static_cast<std::size_t>(first)] == count;
}

std::vector<std::int64_t> sums_of(std::span<const std::int64_t> marked, std::int64_t rows) {
  std::vector<std::int64_t> sums(static_cast<std::size_t>(rows) + 1, 0);
  for (const std::int64_t r : marked) sums[static_cast<std::size_t>(r) + 1] = 1;
  for (std::size_t i = 1; i < sums.size(); ++i) sums[i] += sums[i - 1];
  return sums;
}

}  // namespace

std::vector<std::int64_t> window_rows(std::int64_t rows, const Window& w, bool with_target,
                                      std::span<const std::int64_t> groups) {
  check(w);
  require(groups.empty() || static_cast<std::int64_t>(groups.size()) == rows, "window_rows: a group a row");
  std::vector<std::int64_t> out;
  std::set<std::int64_t> seen;
  std::int64_t longest = 0;
  for (std::int64_t begin = 0, end = 0; begin < rows; begin = end) {
    end = groups.empty() ? rows : begin;
    while (end < rows && groups[static_cast<std::size_t>(end)] == groups[static_cast<std::size_t>(begin)])
      ++end;
    if (!groups.empty() && !seen.insert(groups[static_cast<std::size_t>(begin)]).second)
      throw Error(
          fmt::format("window: the rows of a group must follow each other, but the group of row {} was "
                      "there before; sort the rows by group",
                      begin + 1));
    longest = std::max(longest, end - begin);
    for (std::int64_t s = begin; s + w.span(with_target) <= end; s += w.stride) out.push_back(s);
  }
  if (out.empty())
    throw Error(fmt::format("window: {} rows are needed{} (length {}{}), and {} {}", w.span(with_target),
                            groups.empty() ? "" : " in a group", w.length,
                            with_target ? fmt::format(" + horizon {}", w.horizon) : "",
                            groups.empty() ? "there are" : "the longest has", longest));
  return out;
}

WindowSplit split_windows(std::span<const std::int64_t> firsts, const Window& w, std::int64_t rows,
                          std::span<const std::int64_t> train, std::span<const std::int64_t> validation) {
  const auto trained = sums_of(train, rows), held = sums_of(validation, rows);
  WindowSplit out;
  for (const std::int64_t s : firsts) {
    if (all_marked(trained, s, w.span())) out.train.push_back(s);
    if (all_marked(held, s + w.target_first(), w.target_rows())) out.validation.push_back(s);
  }
  if (out.train.empty() || out.validation.empty())
    throw Error(fmt::format(
        "window: of {} windows of {} rows, {} lie in the {} rows that train and {} have their "
        "target in the {} that validate; both need one",
        firsts.size(), w.span(), out.train.size(), train.size(), out.validation.size(), validation.size()));
  return out;
}

}  // namespace tightloop::data
