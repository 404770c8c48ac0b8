// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/context.h>
#include <tightloop/ops/functions.h>
#include <tightloop/ops/functions_data.h>
#include <tightloop/train/read_batch.h>

#include <fmt/format.h>
#include <algorithm>

namespace tightloop::train {
namespace {

/// Keeps the draw of a partner apart from those of the transforms.
constexpr std::int64_t kPartnerPlace = 4096;

/// `a`, or one number where all features share it; `times` over, in a row, for the rows of a window.
Tensor scalar_or_array(const Array& a, std::int64_t times) {
  bool same = true;
  for (std::int64_t i = 1; same && i < a.count(); ++i) same = a.at(i) == a.at(0);
  if (same) return scalar(a.at(0), a.dtype());
  if (times == 0) return Tensor(a.clone());
  Array out(a.dtype(), {times * a.count()});
  for (std::int64_t i = 0; i < out.count(); ++i) out.set(i, a.at(i % a.count()));
  return Tensor(out);
}

Array reciprocal_of(const Array& a) {
  Array out = a.clone();
  for (std::int64_t i = 0; i < a.count(); ++i) out.set(i, 1 / a.at(i));
  return out;
}

/// (x - shift) / scale of rows, or of windows of `times` rows that lie in a row.
Tensor prepared_input(const Tensor& x, const data::FieldScale* scale, std::int64_t times = 0) {
  if (scale != nullptr) {
    const Tensor scaled = (cast(x, scale->shift.dtype()) - scalar_or_array(scale->shift, times)) *
                          scalar_or_array(reciprocal_of(scale->scale), times);
    return cast(scaled, DType::f32);
  }
  const bool ids = x.dtype() == DType::i32 || x.dtype() == DType::i64;
  return cast(x, ids ? DType::i64 : DType::f32);
}

Tensor prepared_target(const Tensor& y) { return cast(y, is_floating(y.dtype()) ? DType::f32 : DType::i64); }

const data::FieldScale* scale_of(const DataSpec& data, const std::string& name) {
  const auto found = std::find_if(data.scales.begin(), data.scales.end(),
                                  [&](const data::FieldScale& s) { return s.field == name; });
  return found == data.scales.end() ? nullptr : &*found;
}

/// Rows first .. first + rows - 1 of `table` [N, ...] one after the other, [B, rows · features]: a block of
/// the series, which is copied by whole vectors.
Tensor block_of(const Tensor& table, const Tensor& first, std::int64_t rows) {
  const Dim all = table.shape().count();
  const Tensor start = first * scalar(static_cast<double>(all.factor), DType::i64);
  return gather_window(reshape(table, {all}), start, rows * all.factor);
}

/// A block as rows: [B, rows, ...].
Tensor as_rows(const Tensor& block, const Tensor& table, std::int64_t rows) {
  std::vector<Dim> dims{block.dim(0), rows};
  dims.insert(dims.end(), table.shape().begin() + 1, table.shape().end());
  return reshape(block, Shape(std::move(dims)));
}

Tensor with_values(const DataSpec& data, const std::string& name, const Tensor& x,
                   const data::Transforms::Source& batch) {
  return is_floating(x.dtype()) ? data.transforms.values(name, x, batch) : x;
}

Tensor read_window(const DataSpec& data, const std::string& name, const Tensor& table,
                   const data::Transforms::Source& batch) {
  if (data.transforms.changes_images(name, table.type()))
    throw Error(
        fmt::format("the input '{}' is seen in windows, which transforms of images do not take", name));
  const std::int64_t length = data.window->length;
  const Tensor block = prepared_input(block_of(table, batch.rows, length), scale_of(data, name), length);
  return as_rows(with_values(data, name, block, batch), table, length);
}

Tensor read_images(const DataSpec& data, const std::string& name, const Tensor& table,
                   const data::Transforms::Source& batch, Tensor& share) {
  const data::FieldScale* scale = scale_of(data, name);
  if (scale != nullptr && data.transforms.normalizes(name, table.type()))
    throw Error(
        fmt::format("the input '{}' would be normalized twice: by the data's statistics and by the "
                    "transform 'normalize'; leave one out",
                    name));
  const auto images = data.transforms.images(name, table, batch);
  if (images.share.defined()) share = images.share;
  return prepared_input(images.values, scale);
}

Tensor read_input(const DataSpec& data, const std::string& name, const Tensor& table,
                  const data::Transforms::Source& batch, Tensor& share) {
  if (data.window) return read_window(data, name, table, batch);
  const Tensor x = data.transforms.changes_images(name, table.type())
                       ? read_images(data, name, table, batch, share)
                       : prepared_input(gather(table, batch.rows), scale_of(data, name));
  return with_values(data, name, x, batch);
}

Tensor window_target(const data::Window& w, const Tensor& table, const Tensor& rows) {
  const Tensor first = rows + static_cast<double>(w.target_first());
  Tensor y = as_rows(block_of(table, first, w.target_rows()), table, w.target_rows());
  if (y.rank() == 3 && y.dim(2).is(1)) y = reshape(y, {y.dim(0), y.dim(1)});
  const bool next_class = !is_floating(y.dtype()) && w.target == data::WindowTarget::ahead && w.horizon == 1;
  return next_class && y.rank() == 2 ? reshape(y, {y.dim(0)}) : y;
}

/// [B] against y [B, ...].
Tensor over_rows(const Tensor& share, const Tensor& y) {
  std::vector<Dim> dims(y.rank(), Dim(1));
  dims[0] = share.dim(0);
  return reshape(share, Shape(std::move(dims)));
}

Tensor mixed_values(const Tensor& own, const Tensor& other, const Tensor& share) {
  const Tensor part = over_rows(share, own);
  return select(part == 1.0, own, own * part + other * (1.0 - part));
}

Tensor mixed_classes(const Tensor& own, const Tensor& other, const Tensor& share, const Tensor& prediction) {
  if (prediction.rank() != 2 || own.rank() != 1)
    throw Error(
        fmt::format("mixing samples turns class numbers into probabilities [B, classes]; the prediction "
                    "is {} and the target {}",
                    to_string(prediction.type()), to_string(own.type())));
  const std::int64_t classes = prediction.dim(1).factor;
  const Tensor bad = logical_or(own < 0.0, own >= static_cast<double>(classes));
  const Tensor mixed = mixed_values(one_hot(own, classes), one_hot(other, classes), share);
  return nn::checked(mixed, bad, own, "mixed target: class",
                     fmt::format("must be 0..{} ({} classes)", classes - 1, classes));
}

}  // namespace

std::vector<Tensor> read_inputs(const DataSpec& data, const std::vector<Tensor>& tables,
                                const data::Transforms::Source& batch, Tensor& share) {
  std::vector<std::pair<std::string, TensorType>> given;
  for (const auto& f : data.inputs) given.emplace_back(f.name, f.type);
  data.transforms.check(given);
  std::vector<Tensor> out;
  for (std::size_t i = 0; i < data.inputs.size(); ++i) {
    const ir::Scope scope(data.inputs[i].name);
    out.push_back(read_input(data, data.inputs[i].name, tables[i], batch, share));
  }
  return out;
}

Tensor read_target(const DataSpec& data, const Tensor& table, const data::Transforms::Source& batch,
                   const Tensor& share, const Tensor& prediction) {
  const ir::Scope scope(data.target[0].name);
  if (data.window) return prepared_target(window_target(*data.window, table, batch.rows));
  const Tensor own = prepared_target(gather(table, batch.rows));
  if (!share.defined()) return own;
  const Tensor other = prepared_target(gather(table, batch.partners));
  if (is_floating(own.dtype())) return mixed_values(own, other, share);
  return mixed_classes(own, other, share, prediction);
}

Tensor partners_of(const DataSpec& data, const data::Transforms::Source& batch) {
  data::Draws draws(batch.seed, batch.epoch, batch.samples, kPartnerPlace);
  if (data.partners.rank() == 0) return draws.whole(size(Dim::rows(), DType::i64));
  const Tensor rows(data.partners);
  return gather(rows, draws.whole(scalar(static_cast<double>(data.partners.count()), DType::i64)));
}

std::vector<std::pair<std::string, TensorType>> input_types(const DataSpec& data) {
  const TensorType number{DType::i64, {}}, each{DType::i64, {Dim::batch()}};
  const auto unknown = [](const TensorType& type) { return input("unknown", "argument", type); };
  data::Transforms::Source batch{unknown(number), unknown(number), unknown(each), unknown(each), {}};
  if (data.transforms.mixes()) batch.partners = unknown(each);
  std::vector<Tensor> tables;
  for (const auto& f : data.inputs) tables.push_back(unknown(f.type));
  Tensor share;
  const auto read = read_inputs(data, tables, batch, share);
  std::vector<std::pair<std::string, TensorType>> out;
  for (std::size_t i = 0; i < read.size(); ++i) out.emplace_back(data.inputs[i].name, read[i].type());
  return out;
}

}  // namespace tightloop::train
