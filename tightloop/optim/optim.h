// SPDX-License-Identifier: Apache-2.0
#pragma once
// Everything of optim.
#include <tightloop/optim/adadelta.h>
#include <tightloop/optim/adagrad.h>
#include <tightloop/optim/adam.h>
#include <tightloop/optim/adamax.h>
#include <tightloop/optim/adamw.h>
#include <tightloop/optim/clip.h>
#include <tightloop/optim/gradient_rules.h>
#include <tightloop/optim/lamb.h>
#include <tightloop/optim/lbfgs.h>
#include <tightloop/optim/lion.h>
#include <tightloop/optim/loss_scale.h>
#include <tightloop/optim/minimize.h>
#include <tightloop/optim/muon.h>
#include <tightloop/optim/nadam.h>
#include <tightloop/optim/radam.h>
#include <tightloop/optim/rmsprop.h>
#include <tightloop/optim/schedule.h>
#include <tightloop/optim/sgd.h>
#include <tightloop/optim/slot_code.h>
#include <tightloop/optim/state.h>
