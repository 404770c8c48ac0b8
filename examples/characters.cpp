// SPDX-License-Identifier: Apache-2.0
// A character-level GPT learns a text by heart: token ids [B, T] in, the next character at every step out.
#include <tightloop/tightloop.h>

#include <cstdio>
#include <string>

namespace tl = tightloop;
using tl::Tensor;

const std::string kText =
    "the quick brown fox jumps over the lazy dog while the slow green turtle walks under the old bridge. ";

std::int64_t id_of(char c) { return c == ' ' ? 26 : c == '.' ? 27 : c - 'a'; }
char character(std::int64_t id) { return id == 26 ? ' ' : id == 27 ? '.' : static_cast<char>('a' + id); }

/// The `steps` characters from each place on, or those one later.
tl::Array windows(std::int64_t steps, std::int64_t later) {
  const auto rows = static_cast<std::int64_t>(kText.size());
  tl::Array ids(tl::DType::i64, {rows, steps});
  for (std::int64_t i = 0; i < rows * steps; ++i)
    ids.set_int(i, id_of(kText[static_cast<std::size_t>((i / steps + i % steps + later) % rows)]));
  return ids;
}

int main() {
  const std::int64_t steps = 16, letters = 28;
  tl::nn::GPT gpt({.vocab_size = letters, .block_size = steps, .n_layer = 2, .n_head = 2, .n_embd = 32});
  gpt.initialize(1);

  const auto logits = [&](const Tensor& ids) { return tl::transpose(gpt(ids), 1, 2); };  // classes on axis 1
  tl::optim::State adam(tl::optim::AdamW({.lr = 3e-3}), gpt.variables());
  auto step = tl::compile([&](const Tensor& ids, const Tensor& next) {
    const Tensor loss = tl::nn::cross_entropy(logits(ids), next);
    adam.minimize(loss);
    return loss;
  });
  double loss = 0;
  const Tensor ids = windows(steps, 0), next = windows(steps, 1);
  for (int i = 0; i <= 120; ++i) {
    loss = step(ids, next).item();
    if (i % 40 == 0) std::printf("step %3d  loss %.3f\n", i, loss);
  }

  auto guess = tl::compile([&](const Tensor& seen) { return tl::argmax(gpt(seen), 2); });
  tl::Array seen(tl::DType::i64, {1, steps});
  for (std::int64_t t = 0; t < steps; ++t) seen.set_int(t, ids.array().int_at(t));
  for (int i = 0; i < 60; ++i) {
    const std::int64_t id = guess(Tensor(seen.clone())).array().int_at(steps - 1);
    for (std::int64_t t = 0; t + 1 < steps; ++t) seen.set_int(t, seen.int_at(t + 1));
    seen.set_int(steps - 1, id);
    std::printf("%c", character(id));
  }
  std::printf("\n");
  return loss < 0.6 ? 0 : 1;
}
