// SPDX-License-Identifier: Apache-2.0
// machines/wide_machine.h — a machine that nobody sells: a GPU with warps of 64 lanes, without
// matrix units, asynchronous copies and clusters, whose code is printed as CUDA C++.
//
// It is made of data alone: nothing in passes and emitters knows it.
#pragma once

#include "tilewright/target.h"

namespace tilewright {

inline Target wide_machine() {
  Target t;
  t.kind = DeviceKind::Cuda;
  t.name = "wide_64";
  t.processors = 60;
  t.warp_size = 64;
  t.max_threads_per_block = 1024;
  t.max_threads_per_processor = 2048;
  t.max_blocks_per_processor = 32;
  t.registers_per_processor = 131072;
  t.registers_per_block = 131072;
  t.max_registers_per_thread = 255;
  t.register_allocation_unit = 512;
  t.shared_bytes_per_processor = 64 << 10;
  t.shared_bytes_per_block = 48 << 10;
  t.shared_bytes_per_block_optin = 64 << 10;
  t.shared_allocation_unit = 512;
  t.l2_bytes = 4 << 20;
  t.features = {Feature::Threads, Feature::F16, Feature::Bf16, Feature::Fma};
  return t;
}

}  // namespace tilewright
