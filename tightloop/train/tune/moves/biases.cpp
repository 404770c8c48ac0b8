// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/tune/moves/index.h>

#include <tightloop/train/forward/lexer.h>
#include <tightloop/train/forward/parser.h>
#include <tightloop/train/toml.h>

#include <fmt/format.h>
#include <algorithm>
#include <map>
#include <set>

namespace tightloop::train::tune {
namespace {

using forward::Expr;
using forward::ExprKind;

bool begins_with_linear_part(const std::string& layer) {
  return layer == "linear" || layer.starts_with("conv");
}

/// A layer that could have a bias and says nothing of it: neither by name nor by place.
bool has_default_bias(const Expr& call) {
  if (call.kind != ExprKind::call || !begins_with_linear_part(call.text)) return false;
  const auto named = [&](const char* keyword) {
    return std::find(call.keywords.begin(), call.keywords.end(), keyword) != call.keywords.end();
  };
  const auto by_place = std::count(call.keywords.begin(), call.keywords.end(), "");
  return !named("bias") && !named("reuse") && by_place <= (call.text == "linear" ? 2 : 6);
}

/// Finds layers whose result goes into a batch_norm and nowhere else: it takes the mean away, and any bias
/// with it.
class Finder {
 public:
  explicit Finder(const std::vector<forward::Statement>& statements) {
    for (const auto& s : statements) visit(*s.value, false), assigned_[s.name].push_back(s.value.get());
    for (const auto& [name, count] : normalised_) {
      const auto found = assigned_.find(name);
      if (found != assigned_.end() && found->second.size() == 1 && count == 1 && uses_[name] == 1)
        add(*found->second[0]);
    }
  }
  /// Where their calls begin in the text.
  const std::set<std::size_t>& places() const { return places_; }
  bool reuses() const { return reuses_; }

 private:
  void add(const Expr& e) {
    if (has_default_bias(e)) places_.insert(e.at);
  }

  void visit(const Expr& e, bool normalised) {
    if (e.kind == ExprKind::name) ++uses_[e.text], normalised_[e.text] += normalised ? 1 : 0;
    if (normalised) add(e);
    for (const auto& keyword : e.keywords) reuses_ = reuses_ || keyword == "reuse";
    const bool norm = e.kind == ExprKind::call && e.text == "batch_norm";
    for (std::size_t i = 0; i < e.parts.size(); ++i)
      if (e.parts[i] != nullptr) visit(*e.parts[i], norm && i == 0);
  }

  std::map<std::string, std::vector<const Expr*>> assigned_;
  std::map<std::string, int> uses_, normalised_;
  std::set<std::size_t> places_;
  bool reuses_ = false;
};

/// The byte of the bracket that closes the call at `at`.
std::size_t closing(const std::vector<forward::Token>& tokens, std::size_t at) {
  int depth = 0;
  for (const auto& t : tokens) {
    if (t.at < at || t.kind != forward::TokenKind::symbol) continue;
    if (t.text == "(") ++depth;
    if (t.text == ")" && --depth == 0) return t.at;
  }
  return std::string::npos;
}

Proposal propose(const Situation& s) {
  const std::vector<forward::Statement> statements = forward::parse(s.job.model.forward);
  const Finder finder(statements);
  if (finder.places().empty()) return skip("no bias in front of a batch_norm");
  if (finder.reuses()) return skip("the model uses layers again by reuse=");
  if (!s.job.model.weights.empty()) return skip("the model starts from weights that have the biases");
  if (!s.job.train.groups.empty() || !s.job.train.freeze.empty() || !s.job.train.unfreeze.empty())
    return skip("the job names parameters, biases among them perhaps");
  const std::vector<forward::Token> tokens = forward::tokenize(s.job.model.forward);
  std::set<std::size_t, std::greater<>> ends;
  for (const std::size_t at : finder.places()) ends.insert(closing(tokens, at));
  if (ends.contains(std::string::npos)) return skip("the forward text is cut in an unexpected way");
  std::string text = s.job.model.forward.text;
  for (const std::size_t end : ends) text.insert(end, ", bias=false");
  return {{{fmt::format("{} biases left out", ends.size()),
            {set("model.forward", write_toml_value(Value{text}))}}}};
}

}  // namespace

const MoveDef& biases_move() {
  static const MoveDef def{"biases", "no bias in front of a batch_norm, which takes it away again",
                           Effect::numbers, propose};
  return def;
}

}  // namespace tightloop::train::tune
