// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/forward/ast.h>
#include <tightloop/train/job.h>

#include <vector>

namespace tightloop::train::forward {

/// Statements `name = expression`, one a line. Operators bind as in Python. Throws Error with line, column
/// and a caret, also for expressions nested deeper than kMaxDepth.
std::vector<Statement> parse(const Text& text);

/// One expression (the default values of signatures).
ExprPtr parse_expression(const Text& text);

}  // namespace tightloop::train::forward
