// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/data/split.h>
#include <tightloop/data/split_generator.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace tightloop::data {
namespace {

using Rows = std::vector<std::int64_t>;
using Keys = std::span<const std::int64_t>;

Rows all_rows(std::int64_t rows) {
  Rows out(static_cast<std::size_t>(rows));
  std::iota(out.begin(), out.end(), std::int64_t{0});
  return out;
}

/// Rows by key, keys in their order.
std::map<std::int64_t, Rows> by_key(Keys keys) {
  std::map<std::int64_t, Rows> out;
  for (std::size_t r = 0; r < keys.size(); ++r) out[keys[r]].push_back(static_cast<std::int64_t>(r));
  return out;
}

Split with_validation(std::int64_t rows, const Rows& held) {
  std::vector<char> out_of_training(static_cast<std::size_t>(rows), 0);
  for (const std::int64_t r : held) out_of_training[static_cast<std::size_t>(r)] = 1;
  Split split{{}, held};
  for (std::int64_t r = 0; r < rows; ++r)
    if (out_of_training[static_cast<std::size_t>(r)] == 0) split.train.push_back(r);
  std::sort(split.validation.begin(), split.validation.end());
  return split;
}

void check_fraction(double fraction) {
  if (!(fraction > 0 && fraction < 1))
    throw Error(fmt::format("split: the validation fraction must lie between 0 and 1, not be {}", fraction));
}

/// How many rows of each class are held back: shares of `held` by largest remainder, 1 .. size - 1 of each.
std::vector<std::int64_t> shares(const std::map<std::int64_t, Rows>& classes, std::int64_t rows,
                                 std::int64_t held) {
  const auto count = static_cast<std::int64_t>(classes.size());
  if (held < count || rows - held < count)
    throw Error(
        fmt::format("split: {} rows with {} held back give each side too few for {} classes; stratified "
                    "needs a row of each class on both sides",
                    rows, held, count));
  std::vector<std::int64_t> out;
  std::vector<std::pair<double, std::size_t>> open;
  for (const auto& [key, members] : classes) {
    if (members.size() < 2)
      throw Error(
          fmt::format("split: a class has 1 row (row {}); stratified needs at least 2, one for each side",
                      members[0] + 1));
    const double wanted =
        static_cast<double>(held) * static_cast<double>(members.size()) / static_cast<double>(rows);
    const auto most = static_cast<std::int64_t>(members.size()) - 1;
    out.push_back(std::clamp(static_cast<std::int64_t>(wanted), std::int64_t{1}, most));
    open.emplace_back(wanted - static_cast<double>(out.back()), out.size() - 1);
  }
  std::stable_sort(open.begin(), open.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::int64_t> sizes;
  for (const auto& [key, members] : classes) sizes.push_back(static_cast<std::int64_t>(members.size()));
  std::int64_t left = held - std::accumulate(out.begin(), out.end(), std::int64_t{0});
  while (left != 0) {
    for (std::size_t k = 0; k < open.size() && left != 0; ++k) {
      const std::size_t c = left > 0 ? open[k].second : open[open.size() - 1 - k].second;
      const std::int64_t next = out[c] + (left > 0 ? 1 : -1);
      if (next < 1 || next >= sizes[c]) continue;
      out[c] = next;
      left += left > 0 ? -1 : 1;
    }
  }
  return out;
}

Rows stratified_rows(std::int64_t rows, double fraction, Keys keys, std::uint64_t seed) {
  const auto classes = by_key(keys);
  const auto held = shares(classes, rows, std::llround(static_cast<double>(rows) * fraction));
  SplitGenerator generator(seed);
  Rows out;
  std::size_t c = 0;
  for (auto [key, members] : classes) {
    const auto count = static_cast<std::size_t>(held[c++]);
    generator.shuffle(members, count);
    out.insert(out.end(), members.begin(), members.begin() + static_cast<std::ptrdiff_t>(count));
  }
  return out;
}

Rows group_rows(double fraction, Keys keys, std::uint64_t seed) {
  const auto groups = by_key(keys);
  const auto count = static_cast<std::int64_t>(groups.size());
  if (count < 2)
    throw Error(
        fmt::format("split: all {} rows are of one group; at least 2 groups are needed", keys.size()));
  const std::int64_t held =
      std::clamp(static_cast<std::int64_t>(std::llround(static_cast<double>(count) * fraction)),
                 std::int64_t{1}, count - 1);
  std::vector<const Rows*> order;
  for (const auto& [key, members] : groups) order.push_back(&members);
  SplitGenerator generator(seed);
  generator.shuffle(order, static_cast<std::size_t>(held));
  Rows out;
  for (std::int64_t g = 0; g < held; ++g) {
    const Rows& members = *order[static_cast<std::size_t>(g)];
    out.insert(out.end(), members.begin(), members.end());
  }
  return out;
}

Rows in_time(std::int64_t rows, Keys keys) {
  Rows order = all_rows(rows);
  if (keys.empty()) return order;
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return keys[static_cast<std::size_t>(a)] < keys[static_cast<std::size_t>(b)];
  });
  return order;
}

/// The place in `order` where the validation begins: moved up so that rows of equal time stay together.
std::size_t border(const Rows& order, std::size_t at, Keys keys) {
  const auto key = [&](std::size_t i) { return keys[static_cast<std::size_t>(order[i])]; };
  while (!keys.empty() && at > 0 && at < order.size() && key(at) == key(at - 1)) ++at;
  return at;
}

Split cut(const Rows& order, std::size_t first, std::size_t last) {
  const auto at = [&](std::size_t i) { return order.begin() + static_cast<std::ptrdiff_t>(i); };
  Split out{{order.begin(), at(first)}, {at(first), at(last)}};
  std::sort(out.train.begin(), out.train.end());
  std::sort(out.validation.begin(), out.validation.end());
  return out;
}

Split time_split(std::int64_t rows, double fraction, Keys keys) {
  const Rows order = in_time(rows, keys);
  const std::int64_t held = std::llround(static_cast<double>(rows) * fraction);
  const std::size_t first = border(order, static_cast<std::size_t>(rows - held), keys);
  if (first == 0 || first >= order.size())
    throw Error(fmt::format("split: the last {} of {} rows in time leave {} to train on and {} to validate",
                            held, rows, first, order.size() - first));
  return cut(order, first, order.size());
}

Split time_fold(std::int64_t rows, std::int64_t k, std::int64_t index, Keys keys) {
  const std::int64_t size = rows / (k + 1);
  if (size < 1)
    throw Error(fmt::format("split: {} folds in time need {} rows, there are {}", k, k + 1, rows));
  const Rows order = in_time(rows, keys);
  const std::size_t first = border(order, static_cast<std::size_t>(rows - (k - index) * size), keys);
  const std::size_t last = border(order, static_cast<std::size_t>(rows - (k - index - 1) * size), keys);
  if (first >= last)
    throw Error(
        fmt::format("split: fold {} of {} holds no rows: too many rows have the same time", index, k));
  return cut(order, first, last);
}

Rows random_fold(std::int64_t rows, std::int64_t k, std::int64_t index, std::uint64_t seed) {
  Rows order = all_rows(rows);
  SplitGenerator(seed).shuffle(order);
  const auto start = [&](std::int64_t i) { return i * (rows / k) + std::min(i, rows % k); };
  return {order.begin() + start(index), order.begin() + start(index + 1)};
}

/// scikit-learn's allocation: row i of the rows sorted by class goes to fold i mod k, which makes sizes
/// differ by one at most; within a class, chance decides which rows.
Rows stratified_fold(std::int64_t k, std::int64_t index, Keys keys, std::uint64_t seed) {
  Rows out;
  SplitGenerator generator(seed);
  std::int64_t before = 0;
  for (auto [key, members] : by_key(keys)) {
    const auto count = static_cast<std::int64_t>(members.size());
    if (count < k)
      throw Error(fmt::format("split: a class has {} row{} (row {} is one), fewer than the {} folds", count,
                              count == 1 ? "" : "s", members[0] + 1, k));
    generator.shuffle(members);
    for (std::int64_t i = 0; i < count; ++i)
      if ((before + i) % k == index) out.push_back(members[static_cast<std::size_t>(i)]);
    before += count;
  }
  return out;
}

Rows group_fold(std::int64_t k, std::int64_t index, Keys keys) {
  const auto groups = by_key(keys);
  if (static_cast<std::int64_t>(groups.size()) < k)
    throw Error(fmt::format("split: there are {} groups, fewer than the {} folds", groups.size(), k));
  std::vector<const Rows*> order;
  for (const auto& [key, members] : groups) order.push_back(&members);
  std::stable_sort(order.begin(), order.end(),
                   [](const Rows* a, const Rows* b) { return a->size() > b->size(); });
  std::vector<std::size_t> sizes(static_cast<std::size_t>(k), 0);
  Rows out;
  for (const Rows* members : order) {
    const auto fold = std::min_element(sizes.begin(), sizes.end()) - sizes.begin();
    sizes[static_cast<std::size_t>(fold)] += members->size();
    if (fold == index) out.insert(out.end(), members->begin(), members->end());
  }
  return out;
}

void check_keys(SplitMethod method, std::int64_t rows, Keys keys) {
  const bool needed = method == SplitMethod::stratified || method == SplitMethod::group;
  require(keys.empty() ? !needed : static_cast<std::int64_t>(keys.size()) == rows,
          "split: a key for each row");
}

}  // namespace

SplitMethod split_method_from_name(std::string_view name) {
  std::vector<std::string> known;
  for (const auto& [method, text] : kSplitMethods) {
    if (text == name) return method;
    known.emplace_back(text);
  }
  throw Error(fmt::format("split: there is no method '{}'{}; there are {}", name,
                          suggestion(std::string(name), known), fmt::join(known, ", ")));
}

std::vector<std::int64_t> codes_of(const Array& values) {
  const std::int64_t rows = values.rank() == 0 ? 0 : values.dims()[0];
  if (values.rank() == 0 || values.count() != rows)
    throw Error(fmt::format("split: one value a row is needed, not {}", values.type_string()));
  const auto number = [&](auto at) {
    std::map<decltype(at(std::int64_t{0})), std::int64_t> codes;
    for (std::int64_t r = 0; r < rows; ++r) codes.emplace(at(r), 0);
    std::int64_t next = 0;
    for (auto& [value, code] : codes) code = next++;
    std::vector<std::int64_t> out;
    for (std::int64_t r = 0; r < rows; ++r) out.push_back(codes.at(at(r)));
    return out;
  };
  if (!is_floating(values.dtype())) return number([&](std::int64_t r) { return values.int_at(r); });
  for (std::int64_t r = 0; r < rows; ++r)
    if (std::isnan(values.at(r))) throw Error(fmt::format("split: the value of row {} is NaN", r + 1));
  return number([&](std::int64_t r) { return values.at(r); });
}

Split split_by(SplitMethod method, std::int64_t rows, double fraction, Keys keys, std::uint64_t seed) {
  check_fraction(fraction);
  check_keys(method, rows, keys);
  if (method == SplitMethod::random) return split_rows(rows, fraction, seed);
  if (method == SplitMethod::time) return time_split(rows, fraction, keys);
  return with_validation(rows, method == SplitMethod::stratified ? stratified_rows(rows, fraction, keys, seed)
                                                                 : group_rows(fraction, keys, seed));
}

Split fold_by(SplitMethod method, std::int64_t rows, std::int64_t k, std::int64_t index, Keys keys,
              std::uint64_t seed) {
  check_keys(method, rows, keys);
  if (k < 2) throw Error(fmt::format("split: there must be at least 2 folds, not {}", k));
  if (k > rows) throw Error(fmt::format("split: there are {} rows, fewer than the {} folds", rows, k));
  if (index < 0 || index >= k)
    throw Error(fmt::format("split: fold {} is none of 0..{} ({} folds)", index, k - 1, k));
  if (method == SplitMethod::time) return time_fold(rows, k, index, keys);
  return with_validation(rows, method == SplitMethod::random       ? random_fold(rows, k, index, seed)
                               : method == SplitMethod::stratified ? stratified_fold(k, index, keys, seed)
                                                                   : group_fold(k, index, keys));
}

std::vector<double> balanced_weights(Keys classes) {
  const auto members = by_key(classes);
  std::vector<double> out;
  for (const std::int64_t c : classes)
    out.push_back(static_cast<double>(classes.size()) /
                  (static_cast<double>(members.size()) * static_cast<double>(members.at(c).size())));
  return out;
}

}  // namespace tightloop::data
