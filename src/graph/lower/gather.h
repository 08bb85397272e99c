// SPDX-License-Identifier: Apache-2.0
// graph/lower/gather.h — rows of a table, by indices from memory, as a kernel of the tile IR.
#pragma once

#include "ir/kernel.h"

namespace tilewright::graph {

// Arguments: table, index, out, rows of the table, n (a row's length), strides of the table. A
// program copies a block of a row; a row that is not there becomes NaN, or 0 for integers.
ir::Kernel lower_gather(DType table, DType index, int log_block);

}  // namespace tilewright::graph
