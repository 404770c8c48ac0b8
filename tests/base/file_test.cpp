// SPDX-License-Identifier: Apache-2.0
#include <tests/support/files.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <csignal>
#include <thread>

namespace tightloop {
namespace {

using testing::content_of;
using testing::put;
using testing::TempDir;

std::string gzipped(const std::string& text) {
  z_stream z{};
  EXPECT_EQ(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&z, text.size()) + 32, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
  out.resize(out.size() - z.avail_out);
  deflateEnd(&z);
  return out;
}

TEST(MapFile, HoldsTheContentAndNeverWritesBack) {
  TempDir dir;
  const auto path = put(dir / "a", "hello");
  const Bytes bytes = map_file(path);
  EXPECT_EQ(bytes.text(), "hello");
  bytes.data()[0] = std::byte{'j'};
  EXPECT_EQ(bytes.text(), "jello");
  EXPECT_EQ(content_of(path), "hello");
}

TEST(MapFile, KeepsItsContentWhenTheFileIsReplaced) {
  TempDir dir;
  const auto path = put(dir / "a", "old");
  const Bytes bytes = map_file(path);
  write_file(path, "brand new");
  EXPECT_EQ(bytes.text(), "old");
  EXPECT_EQ(map_file(path).text(), "brand new");
}

TEST(MapFile, ReadsWhatCannotBeMapped) {
  TempDir dir;
  EXPECT_TRUE(map_file(put(dir / "empty", "")).empty());
  EXPECT_FALSE(map_file("/proc/self/status").empty());
  const std::string pipe = dir / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::string sent(200000, 'x');
  std::thread writer([&] { put(pipe, sent); });
  const Bytes got = map_file(pipe);
  writer.join();
  EXPECT_EQ(got.text(), sent);
}

TEST(MapFile, SaysWhyItCannot) {
  TempDir dir;
  EXPECT_ERROR(map_file(dir / "none"), "none': No such file");
  EXPECT_ERROR(map_file(dir.path()), "it is a directory");
  EXPECT_ERROR(map_file(""), "the path is empty");
  EXPECT_ERROR(map_file(std::string("a\0b", 3)), "NUL");
  if (::geteuid() == 0) return;
  const auto locked = put(dir / "locked", "x");
  ::chmod(locked.c_str(), 0);
  EXPECT_ERROR(map_file(locked), "Permission denied");
}

TEST(Gzip, IsToldByContent) {
  TempDir dir;
  const std::string text(300000, 'a');
  EXPECT_EQ(read_file(put(dir / "data", gzipped(text))).text(), text);
  EXPECT_EQ(read_file(put(dir / "data.gz", text)).text(), text);
  EXPECT_TRUE(read_file(put(dir / "none", gzipped(""))).empty());
}

TEST(Gzip, JoinsMembersAndAllowsPadding) {
  TempDir dir;
  const std::string two = gzipped("one ") + gzipped("two");
  EXPECT_EQ(read_file(put(dir / "a", two)).text(), "one two");
  EXPECT_EQ(read_file(put(dir / "b", two + std::string(512, '\0'))).text(), "one two");
  EXPECT_ERROR(read_file(put(dir / "c", two + "junk")), "what follows the gzip data is not gzip");
}

TEST(Gzip, EveryCutIsDetected) {
  const std::string whole = gzipped("some text, some more text, and some text again");
  for (std::size_t n = 3; n < whole.size(); ++n) {
    const Bytes cut = Bytes::copy_of(whole.substr(0, n));
    EXPECT_ERROR(gunzip(cut.span(), "cut.gz"), "cut.gz");
  }
}

TEST(Gzip, EveryFlippedByteIsDetectedOrHarmless) {
  const std::string text = "some text, some more text, and some text again";
  const std::string whole = gzipped(text);
  for (std::size_t i = 10; i < whole.size(); ++i) {  // behind the header, whose time stamp may be anything
    std::string bad = whole;
    bad[i] = static_cast<char>(bad[i] ^ 0x41);
    EXPECT_ERROR(gunzip(Bytes::copy_of(bad).span(), "bad.gz"), "bad.gz");
  }
}

TEST(Gzip, StopsAtItsLimit) {
  const Bytes bomb = Bytes::copy_of(gzipped(std::string(1 << 20, '\0')));
  EXPECT_LT(bomb.size(), 2000u);
  EXPECT_ERROR(gunzip(bomb.span(), "bomb.gz", 100000), "more than 100000 bytes");
  EXPECT_EQ(gunzip(bomb.span(), "bomb.gz", 2 << 20).size(), 1u << 20);
}

TEST(AtomicFile, ReplacesWholeOrNotAtAll) {
  TempDir dir;
  const auto path = put(dir / "a", "old");
  {
    AtomicFile file(path);
    file.write("half of the n");
    EXPECT_EQ(content_of(path), "old");
  }
  EXPECT_EQ(content_of(path), "old");
  EXPECT_EQ(dir.entries(), 1u);
  AtomicFile file(path);
  file.write("new");
  file.commit();
  EXPECT_EQ(content_of(path), "new");
  EXPECT_EQ(dir.entries(), 1u);
}

TEST(AtomicFile, KeepsTheModeAndFollowsLinks) {
  TempDir dir;
  const auto path = put(dir / "a", "old");
  ::chmod(path.c_str(), 0640);
  std::filesystem::create_symlink("a", dir / "link");
  write_file(dir / "link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(dir / "link"));
  EXPECT_EQ(content_of(path), "new");
  struct stat status {};
  ::stat(path.c_str(), &status);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
}

TEST(AtomicFile, SaysWhyItCannot) {
  TempDir dir;
  EXPECT_ERROR(write_file(dir.path(), "x"), "it is a directory");
  EXPECT_ERROR(write_file(dir / "no/such/a", "x"), "no/such' does not exist");
  const auto file = put(dir / "file", "");
  EXPECT_ERROR(write_file(file + "/a", "x"), "Not a directory");
  EXPECT_ERROR(write_file(dir / std::string(300, 'n'), "x"), "File name too long");
  EXPECT_EQ(dir.entries(), 1u);
}

TEST(AtomicFile, WritesToDevicesDirectly) {
  write_file("/dev/null", "gone");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  EXPECT_ERROR(write_file("/dev/full", "x"), "'/dev/full': No space left");
}

TEST(AtomicFile, AFullDiskLeavesTheOldFile) {
  TempDir dir;
  const auto path = put(dir / "a", "old");
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 1000;
  ::setrlimit(RLIMIT_FSIZE, &small);
  const std::string said = testing::error_of([&] { write_file(path, std::string(5000, 'x')); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_NE(said.find("File too large"), std::string::npos) << said;
  EXPECT_EQ(content_of(path), "old");
  EXPECT_EQ(dir.entries(), 1u);
}

}  // namespace
}  // namespace tightloop
