// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/context.h>
#include <tightloop/nn/losses.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>

#include <limits>

namespace tightloop::nn {
namespace {

/// Stands for log 0: finite, so that differences and gradients stay numbers.
constexpr double kNever = -1e30;

struct Sizes {
  std::int64_t frames, classes, labels;
  Dim rows;
};

Sizes sizes_of(const CtcInput& in, std::int64_t blank) {
  const Tensor& x = in.log_probabilities;
  const bool fits = x.rank() == 3 && is_floating(x.dtype()) && x.dim(0).is_static() && x.dim(2).is_static() &&
                    in.targets.rank() == 2 && is_integer(in.targets.dtype()) &&
                    in.targets.dim(1).is_static() && in.targets.dim(0) == x.dim(1);
  if (!fits)
    throw Error(fmt::format("ctc: takes log-probabilities [T, B, C] and whole numbers [B, S], got {} and {}",
                            to_string(x.type()), to_string(in.targets.type())));
  for (const Tensor* lengths : {&in.input_lengths, &in.target_lengths})
    if (!is_integer(lengths->dtype()) || lengths->shape() != Shape{x.dim(1)})
      throw Error(fmt::format("ctc: lengths must be whole numbers {}, got {}", to_string(Shape{x.dim(1)}),
                              to_string(lengths->type())));
  const std::int64_t classes = x.dim(2).factor;
  if (blank < 0 || blank >= classes)
    throw Error(fmt::format("ctc: blank must be 0..{}, got {}", classes - 1, blank));
  return {x.dim(0).factor, classes, in.targets.dim(1).factor, x.dim(1)};
}

/// log Σ exp of three, of which any may be kNever.
Tensor log_sum(const Tensor& a, const Tensor& b, const Tensor& c) {
  const Tensor most = stop_gradient(maximum(maximum(a, b), c));
  return most + log(exp(a - most) + exp(b - most) + exp(c - most));
}

/// Moved `by` places along the labels; kNever comes in.
Tensor later(const Tensor& a, std::int64_t by, std::int64_t places) {
  if (by >= places) return full(a.shape(), kNever, a.dtype());
  return pad(slice(a, 1, 0, places - by), {0, by}, {0, 0}, kNever);
}

/// Blank, first label, blank, second label, ..., blank: i64 [B, 2S + 1]
Tensor with_blanks(const Tensor& labels, std::int64_t blank, const Sizes& s) {
  const Tensor gap = full({s.rows, 1}, static_cast<double>(blank), DType::i64);
  if (s.labels == 0) return gap;
  const Tensor gaps = full({s.rows, s.labels, 1}, static_cast<double>(blank), DType::i64);
  const Tensor pairs = concat({gaps, unsqueeze(labels, -1)}, 2);
  return concat({reshape(pairs, {s.rows, 2 * s.labels}), gap}, 1);
}

/// The log-probabilities of the places' classes in all frames, [T, B, 2S + 1].
Tensor at_places(const Tensor& x, const Tensor& places, const Sizes& s) {
  const std::int64_t count = 2 * s.labels + 1;
  const Shape shape{s.frames, s.rows, count};
  const Tensor row = iota(shape, 0) * size(s.rows, DType::i64) + iota(shape, 1);
  const Tensor index = row * static_cast<double>(s.classes) + places;
  return maximum(gather(reshape(x, {x.shape().count()}), index), scalar(kNever, x.dtype()));
}

/// Graves' forward variables, logarithms, after each row's last frame: [B, 2S + 1].
Tensor forward(const CtcInput& in, const Tensor& places, const Sizes& s) {
  const Tensor& x = in.log_probabilities;
  const std::int64_t count = 2 * s.labels + 1;
  const Tensor scores = at_places(x, places, s), never = scalar(kNever, x.dtype());
  const Tensor place = iota({count}, 0);
  const Tensor odd = (place - 2.0 * floor_div(place, scalar(2, DType::i64))) == 1.0;
  const Tensor before = count > 2 ? pad(slice(places, 1, 0, count - 2), {0, 2}, {0, 0}, -1)
                                  : full(places.shape(), -1, DType::i64);
  const Tensor may_skip = logical_and(odd, not_equal(places, before));
  const auto frame = [&](std::int64_t t) { return squeeze(slice(scores, 0, t, t + 1), 0); };
  Tensor alpha = select(place < 2.0, frame(0), never);
  for (std::int64_t t = 1; t < s.frames; ++t) {
    const Tensor skipped = select(may_skip, later(alpha, 2, count), never);
    const Tensor next = log_sum(alpha, later(alpha, 1, count), skipped) + frame(t);
    alpha = select(unsqueeze(in.input_lengths > static_cast<double>(t), -1), maximum(next, never), alpha);
  }
  return alpha;
}

Tensor checked_lengths(Tensor value, const CtcInput& in, const Sizes& s, std::int64_t blank) {
  const auto limited = [&](const Tensor& lengths, std::int64_t least, std::int64_t most, const char* what) {
    const Tensor bad = logical_or(lengths<static_cast<double>(least), lengths> static_cast<double>(most));
    value = checked(value, bad, lengths, what, fmt::format("must be {}..{}", least, most));
  };
  limited(in.input_lengths, 1, s.frames, "ctc: input length");
  limited(in.target_lengths, 0, s.labels, "ctc: target length");
  const Tensor& t = in.targets;
  const Tensor used = iota({s.labels}, 0) < unsqueeze(in.target_lengths, -1);
  const Tensor outside =
      logical_or(logical_or(t < 0.0, t >= static_cast<double>(s.classes)), t == static_cast<double>(blank));
  return checked(value, logical_and(used, outside), t, "ctc: target",
                 fmt::format("must be 0..{} and not the blank, {}", s.classes - 1, blank));
}

}  // namespace

Tensor ctc_loss(const CtcInput& given, CtcOptions options) {
  const Sizes s = sizes_of(given, options.blank);
  CtcInput in = given;
  for (Tensor* t : {&in.targets, &in.input_lengths, &in.target_lengths}) *t = cast(*t, DType::i64);
  const DType dtype = in.log_probabilities.dtype();
  const Tensor places = with_blanks(in.targets, options.blank, s);
  const Tensor alpha = forward(in, places, s), last = 2.0 * in.target_lengths;
  const Tensor label = take_last(alpha, maximum(last - 1.0, scalar(0, DType::i64)));
  const Tensor never = scalar(kNever, dtype);
  const Tensor total = log_sum(take_last(alpha, last), select(last > 0.0, label, never), never);
  const double impossible = options.zero_infinity ? 0 : std::numeric_limits<double>::infinity();
  Tensor losses = select(total < 0.1 * kNever, scalar(impossible, dtype), -total);
  if (options.reduction == Reduction::mean)
    losses = losses / cast(maximum(in.target_lengths, scalar(1, DType::i64)), dtype);
  return checked_lengths(reduced(losses, options.reduction), in, s, options.blank);
}

}  // namespace tightloop::nn
