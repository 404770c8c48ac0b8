// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tests/support/places.h>
#include <tightloop/base/error.h>
#include <tightloop/base/file.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace tightloop::testing {

/// A folder of its own for one test, removed with it.
class TempDir {
 public:
  TempDir() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tightloop-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = pattern;
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }
  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(path_), std::filesystem::directory_iterator()));
  }

 private:
  std::string path_;
};

inline std::string put(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

inline std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// What the Error that `function` throws says; "" (and a failure) when it throws none.
template <class Function>
std::string error_of(Function function) {
  try {
    function();
  } catch (const Error& e) {
    return e.what();
  }
  ADD_FAILURE() << "no Error was thrown";
  return "";
}

/// Expects an Error whose message holds `part`.
#define EXPECT_ERROR(expression, part)                                                    \
  do {                                                                                    \
    const std::string said = ::tightloop::testing::error_of([&] { (void)(expression); }); \
    EXPECT_NE(said.find(part), std::string::npos) << "said: " << said;                    \
  } while (false)

/// A fixture that lies in the tree, or outside it in a folder that not every machine has.
inline std::string fixture(const std::string& name) {
  return places::source_dir() + "/tests/fixtures/" + name;
}
inline std::string shared_fixture(const std::string& name) {
  const std::string path = places::source_dir() + "/../shared/fixtures/" + name;
  return std::filesystem::exists(path) ? path : "";
}

}  // namespace tightloop::testing
