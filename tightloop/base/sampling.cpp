// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/base/random.h>
#include <tightloop/base/sampling.h>

#include <algorithm>
#include <bit>
#include <cmath>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define TIGHTLOOP_VECTOR_CLONES \
  __attribute__((target_clones("default", "avx2", "avx512f"), optimize("O3", "vect-cost-model=dynamic")))
#else
#define TIGHTLOOP_VECTOR_CLONES
#endif

namespace tightloop {
namespace {

constexpr std::uint32_t kStream = 0x73687566;
constexpr std::uint32_t kWeightedStream = 0x77656967;
/// Leaves room for the rectangle to stay below 2^31.
constexpr std::int64_t kNarrowLimit = (std::int64_t{1} << 31) - (std::int64_t{1} << 17);

__extension__ typedef unsigned __int128 Word128;

/// Unsigned 32-bit for n below 2^31, so that a vector loop holds it; 64-bit above.
template <class Word, class Wide>
struct Feistel {
  static constexpr int kBits = sizeof(Word) * 8;
  Word columns = 1;  ///< the rectangle is rows x columns, the position is row * columns + column
  Word rows = 1;
  Word keys[4] = {};
  Word magic = 0;  ///< position / columns == position * magic >> shift, exact below 2^(kBits - 1)
  int shift = 0;

  Feistel(std::int64_t n, std::uint64_t seed, std::int64_t epoch) {
    auto side = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n)));
    while (side > 1 && (side - 1) * (side - 1) >= n) --side;
    while (side * side < n) ++side;
    rows = static_cast<Word>(side);
    columns = static_cast<Word>((n + side - 1) / side);
    const int log2_up = std::bit_width(static_cast<Word>(columns - 1));
    shift = kBits - 1 + log2_up;
    magic = static_cast<Word>(((Wide{1} << shift) + columns - 1) / columns);
    const auto words = philox_block(seed, kStream, static_cast<std::uint64_t>(epoch), 0);
    for (int i = 0; i < 4; ++i) keys[i] = static_cast<Word>(words[static_cast<std::size_t>(i)]);
  }

  static Word mix(Word x) {
    x *= static_cast<Word>(0x9E3779B97F4A7C15u >> (64 - kBits)) | 1u;
    x ^= x >> (kBits / 2 - 1);
    x *= static_cast<Word>(0xD1B54A32D192ED03u >> (64 - kBits)) | 1u;
    return x ^ (x >> (kBits / 2 - 3));
  }
  /// (a + F(b)) mod size, with F uniform in [0, size).
  static Word shifted(Word a, Word b, Word key, Word size) {
    const Word f = static_cast<Word>((Wide{mix(b ^ key)} * size) >> kBits);
    const Word sum = a + f;
    return std::min<Word>(sum, sum - size);
  }
  Word operator()(Word position) const {
    Word row = static_cast<Word>((Wide{position} * magic) >> shift);
    Word column = position - row * columns;
    row = shifted(row, column, keys[0], rows);
    column = shifted(column, row, keys[1], columns);
    row = shifted(row, column, keys[2], rows);
    column = shifted(column, row, keys[3], columns);
    return row * columns + column;
  }
  Word inside(Word position, Word n) const {
    do position = (*this)(position);
    while (position >= n);
    return position;
  }
};

using Narrow = Feistel<std::uint32_t, std::uint64_t>;
using WideFeistel = Feistel<std::uint64_t, Word128>;

/// A function of its own, so that it is compiled for each width of vectors.
TIGHTLOOP_VECTOR_CLONES
void permute_all(const Narrow& feistel, std::int64_t size, std::int64_t* positions) {
  const Narrow f = feistel;
  for (std::int64_t i = 0; i < size; ++i) positions[i] = f(static_cast<std::uint32_t>(positions[i]));
}

void permute_narrow(const Sampling& s, const Sampling::Batch& b, std::int64_t* out) {
  const Narrow feistel(s.rows, s.seed, b.epoch);
  permute_all(feistel, b.size, out);
  const auto n = static_cast<std::uint32_t>(s.rows);
  for (std::int64_t i = 0; i < b.size; ++i)
    if (out[i] >= s.rows) out[i] = feistel.inside(static_cast<std::uint32_t>(out[i]), n);
}

void permute_wide(const Sampling& s, const Sampling::Batch& b, std::int64_t* out) {
  const WideFeistel feistel(s.rows, s.seed, b.epoch);
  const auto n = static_cast<std::uint64_t>(s.rows);
  for (std::int64_t i = 0; i < b.size; ++i)
    out[i] = static_cast<std::int64_t>(feistel.inside(static_cast<std::uint64_t>(out[i]), n));
}

/// Philox as in base/random.h, in scalars that a vector loop holds: a column of `rows` by 64 bits, and 53
/// bits that say whether it is kept.
TIGHTLOOP_VECTOR_CLONES
void draw_columns(std::uint64_t seed, std::uint64_t epoch, std::uint64_t rows, std::int64_t size,
                  std::int64_t* positions, double* chances) {
  for (std::int64_t i = 0; i < size; ++i) {
    const auto position = static_cast<std::uint64_t>(positions[i]);
    auto c0 = static_cast<std::uint32_t>(position);
    auto c1 = static_cast<std::uint32_t>(position >> 32) ^ static_cast<std::uint32_t>(epoch >> 32);
    auto c2 = static_cast<std::uint32_t>(epoch), c3 = kWeightedStream;
    auto k0 = static_cast<std::uint32_t>(seed), k1 = static_cast<std::uint32_t>(seed >> 32);
    for (int round = 0; round < 10; ++round) {
      const std::uint64_t a = std::uint64_t{0xD2511F53u} * c0, b = std::uint64_t{0xCD9E8D57u} * c2;
      c0 = static_cast<std::uint32_t>(b >> 32) ^ c1 ^ k0;
      c1 = static_cast<std::uint32_t>(b);
      c2 = static_cast<std::uint32_t>(a >> 32) ^ c3 ^ k1;
      c3 = static_cast<std::uint32_t>(a);
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    positions[i] = static_cast<std::int64_t>((c0 * rows + ((c1 * rows) >> 32)) >> 32);
    chances[i] =
        static_cast<double>(static_cast<std::int64_t>(((std::uint64_t{c2} << 32) | c3) >> 11)) * 0x1p-53;
  }
}

void draw_narrow(const Sampling& s, const Sampling::Batch& b, std::int64_t* out) {
  constexpr std::int64_t piece = 256;
  double chances[piece];
  for (std::int64_t at = 0; at < b.size; at += piece) {
    const std::int64_t size = std::min(piece, b.size - at);
    std::int64_t* columns = out + at;
    draw_columns(s.seed, static_cast<std::uint64_t>(b.epoch), static_cast<std::uint64_t>(s.rows), size,
                 columns, chances);
    for (std::int64_t i = 0; i < size; ++i) {
      const AliasEntry& entry = s.weighted[columns[i]];
      if (!(chances[i] < entry.keep)) columns[i] = entry.other;
    }
  }
}

void draw_wide(const Sampling& s, const Sampling::Batch& b, std::int64_t* out) {
  for (std::int64_t i = 0; i < b.size; ++i) {
    const auto words = philox_block(s.seed, kWeightedStream, static_cast<std::uint64_t>(b.epoch),
                                    static_cast<std::uint64_t>(out[i]));
    const std::uint64_t bits = (std::uint64_t{words[0]} << 32) | words[1];
    const auto column = static_cast<std::int64_t>((Word128{bits} * static_cast<std::uint64_t>(s.rows)) >> 64);
    const AliasEntry& entry = s.weighted[column];
    out[i] = uniform_f64(words[2], words[3]) < entry.keep ? column : entry.other;
  }
}

}  // namespace

Sampling::Batch Sampling::at(std::int64_t step) const {
  require(rows > 0 && batch > 0 && steps_per_epoch() > 0, "sampling: no full batch in the data");
  const std::int64_t first = step % steps_per_pass() * batch;
  return {step / steps_per_epoch(), first, std::min(batch, count() - first)};
}

void Sampling::fill(const Batch& b, std::int64_t* out) const {
  for (std::int64_t i = 0; i < b.size; ++i) out[i] = (b.first + i) * ranks + rank;
  if (weighted != nullptr) {
    (rows < kNarrowLimit ? draw_narrow : draw_wide)(*this, b, out);
  } else {
    for (std::int64_t i = b.size; i-- > 0 && out[i] >= rows;) out[i] %= rows;
    if (shuffle && rows < kNarrowLimit)
      permute_narrow(*this, b, out);
    else if (shuffle)
      permute_wide(*this, b, out);
  }
  if (subset != nullptr)
    for (std::int64_t i = 0; i < b.size; ++i) out[i] = subset[out[i]];
}

std::int64_t permuted(std::int64_t i, std::int64_t n, std::uint64_t seed, std::int64_t epoch) {
  if (n < kNarrowLimit)
    return Narrow(n, seed, epoch).inside(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(n));
  return static_cast<std::int64_t>(
      WideFeistel(n, seed, epoch).inside(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(n)));
}

}  // namespace tightloop
