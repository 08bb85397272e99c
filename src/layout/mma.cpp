// SPDX-License-Identifier: Apache-2.0
// layout/mma.cpp — index bits dealt to registers, lanes and warps.
#include "layout/mma.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace tilewright {
namespace {

using Columns = std::vector<std::uint64_t>;

// The index bits [from, to) of one dimension whose lowest index bit is `low`.
void add_bits(Columns& out, int low, int from, int to) {
  for (int j = from; j < to; ++j) out.push_back(std::uint64_t{1} << (low + j));
}

void add_copies(Columns& out, int count) {
  out.insert(out.end(), static_cast<std::size_t>(count), 0);
}

// The index bit that an instruction's row or column bit stands for, where tiles are paired: those
// of 16 in a row are dealt out evens first.
int paired(int bit_number) {
  return bit_number < 3 ? bit_number + 1 : bit_number == 3 ? 0 : bit_number;
}

void add_paired(Columns& out, int low, int from, int to, bool pairs) {
  for (int j = from; j < to; ++j)
    out.push_back(std::uint64_t{1} << (low + (pairs ? paired(j) : j)));
}

// An operand: `across` are its rows or columns.
struct Operand {
  int bits;
  int depth_low;
  int across_low;
  int batch_low;
  int log_across;        // of the tile
  int log_instruction;   // rows or columns of one instruction
  int log_warps_across;  // parts for warps
  bool pairs;            // of rows or columns
};

Layout operand_layout(const Operand& operand, const ProductSizes& sizes, const MmaShape& shape,
                      const WarpSplit& warps, bool is_left) {
  Columns registers, lanes, warp;
  const int word = shape.log_word;
  add_bits(registers, operand.depth_low, 0, word);
  add_bits(lanes, operand.depth_low, word, word + 2);
  add_paired(lanes, operand.across_low, 0, 3, operand.pairs);
  add_paired(registers, operand.across_low, 3, operand.log_instruction, operand.pairs);
  add_bits(registers, operand.depth_low, word + 2, shape.log_depth);
  const int near = operand.log_instruction + (is_left ? warps.neighbours : 0);
  const int own = operand.log_across - operand.log_warps_across + (near - operand.log_instruction);
  add_paired(registers, operand.across_low, near, own, operand.pairs);
  add_bits(registers, operand.depth_low, shape.log_depth, sizes.depth);
  add_bits(registers, operand.batch_low, 0, sizes.batch - warps.batch);
  if (is_left) add_bits(warp, operand.across_low, operand.log_instruction, near);
  else add_copies(warp, warps.neighbours);
  if (is_left) add_copies(warp, warps.columns);
  else add_bits(warp, operand.across_low, own, operand.log_across);
  if (is_left) add_bits(warp, operand.across_low, own, operand.log_across);
  else add_copies(warp, warps.rows - warps.neighbours);
  add_bits(warp, operand.batch_low, sizes.batch - warps.batch, sizes.batch);
  add_copies(warp, warps.copies);
  return {BitMatrix(operand.bits, std::move(registers)), BitMatrix(operand.bits, std::move(lanes)),
          BitMatrix(operand.bits, std::move(warp))};
}

Layout result_layout(const ProductSizes& sizes, const MmaShape& shape, const WarpSplit& warps) {
  const bool rows = pairs_rows(shape, warps), columns = pairs_columns(sizes, shape, warps);
  const int bits = sizes.batch + sizes.rows + sizes.columns;
  const int row = sizes.columns;
  const int batch = sizes.columns + sizes.rows;
  Columns registers, lanes, warp;
  add_paired(registers, 0, 0, 1, columns);
  add_paired(lanes, 0, 1, 3, columns);
  add_paired(lanes, row, 0, 3, rows);
  add_paired(registers, row, 3, shape.log_rows, rows);
  add_paired(registers, 0, shape.log_columns, sizes.columns - warps.columns, columns);
  const int near = shape.log_rows + warps.neighbours;
  const int own = sizes.rows - warps.rows + warps.neighbours;
  add_paired(registers, row, near, own, rows);
  add_bits(registers, batch, 0, sizes.batch - warps.batch);
  add_bits(warp, row, shape.log_rows, near);
  add_bits(warp, 0, sizes.columns - warps.columns, sizes.columns);
  add_bits(warp, row, own, sizes.rows);
  add_bits(warp, batch, sizes.batch - warps.batch, sizes.batch);
  add_copies(warp, warps.copies);
  return {BitMatrix(bits, std::move(registers)), BitMatrix(bits, std::move(lanes)),
          BitMatrix(bits, std::move(warp))};
}

}  // namespace

bool pairs_rows(const MmaShape& shape, const WarpSplit& warps) {
  return shape.log_word == 2 && warps.neighbours == 0;
}
bool pairs_columns(const ProductSizes& sizes, const MmaShape& shape, const WarpSplit& warps) {
  return shape.log_word == 2 && warps.neighbours == 0 &&
         sizes.columns - warps.columns > shape.log_columns;
}

MmaShape MmaShape::of_bytes(int element_bytes) {
  if (element_bytes == 8) return {.log_rows = 3, .log_columns = 3, .log_depth = 2, .log_word = 0};
  const int word = 2 - std::countr_zero(static_cast<unsigned>(element_bytes));
  return {.log_rows = 4, .log_columns = 3, .log_depth = word + 3, .log_word = word};
}

WarpSplit split_warps(const ProductSizes& sizes, const MmaShape& shape, int log_warps,
                      bool keeps_rows_whole) {
  WarpSplit out;
  out.batch = std::min(sizes.batch, log_warps);
  for (int left = log_warps - out.batch; left > 0; --left) {
    const int rows = sizes.rows - out.rows;
    const int columns = sizes.columns - out.columns;
    const bool can_rows = rows > shape.log_rows;
    const bool can_columns = columns > shape.log_columns;
    // Two tiles of columns are read at once, so that a warp should keep two.
    const bool wants_columns = columns > rows && columns > shape.log_columns + 1;
    if (!can_rows && !can_columns) ++out.copies;
    else if (can_rows && (keeps_rows_whole || !can_columns || !wants_columns)) ++out.rows;
    else ++out.columns;
  }
  return out;
}

WarpSplit split_warpgroups(const ProductSizes& sizes, int log_warps) {
  constexpr int log_group = 2, log_group_rows = 6;
  TW_CHECK(sizes.rows >= log_group_rows && log_warps >= log_group,
           "2^{} rows for 2^{} warps are no warpgroup's", sizes.rows, log_warps);
  WarpSplit out{.batch = 0, .rows = log_group, .neighbours = log_group};
  for (int left = log_warps - log_group; left > 0; --left) {
    if (sizes.rows - out.rows > log_group_rows - log_group) ++out.rows;
    else if (sizes.columns - out.columns > 3) ++out.columns;
    else ++out.copies;
  }
  return out;
}

ProductLayouts mma_layouts(const ProductSizes& sizes, const MmaShape& shape,
                           const WarpSplit& warps) {
  TW_CHECK(sizes.rows >= shape.log_rows && sizes.columns >= shape.log_columns &&
               sizes.depth >= shape.log_depth,
           "a product of 2^({}, {}, {}) is smaller than its instruction", sizes.rows, sizes.columns,
           sizes.depth);
  const Operand left{.bits = sizes.batch + sizes.rows + sizes.depth,
                     .depth_low = 0,
                     .across_low = sizes.depth,
                     .batch_low = sizes.depth + sizes.rows,
                     .log_across = sizes.rows,
                     .log_instruction = shape.log_rows,
                     .log_warps_across = warps.rows,
                     .pairs = pairs_rows(shape, warps)};
  const Operand right{.bits = sizes.batch + sizes.depth + sizes.columns,
                      .depth_low = sizes.columns,
                      .across_low = 0,
                      .batch_low = sizes.columns + sizes.depth,
                      .log_across = sizes.columns,
                      .log_instruction = shape.log_columns,
                      .log_warps_across = warps.columns,
                      .pairs = pairs_columns(sizes, shape, warps)};
  return {operand_layout(left, sizes, shape, warps, true),
          operand_layout(right, sizes, shape, warps, false), result_layout(sizes, shape, warps)};
}

}  // namespace tilewright
