// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/large_results.cpp — stores of whole cache lines, and rows that are written late.
#include "runtime/cpu/large_results.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstring>

namespace tilewright {
namespace {

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

}  // namespace

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

// ---- Rows that are written late

namespace {

std::int64_t elements_of_line(const TwLateRow& row) {
  return static_cast<std::int64_t>(line_bytes) / row.element_bytes;
}

char* place(const TwLateRow& row, std::int64_t element) {
  return row.to + element * row.element_bytes;
}

void compute(TwLateRow& row, void* to, std::int64_t count) {
  row.compute(&row, to, count);
  row.at += count;
}

void put(const TwLateRow& row, char* to, const char* from, std::int64_t count) {
  std::memcpy(to, from, static_cast<std::size_t>(count * row.element_bytes));
}

void put_held(TwLateRow& row) {
  put(row, place(row, row.end - row.held), row.part, row.held);
  row.held = 0;
}

// A row often begins where the one before it ended: their common line is written at once.
void begin_within_line(TwLateRow& row, std::int64_t past, bool joins) {
  const std::int64_t head = std::min(elements_of_line(row) - past, row.end);
  compute(row, row.part + past * row.element_bytes, head);
  row.held = 0;
  if (joins && past + head == elements_of_line(row)) {
    stream(place(row, -past), row.part, line_bytes);
    return;
  }
  if (joins) put(row, place(row, -past), row.part, past);
  put(row, row.to, row.part + past * row.element_bytes, head);
}

}  // namespace

// Beside the next program all but the last few elements have gone. What is no line is held back.
void end_row(TwLateRow* row, bool is_last) {
  const std::int64_t line = elements_of_line(*row);
  while (row->at < row->end) {
    char* const to = place(*row, row->at);
    const std::int64_t count = std::min(row->end - row->at, line);
    compute(*row, row->part, count);
    if (count < line) row->held = count;
    else if (row->streams) stream(to, row->part, line_bytes);
    else put(*row, to, row->part, count);
  }
  if (is_last && row->held > 0) put_held(*row);
}

void begin_row(TwLateRow* row, void* to, std::int64_t count) {
  const auto address = reinterpret_cast<std::uintptr_t>(to);
  const auto bytes = static_cast<std::uintptr_t>(row->element_bytes);
  const auto past = static_cast<std::int64_t>(address % line_bytes / bytes);
  // Elements that lie across lines are none that lines could be made of.
  row->streams = row->streams && address % bytes == 0;
  const bool joins = row->held > 0 && row->held == past && to == place(*row, row->end);
  if (row->held > 0 && !joins) put_held(*row);
  row->to = static_cast<char*>(to);
  row->at = 0;
  row->end = count;
  if (row->streams && past > 0) begin_within_line(*row, past, joins);
}

}  // namespace tilewright
