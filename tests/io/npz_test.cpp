// SPDX-License-Identifier: Apache-2.0
#include <tests/support/files.h>
#include <tightloop/io/npy.h>
#include <tightloop/io/npz.h>

#include <zlib.h>

namespace tightloop::io {
namespace {

using tightloop::testing::content_of;
using tightloop::testing::put;
using tightloop::testing::TempDir;

std::string little(std::uint64_t v, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i, v = i < 8 ? v >> 8 : 0) out += static_cast<char>(v & 0xff);
  return out;
}

std::string deflated(const std::string& text) {
  std::string out(compressBound(text.size()) + 64, '\0');
  z_stream z{};
  deflateInit2(&z, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY);
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

struct Member {
  std::string name = {}, content = {};
  bool packed = false;
  unsigned method = 8, flags = 0;
  bool wide = false;          ///< sizes in a zip64 field, as numpy writes them
  std::uint32_t crc_off = 0;  ///< makes the checksum wrong
};

/// A zip archive after APPNOTE 6.3, written plainly.
std::string zip(const std::vector<Member>& members) {
  std::string out, directory;
  for (const auto& m : members) {
    const std::string data = m.packed ? deflated(m.content) : m.content;
    const auto crc = static_cast<std::uint32_t>(
        crc32(0, reinterpret_cast<const Bytef*>(m.content.data()), static_cast<uInt>(m.content.size())));
    const std::string wide =
        m.wide ? little(1, 2) + little(16, 2) + little(m.content.size(), 8) + little(data.size(), 8) : "";
    const std::string sizes = m.wide ? little(0xffffffff, 4) + little(0xffffffff, 4)
                                     : little(data.size(), 4) + little(m.content.size(), 4);
    const std::string common = little(20, 2) + little(m.flags, 2) + little(m.packed ? m.method : 0, 2) +
                               little(0, 4) + little(crc + m.crc_off, 4) + sizes + little(m.name.size(), 2) +
                               little(wide.size(), 2);
    directory += "PK\1\2" + little(20, 2) + common + little(0, 10) + little(out.size(), 4) + m.name + wide;
    out += "PK\3\4" + common + m.name + wide + data;
  }
  const std::size_t at = out.size();
  return out + directory + "PK\5\6" + little(0, 4) + little(members.size(), 2) + little(members.size(), 2) +
         little(directory.size(), 4) + little(at, 4) + little(0, 2);
}

std::string npy(const Array& a) {
  TempDir dir;
  write_npy(dir / "a.npy", a);
  return content_of(dir / "a.npy");
}

NpzFile parsed(const std::string& bytes) { return NpzFile::parse(Bytes::copy_of(bytes), "a.npz"); }

const Array kX = Array::of<float>({2, 2}, {1, 2, 3, 4});
const Array kY = Array::of<std::int64_t>({2}, {7, 8});

TEST(Npz, StoredPackedAndWide) {
  const NpzFile file = parsed(zip({{"x.npy", npy(kX)},
                                   {.name = "y.npy", .content = npy(kY), .packed = true},
                                   {.name = "z.npy", .content = npy(kX), .packed = true, .wide = true}}));
  EXPECT_EQ(file.names(), (std::vector<std::string>{"x", "y", "z"}));
  EXPECT_TRUE(identical(file.read("x"), kX));
  EXPECT_TRUE(identical(file.read("y"), kY));
  EXPECT_TRUE(identical(file.read("z"), kX));
  EXPECT_ERROR(file.read("xx"), "a.npz: holds no array 'xx' (did you mean 'x'?); it has x, y, z");
}

TEST(Npz, OfManyBytes) {
  Array big(DType::f32, {300000});
  for (std::int64_t i = 0; i < big.count(); ++i) big.set(i, static_cast<double>(i % 777));
  EXPECT_TRUE(
      identical(parsed(zip({{.name = "b.npy", .content = npy(big), .packed = true}})).read("b"), big));
}

TEST(Npz, RefusesWhatItDoesNotRead) {
  const std::string x = npy(kX);
  const auto one = [&](Member m) {
    m.name = "x.npy", m.content = x;
    return zip({m});
  };
  EXPECT_ERROR(parsed(one({.flags = 1})).read("x"), "a.npz: 'x.npy': is encrypted");
  EXPECT_ERROR(parsed(one({.packed = true, .method = 12})).read("x"), "is packed by method 12");
  EXPECT_ERROR(parsed(one({.crc_off = 1})).read("x"), "its checksum is wrong");
  EXPECT_ERROR(parsed(zip({{"x.npy", x}, {"x.npy", x}})), "holds 'x.npy' twice");
  EXPECT_ERROR(parsed(zip({{"x.npy", x}, {"notes.txt", "hello"}})),
               "holds 'notes.txt'; an .npz archive holds");
  EXPECT_ERROR(parsed(zip({})), "holds no arrays");
  EXPECT_ERROR(parsed(zip({{"x.npy", "no array"}})).read("x"), "a.npz: x.npy: not an NPY file");
}

TEST(Npz, DamageIsFound) {
  const std::string whole =
      zip({{.name = "x.npy", .content = npy(kX), .packed = true, .wide = true}, {"y.npy", npy(kY)}});
  for (std::size_t n = 0; n < whole.size(); ++n) EXPECT_ERROR(parsed(whole.substr(0, n)), "a.npz: ");
  EXPECT_ERROR(parsed(whole + "more"), "a.npz: ");
  for (std::size_t at = 0; at < whole.size();
       ++at)  // no byte brings it down, none of the data changes unseen
    for (const char bit : {1, -128}) {
      std::string bytes = whole;
      bytes[at] = static_cast<char>(bytes[at] ^ bit);
      try {
        const NpzFile file = parsed(bytes);
        for (const auto& name : file.names()) {
          const Array a = file.read(name);
          EXPECT_TRUE(identical(a, kX) || identical(a, kY)) << at;
        }
      } catch (const Error&) {
      }
    }
}

TEST(Npz, SizesThatLieAreRefusedBeforeAllocating) {
  Member m{.name = "x.npy", .content = npy(kX), .packed = true, .wide = true};
  std::string bytes = zip({m});
  const std::string size = little(m.content.size(), 8);
  for (std::size_t at = bytes.find(size); at != std::string::npos; at = bytes.find(size, at + 1))
    bytes.replace(at, 8, little(std::uint64_t{1} << 60, 8));
  EXPECT_ERROR(parsed(bytes).read("x"), "is not of the size that the archive says");
}

TEST(Npz, IsToldFromOtherArchives) {
  EXPECT_TRUE(is_npz(Bytes::copy_of(zip({{"x.npy", npy(kX)}}))));
  EXPECT_FALSE(is_npz(Bytes::copy_of(zip({{"sheet.xml", "<a/>"}}))));
  EXPECT_FALSE(is_npz(Bytes::copy_of(std::string_view("PK\3\4"))));
}

}  // namespace
}  // namespace tightloop::io
