// SPDX-License-Identifier: Apache-2.0
#include <tests/support/files.h>
#include <tightloop/io/safetensors.h>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

namespace tightloop::io {
namespace {

using tightloop::testing::content_of;
using tightloop::testing::TempDir;

std::string file_text(std::string header, const std::string& data) {
  const std::uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + header + data;
}

TensorFile parse(const std::string& text) { return parse_safetensors(Bytes::copy_of(text), "m"); }
TensorFile parse(const std::string& header, const std::string& data) {
  return parse(file_text(header, data));
}

TensorFile sample() {
  TensorFile file;
  file.tensors.emplace_back("bias", Array::of<std::uint8_t>({3}, {1, 2, 3}));
  file.tensors.emplace_back("lin.weight", Array::of<float>({2, 2}, {1, -2, 3.5, 0}));
  file.tensors.emplace_back("step", Array::scalar<std::int64_t>(1234567890123));
  file.tensors.emplace_back("none", Array(DType::f32, {0, 4}));
  file.metadata = {{"format", "pt"}, {"note", "ünï \"quoted\"\n"}};
  return file;
}

void expect_same(const TensorFile& a, const TensorFile& b) {
  EXPECT_EQ(a.metadata, b.metadata);
  ASSERT_EQ(a.tensors.size(), b.tensors.size());
  for (std::size_t i = 0; i < a.tensors.size(); ++i) {
    EXPECT_EQ(a.tensors[i].first, b.tensors[i].first);
    EXPECT_TRUE(identical(a.tensors[i].second, b.tensors[i].second)) << a.tensors[i].first;
  }
}

TEST(Safetensors, WritesWhatItReads) {
  TempDir dir;
  TensorFile file = sample();
  for (const auto& info : kDTypes) {
    Array a(info.dtype, {5});
    for (std::int64_t i = 0; i < 5; ++i) a.set(i, static_cast<double>(i % 2));
    file.tensors.emplace_back("of " + std::string(info.name), a);
  }
  write_safetensors(dir / "a", file);
  const TensorFile back = read_safetensors(dir / "a");
  expect_same(back, file);
  EXPECT_NE(back.find("step"), nullptr);
  EXPECT_EQ(back.find("other"), nullptr);
  write_safetensors(dir / "b", back);
  EXPECT_EQ(content_of(dir / "a"), content_of(dir / "b"));
}

TEST(Safetensors, FollowsTheFormatByteForByte) {
  TempDir dir;
  TensorFile file;
  file.tensors.emplace_back("a", Array::of<std::uint8_t>({2}, {7, 8}));
  file.tensors.emplace_back("b", Array::of<float>({1}, {1.f}));
  write_safetensors(dir / "f", file);
  std::string header =
      R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[4,6]},"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  EXPECT_EQ(content_of(dir / "f"), file_text(header, std::string("\0\0\x80\x3f\7\x8", 6)));
}

TEST(Safetensors, EveryWrittenArrayLiesAlignedAndIsBorrowed) {
  TempDir dir;
  write_safetensors(dir / "a", sample());
  const Bytes bytes = map_file(dir / "a");
  for (const auto& [name, array] : parse_safetensors(bytes, "a").tensors) {
    if (array.count() == 0) continue;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.bytes()) % size_of(array.dtype()), 0u) << name;
    EXPECT_GE(array.bytes(), bytes.data()) << name;
    EXPECT_LE(array.bytes() + array.size_bytes(), bytes.data() + bytes.size()) << name;
  }
}

TEST(Safetensors, CopiesWhatLiesUnaligned) {
  const TensorFile file = parse(
      R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"F32","shape":[1],"data_offsets":[1,5]}})",
      std::string("\1\0\0\x80\x3f", 5));
  EXPECT_EQ(file.find("b")->as<float>()[0], 1.f);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(file.find("b")->bytes()) % 4, 0u);
}

TEST(Safetensors, AllowsAnyOrderAndNoTensors) {
  EXPECT_TRUE(parse("{}", "").tensors.empty());
  EXPECT_TRUE(parse("{}      ", "").tensors.empty());
  const TensorFile file = parse(
      R"({"z":{"shape":[1],"data_offsets":[1,2],"dtype":"U8"},"a":{"dtype":"U8","shape":[],"data_offsets":[0,1]}})",
      "xy");
  EXPECT_EQ(file.tensors[0].first, "z");
  EXPECT_EQ(file.tensors[0].second.int_at(0), 'y');
  EXPECT_EQ(file.tensors[1].second.type_string(), "u8[]");
}

TEST(Safetensors, RefusesMalformedFiles) {
  const auto one = [](const std::string& fields, const std::string& data = "abcd") {
    return parse("{\"a\":{" + fields + "}}", data);
  };
  EXPECT_ERROR(parse(""), "only 0 bytes");
  EXPECT_ERROR(parse("1234567"), "only 7 bytes");
  EXPECT_ERROR(parse(std::string("\xff\xff\xff\xff\xff\xff\xff\xff{}", 10)),
               "header would have 18446744073709551615");
  EXPECT_ERROR(parse("{\"a\":", ""), "not JSON");
  EXPECT_ERROR(parse("", ""), "not JSON");
  EXPECT_ERROR(parse("[]", ""), "not a JSON object");
  EXPECT_ERROR(parse("{\"\xff\":1}", ""), "not JSON");
  EXPECT_ERROR(parse("{} x", ""), "not JSON");
  EXPECT_ERROR(parse("{\"a\":1}", ""), "tensor 'a' is not described by a JSON object");
  EXPECT_ERROR(parse("{\"a\":[[[[[[[[[[]]]]]]]]]]}", ""), "nested too deep");
  EXPECT_ERROR(parse(R"({"a":{"dtype":"U8","shape":[1e999],"data_offsets":[0,1]}})", "a"), "out of range");
  EXPECT_ERROR(one(R"("dtype":"F32","shape":[1])"), "lacks 'data_offsets'");
  EXPECT_ERROR(one(R"("dtype":"F32","data_offsets":[0,4])"), "lacks 'shape'");
  EXPECT_ERROR(one(R"("shape":[1],"data_offsets":[0,4])"), "lacks 'dtype'");
  EXPECT_ERROR(one(R"("dtype":"F32","shape":[1],"data_offsets":[0,4],"x":1)"), "unknown key 'x'");
  EXPECT_ERROR(one(R"("dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4])"),
               "dtype 'F8_E4M3', which is not supported");
  EXPECT_ERROR(one(R"("dtype":4,"shape":[4],"data_offsets":[0,4])"), "not a string");
  EXPECT_ERROR(one(R"("dtype":"F32","shape":[-1],"data_offsets":[0,4])"), "shape with an entry");
  EXPECT_ERROR(one(R"("dtype":"F32","shape":[1.0],"data_offsets":[0,4])"), "shape with an entry");
  EXPECT_ERROR(one(R"("dtype":"F32","shape":1,"data_offsets":[0,4])"), "shape that is not a list");
  EXPECT_ERROR(one(R"("dtype":"F32","shape":[1],"data_offsets":[0,4,8])"), "two data_offsets, has 3");
  EXPECT_ERROR(one(R"("dtype":"F32","shape":[1],"data_offsets":[4,0])"), "run backwards");
  EXPECT_ERROR(one(R"("dtype":"F32","shape":[2],"data_offsets":[0,8])"), "only 4 bytes of data");
  EXPECT_ERROR(one(R"("dtype":"F32","shape":[2],"data_offsets":[0,4])"), "needs 8 bytes for its shape");
  EXPECT_ERROR(one(R"("dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,4])"), "overflows");
  EXPECT_ERROR(one(R"("dtype":"U8","shape":[3],"data_offsets":[0,3])"), "1 bytes follow the last tensor");
  EXPECT_ERROR(one(R"("dtype":"U8","shape":[3],"data_offsets":[1,4])"), "leaving a hole");
  EXPECT_ERROR(one(R"("dtype":"BOOL","shape":[4],"data_offsets":[0,4])"), "tensor 'a': bool element 0");
  EXPECT_ERROR(parse(R"({"__metadata__":{"a":1}})", ""), "'a' in __metadata__ is not a string");
  EXPECT_ERROR(parse(R"({"__metadata__":[]})", ""), "__metadata__ is not a JSON object");
}

TEST(Safetensors, RefusesDuplicatesAndOverlaps) {
  const std::string a = R"("a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]})";
  const std::string b = R"("b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]})";
  EXPECT_ERROR(parse("{" + a + "," + a + "}", "xy"), "key 'a' twice");
  EXPECT_ERROR(parse("{" + a + "," + b + "}", "xyz"), "begins at byte 1 of the data, inside");
  EXPECT_ERROR(parse(R"({"a":{"dtype":"U8","dtype":"U8","shape":[2],"data_offsets":[0,2]}})", "xy"),
               "key 'dtype' twice");
}

TEST(Safetensors, EveryCutAndEveryAddedByteIsDetected) {
  TempDir dir;
  write_safetensors(dir / "a", sample());
  const std::string whole = content_of(dir / "a");
  for (std::size_t n = 0; n < whole.size(); ++n) EXPECT_ERROR(parse(whole.substr(0, n)), "m:");
  EXPECT_ERROR(parse(whole + '\0'), "1 bytes follow");
}

TEST(Safetensors, RefusesToWriteWhatCannotBeReadBack) {
  TempDir dir;
  const Array x = Array::scalar(1.f);
  EXPECT_ERROR(write_safetensors(dir / "a", {{{"x", x}, {"x", x}}, {}}), "two tensors are named 'x'");
  EXPECT_ERROR(write_safetensors(dir / "a", {{{"__metadata__", x}}, {}}), "must not be named __metadata__");
  EXPECT_ERROR(write_safetensors(dir / "a", {{{"\xff", x}}, {}}), "not UTF-8");
  EXPECT_ERROR(write_safetensors(dir / "a", {{}, {{"k", "\xff"}}}), "not UTF-8");
  EXPECT_EQ(dir.entries(), 0u);
}

TEST(Safetensors, CanReplaceTheFileItBorrows) {
  TempDir dir;
  write_safetensors(dir / "a", sample());
  TensorFile file = read_safetensors(dir / "a");
  file.tensors[1].second.set(0, 42);
  write_safetensors(dir / "a", file);
  EXPECT_EQ(read_safetensors(dir / "a").tensors[1].second.at(0), 42);
}

/// Writes files whose every value is their generation until it is killed.
[[noreturn]] void write_generations(const std::string& path) {
  for (int generation = 1;; ++generation) {
    Array a(DType::i32, {50000});
    for (auto& x : a.as<std::int32_t>()) x = generation;
    write_safetensors(path, {{{"a", a}}, {{"generation", std::to_string(generation)}}});
  }
}

TEST(Safetensors, AKilledWriterLeavesAWholeFile) {
  TempDir dir;
  const std::string path = dir / "a";
  write_safetensors(path, {{{"a", Array(DType::i32, {50000})}}, {{"generation", "0"}}});
  for (int round = 0; round < 12; ++round) {
    const pid_t child = ::fork();
    if (child == 0) write_generations(path);
    ::usleep(static_cast<useconds_t>(1000 + 1700 * round));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const TensorFile file = read_safetensors(path);
    const int generation = std::stoi(file.metadata.at("generation"));
    for (const auto x : file.find("a")->as<std::int32_t>()) ASSERT_EQ(x, generation);
  }
}

}  // namespace
}  // namespace tightloop::io
