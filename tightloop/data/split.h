// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which rows validate, as pure functions of numbers, labels or groups. Definitions are scikit-learn's; draws
// come from a generator of their own that never changes, so a split does not depend on the training's seed.
#include <tightloop/data/dataset.h>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace tightloop::data {

enum class SplitMethod : std::uint8_t {
  random,      ///< rows by chance
  stratified,  ///< by chance, each class with its share
  group,       ///< whole groups: no group is on both sides
  time,        ///< the last rows validate
};

/// The one list of methods, in enum order, with their names in job files.
inline constexpr std::array<std::pair<SplitMethod, std::string_view>, 4> kSplitMethods{{
    {SplitMethod::random, "random"},
    {SplitMethod::stratified, "stratified"},
    {SplitMethod::group, "group"},
    {SplitMethod::time, "time"},
}};
/// Throws Error (with the nearest name) on an unknown name.
SplitMethod split_method_from_name(std::string_view name);

/// Equal values share a number; numbers follow the order of the values. `values`: [N], or [N, 1]. Throws
/// Error on NaN.
std::vector<std::int64_t> codes_of(const Array& values);

/// Holds back a fraction of the rows. `keys` has a number for each row: the class (stratified), the group
/// (group), or the place in time (time; empty: the rows are in their order; rows of equal time stay on one
/// side). random: round(rows · fraction) rows. stratified: as many, shared among the classes by largest
/// remainders, at least one row of each class on each side. group: round(groups · fraction) groups, at least
/// one. time: the round(rows · fraction) last rows. Throws Error with the numbers when a side would be empty,
/// a class has fewer than 2 rows, or there is one group only.
Split split_by(SplitMethod method, std::int64_t rows, double fraction,
               std::span<const std::int64_t> keys = {}, std::uint64_t seed = kSplitSeed);

/// Fold `index` (from 0) of `k`: its rows validate, the others train (time: those before it).
/// random: KFold on shuffled rows, the first rows mod k folds one row longer. stratified: StratifiedKFold on
/// shuffled rows. group: GroupKFold, the largest groups first, each to the fold with the fewest rows. time:
/// TimeSeriesSplit, folds of rows / (k + 1) rows. Throws Error with the numbers: k below 2 or more than the
/// rows (classes' rows, groups), index outside 0..k-1.
Split fold_by(SplitMethod method, std::int64_t rows, std::int64_t k, std::int64_t index,
              std::span<const std::int64_t> keys = {}, std::uint64_t seed = kSplitSeed);

/// rows / (classes · rows of the class) for each row: drawn with these weights, all classes come equally
/// often.
std::vector<double> balanced_weights(std::span<const std::int64_t> classes);

}  // namespace tightloop::data
