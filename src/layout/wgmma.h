// SPDX-License-Identifier: Apache-2.0
// layout/wgmma.h — operands of asynchronous products in shared memory, as descriptors say them.
//
// wgmma multiplies 64 rows by 8 to 256 columns over a depth of 32 bytes. It reads operands from
// shared memory by a descriptor: where the operand begins, how wide its lines are (32, 64 or 128
// bytes, whose chunks of 16 bytes are swizzled as Swizzle::panels has them) and two distances:
//   lines along the depth: `stride` from eight lines to the next eight; a line is a row (a column
//     of the right operand).
//   lines across it (`is_transposed`, elements of 16 bits only): `stride` from eight lines, each of
//     one place along the depth, to the next eight, `leading` from a panel to the next.
// Any place further on (a depth step, the next 64 rows) is a sum added to where the operand begins.
#pragma once

#include <cstdint>
#include <optional>

#include "layout/index_map.h"

namespace tilewright {

struct WgmmaOperand {
  bool is_transposed = false;
  int line_bytes = 128;
  std::int64_t leading_bytes = 0;  // 0: not used
  std::int64_t stride_bytes = 0;
};

// Index bits of an operand: `depth` ones from `depth_low` on, `across` ones (rows, or columns of
// the right operand) from `across_low` on, of which an instruction takes `instruction`.
struct OperandIndex {
  int depth_low = 0;
  int depth = 0;
  int across_low = 0;
  int across = 0;
  int instruction = 6;
};

// `map` takes an element's index to its place in an array that begins at a multiple of 1024 bytes.
// None when no descriptor says that.
std::optional<WgmmaOperand> describe_wgmma_operand(const IndexMap& map, const OperandIndex& index,
                                                   int element_bytes);

}  // namespace tilewright
