// SPDX-License-Identifier: Apache-2.0
// bench/suite/tensor_ways.h — operations written with tensors: as an expression, by the library's
// own operation, and as an expression that is compiled.
#pragma once

#include "bench/suite/ways.h"

namespace tilewright::suite {

Prepared manual_way(const Problem& problem, const Way& way);
Prepared builtin_way(const Problem& problem, const Way& way);
// The expression where there is one, else the library's operation.
Prepared compiled_way(const Problem& problem, const Way& way);

}  // namespace tilewright::suite
