// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace tightloop::data {

enum class WindowTarget : std::uint8_t {
  ahead,    ///< the target's `horizon` rows behind the window
  shifted,  ///< the target's rows of the window moved on by `horizon`, one for each row of the window
};

/// The one list of them, in enum order, with their names in job files.
inline constexpr std::array<std::pair<WindowTarget, std::string_view>, 2> kWindowTargets{{
    {WindowTarget::ahead, "ahead"},
    {WindowTarget::shifted, "shifted"},
}};

/// A time series [T, F] seen as samples: inputs are `length` rows from row s on, [length, F]; the target is
/// what follows, [horizon] or [horizon, K] (ahead), or [length] or [length, K] (shifted). Nothing is copied:
/// the compiled loop gathers the rows of each window.
struct Window {
  std::int64_t length = 1;
  std::int64_t horizon = 1;
  std::int64_t stride = 1;  ///< rows from the start of one window to that of the next
  WindowTarget target = WindowTarget::ahead;

  /// Rows that a sample covers with its target; without one, `length`.
  std::int64_t span(bool with_target = true) const { return with_target ? length + horizon : length; }
  std::int64_t target_first() const { return target == WindowTarget::ahead ? length : horizon; }
  std::int64_t target_rows() const { return target == WindowTarget::ahead ? horizon : length; }
};

/// First rows of the windows of a series of `rows` rows. With `groups` (a number for each row; rows of a
/// group follow each other) no window crosses from one group to the next, and each group's first window
/// starts at its first row. Throws Error with the numbers when length, horizon or stride is below 1, when no
/// window fits, and when a group's rows are scattered.
std::vector<std::int64_t> window_rows(std::int64_t rows, const Window& window, bool with_target = true,
                                      std::span<const std::int64_t> groups = {});

/// Those of `firsts` whose rows (inputs and targets) all lie in `train`, and those whose target rows all lie
/// in `validation`: no target that validates is seen in training, though a window that validates may begin
/// with rows that were trained on. Both lists rise. Throws Error with the numbers when a side is left empty.
struct WindowSplit {
  std::vector<std::int64_t> train, validation;
};
WindowSplit split_windows(std::span<const std::int64_t> firsts, const Window& window, std::int64_t rows,
                          std::span<const std::int64_t> train, std::span<const std::int64_t> validation);

}  // namespace tightloop::data
