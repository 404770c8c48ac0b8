// SPDX-License-Identifier: Apache-2.0
#include <tests/support/files.h>
#include <tightloop/io/npy.h>

#include <cmath>

namespace tightloop::io {
namespace {

using tightloop::testing::content_of;
using tightloop::testing::fixture;
using tightloop::testing::put;
using tightloop::testing::shared_fixture;
using tightloop::testing::TempDir;

std::vector<double> values(const Array& a) {
  std::vector<double> out;
  for (std::int64_t i = 0; i < a.count(); ++i) out.push_back(a.at(i));
  return out;
}

std::string npy(const std::string& header, const std::string& data, char version = 1) {
  std::string out = "\x93NUMPY";
  out += version;
  out += '\0';
  for (std::size_t i = 0, n = header.size(); i < (version == 1 ? 2u : 4u); ++i, n >>= 8)
    out += static_cast<char>(n & 0xff);
  return out + header + data;
}

Array parse(const std::string& text) { return parse_npy(Bytes::copy_of(text), "a.npy"); }
Array parse_header(const std::string& header, std::size_t data_bytes) {
  return parse(npy(header, std::string(data_bytes, '\0')));
}

const std::vector<double> kCounting{0, 1, 2, 3, 4, 5};

TEST(Npy, ReadsEveryTypeOrderAndEndianAsNumpyWroteIt) {
  const std::pair<std::string, DType> types[] = {{"f2", DType::f16}, {"f4", DType::f32}, {"f8", DType::f64},
                                                 {"i1", DType::i32}, {"i2", DType::i32}, {"i4", DType::i32},
                                                 {"i8", DType::i64}, {"u1", DType::u8},  {"u2", DType::i32},
                                                 {"u4", DType::i64}, {"u8", DType::i64}};
  for (const auto& [code, dtype] : types)
    for (const char* order : {"C", "F"})
      for (const char* endian : {"little", "big"}) {
        const std::string path = fixture("npy/" + code + "_" + order + "_" + endian + ".npy");
        const Array a = read_npy(path);
        EXPECT_EQ(a.dtype(), dtype) << path;
        EXPECT_EQ(a.dims(), (std::vector<std::int64_t>{2, 3})) << path;
        EXPECT_EQ(values(a), kCounting) << path;
      }
}

TEST(Npy, ReadsOtherShapesAndVersions) {
  EXPECT_EQ(read_npy(fixture("npy/scalar.npy")).type_string(), "f64[]");
  EXPECT_EQ(read_npy(fixture("npy/scalar.npy")).at(0), 2.5);
  EXPECT_EQ(read_npy(fixture("npy/rows0.npy")).type_string(), "f32[0, 3]");
  EXPECT_EQ(read_npy(fixture("npy/bool.npy")).type_string(), "bool[2, 3]");
  EXPECT_EQ(values(read_npy(fixture("npy/bool.npy"))), (std::vector<double>{0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(values(read_npy(fixture("npy/version2.npy"))), kCounting);
  EXPECT_EQ(values(read_npy(fixture("npy/version3.npy"))), kCounting);
  const Array deep = read_npy(fixture("npy/rank4_F.npy"));
  EXPECT_EQ(deep.type_string(), "i32[2, 3, 4, 5]");
  for (std::int64_t i = 0; i < 120; ++i) EXPECT_EQ(deep.int_at(i), i);
}

TEST(Npy, RefusesByName) {
  EXPECT_ERROR(read_npy(fixture("npy/object.npy")), "'|O' is not supported (Python objects");
  EXPECT_ERROR(read_npy(fixture("npy/text.npy")), "'<U2' is not supported (text");
  EXPECT_ERROR(read_npy(fixture("npy/complex.npy")), "'<c16' is not supported (complex");
  EXPECT_ERROR(read_npy(fixture("npy/date.npy")), "'<M8[D]' is not supported (dates");
  EXPECT_ERROR(read_npy(fixture("npy/record.npy")), "records with named fields");
  EXPECT_ERROR(read_npy(fixture("npy/u8_big.npy")), "18446744073709551615 does not fit into i64");
  EXPECT_ERROR(parse_header("{'descr': '<f16', 'fortran_order': False, 'shape': (), }", 16), "'<f16'");
  EXPECT_ERROR(parse_header("{'descr': '|b1', 'fortran_order': False, 'shape': (1,), }", 2),
               "asks for 1 bytes");
  EXPECT_ERROR(parse(npy("{'descr': '|b1', 'fortran_order': False, 'shape': (1,), }", "\2")),
               "byte 2, not 0 or 1");
}

TEST(Npy, SharedFixtures) {
  if (shared_fixture("npy").empty()) GTEST_SKIP() << "not here";
  EXPECT_EQ(values(read_npy(shared_fixture("npy/big_endian.npy"))), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(values(read_npy(shared_fixture("npy/f_order_2x3.npy"))), kCounting);
  EXPECT_EQ(values(read_npy(shared_fixture("npy/c_order_2x3.npy"))), kCounting);
  EXPECT_ERROR(read_npy(shared_fixture("npy/truncated.npy")), "asks for 16 bytes of data, the file has 12");
}

TEST(Npy, FortranOrderIsStoredColumnByColumn) {
  std::string data;
  for (const float f : {0.f, 3.f, 1.f, 4.f, 2.f, 5.f}) data.append(reinterpret_cast<const char*>(&f), 4);
  const Array a = parse(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", data));
  EXPECT_EQ(values(a), kCounting);
}

TEST(Npy, DoublesStayDoubles) {
  const double x = 1.0 + 0x1p-50;
  const Array a = parse(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }",
                            std::string(reinterpret_cast<const char*>(&x), 8)));
  EXPECT_EQ(a.dtype(), DType::f64);
  EXPECT_EQ(a.at(0), x);
}

TEST(Npy, HeaderMayBeWrittenOtherwise) {
  EXPECT_EQ(parse_header("{\"shape\":(2,),\"fortran_order\":False,\"descr\":\"=f4\"}", 8).type_string(),
            "f32[2]");
  EXPECT_EQ(parse_header("{'descr': 'u1', 'fortran_order': True, 'shape': (2L, 3L)}\n", 6).type_string(),
            "u8[2, 3]");
}

TEST(Npy, RefusesMalformedHeaders) {
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }";
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string header = good;
    header.replace(header.find(from), from.size(), to);
    return header;
  };
  EXPECT_ERROR(parse_header(with("(1,)", "(1)"), 4), "not a tuple");
  EXPECT_ERROR(parse_header(with("(1,)", "(-1,)"), 4), "not a number from 0");
  EXPECT_ERROR(parse_header(with("(1,)", "(1.0,)"), 4), "a.npy");
  EXPECT_ERROR(parse_header(with("(1,)", "(99999999999999999999,)"), 4), "not a number from 0");
  EXPECT_ERROR(parse_header(with("(1,)", "(4611686018427387904, 4)"), 4), "overflows");
  EXPECT_ERROR(parse_header(with("False", "0"), 4), "neither True nor False");
  EXPECT_ERROR(parse_header(with("{", "{'descr': '<f4', "), 4), "'descr' twice");
  EXPECT_ERROR(parse_header(with("shape", "extra"), 4), "unknown key 'extra'");
  EXPECT_ERROR(parse_header(with("'shape': (1,), ", ""), 4), "must have the keys");
  EXPECT_ERROR(parse_header(with("}", ""), 4), "quoted string");
  EXPECT_ERROR(parse_header(with("}", "} x"), 4), "after the closing brace");
  EXPECT_ERROR(parse_header(with("<f4", "f4"), 4), "byte order");
  EXPECT_ERROR(parse_header(with("<f4", ""), 4), "''");
  EXPECT_ERROR(parse_header(with("'<f4'", "__import__('os')"), 4), "quoted string");
  EXPECT_ERROR(parse("\x93NUMPX"), "does not begin with");
  EXPECT_ERROR(parse(npy(good, "1234", 9)), "version 9.0");
}

TEST(Npy, EveryCutAndEveryAddedByteIsDetected) {
  const std::string whole = content_of(fixture("npy/f4_C_little.npy"));
  for (std::size_t n = 0; n < whole.size(); ++n) EXPECT_ERROR(parse(whole.substr(0, n)), "a.npy");
  EXPECT_ERROR(parse(whole + '\0'), "asks for 24 bytes of data, the file has 25");
}

TEST(Npy, BorrowsTheMappedFile) {
  const Bytes bytes = map_file(fixture("npy/f4_C_little.npy"));
  const Array a = parse_npy(bytes, "a.npy");
  EXPECT_EQ(a.bytes(), bytes.data() + bytes.size() - 24);
}

TEST(Npy, WritesWhatItReads) {
  TempDir dir;
  const std::string path = dir / "a.npy";
  for (const auto& info : kDTypes) {
    for (const auto& dims : std::vector<std::vector<std::int64_t>>{{}, {1}, {3}, {0, 4}, {2, 3}, {2, 1, 5}}) {
      Array a(info.dtype, dims);
      for (std::int64_t i = 0; i < a.count(); ++i) a.set(i, static_cast<double>(i % 2));
      if (info.dtype == DType::bf16) {
        EXPECT_ERROR(write_npy(path, a), "NPY has no bf16 type");
        continue;
      }
      write_npy(path, a);
      EXPECT_TRUE(identical(read_npy(path), a)) << a.type_string();
      EXPECT_EQ((content_of(path).size() - a.size_bytes()) % 64, 0u);
    }
  }
}

TEST(Npy, WritesAsNumpyDoes) {
  TempDir dir;
  const std::string path = dir / "a.npy";
  write_npy(path, Array::of<float>({2, 3}, {0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(content_of(path), content_of(fixture("npy/f4_C_little.npy")));
}

TEST(Npy, WritesLongHeadersAsVersion2) {
  TempDir dir;
  const std::string path = dir / "a.npy";
  const Array a = Array::scalar(1.f).reshaped(std::vector<std::int64_t>(30000, 1));
  write_npy(path, a);
  EXPECT_EQ(content_of(path)[6], 2);
  EXPECT_TRUE(identical(read_npy(path), a));
}

}  // namespace
}  // namespace tightloop::io
