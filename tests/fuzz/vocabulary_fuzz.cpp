// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/data/vocabulary.h>

#include <cstdlib>

using namespace tightloop;

/// The first half is a vocabulary, the second a text. The tokens of its ids are the text again, unless some
/// are unknown.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::string_view text = all.substr(size / 2);
  try {
    const auto vocabulary = data::Vocabulary::parse(all.substr(0, size / 2), "v");
    const Array ids = vocabulary.ids(Bytes::copy_of(text), "t");
    std::string back;
    bool unknown = false;
    for (const auto id : ids.as<std::int32_t>()) {
      const auto& token = vocabulary.tokens().at(static_cast<std::size_t>(id));
      unknown = unknown || token == "<unk>";
      back += token;
    }
    if (!unknown && back != text) std::abort();
  } catch (const Error&) {
  }
  return 0;
}
