// SPDX-License-Identifier: Apache-2.0
#include <tests/support/files.h>
#include <tightloop/data/vocabulary.h>

#include <random>

namespace tightloop::data {
namespace {

std::vector<std::int32_t> ids(const std::string& vocabulary, const std::string& text) {
  const Array a = Vocabulary::parse(vocabulary, "v.txt").ids(Bytes::copy_of(text), "t.txt");
  return {a.as<std::int32_t>().begin(), a.as<std::int32_t>().end()};
}

using Ids = std::vector<std::int32_t>;

TEST(Vocabulary, TakesTheLongestToken) {
  EXPECT_EQ(ids("a\nab\nabc\n \n\\n\nb\nc", "abcab a\nb"), (Ids{2, 1, 3, 0, 4, 5}));
  EXPECT_EQ(ids("a\nabcd\nb\nc\n", "abc"), (Ids{0, 2, 3}));  // a longer one that does not come to its end
  EXPECT_EQ(ids("a\r\n\\\\\r\n\\t\r\n", "a\\\t"), (Ids{0, 1, 2}));
}

TEST(Vocabulary, UnknownCharacters) {
  EXPECT_ERROR(ids("a\n\\n\n", "a\naxa"),
               "t.txt: line 2, byte 2: no token of the vocabulary fits 'x'; add it, or");
  EXPECT_EQ(ids("<unk>\na\n",
                "a\xc3\xa4\xe2\x82\xac"
                "a"),
            (Ids{1, 0, 0, 1}));
  EXPECT_EQ(ids("<unk>\na\n", "a\xf0"), (Ids{1, 0}));
}

TEST(Vocabulary, RefusesWhatIsNone) {
  EXPECT_ERROR(Vocabulary::parse("", "v.txt"), "v.txt: holds no tokens");
  EXPECT_ERROR(Vocabulary::parse("a\n\nb\n", "v.txt"), "v.txt: line 2: is empty");
  EXPECT_ERROR(Vocabulary::parse("a\nb\na\n", "v.txt"), "v.txt: line 3: the token 'a' comes twice");
  EXPECT_ERROR(Vocabulary::parse("\\x\n", "v.txt"), "'\\' is followed by 'x'");
  EXPECT_ERROR(Vocabulary::parse(std::string_view("a\0\n", 3), "v.txt"), "a NUL byte");
  EXPECT_ERROR(ids("a\n", ""), "t.txt: the text is empty");
}

TEST(Vocabulary, AgreesWithAPlainSearch) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> tokens{"a", "b", "c"};
    for (int i = 0; i < 6; ++i) {
      std::string t;
      for (unsigned n = 2 + random() % 3; n > 0; --n) t += static_cast<char>('a' + random() % 3);
      if (std::find(tokens.begin(), tokens.end(), t) == tokens.end()) tokens.push_back(t);
    }
    std::string file, text;
    for (const auto& t : tokens) file += t + "\n";
    for (int i = 0; i < 60; ++i) text += static_cast<char>('a' + random() % 3);
    Ids want;
    for (std::size_t at = 0; at < text.size();) {
      std::size_t best = 0;
      for (std::size_t t = 0; t < tokens.size(); ++t)
        if (text.compare(at, tokens[t].size(), tokens[t]) == 0 && tokens[t].size() >= tokens[best].size())
          best = t;
      if (text.compare(at, tokens[best].size(), tokens[best]) != 0)
        best = static_cast<std::size_t>(text[at] - 'a');
      want.push_back(static_cast<std::int32_t>(best));
      at += tokens[best].size();
    }
    EXPECT_EQ(ids(file, text), want);
  }
}

TEST(Text, BytesAreBorrowed) {
  const Bytes text = Bytes::copy_of("ab\n");
  const Array a = text_bytes(text, "t.txt");
  EXPECT_EQ(a.type_string(), "u8[3]");
  EXPECT_EQ(a.bytes(), text.data());
  EXPECT_ERROR(text_bytes(Bytes(), "t.txt"), "t.txt: the text is empty");
}

}  // namespace
}  // namespace tightloop::data
