// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads what tests/fixtures/make_*_fixtures.py wrote.
#include <tightloop/base/options.h>
#include <tightloop/io/safetensors.h>

#include <tests/support/files.h>

#include <charconv>
#include <sstream>
#include <string>
#include <vector>

namespace tightloop::testing {

struct Case {
  std::string text;  ///< "huber reduction=mean delta=0.5"
  std::string name;
  Options options;
  std::vector<std::pair<std::string, Array>> tensors;

  const Array* find(std::string_view tensor) const {
    for (const auto& [key, value] : tensors)
      if (key == tensor) return &value;
    return nullptr;
  }
  const Array& at(std::string_view tensor) const {
    const Array* found = find(tensor);
    if (found == nullptr) throw std::runtime_error(text + " has no tensor " + std::string(tensor));
    return *found;
  }
};

inline OptionValue option_value(const std::string& word) {
  if (word == "null") return {};
  if (word == "true" || word == "false") return word == "true";
  if (word.starts_with('[')) {
    Numbers numbers;
    std::istringstream in(word.substr(1));
    for (double x; in >> x; in.ignore()) numbers.push_back(x);
    return numbers;
  }
  const char* end = word.data() + word.size();
  std::int64_t whole = 0;
  if (std::from_chars(word.data(), end, whole).ptr == end) return whole;
  double number = 0;
  if (std::from_chars(word.data(), end, number).ptr == end) return number;
  return word;
}

inline std::vector<Case> read_cases(const std::string& file, const std::string& folder = "nn") {
  const io::TensorFile stored = io::read_safetensors(fixture(folder + "/" + file + ".safetensors"));
  std::vector<Case> out(stored.metadata.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i].text = stored.metadata.at(std::to_string(i));
    std::istringstream in(out[i].text);
    in >> out[i].name;
    for (std::string word; in >> word;)
      out[i].options.set(word.substr(0, word.find('=')), option_value(word.substr(word.find('=') + 1)));
  }
  for (const auto& [key, value] : stored.tensors) {
    const std::size_t dot = key.find('.');
    out.at(std::stoul(key.substr(0, dot))).tensors.emplace_back(key.substr(dot + 1), value);
  }
  return out;
}

}  // namespace tightloop::testing
