// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/value.h>

#include <string>

namespace tightloop::train {

/// Sets the key named left of the first `=` of "a.b=value", making tables on the way; a plain string on the
/// way becomes `{ name = … }`, so that `train.optimizer.lr=0.1` works on `optimizer = "adam"`.
/// The value is TOML, a bare word is a string. Throws Error when the text has no key.
void apply_override(Value& document, const std::string& text);

}  // namespace tightloop::train
