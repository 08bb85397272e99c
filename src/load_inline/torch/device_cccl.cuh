// SPDX-License-Identifier: Apache-2.0
// load_inline/torch/device_cccl.cuh — integers and limits of CCCL, which CUB and cooperative groups include, for NVRTC.
#pragma once

// CCCL defines these for NVRTC without asking whether they are there.
#if __has_include(<cuda/std/cstdint>)
#include <cuda/std/climits>
#include <cuda/std/cstdint>
#define TW_HAS_CCCL
#endif
