// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/module.h>

#include <memory>
#include <vector>

namespace tightloop::nn {

/// Modules named "0", "1", ..., to be called as the model likes: torch.nn.ModuleList.
///
///     nn::ModuleList<Block> blocks;                 // blocks.emplace<Block>(64) in the constructor
///     for (Block& block : blocks) x = block(x);
template <class M = Module>
class ModuleList final : public Module {
 public:
  M& add(std::unique_ptr<M> module) {
    modules_.push_back(std::move(module));
    return *modules_.back();
  }
  /// Makes a T there and returns it.
  template <class T = M, class... Arguments>
  T& emplace(Arguments&&... arguments) {
    auto module = std::make_unique<T>(std::forward<Arguments>(arguments)...);
    T& made = *module;
    add(std::move(module));
    return made;
  }

  std::size_t size() const { return modules_.size(); }
  /// Throws Error when there is no module `i`.
  M& operator[](std::size_t i) {
    if (i >= modules_.size())
      throw Error("module list: no module " + std::to_string(i) + ", it has " +
                  std::to_string(modules_.size()));
    return *modules_[i];
  }

  class Iterator {
   public:
    explicit Iterator(std::unique_ptr<M>* at) : at_(at) {}
    M& operator*() const { return **at_; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    std::unique_ptr<M>* at_;
  };
  Iterator begin() { return Iterator(modules_.data()); }
  Iterator end() { return Iterator(modules_.data() + modules_.size()); }

  void fields(Fields& f) override {
    for (std::size_t i = 0; i < modules_.size(); ++i) f(std::to_string(i), *modules_[i]);
  }
  std::string describe() const override { return "ModuleList(" + std::to_string(modules_.size()) + ")"; }

 private:
  std::vector<std::unique_ptr<M>> modules_;
};

}  // namespace tightloop::nn
