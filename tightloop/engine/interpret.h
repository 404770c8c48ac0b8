// SPDX-License-Identifier: Apache-2.0
#pragma once
// The reference interpreter for the rooms above the engine.
#include <tightloop/backends/reference/interpret.h>
