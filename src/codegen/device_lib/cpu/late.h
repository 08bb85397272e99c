// SPDX-License-Identifier: Apache-2.0
// device_lib/cpu/late.h — the row that a program leaves to be written while the next one computes.
//
// A program that goes over its row several times (a softmax, a norm) knows its results only in the
// end. Written then, they keep the memory busy while nothing is computed, and the next program
// waits for the last sum of this one. Left to the next program, they go out a block at a time.
#pragma once

namespace tw {

// Value(i) is element i of the row, as f32.
template <class Value, class T>
class Late {
 public:
  // One more block, if there is one.
  [[gnu::always_inline]] void step() {
    if (at_ + block <= end_) write<block>();
  }

  // A new row of `count` elements; what is left of the old one is written first.
  void begin(const Value& value, T* row, i64 count, bool streams) {
    finish_lines();
    const i64 past = (u64)row % line_bytes / sizeof(T);
    const bool joins = held_ > 0 && held_ == past && row == row_ + end_;
    if (!joins) put_held();
    value_ = value;
    row_ = row;
    at_ = 0;
    end_ = count;
    if (!streams || (u64)row % sizeof(T) != 0) return write_plain();
    if (past > 0) begin_within_line(past, joins);
  }

  void finish() {
    finish_lines();
    put_held();
  }

 private:
  static constexpr i64 line = line_bytes / sizeof(T);

  template <i64 count>
  [[gnu::always_inline]] void write() {
    const Value value = value_;
    const i64 first = at_;
    alignas(line_bytes) f32 some[count];
#pragma omp simd
    for (i64 k = 0; k < count; ++k) some[k] = value(first + k);
    stream_all(some, row_ + first);
    at_ = first + count;
  }

  // The next `count` elements, fewer than a line, to the line that is held back.
  [[gnu::always_inline]] void hold(T* to, i64 count) {
    const Value value = value_;
    const i64 first = at_;
    alignas(line_bytes) f32 some[line];
#pragma omp simd
    for (i64 k = 0; k < line; ++k)
      if (k < count) some[k] = value(first + k);
#pragma omp simd
    for (i64 k = 0; k < line; ++k) to[k] = round_one(some[k], to);
    at_ = first + count;
  }

  void finish_lines() {
    while (at_ + block <= end_) write<block>();
    if (line < block && at_ + line <= end_) write<line>();
    if (at_ == end_) return;
    held_ = end_ - at_;
    hold(part_, held_);
  }

  // A row often begins where the one before it ended: their common line is written at once.
  void begin_within_line(i64 past, bool joins) {
    const i64 head = min(line - past, end_);
    hold(part_ + past, head);
    held_ = 0;
    if (joins && past + head == line) return stream_line(row_ - past, part_);
    if (joins) put(row_ - past, part_, past);
    put(row_, part_ + past, head);
  }

  void put_held() {
    if (held_ > 0) put(row_ + end_ - held_, part_, held_);
    held_ = 0;
  }
  [[gnu::noinline]] static void put(T* to, const T* from, i64 count) {
    for (i64 k = 0; k < count; ++k) to[k] = from[k];
  }

  // Results that stay in the caches.
  [[gnu::noinline]] void write_plain() {
    const Value value = value_;
    T* const row = row_;
    for (; at_ + block <= end_; at_ += block) {
      const i64 first = at_;
      Block some;
#pragma omp simd
      for (i64 k = 0; k < block; ++k) some.at[k] = value(first + k);
      round_all(some.at, row + first);
    }
    for (; at_ < end_; ++at_) row[at_] = round_one(value(at_), row);
  }

  Value value_;
  T* row_ = nullptr;
  i64 at_ = 0, end_ = 0;
  i64 held_ = 0;  // elements of the row's last line in part_
  alignas(line_bytes) T part_[2 * line];
};

}  // namespace tw
