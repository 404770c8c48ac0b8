// SPDX-License-Identifier: Apache-2.0
#include <tests/support/files.h>

#include <tightloop/base/mapped.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <numeric>
#include <thread>

namespace tightloop {
namespace {

using testing::put;
using testing::TempDir;

constexpr std::size_t kSize = 1 << 20;

std::int64_t sum(const Bytes& bytes) {
  std::int64_t total = 0;
  for (const std::byte b : bytes.span()) total += std::to_integer<std::int64_t>(b);
  return total;
}

void set_time(const std::string& path, std::int64_t seconds) {
  const timespec times[2] = {{seconds, 0}, {seconds, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
}

TEST(MappedFiles, WhatIsCutOffReadsAsZerosAndIsSaid) {
  TempDir dir;
  const auto path = put(dir / "a b", std::string(kSize, '\1'));
  const Bytes bytes = map_file(path);
  MappedFiles files;
  files.add(bytes.data() + 5000);
  files.check(true);
  ASSERT_EQ(::truncate(path.c_str(), 4096), 0);
  EXPECT_EQ(sum(bytes), 4096);
  EXPECT_ERROR(files.check(),
               "a b' changed while it was read: it had 1048576 bytes and now has 4096; start again");
  std::memset(bytes.data(), 2, bytes.size());
  EXPECT_EQ(sum(bytes), 2 * static_cast<std::int64_t>(kSize));
}

TEST(MappedFiles, AFileThatWasCutAndFilledAgainIsNotTakenForItself) {
  TempDir dir;
  const auto path = put(dir / "a", std::string(kSize, '\1'));
  const Bytes bytes = map_file(path);
  ASSERT_EQ(::truncate(path.c_str(), 0), 0);
  EXPECT_EQ(sum(bytes), 0);
  put(path, std::string(kSize, '\1'));
  EXPECT_ERROR(check_unchanged(bytes), "changed while it was read");
}

TEST(MappedFiles, WritingAndGrowingAreChangesTakingThePlaceIsNone) {
  TempDir dir;
  const auto path = put(dir / "a", std::string(kSize, '\1'));
  const Bytes old = map_file(path);
  write_file(path, "another file");
  check_unchanged(old);
  EXPECT_EQ(sum(old), static_cast<std::int64_t>(kSize));
  const Bytes bytes = map_file(path);
  check_unchanged(bytes);
  set_time(path, 1000);
  EXPECT_ERROR(check_unchanged(bytes), "it was written to");
  put(path, "another file and more");
  EXPECT_ERROR(check_unchanged(bytes), "it had 12 bytes and now has 21");
  std::filesystem::remove(path);
  check_unchanged(bytes);
}

TEST(MappedFiles, OtherMemoryIsNobodysFile) {
  const std::string text = "no file";
  MappedFiles files;
  files.add(text.data());
  files.add(nullptr);
  files.check(true);
  check_unchanged(Bytes::copy_of(text));
}

TEST(MappedFiles, SeveralThreadsMayReadWhatGoesAway) {
  TempDir dir;
  std::vector<Bytes> all;
  for (int f = 0; f < 100; ++f)
    all.push_back(map_file(put(dir / std::to_string(f), std::string(64 * 1024, '\1'))));
  std::vector<std::int64_t> sums(4);
  std::vector<std::thread> threads;
  for (int f = 0; f < 100; ++f) ASSERT_EQ(::truncate((dir / std::to_string(f)).c_str(), 4096), 0);
  for (std::size_t t = 0; t < sums.size(); ++t)
    threads.emplace_back([&, t] {
      for (const Bytes& bytes : all) sums[t] += sum(bytes);
    });
  for (auto& t : threads) t.join();
  for (const auto s : sums) EXPECT_EQ(s, 100 * 4096);
  for (const Bytes& bytes : all) EXPECT_ERROR(check_unchanged(bytes), "changed while it was read");
}

TEST(MappedFiles, TheErrorThatNamesTheFileComesFirst) {
  TempDir dir;
  const auto path = put(dir / "a", std::string(kSize, '\1'));
  const Bytes bytes = map_file(path);
  EXPECT_EQ(while_unchanged(bytes, [&] { return sum(bytes); }), static_cast<std::int64_t>(kSize));
  EXPECT_ERROR(while_unchanged(bytes, []() -> int { throw Error("another"); }), "another");
  EXPECT_ERROR(while_unchanged(bytes,
                               [&]() -> int {
                                 ::truncate(path.c_str(), 1);
                                 throw Error(std::to_string(sum(bytes)));
                               }),
               "a' changed while it was read");
}

/// Reads behind the end of a file that is mapped by other means.
void fault_elsewhere(const std::string& path) {
  put(path, std::string(8192, 'x'));
  const int file = ::open(path.c_str(), O_RDONLY);
  const auto* data =
      static_cast<const volatile char*>(::mmap(nullptr, 8192, PROT_READ, MAP_PRIVATE, file, 0));
  if (::truncate(path.c_str(), 0) == 0) std::_Exit(data[5000]);
}

TEST(MappedFilesDeathTest, OtherFaultsKillAsBefore) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  TempDir dir;
  const auto run = [&] {
    std::signal(SIGBUS, SIG_DFL);  // a sanitizer has one of its own
    const Bytes bytes = map_file(put(dir / "a", "content"));
    fault_elsewhere(dir / "b");
  };
  EXPECT_EXIT(run(), ::testing::KilledBySignal(SIGBUS), "");
}

TEST(MappedFilesDeathTest, OtherFaultsGoToTheHandlerBefore) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  TempDir dir;
  const auto run = [&] {
    std::signal(SIGBUS, [](int) { std::_Exit(7); });
    const Bytes bytes = map_file(put(dir / "a", "content"));
    fault_elsewhere(dir / "b");
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace tightloop
