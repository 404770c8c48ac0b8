// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/data/csv_records.h>

namespace tightloop::data {

std::string CsvCell::value() const {
  std::string out(text);
  if (!escaped) return out;
  std::size_t to = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[to++] = out[i];
    if (out[i] == '"') ++i;
  }
  out.resize(to);
  return out;
}

std::size_t byte_order_mark(std::string_view text, const std::string& name) {
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
    throw Error(name + ": line 1: the text is UTF-16; save it as UTF-8");
  return text.starts_with("\xef\xbb\xbf") ? 3 : 0;
}

CsvRecords::CsvRecords(std::string_view text, char separator, const std::string& name)
    : at_(text.data()), end_(text.data() + text.size()), name_(name), separator_(separator) {
  for (const char c : {separator, '\n', '\r', '"', '\0'}) special_[static_cast<unsigned char>(c)] = true;
}

void CsvRecords::fail(std::int64_t line, const std::string& what) const {
  throw Error(name_ + ": line " + std::to_string(line) + ": " + what);
}

void CsvRecords::take_newline() {
  if (*at_++ == '\r' && at_ != end_ && *at_ == '\n') ++at_;
  ++line_;
}

bool CsvRecords::next() {
  while (at_newline()) take_newline();
  if (at_ == end_) return false;
  record_line_ = line_;
  cells_.clear();
  for (;;) {
    if (at_ != end_ && *at_ == '"')
      read_quoted();
    else
      read_plain();
    if (at_ == end_) return true;
    if (at_newline()) {
      take_newline();
      return true;
    }
    ++at_;
  }
}

void CsvRecords::read_plain() {
  const char* begin = at_;
  const char* p = at_;
  while (p != end_ && !special_[static_cast<unsigned char>(*p)]) ++p;
  at_ = p;
  cells_.push_back({{begin, static_cast<std::size_t>(p - begin)}, false});
  if (p == end_) return;
  if (*p == '\0') fail(line_, "a NUL byte: this is not text");
  if (*p == '"')
    fail(line_, "a quote inside an unquoted field; put the field in quotes and double the quotes inside it");
}

void CsvRecords::read_quoted() {
  const std::int64_t opened = line_;
  const char* begin = ++at_;
  bool escaped = false;
  for (;; ++at_) {
    if (at_ == end_) fail(opened, "the quote that opens here is never closed");
    const char c = *at_;
    if (c == '\0') fail(line_, "a NUL byte: this is not text");
    if (c == '\n' || (c == '\r' && (at_ + 1 == end_ || at_[1] != '\n'))) ++line_;
    if (c != '"') continue;
    if (at_ + 1 == end_ || at_[1] != '"') break;
    escaped = true;
    ++at_;
  }
  cells_.push_back({{begin, static_cast<std::size_t>(at_ - begin)}, escaped});
  ++at_;
  if (at_ != end_ && *at_ != separator_ && !at_newline())
    fail(line_, "text behind the closing quote of a field");
}

}  // namespace tightloop::data
