// SPDX-License-Identifier: Apache-2.0
#pragma once
// Everything of nn that a program which defines and trains a model needs.
#include <tightloop/nn/context.h>
#include <tightloop/nn/layers/activations.h>
#include <tightloop/nn/layers/batch_norm.h>
#include <tightloop/nn/layers/channel_dropout.h>
#include <tightloop/nn/layers/dropout.h>
#include <tightloop/nn/layers/embedding.h>
#include <tightloop/nn/layers/embedding_bag.h>
#include <tightloop/nn/layers/flatten.h>
#include <tightloop/nn/layers/group_norm.h>
#include <tightloop/nn/layers/gumbel_softmax.h>
#include <tightloop/nn/layers/identity.h>
#include <tightloop/nn/layers/instance_norm.h>
#include <tightloop/nn/layers/layer_norm.h>
#include <tightloop/nn/layers/linear.h>
#include <tightloop/nn/layers/normalize.h>
#include <tightloop/nn/layers/pixel_shuffle.h>
#include <tightloop/nn/layers/prelu.h>
#include <tightloop/nn/layers/rms_norm.h>
#include <tightloop/nn/layers/rrelu.h>
#include <tightloop/nn/layers/upsample.h>
#include <tightloop/nn/losses.h>
#include <tightloop/nn/metrics/metric.h>
#include <tightloop/nn/module.h>
#include <tightloop/nn/module_list.h>
#include <tightloop/nn/sequential.h>
