// SPDX-License-Identifier: Apache-2.0
#pragma once
// All of Tightloop's public interface.
#include <tightloop/base/array.h>
#include <tightloop/base/dtype.h>
#include <tightloop/base/error.h>
#include <tightloop/base/shape.h>
#include <tightloop/data/csv.h>
#include <tightloop/data/dataset.h>
#include <tightloop/data/describe.h>
#include <tightloop/data/normalize.h>
#include <tightloop/data/vocabulary.h>
#include <tightloop/engine/compile.h>
#include <tightloop/engine/evaluate.h>
#include <tightloop/engine/functional.h>
#include <tightloop/engine/print.h>
#include <tightloop/io/cifar.h>
#include <tightloop/io/idx.h>
#include <tightloop/io/npy.h>
#include <tightloop/io/npz.h>
#include <tightloop/io/state_dict.h>
#include <tightloop/ir/tensor.h>
#include <tightloop/nn/nn.h>
#include <tightloop/ops/functions.h>
#include <tightloop/ops/functions_spatial.h>
#include <tightloop/optim/optim.h>
#include <tightloop/train/trainer.h>
#include <tightloop/train/weights.h>
