// SPDX-License-Identifier: Apache-2.0
// machine/cpu.cpp — the detection of this CPU, and targets of CPUs that are named.
#include "machine/cpu.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <fstream>

#include "base/settings.h"

namespace tilewright {
namespace {

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

}  // namespace

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
  t.features = {Feature::Fma, Feature::F16, Feature::Avx2};
  if (avx512) t.features.add(Feature::Avx512);
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

Target detect_cpu() {
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
    t.features = {};
    t.compiler_flags.clear();
  }
  if (avx512 && __builtin_cpu_supports("avx512bf16")) {
    t.name += "-bf16";
    t.features.add(Feature::Bf16Dot);
    t.compiler_flags.emplace_back("-mavx512bf16");
    if (may_use_amx()) {
      t.name += "-amx";
      t.features.add(Feature::Amx);
      t.compiler_flags.insert(t.compiler_flags.end(), {"-mamx-tile", "-mamx-bf16"});
    }
  }
  return t;
#else
  return cpu_target(false);
#endif
}

}  // namespace tilewright
