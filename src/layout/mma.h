// SPDX-License-Identifier: Apache-2.0
// layout/mma.h — which lane holds which elements of the matrices of a tensor-core instruction.
//
// All instructions deal their matrices out alike. A lane has a number g = lane / 4 and a number
// t = lane % 4. Of the result it holds columns 2t and 2t + 1 of row g, and of row g + 8 where the
// instruction has 16 rows. Of an operand it holds words of 32 bits, each several neighbours along
// the depth: word t along the depth of row g (of the left operand) or column g (of the right one),
// then the same of row g + 8, then those four words further on along the depth.
//
// Rows and columns may be dealt out in any order. Of operands of one byte the rows g and g + 8 of
// an instruction stand for rows 2g and 2g + 1 of the tile, and columns g of two instructions for
// columns 2g and 2g + 1: in shared memory their bytes are neighbours, when rows or columns are, and
// come together in matrices of 16-bit elements. A lane then has four columns in a row of the
// result, which is what it needs of a left operand made from it.
#pragma once

#include "layout/layout.h"

namespace tilewright {

struct MmaShape {
  int log_rows = 4;
  int log_columns = 3;
  int log_depth = 4;
  int log_word = 1;  // elements of an operand in one register

  // With operands of this many bytes: 16 x 8 x 32 bytes, or 8 x 8 x 4 of f64.
  static MmaShape of_bytes(int element_bytes);
  friend bool operator==(const MmaShape&, const MmaShape&) = default;
};

// log2 of the sizes of a product: [batch, rows, depth] times [batch, depth, columns].
struct ProductSizes {
  int batch = 0;
  int rows = 0;
  int columns = 0;
  int depth = 0;
};

// log2 of the parts that each dimension of the result is cut into for warps. Further warps make
// copies of the result.
struct WarpSplit {
  int batch = 0;
  int rows = 0;
  int columns = 0;
  int copies = 0;
  // Of the rows: so many of the parts are those of neighbouring warps, an instruction's rows each.
  // A warpgroup's four warps have 64 rows in a row that way, as wgmma deals them out.
  int neighbours = 0;
};
// Batches first, then whichever leaves a warp the squarest part; with `keeps_rows_whole` a row is
// split last, so that what follows along rows stays within a warp.
WarpSplit split_warps(const ProductSizes& sizes, const MmaShape& shape, int log_warps,
                      bool keeps_rows_whole);
// For warpgroups, which make 64 rows each: whole warpgroups split the rows, then the columns. At
// least 64 rows and four warps.
WarpSplit split_warpgroups(const ProductSizes& sizes, int log_warps);

// Whether rows, and columns, of this product are dealt out in pairs.
bool pairs_rows(const MmaShape& shape, const WarpSplit& warps);
bool pairs_columns(const ProductSizes& sizes, const MmaShape& shape, const WarpSplit& warps);

// Registers of the operands, lowest bits first: the elements of a word; the words of one
// instruction; the tiles of the warp's part (rows of `left`, columns of `right`); the steps along
// the depth; batches. Of the result: the elements of one instruction, tiles along the columns,
// tiles along the rows, batches.
struct ProductLayouts {
  Layout left;
  Layout right;
  Layout result;
};
// The sizes are those of the instruction at least.
ProductLayouts mma_layouts(const ProductSizes& sizes, const MmaShape& shape,
                           const WarpSplit& warps);

}  // namespace tilewright
