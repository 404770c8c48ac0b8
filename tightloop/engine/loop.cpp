// SPDX-License-Identifier: Apache-2.0
#include <tightloop/engine/loop.h>
#include <tightloop/ops/functions.h>

#include <algorithm>

namespace tightloop {
namespace {

Shape with_leading(const Shape& shape, const Dim& first) {
  std::vector<Dim> dims = shape.dims();
  dims[0] = first;
  return Shape(std::move(dims));
}

/// Of all data; 1 when there is none.
std::int64_t rows_of(const std::vector<Tensor>& data, const std::string& name) {
  for (const Tensor& t : data) {
    if (t.rank() == 0)
      throw Error(name + ": data needs a leading dim of rows, " + to_string(t.type()) +
                  " came; a value that all rows share is a variable or a constant of the function");
    if (t.dim(0) != data[0].dim(0))
      throw Error(name + ": all data must have as many rows, " + to_string(data[0].type()) + " and " +
                  to_string(t.type()) + " came");
  }
  if (data.empty()) return 1;
  if (data[0].dim(0).is(0)) throw Error(name + ": the data has no rows");
  return data[0].dim(0).factor;
}

Tensor mean_of(const Array& sum, std::int64_t steps, DType dtype) {
  Array out(is_floating(dtype) ? dtype : DType::f32, sum.dims());
  for (std::int64_t i = 0; i < sum.count(); ++i) out.set(i, sum.at(i) / static_cast<double>(steps));
  return out;
}

}  // namespace

LoopPrograms::LoopPrograms(LoopOptions options)
    : options_(std::move(options)), functions_({.name = options_.name, .compile = options_.compile}) {
  if (options_.batch < 0)
    throw Error(options_.name + ": the batch must be 1 or greater, or 0 for all rows, not " +
                std::to_string(options_.batch));
}

std::size_t LoopPrograms::find(const void* form, const std::vector<Tensor>& data) const {
  if (Trace::current() != nullptr)
    throw Error(options_.name + ": a loop cannot run inside a function that is being compiled");
  rows_of(data, options_.name);
  return functions_.find(form, data);
}

LoopPrograms::Inputs LoopPrograms::inputs(const std::vector<Tensor>& data) const {
  Inputs out;
  if (data.empty()) return out;
  out.rows = input("rows", "rows", {DType::i64, {Dim::batch()}});
  for (const Tensor& t : data) {
    const std::string name = "data#" + std::to_string(out.data.size());
    out.data.push_back(input(name, "data", {t.dtype(), with_leading(t.shape(), Dim::rows())}));
    out.batch.push_back(gather(out.data.back(), out.rows));
  }
  return out;
}

std::size_t LoopPrograms::add(const void* form, const Inputs& inputs, const Trace& trace,
                              const std::vector<Tensor>& results) {
  std::vector<Mean> means;
  for (const Tensor& t : results) {
    if (!t.shape().is_static())
      throw Error(options_.name + ": a result is averaged over the steps, so its shape must not depend on " +
                  "the batch; return its mean or sum, not " + to_string(t.type()));
    means.push_back({Variable(Array(DType::f64, t.shape().values({})),
                              options_.name + ".sum#" + std::to_string(means.size())),
                     t.dtype()});
    means.back().sum.assign(means.back().sum.value() + cast(t, DType::f64));
  }
  std::vector<Tensor> own;
  if (inputs.rows.defined()) own.push_back(inputs.rows);
  const std::size_t index = functions_.add(form, inputs.data, trace, {}, own);
  means_.push_back(std::move(means));
  return index;
}

Sampling LoopPrograms::sampling(std::int64_t rows) const {
  return {.rows = rows,
          .batch = options_.batch == 0 ? rows : std::min(options_.batch, rows),
          .shuffle = options_.shuffle,
          .drop_last = options_.drop_last,
          .seed = options_.seed};
}

std::vector<Tensor> LoopPrograms::run(std::size_t program, std::int64_t steps,
                                      const std::vector<Tensor>& data) {
  if (steps < 1)
    throw Error(options_.name + ": the number of steps must be at least 1, not " + std::to_string(steps));
  for (const Mean& m : means_.at(program)) m.sum.set(Array(DType::f64, m.sum.type().shape.values({})));
  functions_.run(program, data, sampling(rows_of(data, options_.name)), step, steps);
  step += steps;
  std::vector<Tensor> out;
  for (const Mean& m : means_[program]) out.push_back(mean_of(m.sum.array(), steps, m.dtype));
  return out;
}

}  // namespace tightloop
