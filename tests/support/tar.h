// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdio>
#include <cstring>
#include <string>

namespace tightloop::testing {

/// Sets the checksum of the header at the start of `tar`.
inline void sign_tar_header(std::string& tar) {
  std::memset(tar.data() + 148, ' ', 8);
  unsigned sum = 0;
  for (int i = 0; i < 512; ++i) sum += static_cast<unsigned char>(tar[static_cast<std::size_t>(i)]);
  std::snprintf(tar.data() + 148, 8, "%06o", sum);
}

/// A ustar header and the content, padded to blocks of 512 bytes.
inline std::string tar_entry(const std::string& name, const std::string& content, char type = '0') {
  std::string out(512, '\0');
  std::memcpy(out.data(), name.data(), std::min<std::size_t>(name.size(), 100));
  std::snprintf(out.data() + 100, 8, "%07o", 0644);
  std::snprintf(out.data() + 124, 12, "%011zo", content.size());
  out[156] = type;
  std::memcpy(out.data() + 257,
              "ustar\0"
              "00",
              8);
  sign_tar_header(out);
  out += content;
  out.resize((out.size() + 511) / 512 * 512, '\0');
  return out;
}

inline std::string tar_end() { return std::string(1024, '\0'); }

}  // namespace tightloop::testing
