// SPDX-License-Identifier: Apache-2.0
// device_lib/cpu/stream.h — results too large for the caches go around them, so that their old
// lines need not be read first. A loop fills a part that stays in the nearest cache; whole lines of
// it are then written to memory at once.
#pragma once

namespace tw {

// Elements of a part.
constexpr i32 part_size = 1024;

// From this many bytes of results on; they are as many per program.
template <class Launch>
inline bool is_large(const Launch* launch, u64 bytes) {
  const u64 programs = u64(launch->grid[0]) * launch->grid[1] * launch->grid[2];
  return programs * bytes >= 32 << 20;
}

typedef i64 Half __attribute__((vector_size(32), may_alias));
typedef i64 UnalignedHalf __attribute__((vector_size(32), aligned(1), may_alias));

inline void write_line(u8* to, const u8* from) {
  const Half low = *(const UnalignedHalf*)from, high = *(const UnalignedHalf*)(from + 32);
#if defined(__clang__)
  __builtin_nontemporal_store(low, (Half*)to);
  __builtin_nontemporal_store(high, (Half*)(to + 32));
#elif defined(__AVX__)
  __builtin_ia32_movntdq256((Half*)to, low);
  __builtin_ia32_movntdq256((Half*)(to + 32), high);
#else
  *(Half*)to = low;
  *(Half*)(to + 32) = high;
#endif
}

// What is no whole line at either end is written as usual.
template <class T>
inline void stream(T* to, const T* part, i32 count) {
  constexpr i64 line = 64;
  u8* out = (u8*)to;
  const u8* in = (const u8*)part;
  u8* const end = out + i64(count) * i64(sizeof(T));
  const i64 head = min(i64(end - out), i64(0 - (u64)out) & (line - 1));
  __builtin_memcpy(out, in, u64(head));
  out += head, in += head;
  for (; end - out >= line; out += line, in += line) write_line(out, in);
  __builtin_memcpy(out, in, u64(end - out));
}

// Behind all of a call's results: others may read them then.
inline void finish_streams() {
#if defined(__x86_64__)
  __builtin_ia32_sfence();
#endif
}

}  // namespace tw
