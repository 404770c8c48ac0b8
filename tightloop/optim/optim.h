// SPDX-License-Identifier: Apache-2.0
#pragma once
// Everything of optim.
#include <tightloop/optim/adam.h>
#include <tightloop/optim/adamw.h>
#include <tightloop/optim/clip.h>
#include <tightloop/optim/sgd.h>
#include <tightloop/optim/state.h>
