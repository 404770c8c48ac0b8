// SPDX-License-Identifier: Apache-2.0
#include <tests/support/files.h>
#include <tightloop/data/csv.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

namespace tightloop::data {
namespace {

using tightloop::testing::content_of;
using tightloop::testing::put;
using tightloop::testing::shared_fixture;
using tightloop::testing::TempDir;

CsvFile csv(const std::string& text, const CsvOptions& options = {}, const std::string& name = "a.csv") {
  return CsvFile::parse(Bytes::copy_of(text), name, options);
}

std::vector<double> column(const std::string& text, const std::string& name, DType dtype = DType::f64) {
  const Array a = csv(text).column(name, dtype);
  std::vector<double> out;
  for (std::int64_t i = 0; i < a.count(); ++i) out.push_back(a.at(i));
  return out;
}

std::string error_in(const std::string& text, const std::string& name = "x", DType dtype = DType::f64) {
  return tightloop::testing::error_of([&] { csv(text).column(name, dtype); });
}

using Numbers = std::vector<double>;

TEST(Csv, EveryLineEndGivesTheSameRows) {
  for (const std::string end : {"\n", "\r\n", "\r"})
    for (const std::string& last : {std::string(), end, end + end + end}) {
      const std::string text = "x,y" + end + "1,2" + end + end + "3,4" + last;
      EXPECT_EQ(column(text, "x"), (Numbers{1, 3}));
      EXPECT_EQ(column(text, "y"), (Numbers{2, 4}));
    }
}

TEST(Csv, QuotedFields) {
  const std::string text = "x,\"te\"\"xt\",y\r\n1,\"line1\r\nline2, with \"\"q\"\"\",0\r\n2,b,\"1\"";
  const CsvFile file = csv(text);
  EXPECT_EQ(file.columns(), (std::vector<std::string>{"x", "te\"xt", "y"}));
  EXPECT_EQ(file.rows(), 2);
  EXPECT_EQ(column(text, "y"), (Numbers{0, 1}));
  EXPECT_EQ(file.classes(1).names, (std::vector<std::string>{"b", "line1\r\nline2, with \"q\""}));
  EXPECT_EQ(csv("x,y\n\"\",\"\"\n").rows(), 1);
}

TEST(Csv, ByteOrderMarks) {
  EXPECT_EQ(column("\xef\xbb\xbfx,y\n1,2\n", "x"), Numbers{1});
  EXPECT_EQ(column("\xef\xbb\xbf\"x\",y\n1,2\n", "x"), Numbers{1});
  EXPECT_ERROR(csv("\xff\xfex\0,\0y\0"), "UTF-16");
}

TEST(Csv, BrokenTextIsAnErrorWithTheLine) {
  EXPECT_EQ(error_in("x,y\n1,0\n2,\"1\n3,0\n"), "a.csv: line 3: the quote that opens here is never closed");
  EXPECT_EQ(error_in(std::string("x,y\n1,0\n2\0,1\n", 14)), "a.csv: line 3: a NUL byte: this is not text");
  EXPECT_EQ(error_in(std::string("x,y\n1,\"\n\0\"\n", 11)), "a.csv: line 3: a NUL byte: this is not text");
  EXPECT_NE(error_in("x,y\n1,5\"\n").find("line 2: a quote inside an unquoted field"), std::string::npos);
  EXPECT_NE(error_in("x,y\n1,\"5\"6\n").find("line 2: text behind the closing quote"), std::string::npos);
  EXPECT_NE(error_in("x,y\n\"1\n\n2\",\"a").find("line 4: the quote"), std::string::npos);
}

TEST(Csv, RaggedRowsAreErrorsWithTheNumbers) {
  EXPECT_EQ(error_in("x,y\n1,2\n\n3\n"), "a.csv: row 2 (line 4) has 1 field, 2 expected");
  EXPECT_EQ(error_in("x,y\n1,2,3\n"), "a.csv: row 1 (line 2) has 3 fields, 2 expected");
  EXPECT_EQ(error_in("x,y\n1,2,\n"), "a.csv: row 1 (line 2) has 3 fields, 2 expected");
  EXPECT_NE(error_in("x;y\n1,5;0\n", "x;y").find("looks as if fields were separated by ';'"),
            std::string::npos);
}

TEST(Csv, LinesInsideQuotesCount) {
  EXPECT_EQ(error_in("x,y\r\n1,\"a\r\nb\rc\nd\"\r\nbad,2\r\n"),
            "a.csv: row 2 (line 6), column 'x': 'bad' is not a number");
}

TEST(Csv, NothingToReadIsAnError) {
  EXPECT_ERROR(csv(""), "the file is empty");
  EXPECT_ERROR(csv("\n\r\n\n"), "the file is empty");
  EXPECT_ERROR(csv("\xef\xbb\xbf"), "the file is empty");
  EXPECT_EQ(csv("x,y\n").rows(), 0);
  EXPECT_EQ(error_in("x,y\n"), "a.csv: 0 rows behind the header; there is nothing to read");
  EXPECT_ERROR(csv("x,y\n").classes(0), "0 rows");
}

TEST(Csv, HeadersNameEachColumnOnce) {
  EXPECT_ERROR(csv("x,x,y\n1,2,0\n"), "names two columns 'x' (columns 1 and 2)");
  EXPECT_ERROR(csv(",,\n"), "names two columns ''");
  EXPECT_EQ(csv(" x ,y\t\n1,2\n").columns(), (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(column(",x\n7,1\n", ""), Numbers{7});
}

TEST(Csv, HeaderIsFoundOrSaid) {
  EXPECT_EQ(csv("1,2\n3,4\n").columns(), (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(column("1,2\n3,4\n", "1"), (Numbers{2, 4}));
  EXPECT_EQ(csv("1,2\n3,4\n", {.header = true}).columns(), (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(csv("a,b\n", {.header = false}).rows(), 1);
  EXPECT_ERROR(csv("0,1,2\n5,6,7\n"), "a header or data? Give the columns names");
  EXPECT_EQ(csv("0,1,2\n5,6,7\n", {.header = true}).rows(), 1);
}

TEST(Csv, Separators) {
  EXPECT_EQ(csv("x\ty\n1\t2\n", {}, "a.tsv").columns().size(), 2u);
  EXPECT_EQ(csv("x\ty\n1\t2\n", {}, "a.tsv.gz").columns().size(), 2u);
  EXPECT_EQ(csv("x;y\n1;2\n", {.separator = ';'}).column("y", DType::f32).at(0), 2);
  EXPECT_ERROR(csv("x", {.separator = '"'}), "cannot separate fields");
}

TEST(Csv, ReadsNumbers) {
  EXPECT_EQ(column("x\n1\n+2\n-3.5\n 4 \n.5\n6.\n7e2\n-0\n1E-3\n\"8\"\n", "x"),
            (Numbers{1, 2, -3.5, 4, .5, 6, 700, -0.0, 1e-3, 8}));
  EXPECT_EQ(column("x\n0.1\n16777217\n", "x", DType::f32), (Numbers{0.1f, 16777216}));
  EXPECT_EQ(column("x\n1e-400\n", "x"), Numbers{0});
  EXPECT_EQ(column("x\n5e-324\n", "x"), Numbers{5e-324});
}

TEST(Csv, RefusesWhatIsNoNumber) {
  for (const char* text :
       {"\"1,234\"", "\"12,345.5\"", "\"1,5\"",  "NA",    "nan",    "NaN",  "-nan",  "",    " ",  "?",
        "inf",       "-inf",         "Infinity", "1e400", "-1e400", "0x10", "1.2.3", "1e",  "e5", "1 2",
        "--1",       "+-1",          "1_000",    "$5",    "5%",     "true", "1d5",   "1.5f"}) {
    const std::string said = error_in("x,y\n1,0\n" + std::string(text) + ",0\n");
    EXPECT_NE(said.find("a.csv: row 2 (line 3), column 'x': "), std::string::npos) << text << ": " << said;
  }
  EXPECT_NE(error_in("x,y\n\"1,234\",0\n").find("'1,234' is not a number (thousands separators"),
            std::string::npos);
  EXPECT_NE(error_in("x,y\nNA,0\n").find("'NA' is a missing value"), std::string::npos);
  EXPECT_NE(error_in("x,y\n1e400,0\n").find("not a number that a double can hold"), std::string::npos);
  EXPECT_NE(error_in("x,y\n1e39,0\n", "x", DType::f32).find("'1e39' is too large for f32"),
            std::string::npos);
}

TEST(Csv, WholeNumbers) {
  EXPECT_EQ(csv("id,t\n135217135789158401,a\n1352171357E+5,b\n").column("id", DType::i64).int_at(0),
            135217135789158401);
  EXPECT_EQ(csv("id,t\n135217135789158401,a\n1352171357E+5,b\n").column("id", DType::i64).int_at(1),
            135217135700000);
  EXPECT_EQ(column("x\n1\n2.0\n-3e0\n", "x", DType::i64), (Numbers{1, 2, -3}));
  EXPECT_NE(error_in("x\n1.5\n", "x", DType::i64).find("'1.5' is not a whole number"), std::string::npos);
  EXPECT_NE(error_in("x\n9223372036854775808\n", "x", DType::i64).find("too large for a whole number"),
            std::string::npos);
  EXPECT_NE(error_in("x\n2147483648\n", "x", DType::i32).find("too large for a whole number"),
            std::string::npos);
  EXPECT_EQ(column("x\n2147483647\n-2147483648\n", "x", DType::i32), (Numbers{2147483647, -2147483648.0}));
  EXPECT_ERROR(csv("x\n1\n").column("x", DType::u8), "not as u8");
}

TEST(Csv, SeveralRequestsInOneWalk) {
  const CsvFile file = csv("x1,y,x2,f\n1,10,2,0.5\n3,30,4,1.5\n");
  const std::vector<ColumnRequest> requests{
      {file.select({"x*"}), DType::f32}, {file.select({"y"}), DType::i64}, {{3, 0}, DType::f64}};
  const auto arrays = file.read(requests);
  EXPECT_TRUE(identical(arrays[0], Array::of<float>({2, 2}, {1, 2, 3, 4})));
  EXPECT_TRUE(identical(arrays[1], Array::of<std::int64_t>({2, 1}, {10, 30})));
  EXPECT_TRUE(identical(arrays[2], Array::of<double>({2, 2}, {0.5, 1, 1.5, 3})));
}

TEST(Csv, ClassesAreSortedAndKept) {
  const CsvFile file = csv("x,c\n1,dog\n2,cat\n3,dog\n4,NA\n");
  const ClassColumn found = file.classes(1);
  EXPECT_EQ(found.names, (std::vector<std::string>{"NA", "cat", "dog"}));
  EXPECT_TRUE(identical(found.codes, Array::of<std::int64_t>({4}, {2, 1, 2, 0})));
  EXPECT_TRUE(
      identical(csv("x,c\n1,cat\n").classes(1, &found.names).codes, Array::of<std::int64_t>({1}, {1})));
  EXPECT_ERROR(csv("x,c\n1,cta\n").classes(1, &found.names),
               "row 1 (line 2), column 'c': 'cta' is not one of the known");
  EXPECT_ERROR(csv("x,c\n1,\n").classes(1), "the class is missing");
  EXPECT_ERROR(csv("x,c\n1,0\n1,nan\n1,1\n").classes(1), "row 2 (line 3), column 'c': 'nan' is a missing");
  EXPECT_EQ(csv("x,c\n1,NA\n1,DE\n").classes(1).names.size(), 2u);
  EXPECT_ERROR(csv("x,c\n1,a\n1,b\n1,c\n").classes(1, nullptr, 2), "more than 2 different texts");
}

TEST(Csv, TooManyTexts) {
  std::string text = "e,t\n";
  for (std::size_t i = 0; i <= kMostTexts; ++i) text += ",t" + std::to_string(i) + "\n";
  const std::vector<ColumnRequest> wanted{{.columns = {0, 1}, .texts = {0, 1}}};
  EXPECT_ERROR(csv(text, {.threads = 2}).read_columns(wanted),
               "row 65537 (line 65538), column 't': more than 65536 different texts");
}

TEST(Csv, KindsOfColumns) {
  const CsvFile file = csv("a,b,c,d\n1,1,x,1.5\n2,2.5,1,1\n");
  EXPECT_EQ(file.kind(0), ColumnKind::whole);
  EXPECT_EQ(file.kind(1), ColumnKind::number);
  EXPECT_EQ(file.kind(2), ColumnKind::text);
  EXPECT_EQ(file.kind(3), ColumnKind::number);
}

TEST(Csv, UnknownColumnsSuggestTheNearest) {
  EXPECT_ERROR(csv("price,size\n1,2\n").column("prise", DType::f32),
               "no column is named 'prise' (did you mean 'price'?)");
}

TEST(Csv, ReadsBackWhatItWrites) {
  TempDir dir;
  std::mt19937_64 random(3);
  std::vector<double> doubles;
  std::vector<float> floats;
  while (doubles.size() < 1000) {
    const double d = std::bit_cast<double>(random());
    const float f = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (!std::isfinite(d) || !std::isfinite(f)) continue;
    doubles.push_back(d);
    floats.push_back(f);
  }
  const Array d = Array::of<double>({1000, 1}, doubles), f = Array::of<float>({1000, 1}, floats);
  write_csv(dir / "a.csv", {"d", "a,\"b\""}, {d, f});
  EXPECT_TRUE(identical(read_csv(dir / "a.csv", {"d"}, DType::f64), d));
  EXPECT_TRUE(identical(read_csv(dir / "a.csv", {"a,\"b\""}, DType::f32), f));
  EXPECT_TRUE(content_of(dir / "a.csv").starts_with("d,\"a,\"\"b\"\"\"\n"));
  EXPECT_ERROR(write_csv(dir / "b.csv", {"d", "e"}, {d, Array::of<float>({2}, {1, 2})}),
               "column 'e' is f32[2], 1000 rows");
}

TEST(Csv, AnyTextInQuotesComesBack) {
  std::mt19937 random(5);
  const std::string letters = "a,\"\r\n;\t ";
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> want;
    std::string text = "c,n\n";
    for (int row = 0; row < 5; ++row) {
      std::string value = "v";
      std::string quoted = "\"v";
      for (unsigned i = random() % 8; i > 0; --i) {
        const char c = letters[random() % letters.size()];
        value += c;
        quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
      }
      want.push_back(value);
      text += quoted + "\"," + std::to_string(row) + "\n";
    }
    const ClassColumn got = csv(text).classes(0);
    for (std::int64_t row = 0; row < 5; ++row)
      EXPECT_EQ(got.names[static_cast<std::size_t>(got.codes.int_at(row))],
                want[static_cast<std::size_t>(row)]);
    EXPECT_EQ(column(text, "n"), (Numbers{0, 1, 2, 3, 4}));
  }
}

TEST(Csv, ManyRowsKeepTheirPlaces) {
  std::string text = "i,j\n";
  for (int i = 0; i < 5000; ++i) text += std::to_string(i) + "," + std::to_string(i * i) + "\n";
  const Array a = csv(text).column("j", DType::i64);
  for (std::int64_t i = 0; i < 5000; ++i) ASSERT_EQ(a.int_at(i), i * i);
}

TEST(Csv, NumbersAreRoundedAsTheirDigitsSay) {
  std::mt19937_64 random(11);
  std::string text = "x,t\n";
  std::vector<std::string> want;
  for (int i = 0; i < 20000; ++i) {
    std::string digits = i % 3 == 0 ? "-" : i % 3 == 1 ? "+" : "";
    for (unsigned n = random() % 12; n > 0; --n) digits += static_cast<char>('0' + random() % 10);
    if (i % 5 != 0) digits += '.';
    for (unsigned n = 1 + random() % 12; n > 0; --n) digits += static_cast<char>('0' + random() % 10);
    if (i % 4 == 0) digits += "e" + std::to_string(static_cast<int>(random() % 28) - 14);
    want.push_back(digits);
    text += digits + ",0\n";
  }
  // Halfway between two floats, and nearly so.
  for (const char* s :
       {"16777217", "16777217.0000001", "1.00000005960464477539", "0.1", "8388608.5", "1e22", "1e23"}) {
    want.emplace_back(s);
    text += std::string(s) + ",0\n";
  }
  const CsvFile file = csv(text);
  const Array f = file.column("x", DType::f32), d = file.column("x", DType::f64);
  for (std::size_t i = 0; i < want.size(); ++i) {
    ASSERT_EQ(f.as<float>()[i], std::strtof(want[i].c_str(), nullptr)) << want[i];
    ASSERT_EQ(d.as<double>()[i], std::strtod(want[i].c_str(), nullptr)) << want[i];
  }
}

/// A table of numbers and texts, some in quotes that hold line ends; with `broken` something is wrong in it.
std::string random_table(std::mt19937& random, bool broken) {
  const std::string ends[] = {"\n", "\r\n", "\r", "\n\n", "\r\n\r\n"};
  const std::string end = ends[random() % 5];
  const std::string wrong[] = {"x", "1,2", "\"open", "a\"b", "\"a\"b", std::string(1, '\0'), "\"1\n2"};
  std::string out = "n,t,m" + end;
  const unsigned rows = 1 + random() % 60, bad = broken ? random() % rows : rows;
  for (unsigned r = 0; r < rows; ++r) {
    out += r == bad            ? wrong[random() % 7]
           : random() % 4 == 0 ? "\"12.5\""
                               : std::to_string(random() % 100000);
    out += random() % 3 == 0 ? ",\"te" + end + "x\"\"t, " + std::to_string(random() % 3) + "\"," : ",plain,";
    out += random() % 9 == 0 ? "" : std::to_string(random() % 1000) + "e-3";
    if (r + 1 != rows || random() % 2 == 0) out += end;
  }
  return out;
}

TEST(Csv, ThreadsChangeNothing) {
  std::mt19937 random(7);
  const std::vector<ColumnRequest> wanted{{{0}, DType::f64},
                                          {.columns = {2, 1}, .missing = true, .texts = {1}},
                                          {.columns = {1}, .dtype = DType::i64, .texts = {0}}};
  int refused = 0;
  for (int round = 0; round < 2000; ++round) {
    const std::string text = random_table(random, round % 2 == 1);
    std::vector<ColumnValues> first;
    std::string said;
    for (const int threads : {1, 2, 3, 8}) {
      try {
        const auto got = csv(text, {.threads = threads}).read_columns(wanted);
        ASSERT_EQ(said, "");
        if (threads == 1) first = got;
        for (std::size_t i = 0; i < got.size(); ++i) {
          ASSERT_EQ(got[i].values.type_string(), first[i].values.type_string());
          ASSERT_EQ(got[i].names, first[i].names);
          for (std::int64_t k = 0; k < got[i].values.count(); ++k) {
            const double a = got[i].values.at(k), b = first[i].values.at(k);
            ASSERT_TRUE(a == b || (std::isnan(a) && std::isnan(b))) << text;
          }
        }
      } catch (const Error& e) {
        if (threads == 1) said = e.what(), ++refused;
        ASSERT_EQ(said, e.what()) << text;
      }
    }
  }
  EXPECT_GT(refused, 800);
}

TEST(Csv, MissingNumbersAndTextsWhereAskedFor) {
  const CsvFile file = csv("a,b,c\n1,NA,red\n,2,\"bl\"\"ue\"\nnan,3,red\n");
  const std::vector<ColumnRequest> wanted{{.columns = {0, 2, 1}, .missing = true, .texts = {1}}};
  const auto got = file.read_columns(wanted)[0];
  EXPECT_EQ(got.names, (std::vector<std::vector<std::string>>{{"bl\"ue", "red"}}));
  const std::vector<double> want{1, 1, NAN, NAN, 0, 2, NAN, 1, 3};
  for (std::int64_t i = 0; i < 9; ++i) {
    const double w = want[static_cast<std::size_t>(i)];
    EXPECT_TRUE(got.values.at(i) == w || (std::isnan(w) && std::isnan(got.values.at(i)))) << i;
  }
  const std::vector<ColumnRequest> bad{{.columns = {2}, .missing = true}};
  EXPECT_ERROR(file.read_columns(bad), "row 1 (line 2), column 'c': 'red' is not a number");
}

TEST(Csv, SharedFixtures) {
  if (shared_fixture("csv").empty()) GTEST_SKIP() << "not here";
  const auto open = [](const std::string& name) {
    return CsvFile::open(shared_fixture("csv/" + name + ".csv"));
  };
  const auto read = [&](const std::string& name, const std::string& column) {
    return open(name).column(column, DType::f64);
  };
  EXPECT_EQ(read("blank_lines", "x").count(), 2);
  EXPECT_EQ(read("cr_only", "y").at(1), 1);
  EXPECT_EQ(read("labels_1_to_5", "y").at(4), 5);
  EXPECT_EQ(read("quoted_newline_no_final_eol", "y").at(1), 1);
  EXPECT_EQ(open("sci_mix").column("id", DType::i64).int_at(1), 135217135700000);
  EXPECT_ERROR(open("commas_only"), "names two columns ''");
  EXPECT_ERROR(read("decimal_comma", "x;y"), "separated by ';'");
  EXPECT_ERROR(open("dup_header"), "names two columns 'x'");
  EXPECT_ERROR(open("empty"), "the file is empty");
  EXPECT_ERROR(read("header_only", "x"), "0 rows behind the header");
  EXPECT_ERROR(read("na_tokens", "x"), "row 3 (line 4), column 'x': 'nan' is a missing value");
  EXPECT_EQ(open("na_tokens").classes(1).names.size(), 4u);
  EXPECT_ERROR(read("nul_byte", "x"), "line 3: a NUL byte");
  EXPECT_ERROR(read("thousands", "x"), "row 1 (line 2), column 'x': '1,234' is not a number");
  EXPECT_ERROR(read("unclosed_quote", "x"), "line 3: the quote that opens here");
}

}  // namespace
}  // namespace tightloop::data
