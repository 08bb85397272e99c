// SPDX-License-Identifier: Apache-2.0
// bench/suite/tile_ways.h — operations as Triton kernels: whole, or as chains of one operation
// each.
#pragma once

#include "bench/suite/ways.h"

namespace tilewright::suite {

Prepared tile_elementwise(const Problem& problem, const Way& way);
Prepared tile_rows(const Problem& problem, const Way& way);
Prepared tile_dropout(const Problem& problem, const Way& way);
Prepared tile_cross_entropy(const Problem& problem, const Way& way);
Prepared tile_matmul(const Problem& problem, const Way& way);
Prepared tile_attention(const Problem& problem, const Way& way);

}  // namespace tilewright::suite
