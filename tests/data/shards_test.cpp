// SPDX-License-Identifier: Apache-2.0
#include <tests/support/files.h>
#include <tests/support/tar.h>

#include <tightloop/data/shards.h>
#include <tightloop/data/tar.h>

#include <cstring>

namespace tightloop::data {
namespace {

using testing::tar_end;
using testing::tar_entry;

std::vector<TarMember> members(const std::string& tar) {
  return tar_members(
             [&](std::span<std::byte> to, std::uint64_t at) {
               ASSERT_LE(at + to.size(), tar.size());
               std::memcpy(to.data(), tar.data() + at, to.size());
             },
             tar.size(), "a.tar")
      .members;
}

TEST(Tar, FilesAndNothingElseAreListed) {
  const std::string tar = tar_entry("folder/", "", '5') + tar_entry("folder/a.txt", "hello") +
                          tar_entry("link", "", '2') + tar_entry("b.txt", std::string(600, 'b')) + tar_end();
  const auto got = members(tar);
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0].name, "folder/a.txt");
  EXPECT_EQ(tar.substr(got[0].offset, got[0].size), "hello");
  EXPECT_EQ(tar.substr(got[1].offset, got[1].size), std::string(600, 'b'));
}

TEST(Tar, LongNamesOfGnuAndPax) {
  const std::string name = std::string(150, 'd') + "/file.jpg";
  const std::string gnu = tar_entry("././@LongLink", name + '\0', 'L') + tar_entry(name.substr(0, 100), "x");
  const std::string record = " path=" + name + "\n";
  const std::string length = std::to_string(record.size() + 3);
  const std::string pax =
      tar_entry("PaxHeaders/file", length + record + "12 comment=\n", 'x') + tar_entry("short", "y");
  const auto got = members(gnu + pax + tar_entry("plain", "z") + tar_end());
  ASSERT_EQ(got.size(), 3u);
  EXPECT_EQ(got[0].name, name);
  EXPECT_EQ(got[1].name, name);
  EXPECT_EQ(got[2].name, "plain");
}

TEST(Tar, UstarPrefixAndBinarySizes) {
  std::string tar = tar_entry("name", "abc");
  std::memcpy(tar.data() + 345, "long/prefix", 11);
  testing::sign_tar_header(tar);
  EXPECT_EQ(members(tar)[0].name, "long/prefix/name");
  std::memset(tar.data() + 124, 0, 12);
  tar[124] = '\x80', tar[135] = 3;
  testing::sign_tar_header(tar);
  EXPECT_EQ(members(tar)[0].size, 3u);
  tar[125] = 1;
  testing::sign_tar_header(tar);
  EXPECT_ERROR(members(tar), "damaged size");
}

TEST(Tar, DamageIsNamed) {
  const std::string tar = tar_entry("a", "hello") + tar_entry("b", std::string(1000, 'b'));
  EXPECT_ERROR(members(tar.substr(0, 1024 + 512 + 700)),
               "a.tar: the tar archive is cut short inside 'b' (at its byte 1024)");
  EXPECT_ERROR(members(tar.substr(0, 1300)), "cut short inside a header");
  std::string damaged = tar;
  damaged[1024] = 'c';
  EXPECT_ERROR(members(damaged), "has a damaged header, or is none (at its byte 1024)");
  EXPECT_ERROR(members(tar_entry("p", "99 path=x\n", 'x')), "damaged pax header");
  EXPECT_EQ(members(tar).size(), 2u);
  EXPECT_TRUE(members("").empty());
}

TEST(Shards, BracesAreLists) {
  EXPECT_EQ(expand_braces("a-{008..011}.tar"),
            (std::vector<std::string>{"a-008.tar", "a-009.tar", "a-010.tar", "a-011.tar"}));
  EXPECT_EQ(expand_braces("{x,y}/{1..2}.tar"),
            (std::vector<std::string>{"x/1.tar", "x/2.tar", "y/1.tar", "y/2.tar"}));
  EXPECT_ERROR(expand_braces("a{1..2"), "a brace does not close");
  EXPECT_ERROR(expand_braces("a{3..1}"), "must rise");
  EXPECT_ERROR(expand_braces("a{1..x}"), "a range in braces is two numbers");
}

std::string text_of(const Shards& s, std::int64_t i, std::size_t field) {
  std::vector<std::byte> bytes;
  s.read(i, field, bytes);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(Shards, SamplesAreFilesOfOneName) {
  const testing::TempDir dir;
  testing::put(dir / "s-0.tar", tar_entry("d/1.JPG", "one") + tar_entry("d/1.cls", "7") +
                                    tar_entry("d/1.json", "{}") + tar_entry("d/2.cls", "8") +
                                    tar_entry("d/2.png", "two") + tar_end());
  testing::put(dir / "s-1.tar", tar_entry("d/1.png", "three") + tar_entry("d/1.cls", "9"));
  const Shards s(dir / "s-{0..1}.tar", {{"jpg", "png"}, {"cls"}});
  ASSERT_EQ(s.size(), 3);
  ASSERT_EQ(s.notes().size(), 1u);
  EXPECT_EQ(s.notes()[0],
            (dir / "s-1.tar") + ": has no end-of-archive blocks, so it may be cut short after 'd/1.cls'");
  EXPECT_EQ(text_of(s, 0, 0), "one");
  EXPECT_EQ(text_of(s, 1, 0), "two");
  EXPECT_EQ(text_of(s, 2, 1), "9");
  EXPECT_EQ(s.name(1), (dir / "s-0.tar") + "/d/2");
  EXPECT_EQ(s.extension(1, 0), "png");
  EXPECT_ERROR(Shards(dir / "s-0.tar", {{"json"}, {"cls"}}),
               "the sample 'd/2' has no file with the extension 'json'");
  EXPECT_ERROR(Shards(dir / "s-0.tar", {{"npy"}}), "has no sample with files of the extensions 'npy'");
  EXPECT_ERROR(Shards(dir / "s-{0..2}.tar", {{"cls"}}), "s-2.tar: cannot be read");
}

}  // namespace
}  // namespace tightloop::data
