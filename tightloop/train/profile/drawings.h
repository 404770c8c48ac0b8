// SPDX-License-Identifier: Apache-2.0
#pragma once
// The drawings of a profile's page, as HTML; "" where there is nothing to draw.
#include <tightloop/train/profile/profile.h>

#include <string>

namespace tightloop::train::profile {

/// Which of the page's colours a category has, the same everywhere.
int colour_of(const std::string& category);

/// Shares of the categories as one bar, with the table that explains the colours.
std::string shares(const Profile& profile);

/// The traced step that took about as long as the median: a line for each thread, a box for each span.
std::string timeline(const Profile& profile);

/// Kernels by their arithmetic intensity (operations a byte) and speed, under what the machine reaches.
std::string roofline(const Profile& profile);

/// Bytes of temporaries that live in each phase of a step, and the largest with their owners.
std::string memory(const Profile& profile);

/// Layers with their time, each above those in it.
std::string layer_tree(const Profile& profile);

}  // namespace tightloop::train::profile
