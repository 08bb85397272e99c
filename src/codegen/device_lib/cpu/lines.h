// SPDX-License-Identifier: Apache-2.0
// device_lib/cpu/lines.h — vectors as long as a cache line, and stores of them that go around the
// caches. Loops compute a block of elements as the compiler likes, and hand it on as lines.
#pragma once

namespace tw {

typedef f32 Line __attribute__((vector_size(64), may_alias));
typedef f32 HalfLine __attribute__((vector_size(32), may_alias));
typedef f32 QuarterLine __attribute__((vector_size(16), may_alias));
constexpr i64 line_bytes = 64;

// Elements of a block: two lines of f32. What else happens meanwhile happens between two blocks, so
// that it is spread evenly.
constexpr i64 block = 32;
struct Block {
  alignas(line_bytes) f32 at[block];
  Line low() const { return *(const Line*)at; }
  Line high() const { return *(const Line*)(at + block / 2); }
};

// Pairs of lanes, then pairs of those: g++ would add sixteen lanes one after another.
inline f32 total(Line x) {
  const auto* half = (const HalfLine*)&x;
  const HalfLine y = half[0] + half[1];
  const auto* quarter = (const QuarterLine*)&y;
  const QuarterLine z = quarter[0] + quarter[1];
  return (z[0] + z[2]) + (z[1] + z[3]);
}

// The larger in each lane; a NaN in x loses. How x was made is hidden from the compiler, which
// would make it again under a mask (of bf16: a shift) instead of taking the larger by one
// instruction.
template <class Vector>
inline Vector larger_lanes(Vector x, Vector y) {
#if defined(__AVX512F__)
  asm("" : "+v"(x));
#endif
  return x > y ? x : y;
}
inline f32 largest_lane(Line x) {
  const auto* half = (const HalfLine*)&x;
  const HalfLine y = larger_lanes(half[0], half[1]);
  const auto* quarter = (const QuarterLine*)&y;
  const QuarterLine z = larger_lanes(quarter[0], quarter[1]);
  const f32 a = z[0] > z[2] ? z[0] : z[2], b = z[1] > z[3] ? z[1] : z[3];
  return a > b ? a : b;
}

// Both begin at a line.
inline void stream_line(void* to, const void* from) {
#if defined(__clang__)
  __builtin_nontemporal_store(*(const Line*)from, (Line*)to);
#elif defined(__AVX512F__) && __has_builtin(__builtin_ia32_movntps512)
  __builtin_ia32_movntps512((f32*)to, *(const Line*)from);
#elif defined(__AVX__) && __has_builtin(__builtin_ia32_movntps256)
  const auto* half = (const HalfLine*)from;
  __builtin_ia32_movntps256((f32*)to, half[0]);
  __builtin_ia32_movntps256((f32*)to + 8, half[1]);
#else
  *(Line*)to = *(const Line*)from;
#endif
}

// How f32 become elements of a result; small floats have theirs in small_floats.h.
inline f32 round_one(f32 x, const f32*) { return x; }
template <i64 count>
inline void round_all(const f32 (&from)[count], f32* to) {
#pragma omp simd
  for (i64 k = 0; k < count; ++k) to[k] = from[k];
}
// The same where whole lines of a result begin.
template <i64 count>
inline void stream_all(const f32 (&from)[count], f32* to) {
  for (i64 k = 0; k < count; k += 16) stream_line(to + k, from + k);
}
template <i64 count, class T>
inline void stream_all(const f32 (&from)[count], T* to) {
  alignas(line_bytes) T lines[count];
  round_all(from, lines);
  for (i64 k = 0; k < count; k += line_bytes / i64(sizeof(T))) stream_line(to + k, lines + k);
}
// The first `few` of them.
template <i64 count>
inline void put_some(const f32 (&from)[count], f32* to, i64 few) {
#pragma omp simd
  for (i64 k = 0; k < count; ++k)
    if (k < few) to[k] = from[k];
}

}  // namespace tw
