// SPDX-License-Identifier: Apache-2.0
// tilewright/tilewright.h — the whole public interface.
#pragma once

#include "tilewright/benchmark.h"
#include "tilewright/buffer.h"
#include "tilewright/compile.h"
#include "tilewright/device.h"
#include "tilewright/dlpack.h"
#include "tilewright/dtype.h"
#include "tilewright/error.h"
#include "tilewright/grad.h"
#include "tilewright/ir.h"
#include "tilewright/kernel_source.h"
#include "tilewright/load_inline.h"
#include "tilewright/module.h"
#include "tilewright/nn.h"
#include "tilewright/ops.h"
#include "tilewright/profile.h"
#include "tilewright/stream.h"
#include "tilewright/target.h"
#include "tilewright/tensor.h"
#include "tilewright/triton.h"
#include "tilewright/version.h"
