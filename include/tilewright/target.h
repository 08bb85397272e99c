// SPDX-License-Identifier: Apache-2.0
// tilewright/target.h — a target is data: the plain numbers of a machine that code is made for.
//
// Code above the emitters asks these fields, never a vendor or an architecture name. A target may
// be the device of this machine or one that is not here ("sm_90a" without a GPU).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

enum class DeviceKind : std::int32_t { Cpu, Cuda };

struct Target {
  DeviceKind kind = DeviceKind::Cpu;
  std::string name;  // "sm_90a", "x86-64-avx512", ...: what NVRTC and cache keys are given

  // Multiprocessors (CUDA) or cores that we may use (CPU).
  int processors = 1;

  // CUDA: limits of one multiprocessor and one block. Zero on a CPU.
  int warp_size = 0;
  int max_threads_per_block = 0;
  int max_threads_per_processor = 0;
  int max_blocks_per_processor = 0;
  int registers_per_processor = 0;
  int registers_per_block = 0;
  int max_registers_per_thread = 0;
  int register_allocation_unit = 0;  // registers are handed to a warp in multiples of this
  int shared_bytes_per_processor = 0;
  int shared_bytes_per_block = 0;        // without opting in
  int shared_bytes_per_block_optin = 0;  // the most a block can ask for
  int shared_bytes_reserved_per_block = 0;
  int shared_allocation_unit = 0;
  int capability_major = 0;
  int capability_minor = 0;

  // CPU: vector registers and caches.
  int vector_bits = 0;
  std::int64_t l1_bytes = 0;
  std::int64_t l2_bytes = 0;  // per core on a CPU, whole on a GPU
  std::int64_t l3_bytes = 0;

  // What instructions there are.
  bool has_f16 = false;  // native half arithmetic or conversion (F16C on x86)
  bool has_bf16 = false;
  bool has_cp_async = false;
  bool has_wgmma = false;
  bool has_tma = false;
  bool has_clusters = false;
  bool has_fma = false;
  bool has_avx512 = false;
  bool has_amx = false;

  // Flags that make the host compiler use exactly these instructions; empty for CUDA.
  std::vector<std::string> compiler_flags;

  bool is_cuda() const { return kind == DeviceKind::Cuda; }

  // "sm_80", "sm_90", "sm_90a", ..., "cpu" (this machine), "avx2", "avx512"; throws ArgumentError
  // that lists them.
  static Target parse(std::string_view name);
  // The CPU that this process runs on.
  static const Target& host();
};

}  // namespace tilewright
