// SPDX-License-Identifier: Apache-2.0
// tilewright/target.h — a target is data: the plain numbers of a machine that code is made for.
//
// Code asks these numbers and features, never a vendor, an architecture name or a version. A target
// may be the device of this machine or one that is not here ("sm_90a" without a GPU).
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

enum class DeviceKind : std::int32_t { Cpu, Cuda };

// What a machine may be able to do; features.def says what each means.
enum class Feature : std::uint8_t {
#define FEATURE(enumerator, name, meaning) enumerator,
#include "tilewright/features.def"
};

std::string_view name_of(Feature feature);     // "async_copy"
std::string_view meaning_of(Feature feature);  // a phrase
std::span<const Feature> all_features();

class FeatureSet {
 public:
  constexpr FeatureSet() = default;
  constexpr FeatureSet(std::initializer_list<Feature> features) {
    for (const Feature feature : features) add(feature);
  }
  constexpr void add(Feature feature) { bits_ |= bit(feature); }
  constexpr void remove(Feature feature) { bits_ &= ~bit(feature); }
  constexpr bool has(Feature feature) const { return (bits_ & bit(feature)) != 0; }
  constexpr bool has_all(FeatureSet other) const { return (bits_ & other.bits_) == other.bits_; }
  constexpr bool has_any(FeatureSet other) const { return (bits_ & other.bits_) != 0; }
  friend constexpr bool operator==(const FeatureSet&, const FeatureSet&) = default;

 private:
  static constexpr std::uint64_t bit(Feature feature) {
    return std::uint64_t{1} << static_cast<unsigned>(feature);
  }
  std::uint64_t bits_ = 0;
};

struct Target {
  DeviceKind kind = DeviceKind::Cpu;
  std::string name;  // "sm_90a", "x86-64-avx512", ...: what NVRTC and cache keys are given

  // Multiprocessors (CUDA) or cores that we may use (CPU).
  int processors = 1;

  // CUDA: limits of one multiprocessor and one block. Zero on a CPU.
  int warp_size = 0;  // lanes of a warp, a power of two
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

  FeatureSet features;
  bool has(Feature feature) const { return features.has(feature); }

  // Flags that make the host compiler use exactly these instructions; empty for CUDA.
  std::vector<std::string> compiler_flags;

  // log2 of the threads of a warp, which run together; 0 on a CPU.
  int log_lanes() const {
    return warp_size == 0 ? 0 : std::countr_zero(static_cast<unsigned>(warp_size));
  }
  // Of one block.
  int max_warps() const { return warp_size == 0 ? 0 : max_threads_per_block / warp_size; }

  bool is_cuda() const { return kind == DeviceKind::Cuda; }

  friend bool operator==(const Target&, const Target&) = default;

  // "sm_80", "sm_90", "sm_90a", ..., "cpu" (this machine), "avx2", "avx512"; throws ArgumentError
  // that lists them.
  static Target parse(std::string_view name);
  // The CPU that this process runs on.
  static const Target& host();
};

}  // namespace tilewright
