// SPDX-License-Identifier: Apache-2.0
// bench/suite/inline_ways.h — operations as CUDA and C++ source through load_inline.
#pragma once

#include "bench/suite/ways.h"

namespace tilewright::suite {

Prepared cuda_elementwise(const Problem& problem, const Way& way);  // one element per thread
Prepared cuda_vectors(const Problem& problem, const Way& way);      // four elements per thread
Prepared cuda_rows(const Problem& problem, const Way& way);         // one block per row
Prepared cuda_matmul(const Problem& problem, const Way& way);

Prepared cpp_elementwise(const Problem& problem, const Way& way);
Prepared cpp_rows(const Problem& problem, const Way& way);
Prepared cpp_matmul(const Problem& problem, const Way& way);

}  // namespace tilewright::suite
