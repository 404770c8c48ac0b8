// SPDX-License-Identifier: Apache-2.0
#include <tightloop/data/csv_stretches.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <thread>

namespace tightloop::data {
namespace {

struct Counts {
  std::int64_t lines = 0;  ///< ends of lines: LF, CRLF or a lone CR
  std::int64_t quotes = 0;
};

// A vector of the compiler's, which every target has.
using Block = signed char __attribute__((vector_size(16)));

Block block_at(const char* p) {
  Block out;
  std::memcpy(&out, p, sizeof out);
  return out;
}

std::int64_t sum(const Block& counts) {
  std::int64_t out = 0;
  for (std::size_t i = 0; i < sizeof(Block); ++i) out += static_cast<unsigned char>(counts[i]);
  return out;
}

/// `next` is the byte behind `end`, or NUL.
Counts count(const char* p, const char* end, char next) {
  constexpr int kMost = 255;  // that a byte counts to
  Counts out;
  while (end - p > static_cast<std::ptrdiff_t>(sizeof(Block))) {
    Block lines{}, quotes{};
    for (int i = 0; i < kMost && end - p > static_cast<std::ptrdiff_t>(sizeof(Block)); ++i) {
      const Block here = block_at(p), behind = block_at(p + 1);
      lines -= (here == '\n') | ((here == '\r') & (behind != '\n'));
      quotes -= here == '"';
      p += sizeof(Block);
    }
    out.lines += sum(lines), out.quotes += sum(quotes);
  }
  for (; p != end; ++p) {
    const char behind = p + 1 == end ? next : p[1];
    out.lines += *p == '\n' || (*p == '\r' && behind != '\n');
    out.quotes += *p == '"';
  }
  return out;
}

/// Behind the first line end from `p` on that lies outside quotes; `end` when there is none.
const char* cut_from(const char* p, const char* end, bool inside) {
  for (; p != end; ++p) {
    if (*p == '"') inside = !inside;
    if (inside || (*p != '\n' && *p != '\r')) continue;
    return *p == '\r' && p + 1 != end && p[1] == '\n' ? p + 2 : p + 1;
  }
  return end;
}

}  // namespace

std::vector<CsvStretch> cut_records(std::string_view text, int parts) {
  const auto n = static_cast<std::size_t>(std::max(parts, 1));
  const char* begin = text.data();
  const char* end = begin + text.size();
  std::vector<const char*> at;
  for (std::size_t i = 0; i <= n; ++i) at.push_back(begin + text.size() / n * i);
  at[n] = end;
  std::vector<Counts> counts(n);
  run_beside(
      n, [&](std::size_t i) { counts[i] = count(at[i], at[i + 1], at[i + 1] == end ? '\0' : *at[i + 1]); });
  std::int64_t quotes = 0, lines = 0;
  std::vector<CsvStretch> out;
  const char* from = begin;
  for (std::size_t i = 0; i < n; ++i) {
    quotes += counts[i].quotes, lines += counts[i].lines;
    const char* to = i + 1 == n ? end : std::max(from, cut_from(at[i + 1], end, quotes % 2 != 0));
    if (to == from) continue;
    // The lines between the even cut and the real one belong to this stretch, not to the next.
    const std::int64_t more = to > at[i + 1] ? count(at[i + 1], to, to == end ? '\0' : *to).lines : 0;
    out.push_back({from, to, lines + more + (to == end ? 1 : 0)});
    lines = -more;
    from = to;
  }
  return out;
}

int csv_threads(std::size_t bytes) {
  constexpr std::size_t kWorthAThread = std::size_t{4} << 20;
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  return static_cast<int>(std::clamp<std::size_t>(bytes / kWorthAThread, 1, cores));
}

void run_beside(std::size_t count, const std::function<void(std::size_t)>& job) {
  std::vector<std::exception_ptr> failed(count);
  const auto guarded = [&](std::size_t i) {
    try {
      job(i);
    } catch (...) {
      failed[i] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < count; ++i) others.emplace_back(guarded, i);
    if (count > 0) guarded(0);
  }
  for (const auto& e : failed)
    if (e) std::rethrow_exception(e);
}

}  // namespace tightloop::data
