// SPDX-License-Identifier: Apache-2.0
#include <tests/support/files.h>
#include <tightloop/base/file.h>
#include <tightloop/io/npy.h>
#include <tightloop/io/npy_table.h>

#include <cstring>
#include <limits>

namespace tightloop::io {
namespace {

using tightloop::testing::fixture;

const std::vector<TableColumn> kColumns{{"step", DType::i64}, {"loss", DType::f32}, {"lr", DType::f64}};

template <class T>
void add(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string table_of(std::int64_t rows, std::int64_t said) {
  std::string out = npy_table_header(kColumns, said);
  for (std::int64_t i = 0; i < rows; ++i) {
    add(out, 10 * i);
    add(out, 0.5F * static_cast<float>(i));
    add(out, 1e-3 * static_cast<double>(i));
  }
  return out;
}

TEST(NpyTable, IsReadAsNumpyWroteIt) {
  const Bytes bytes = map_file(fixture("npy/table.npy"));
  const NpyTable table = parse_npy_table(bytes.text(), "table.npy");
  EXPECT_EQ(table.columns, kColumns);
  ASSERT_EQ(table.rows, 3);
  EXPECT_EQ(table.at(bytes.text(), 2, 0), 30);
  EXPECT_EQ(table.at(bytes.text(), 1, 1), 0.25);
  EXPECT_EQ(table.at(bytes.text(), 2, 2), 0.001);
}

TEST(NpyTable, IsReadAsItWasWritten) {
  const std::string text = table_of(4, 4);
  const NpyTable table = parse_npy_table(text, "t.npy");
  EXPECT_EQ(table.columns, kColumns);
  EXPECT_EQ(table.rows, 4);
  EXPECT_EQ(table.row_bytes, 20u);
  EXPECT_EQ(table.start % 64, 0u);
  EXPECT_EQ(table.at(text, 3, 0), 30);
  EXPECT_EQ(table.at(text, 3, 1), 1.5);
  EXPECT_EQ(table.at(text, 3, 2), 3e-3);
}

TEST(NpyTable, TheHeaderCanBeWrittenOverItself) {
  const std::size_t size = npy_table_header(kColumns, 0).size();
  for (const std::int64_t rows :
       {std::int64_t{9}, std::int64_t{1'000'000'000'000}, std::numeric_limits<std::int64_t>::max()})
    EXPECT_EQ(npy_table_header(kColumns, rows).size(), size) << rows;
}

TEST(NpyTable, OfAFileThatEndsEarlyWholeRowsCount) {
  const std::string text = table_of(3, 100);
  EXPECT_EQ(parse_npy_table(text, "t.npy").rows, 3);
  EXPECT_EQ(parse_npy_table(text.substr(0, text.size() - 1), "t.npy").rows, 2);
  EXPECT_EQ(parse_npy_table(table_of(3, 2), "t.npy").rows, 2) << "rows that the header does not count yet";
}

TEST(NpyTable, RefusesWhatIsNone) {
  const auto refusal = [](const std::string& text) -> std::string {
    try {
      parse_npy_table(text, "t.npy");
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  const std::string good = table_of(2, 2);
  for (std::size_t cut = 0; cut < parse_npy_table(good, "").start; ++cut)
    EXPECT_NE(refusal(good.substr(0, cut)).find("t.npy: "), std::string::npos) << cut;
  EXPECT_NE(refusal(npy_header(DType::f32, {2}, "t.npy")).find("is no table"), std::string::npos);
  const auto swapped = [&](const std::string& from, const std::string& to) {
    std::string out = good;
    return out.replace(out.find(from), from.size(), to);
  };
  EXPECT_NE(refusal(swapped("<f4", ">f4")).find("column 'loss' has the type '>f4'"), std::string::npos);
  EXPECT_NE(refusal(swapped("(2,)", "(2,3)")).find("is no table"), std::string::npos);
  EXPECT_NE(refusal(swapped("('step', '<i8')", "('step'  '<i8')")).find("lacks a ','"), std::string::npos);
  EXPECT_ERROR(parse_npy(Bytes::copy_of(good), "t.npy"), "records with named fields");
  EXPECT_ERROR(npy_table_header({{"a'b", DType::f32}}, 0), "neither quotes");
  EXPECT_ERROR(npy_table_header({{"a", DType::bf16}}, 0), "takes columns of i64, f32 and f64");
}

}  // namespace
}  // namespace tightloop::io
