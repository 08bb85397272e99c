// SPDX-License-Identifier: Apache-2.0
// base/target.cpp — the table of CUDA architectures and the detection of this CPU.
#include "tilewright/target.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <fstream>

#include "base/check.h"
#include "base/nearest.h"
#include "base/settings.h"

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

Target cuda_target(const CudaArchitecture& a) {
  const bool is_hopper_specific = std::string_view(a.name) == "sm_90a";
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
  t.has_f16 = true;
  t.has_bf16 = a.major >= 8;
  t.has_cp_async = a.major >= 8;
  t.has_wgmma = is_hopper_specific;
  t.has_tma = a.major >= 9;
  t.has_clusters = a.major >= 9;
  t.has_fma = true;
  return t;
}

int usable_cores() {
  if (settings().threads > 0) return settings().threads;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
  return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
}

// The cache that core 0 uses, as the system describes it ("32768K"). sysconf is second choice: on
// some processors it gives the sum of all caches of a level.
std::int64_t cache_size(int level, int sysconf_name) {
  for (int index = 0; index < 8; ++index) {
    const std::string folder =
        "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    int found_level = 0;
    std::int64_t kib = 0;
    std::string type;
    std::ifstream(folder + "level") >> found_level;
    std::ifstream(folder + "type") >> type;
    std::ifstream(folder + "size") >> kib;
    if (found_level == level && type != "Instruction" && kib > 0) return kib << 10;
  }
  const long size = sysconf(sysconf_name);
  return size > 0 ? size : 0;
}

Target cpu_target(bool avx512) {
  Target t;
  t.kind = DeviceKind::Cpu;
  t.processors = usable_cores();
  t.l1_bytes = cache_size(1, _SC_LEVEL1_DCACHE_SIZE);
  t.l2_bytes = cache_size(2, _SC_LEVEL2_CACHE_SIZE);
  t.l3_bytes = cache_size(3, _SC_LEVEL3_CACHE_SIZE);
#if defined(__x86_64__)
  t.name = avx512 ? "x86-64-avx512" : "x86-64-avx2";
  t.vector_bits = avx512 ? 512 : 256;
  t.has_fma = true;
  t.has_f16 = true;
  t.has_avx512 = avx512;
  t.compiler_flags = {"-mavx2", "-mfma", "-mf16c", "-mbmi", "-mbmi2", "-mlzcnt", "-mpopcnt"};
  if (avx512)
    t.compiler_flags.insert(t.compiler_flags.end(),
                            {"-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mavx512cd",
                             "-mprefer-vector-width=512"});
#else
  static_cast<void>(avx512);
  t.name = "generic";
  t.vector_bits = 128;
#endif
  return t;
}

#if defined(__x86_64__)
// Whether the matrix unit is there and the system lets this process use its registers, which it
// must be asked for once.
bool may_use_amx() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned bf16 = 1u << 22, tile = 1u << 24;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (d & bf16) == 0 || (d & tile) == 0) return false;
  constexpr long request_permission = 0x1023, tile_data = 18;
  return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}
#endif

Target detect_host() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
  Target t = cpu_target(avx512);
  if (!avx2) {
    t.name = "x86-64";
    t.vector_bits = 128;
    t.has_fma = t.has_f16 = false;
    t.compiler_flags.clear();
  }
  if (avx512 && __builtin_cpu_supports("avx512bf16")) {
    t.name += "-bf16";
    t.has_bf16 = true;
    t.compiler_flags.emplace_back("-mavx512bf16");
    if (may_use_amx()) {
      t.name += "-amx";
      t.has_amx = true;
      t.compiler_flags.insert(t.compiler_flags.end(), {"-mamx-tile", "-mamx-bf16"});
    }
  }
  return t;
#else
  return cpu_target(false);
#endif
}

}  // namespace

const Target& Target::host() {
  static const Target target = detect_host();
  return target;
}

Target Target::parse(std::string_view name) {
  if (name == "cpu") return host();
  if (name == "avx2") return cpu_target(false);
  if (name == "avx512") return cpu_target(true);
  std::vector<std::string> known = {"cpu", "avx2", "avx512"};
  for (const CudaArchitecture& architecture : cuda_architectures) {
    if (name == architecture.name) return cuda_target(architecture);
    known.emplace_back(architecture.name);
  }
  throw ArgumentError(fmt::format("unknown target '{}'{}", name, suggest_names(name, known)));
}

}  // namespace tilewright
