// SPDX-License-Identifier: Apache-2.0
// device_lib/cpu/late.h — the row that a program leaves to be written while the next one computes.
//
// A program that goes over its row several times (a softmax, a norm) knows its results only in the
// end. Written then, they keep the memory busy while nothing is computed, and the next program
// waits for the last sum of this one. Left to the next program, they go out a block at a time.
#pragma once

// As in base/cpu_entry.h; what is the same in every kernel is in runtime/cpu/large_results.
struct TwLateRow {
  void (*compute)(TwLateRow* row, void* to, long count);
  void* to;
  long at, end, held;
  int element_bytes;
  bool streams;
  alignas(64) char part[128];
};

namespace tw {

// Value(i) is element i of the row, as f32.
template <class Value, class T>
struct Late : TwLateRow {
  Value value;
  explicit Late(bool is_large) : TwLateRow{compute_some, nullptr, 0, 0, 0, sizeof(T), is_large} {}

  // One more block, if there is one.
  [[gnu::always_inline]] void step() {
    if (at + block > end) return;
    const Value own = value;
    const i64 first = at;
    alignas(line_bytes) f32 some[block];
#pragma omp simd
    for (i64 k = 0; k < block; ++k) some[k] = own(first + k);
    stream_all(some, (T*)to + first);
    at = first + block;
  }

  // A new row of `count` elements; what is left of the old one is written first.
  template <class Launch>
  void begin(const Launch* launch, const Value& next, T* row, i64 count) {
    if (streams) launch->services->end_row(this, false);
    value = next;
    launch->services->begin_row(this, row, count);
    if (!streams) finish(launch);
  }
  template <class Launch>
  [[gnu::noinline]] void finish(const Launch* launch) {
    const Value own = value;
    for (; at + block <= end; at += block) {
      const i64 first = at;
      Block some;
#pragma omp simd
      for (i64 k = 0; k < block; ++k) some.at[k] = own(first + k);
      if (streams) stream_all(some.at, (T*)to + first);
      else round_all(some.at, (T*)to + first);
    }
    launch->services->end_row(this, true);
  }

  static void compute_some(TwLateRow* row, void* to, long count) {
    const Value own = ((Late*)row)->value;
    const i64 first = row->at;
    constexpr i64 line = line_bytes / sizeof(T);
    alignas(line_bytes) f32 some[line];
#pragma omp simd
    for (i64 k = 0; k < line; ++k)
      if (k < count) some[k] = own(first + k);
#pragma omp simd
    for (i64 k = 0; k < line; ++k) ((T*)to)[k] = round_one(some[k], (T*)to);
  }
};

}  // namespace tw
