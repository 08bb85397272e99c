// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/services.cpp — the table of services.
#include "runtime/cpu/services.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstring>

#include "codegen/device_lib/emulate/fibers.h"
#include "runtime/cpu/communicating.h"

namespace tilewright {
namespace {

void fail(const char* message) { throw ProgramFailure{message ? message : "no reason given"}; }

constexpr std::uint64_t line_bytes = 64;

#if defined(__x86_64__)
__attribute__((target("avx"))) void stream_lines(char* to, const char* from, std::uint64_t bytes) {
  for (std::uint64_t at = 0; at < bytes; at += line_bytes) {
    const auto* in = reinterpret_cast<const __m256i*>(from + at);
    auto* out = reinterpret_cast<__m256i*>(to + at);
    const __m256i low = _mm256_loadu_si256(in), high = _mm256_loadu_si256(in + 1);
    _mm256_stream_si256(out, low);
    _mm256_stream_si256(out + 1, high);
  }
}
bool can_stream() { return __builtin_cpu_supports("avx"); }
#else
void stream_lines(char*, const char*, std::uint64_t) {}
bool can_stream() { return false; }
#endif

void stream(void* to, const void* from, std::uint64_t bytes) {
  auto* out = static_cast<char*>(to);
  const auto* in = static_cast<const char*>(from);
  static const bool can = can_stream();
  const std::uint64_t past_line = reinterpret_cast<std::uintptr_t>(out) % line_bytes;
  const std::uint64_t head = std::min(bytes, (line_bytes - past_line) % line_bytes);
  const std::uint64_t lines = can ? (bytes - head) / line_bytes * line_bytes : 0;
  std::memcpy(out, in, head);
  stream_lines(out + head, in + head, lines);
  std::memcpy(out + head + lines, in + head + lines, bytes - head - lines);
}

}  // namespace

const TwCpuServices& cpu_services() {
  static const TwCpuServices services = {.size = sizeof(TwCpuServices),
                                         .fail = fail,
                                         .emulation = emulation_services(),
                                         .give_way = give_way,
                                         .stream = stream};
  return services;
}

}  // namespace tilewright
