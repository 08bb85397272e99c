// SPDX-License-Identifier: Apache-2.0
// layout/index_map.cpp — views as bit matrices.
#include "layout/index_map.h"

#include "base/check.h"

namespace tilewright {

int index_bits(LogSizes sizes) {
  int bits = 0;
  for (std::uint8_t size : sizes) bits += size;
  return bits;
}

int first_bit(LogSizes sizes, int dimension) {
  return index_bits(sizes.subspan(static_cast<std::size_t>(dimension) + 1));
}

IndexMap broadcast_map(LogSizes operand, LogSizes result) {
  TW_CHECK(operand.size() == result.size(), "a broadcast from rank {} to {}", operand.size(),
           result.size());
  std::vector<std::uint64_t> columns(static_cast<std::size_t>(index_bits(result)));
  for (int d = 0; d < static_cast<int>(result.size()); ++d) {
    const int from = first_bit(operand, d);
    const int to = first_bit(result, d);
    for (int b = 0; b < operand[static_cast<std::size_t>(d)]; ++b)
      columns[static_cast<std::size_t>(to + b)] = std::uint64_t{1} << (from + b);
  }
  return {BitMatrix(index_bits(operand), std::move(columns)), 0};
}

IndexMap permute_map(LogSizes operand, std::span<const std::int64_t> order) {
  std::vector<std::uint8_t> result;
  for (std::int64_t d : order) result.push_back(operand[static_cast<std::size_t>(d)]);
  std::vector<std::uint64_t> columns(static_cast<std::size_t>(index_bits(result)));
  for (int d = 0; d < static_cast<int>(result.size()); ++d) {
    const int from = first_bit(operand, static_cast<int>(order[static_cast<std::size_t>(d)]));
    const int to = first_bit(result, d);
    for (int b = 0; b < result[static_cast<std::size_t>(d)]; ++b)
      columns[static_cast<std::size_t>(to + b)] = std::uint64_t{1} << (from + b);
  }
  return {BitMatrix(index_bits(operand), std::move(columns)), 0};
}

IndexMap split_map(LogSizes result, int half) {
  std::vector<std::uint64_t> columns;
  const int bits = index_bits(result);
  for (int b = 0; b < bits; ++b) columns.push_back(std::uint64_t{2} << b);
  return {BitMatrix(bits + 1, std::move(columns)), static_cast<std::uint64_t>(half)};
}

IndexMap join_map(LogSizes operand) {
  std::vector<std::uint64_t> columns = {0};
  const int bits = index_bits(operand);
  for (int b = 0; b < bits; ++b) columns.push_back(std::uint64_t{1} << b);
  return {BitMatrix(bits, std::move(columns)), 0};
}

IndexMap slice_map(LogSizes operand, int axis, int kept) {
  const int low = first_bit(operand, axis) + kept;
  const int width = operand[static_cast<std::size_t>(axis)] - kept;
  std::vector<std::uint64_t> columns;
  for (int b = 0; b < index_bits(operand); ++b) {
    if (b < low) columns.push_back(std::uint64_t{1} << b);
    else if (b < low + width) columns.push_back(0);
    else columns.push_back(std::uint64_t{1} << (b - width));
  }
  return {BitMatrix(index_bits(operand) - width, std::move(columns)), 0};
}

IndexMap coordinate_map(LogSizes operand, int dimension) {
  const int low = first_bit(operand, dimension);
  const int width = operand[static_cast<std::size_t>(dimension)];
  std::vector<std::uint64_t> columns;
  for (int b = 0; b < index_bits(operand); ++b)
    columns.push_back(b >= low && b < low + width ? std::uint64_t{1} << (b - low) : 0);
  return {BitMatrix(width, std::move(columns)), 0};
}

IndexMap run_map(int result_bits, int index_bits, std::initializer_list<BitRun> runs) {
  std::vector<std::uint64_t> columns(static_cast<std::size_t>(index_bits));
  for (const BitRun& run : runs)
    for (int i = 0; i < run.count; ++i)
      columns[static_cast<std::size_t>(run.from + i)] = std::uint64_t{1} << (run.to + i);
  return {BitMatrix(result_bits, std::move(columns)), 0};
}

IndexMap compose(const IndexMap& inner, const IndexMap& outer) {
  return {inner.matrix * outer.matrix, inner.matrix(outer.offset) ^ inner.offset};
}

}  // namespace tilewright
