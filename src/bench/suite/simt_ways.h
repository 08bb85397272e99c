// SPDX-License-Identifier: Apache-2.0
// bench/suite/simt_ways.h — operations in thread-level Python (@cuda.jit) through load_numba.
#pragma once

#include "bench/suite/ways.h"

namespace tilewright::suite {

Prepared simt_elementwise(const Problem& problem, const Way& way);  // one element per thread
Prepared simt_rows(const Problem& problem, const Way& way);         // one block per row
Prepared simt_matmul(const Problem& problem, const Way& way);

}  // namespace tilewright::suite
