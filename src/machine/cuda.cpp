// SPDX-License-Identifier: Apache-2.0
// machine/cuda.cpp — the tables of CUDA architectures: numbers, and what came with which.
#include "machine/cuda.h"

namespace tilewright {
namespace {

// Limits of NVIDIA architectures (CUDA programming guide, "compute capabilities"); processor counts
// and L2 are those of the usual data-centre part. A device that is present reports its own numbers.
struct CudaArchitecture {
  const char* name;
  int major, minor;
  int processors;
  int threads_per_processor, blocks_per_processor;
  int shared_kib_per_processor, shared_kib_per_block_optin;
  int l2_mib;
};

constexpr CudaArchitecture cuda_architectures[] = {
    {"sm_75", 7, 5, 40, 1024, 16, 64, 64, 4},      // T4
    {"sm_80", 8, 0, 108, 2048, 32, 164, 163, 40},  // A100
    {"sm_86", 8, 6, 84, 1536, 16, 100, 99, 6},     // A40
    {"sm_87", 8, 7, 16, 1536, 16, 164, 163, 4},    // Orin
    {"sm_89", 8, 9, 142, 1536, 24, 100, 99, 96},   // L40S
    {"sm_90", 9, 0, 132, 2048, 32, 228, 227, 60},  // H100, H200
    {"sm_90a", 9, 0, 132, 2048, 32, 228, 227, 60},
    {"sm_100", 10, 0, 148, 2048, 32, 228, 227, 126},  // B200
    {"sm_100a", 10, 0, 148, 2048, 32, 228, 227, 126},
    {"sm_120", 12, 0, 188, 1536, 24, 100, 99, 128},  // RTX PRO 6000
};

// What came with a compute capability (major * 10 + minor), and is in all later ones.
struct Since {
  Feature feature;
  int number;
};

constexpr Since features_since[] = {
    {Feature::Threads, 0},      {Feature::F16, 53},       {Feature::Fma, 20},
    {Feature::Bf16, 80},        {Feature::AsyncCopy, 80}, {Feature::TensorMaps, 90},
    {Feature::CacheHints, 90},  {Feature::Clusters, 90},  {Feature::VectorAtomics, 90},
    {Feature::MatrixStore, 90}, {Feature::MmaF16, 80},    {Feature::MmaBf16, 80},
    {Feature::MmaTf32, 80},     {Feature::MmaF64, 80},    {Feature::MmaI8, 80},
    {Feature::MmaF8, 89},
};

// What only the code of one chip may use, whose name says so.
struct Only {
  Feature feature;
  std::string_view name;
};

constexpr Only features_only[] = {{Feature::Wgmma, "sm_90a"},
                                  {Feature::RegisterBudget, "sm_90a"},
                                  {Feature::RegisterBudget, "sm_100a"}};

Target target_of(const CudaArchitecture& a) {
  Target t;
  t.kind = DeviceKind::Cuda;
  t.name = a.name;
  t.processors = a.processors;
  t.warp_size = 32;
  t.max_threads_per_block = 1024;
  t.max_threads_per_processor = a.threads_per_processor;
  t.max_blocks_per_processor = a.blocks_per_processor;
  t.registers_per_processor = 65536;
  t.registers_per_block = 65536;
  t.max_registers_per_thread = 255;
  t.register_allocation_unit = 256;
  t.shared_bytes_per_processor = a.shared_kib_per_processor << 10;
  t.shared_bytes_per_block = 48 << 10;
  t.shared_bytes_per_block_optin = a.shared_kib_per_block_optin << 10;
  t.shared_bytes_reserved_per_block = a.major >= 8 ? 1024 : 0;
  t.shared_allocation_unit = a.major >= 8 ? 128 : 256;
  t.capability_major = a.major;
  t.capability_minor = a.minor;
  t.l2_bytes = static_cast<std::int64_t>(a.l2_mib) << 20;
  t.features = cuda_features(a.name, a.major, a.minor);
  return t;
}

}  // namespace

FeatureSet cuda_features(std::string_view name, int major, int minor) {
  FeatureSet out;
  for (const Since& since : features_since)
    if (major * 10 + minor >= since.number) out.add(since.feature);
  for (const Only& only : features_only)
    if (name == only.name) out.add(only.feature);
  return out;
}

std::vector<Target> cuda_targets() {
  std::vector<Target> out;
  for (const CudaArchitecture& architecture : cuda_architectures)
    out.push_back(target_of(architecture));
  return out;
}

}  // namespace tilewright
