// SPDX-License-Identifier: Apache-2.0
// device_lib/cpu/lines.h — vectors as long as the processor's, and stores of whole cache lines that
// go around the caches. Loops compute a block of elements as the compiler likes, and hand it on as
// vectors.
#pragma once

namespace tw {

constexpr i64 line_bytes = 64;

// Longer vectors than the processor has would be taken apart element by element.
#if defined(__AVX512F__)
constexpr i64 lanes = 16;
#elif defined(__AVX__)
constexpr i64 lanes = 8;
#else
constexpr i64 lanes = 4;
#endif
typedef f32 Lanes __attribute__((vector_size(4 * lanes), may_alias));
typedef f32 EightLanes __attribute__((vector_size(32), may_alias));
typedef f32 FourLanes __attribute__((vector_size(16), may_alias));

// Elements of a block: two lines of f32. What else happens meanwhile happens between two blocks, so
// that it is spread evenly.
constexpr i64 block = 32;
constexpr i64 vectors = block / lanes;
struct Block {
  alignas(line_bytes) f32 at[block];
  Lanes vector(i64 v) const { return *(const Lanes*)(at + v * lanes); }
};

// Pairs of lanes, then pairs of those: g++ would combine them one after another.
template <class Combine>
[[gnu::always_inline]] inline f32 across(Lanes x, const Combine& combine) {
#if defined(__AVX512F__)
  const auto* eight = (const EightLanes*)&x;
  const EightLanes y = combine(eight[0], eight[1]);
#else
  const Lanes y = x;
#endif
#if defined(__AVX__)
  const auto* four = (const FourLanes*)&y;
  const FourLanes z = combine(four[0], four[1]);
#else
  const FourLanes z = y;
#endif
  return combine(combine(z[0], z[2]), combine(z[1], z[3]));
}
struct Plus {
  template <class T>
  T operator()(T x, T y) const {
    return x + y;
  }
};
// A NaN in x loses. How x was made is hidden from the compiler, which would make it again under a
// mask (of bf16: a shift) instead of taking the larger by one instruction.
struct Larger {
  Lanes operator()(Lanes x, Lanes y) const {
#if defined(__AVX512F__)
    asm("" : "+v"(x));
#endif
    return x > y ? x : y;
  }
#if defined(__AVX512F__)
  EightLanes operator()(EightLanes x, EightLanes y) const { return x > y ? x : y; }
#endif
#if defined(__AVX__)
  FourLanes operator()(FourLanes x, FourLanes y) const { return x > y ? x : y; }
#endif
  f32 operator()(f32 x, f32 y) const { return x > y ? x : y; }
};

// One vector for each of a block, combined with those of the next blocks.
struct Accumulator {
  Lanes at[vectors];
  explicit Accumulator(f32 start) {
    for (i64 v = 0; v < vectors; ++v) at[v] = start - Lanes{};
  }
  template <class Combine>
  [[gnu::always_inline]] void take(const Block& some, const Combine& combine) {
    for (i64 v = 0; v < vectors; ++v) at[v] = combine(some.vector(v), at[v]);
  }
  template <class Combine>
  [[gnu::always_inline]] f32 all(const Combine& combine) const {
    Lanes x[vectors];
    for (i64 v = 0; v < vectors; ++v) x[v] = at[v];
    for (i64 n = vectors / 2; n > 0; n /= 2)
      for (i64 v = 0; v < n; ++v) x[v] = combine(x[v], x[v + n]);
    return across(x[0], combine);
  }
};

// Whether there was a NaN, of two vectors in one comparison where the processor can.
struct NanSeen {
#if defined(__AVX512F__) && __has_builtin(__builtin_ia32_cmpps512_mask)
  u16 bits = 0;
  [[gnu::always_inline]] void take(Lanes x, Lanes y) {
    constexpr int unordered = 3, current_rounding = 4;
    bits |= u16(__builtin_ia32_cmpps512_mask(x, y, unordered, u16(-1), current_rounding));
  }
  [[gnu::always_inline]] bool any() const { return bits != 0; }
#else
  typedef i32 Bits __attribute__((vector_size(4 * lanes)));
  Bits bits = {};
  [[gnu::always_inline]] void take(Lanes x, Lanes y) { bits |= (x != x) | (y != y); }
  [[gnu::always_inline]] bool any() const {
    i32 all = 0;
    for (i64 k = 0; k < lanes; ++k) all |= bits[k];
    return all != 0;
  }
#endif
};

// Both begin at a line.
inline void stream_line(void* to, const void* from) {
  for (i64 v = 0; v < 16 / lanes; ++v) {
    const Lanes part = ((const Lanes*)from)[v];
    Lanes* const place = (Lanes*)to + v;
#if defined(__clang__)
    __builtin_nontemporal_store(part, place);
#elif defined(__AVX512F__) && __has_builtin(__builtin_ia32_movntps512)
    __builtin_ia32_movntps512((f32*)place, part);
#elif defined(__AVX__) && !defined(__AVX512F__) && __has_builtin(__builtin_ia32_movntps256)
    __builtin_ia32_movntps256((f32*)place, part);
#else
    *place = part;
#endif
  }
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
