// SPDX-License-Identifier: Apache-2.0
#pragma once
// Everything of nn that a program which defines and trains a model needs.
#include <tightloop/nn/context.h>
#include <tightloop/nn/layers/activations.h>
#include <tightloop/nn/layers/conv.h>
#include <tightloop/nn/layers/conv_transpose.h>
#include <tightloop/nn/layers/dropout.h>
#include <tightloop/nn/layers/embedding.h>
#include <tightloop/nn/layers/flatten.h>
#include <tightloop/nn/layers/identity.h>
#include <tightloop/nn/layers/linear.h>
#include <tightloop/nn/layers/pool.h>
#include <tightloop/nn/losses.h>
#include <tightloop/nn/metrics/metric.h>
#include <tightloop/nn/models/lenet5.h>
#include <tightloop/nn/module.h>
#include <tightloop/nn/sequential.h>
