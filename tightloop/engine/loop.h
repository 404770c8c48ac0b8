// SPDX-License-Identifier: Apache-2.0
#pragma once
// loop(fn): a training step of one's own, looped in native code over data that lies in memory.
//
//   auto train = tl::loop([&](Tensor x, Tensor y) {            // the rows of a batch
//     const Tensor loss = tl::nn::mse_loss(net(x), y);
//     adam.minimize(loss);
//     return loss;
//   }, {.batch = 128});
//   for (int i = 0; i < 20; ++i)
//     std::printf("%f\n", train.run(500, xs, ys).item());      // 500 steps; the mean of their losses
#include <tightloop/engine/compile.h>

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace tightloop {

struct LoopOptions {
  std::int64_t batch = 32;  ///< rows of a step; the last batch of an epoch has what is left. 0: all rows
  bool shuffle = true;      ///< anew in each epoch
  bool drop_last = false;   ///< leave out a last batch that is short
  std::uint64_t seed = 0;   ///< of the shuffling
  std::string name = "loop";
  CompileOptions compile = {};
};

/// What Loop is made of: the part that knows no types.
class LoopPrograms {
 public:
  explicit LoopPrograms(LoopOptions options);

  /// The program for this data, or FunctionPrograms::none. Throws Error unless all have the same number of
  /// rows, and there are some.
  std::size_t find(const void* form, const std::vector<Tensor>& data) const;

  /// What a trace needs: the data [N, ...] as inputs, and the rows of a batch [B, ...].
  struct Inputs {
    std::vector<Tensor> data, batch;
    Tensor rows;  ///< i64[B]; undefined without data
  };
  Inputs inputs(const std::vector<Tensor>& data) const;
  /// Compiles what the trace recorded, and the sums of the results. Throws Error for a result whose shape
  /// depends on the batch.
  std::size_t add(const void* form, const Inputs& inputs, const Trace& trace,
                  const std::vector<Tensor>& results);
  /// Runs so many steps and gives the mean of each result.
  std::vector<Tensor> run(std::size_t program, std::int64_t steps, const std::vector<Tensor>& data);

  std::int64_t step = 0;  ///< steps done
  std::int64_t steps_per_epoch(std::int64_t rows) const { return sampling(rows).steps_per_epoch(); }
  FunctionPrograms& functions() { return functions_; }

 private:
  struct Mean {
    Variable sum;
    DType dtype;
  };
  Sampling sampling(std::int64_t rows) const;

  LoopOptions options_;
  FunctionPrograms functions_;
  std::vector<std::vector<Mean>> means_;  ///< by program
};

/// What loop() returns.
template <class Fn>
class Loop {
 public:
  Loop(Fn fn, LoopOptions options) : fn_(std::move(fn)), programs_(std::move(options)) {}

  /// Runs so many steps in native code, without coming back between them. `data`: what fn takes, with all
  /// rows [rows, ...] where it has those of a batch; read where it lies, in its own type. Each call goes on
  /// where the last one ended. Returns what fn returns, each tensor as the mean over these steps (of integers
  /// and bools in f32). Throws Error when a result's shape depends on the batch, when the data does not
  /// have one number of rows, and unless steps > 0.
  template <class... Data>
  auto run(std::int64_t steps, const Data&... data) {
    const std::tuple<detail::Argument<Data>...> given(data...);
    using Result = decltype(detail::applied(fn_, given));
    if constexpr (std::is_void_v<decltype(std::apply(fn_, given))>)
      call<Result>(steps, given);
    else
      return call<Result>(steps, given);
  }

  /// Steps done. A loop that goes on from saved variables is told where it stood: that decides which rows
  /// come next.
  std::int64_t step() const { return programs_.step; }
  void set_step(std::int64_t step) { programs_.step = step; }
  /// Steps that go once through so many rows.
  std::int64_t steps_per_epoch(std::int64_t rows) const { return programs_.steps_per_epoch(rows); }
  /// The compiled forms so far, in the order of their first call.
  FunctionPrograms& programs() { return programs_.functions(); }

 private:
  template <class Result, class Arguments>
  Result call(std::int64_t steps, const Arguments& given) {
    const std::vector<Tensor> data = tensors_in(given);
    std::size_t found = programs_.find(&detail::form_of<Arguments>, data);
    if (found == FunctionPrograms::none) found = trace<Result>(given, data);
    return with_tensors(*static_cast<const Result*>(results_[found].get()),
                        programs_.run(found, steps, data));
  }

  template <class Result, class Arguments>
  std::size_t trace(const Arguments& given, const std::vector<Tensor>& data) {
    const LoopPrograms::Inputs inputs = programs_.inputs(data);
    const Trace trace;
    auto result = std::make_shared<Result>(detail::applied(fn_, with_tensors(given, inputs.batch)));
    const std::size_t index = programs_.add(&detail::form_of<Arguments>, inputs, trace, tensors_in(*result));
    results_.push_back(std::move(result));
    return index;
  }

  Fn fn_;
  LoopPrograms programs_;
  std::vector<std::shared_ptr<const void>> results_;  ///< the structure that each form returns
};

/// A loop over steps of `fn`, which takes the rows of a batch [B, ...], one argument for each array of the
/// data (or none, where it draws its own), may read and assign variables, and returns scalars to watch, or
/// nothing. It is traced once for each signature of the data, whatever the number of rows.
template <class Fn>
Loop<std::decay_t<Fn>> loop(Fn&& fn, LoopOptions options = {}) {
  return {std::forward<Fn>(fn), std::move(options)};
}

}  // namespace tightloop
