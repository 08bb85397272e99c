// SPDX-License-Identifier: Apache-2.0
// device_lib/cpu/rows.h — what is done along a row: sums of floats, the largest, functions of them.
//
// Positions have 64 bits: `i + n` in 32 bits may wrap, and g++ 13 then reads the elements one by
// one. Functions are inlined at any size: a loop over a closure in memory is no vector code.
#pragma once

namespace tw {

// Calls use(block) for each block of term(first) to term(last - 1), and meanwhile(i) behind each
// whole one; what lacks in the last is `other`.
template <class Term, class Use, class Meanwhile>
[[gnu::always_inline]] inline void by_blocks(i64 first, i64 last, f32 other, const Term& term,
                                             const Use& use, const Meanwhile& meanwhile) {
  i64 i = first;
  for (; i + block <= last; i += block) {
    Block some;
#pragma omp simd
    for (i64 k = 0; k < block; ++k) some.at[k] = term(i + k);
    use(i, some);
    meanwhile(i);
  }
  if (i < last) {
    const i64 rest = last - i;
    Block some;
#pragma omp simd
    for (i64 k = 0; k < block; ++k) {
      some.at[k] = other;
      if (k < rest) some.at[k] = term(i + k);
    }
    use(i, some);
  }
}
struct Nothing {
  void operator()(i64) const {}
};

// Elements that are added up by themselves: 512, or more when there would be more than 64 parts.
inline i64 part_of_sum(i64 count) { return count > 64 * 512 ? (count / 64 + block) & -block : 512; }

// The largest number; NaN where there is none.
template <class Term>
[[gnu::noinline]] bool has_number(i64 first, i64 last, const Term& term) {
  for (i64 i = first; i < last; ++i) {
    const f32 x = term(i);
    if (x == x) return true;
  }
  return false;
}
template <class Term>
[[gnu::always_inline]] inline f32 largest(i64 first, i64 last, const Term& term) {
  Accumulator largest_yet(-inf<f32>());
  by_blocks(
      first, last, -inf<f32>(), term,
      [&](i64, const Block& some) { largest_yet.take(some, Larger()); }, Nothing());
  const f32 top = largest_yet.all(Larger());
  return top > -inf<f32>() || has_number(first, last, term) ? top : nan<f32>();
}

// The largest, or NaN where one is.
template <class Term>
[[gnu::always_inline]] inline f32 largest_or_nan(i64 first, i64 last, const Term& term) {
  Accumulator largest_yet(-inf<f32>());
  NanSeen nan_seen;
  by_blocks(
      first, last, -inf<f32>(), term,
      [&](i64, const Block& some) {
        largest_yet.take(some, Larger());
        for (i64 v = 0; v < vectors; v += 2) nan_seen.take(some.vector(v), some.vector(v + 1));
      },
      Nothing());
  const f32 top = largest_yet.all(Larger());
  return nan_seen.any() ? nan<f32>() : top;
}

// The sum of term(first) to term(last - 1), with something else done meanwhile. Several sums at a
// time, since an addition waits for the one before it; and part by part, as exact as on a GPU,
// where each thread sums a few.
template <class Term, class Meanwhile = Nothing>
[[gnu::always_inline]] inline f32 sum(i64 first, i64 last, const Term& term,
                                      const Meanwhile& meanwhile = {}) {
  const i64 many = part_of_sum(last - first);
  f32 all = -0.0f;
  for (; first < last; first += many) {
    Accumulator sums(-0.0f);
    by_blocks(
        first, last - first > many ? first + many : last, -0.0f, term,
        [&](i64, const Block& some) { sums.take(some, Plus()); }, meanwhile);
    all += sums.all(Plus());
  }
  return all;
}

// The same sum; row[first] to row[last - 1] are its terms afterwards.
template <class Term, class Meanwhile>
[[gnu::always_inline]] inline f32 sum_kept(i64 first, i64 last, f32* row, const Term& term,
                                           const Meanwhile& meanwhile) {
  const i64 many = part_of_sum(last - first);
  f32 all = -0.0f;
  for (; first < last; first += many) {
    const i64 end = last - first > many ? first + many : last;
    Accumulator sums(-0.0f);
    by_blocks(
        first, end, -0.0f, term,
        [&](i64 i, const Block& some) {
          if (i + block <= end) round_all(some.at, row + i);
          else put_some(some.at, row + i, end - i);
          sums.take(some, Plus());
        },
        meanwhile);
    all += sums.all(Plus());
  }
  return all;
}

template <class Term>
inline f64 sum_f64(i64 first, i64 last, const Term& term) {
  f64 all = -0.0;
#pragma omp simd reduction(tw_sum : all)
  for (i64 i = first; i < last; ++i) all = all + term(i);
  return all;
}

// row[0] = value(first) and so on to value(last - 1), rounded, 64 at a time: a single vector's
// chain of operations is so long that the processor does not see the next one's begin. Results that
// stream go straight to memory, whole lines of them at once.
template <class T, class Value>
[[gnu::always_inline]] inline void map(i64 first, i64 last, T* row, bool streams,
                                       const Value& value) {
  constexpr i64 many = 64, line = line_bytes / sizeof(T);
  T* const to = row - first;
  streams = streams && (u64)row % sizeof(T) == 0;
  const i64 past_line = streams ? (u64)row % line_bytes / sizeof(T) : 0;
  i64 i = first;
  i64 end = past_line == 0 ? first : min(last, first + line - past_line);
  for (;;) {
    // Before the first whole line, or behind the last one.
#pragma omp simd
    for (i64 k = i; k < end; ++k) to[k] = round_one(value(k), to);
    if (end == last) return;
    for (i = end; last - i >= many; i += many) {
      alignas(line_bytes) f32 some[many];
#pragma omp simd
      for (i64 k = 0; k < many; ++k) some[k] = value(i + k);
      if (streams) stream_all(some, to + i);
      else round_all(some, to + i);
    }
    end = last;
    if (i == last) return;
  }
}

}  // namespace tw
