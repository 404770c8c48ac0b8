// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace tightloop::data {

/// A regular file in a tar archive.
struct TarMember {
  std::string name;
  std::uint64_t offset = 0;  ///< of its content in the archive
  std::uint64_t size = 0;
};

/// What an archive holds.
struct TarListing {
  std::vector<TarMember> members;
  bool ended = false;  ///< the blocks of zeros at its end are there; else it may be cut after a member
};

/// Fills `to` with the bytes at `offset`; they are inside the archive.
using ReadAt = std::function<void(std::span<std::byte> to, std::uint64_t offset)>;

/// The regular files of a tar archive of `size` bytes, in their order: ustar (POSIX.1-1988), pax
/// (POSIX.1-2001: path and size), and GNU's long names and large sizes. Reads headers only. Throws Error
/// naming `name` when a header is damaged or the archive is cut short inside a member.
TarListing tar_members(const ReadAt& read, std::uint64_t size, const std::string& name);

}  // namespace tightloop::data
