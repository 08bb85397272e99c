// SPDX-License-Identifier: Apache-2.0
// device_lib/cpu/stream.h — results too large for the caches go around them, so that their old
// lines need not be read first.
#pragma once

namespace tw {

// Elements of a part: a loop that is no call of rows.h fills one that stays in the nearest cache;
// whole lines of it are then written to memory at once.
constexpr i32 part_size = 1024;

// From this many bytes of results on; they are as many per program.
template <class Launch>
inline bool is_large(const Launch* launch, u64 bytes) {
  const u64 programs = u64(launch->grid[0]) * launch->grid[1] * launch->grid[2];
  return programs * bytes >= 32 << 20;
}

// The library has the loop over lines: here every kernel would compile its own.
template <class Launch, class T>
inline void stream(const Launch* launch, T* to, const T* part, i32 count) {
  launch->services->stream(to, part, u64(count) * sizeof(T));
}

// Asks for elements that a later program of this thread will read. Always inlined: g++ takes a
// function that only asks for memory for one that does nothing, and drops its calls.
template <class T>
[[gnu::always_inline]] inline void fetch_ahead(const T* from, i32 count) {
  for (i32 i = 0; i < count; i += line_bytes / sizeof(T)) __builtin_prefetch(from + i);
}

// The same for one block (lines.h).
template <class T>
[[gnu::always_inline]] inline void fetch_block(const T* from) {
  for (i64 i = 0; i < block; i += line_bytes / i64(sizeof(T))) __builtin_prefetch(from + i);
}

// Behind all of a call's results: others may read them then.
inline void finish_streams() {
#if defined(__x86_64__)
  __builtin_ia32_sfence();
#endif
}

}  // namespace tw
