// SPDX-License-Identifier: Apache-2.0
#pragma once
// gradients(loss, wrt) for the rooms above the engine.
#include <tightloop/passes/differentiate.h>
