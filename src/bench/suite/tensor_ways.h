// SPDX-License-Identifier: Apache-2.0
// bench/suite/tensor_ways.h — operations written with tensors: as an expression, by the library's
// own operation, and as an expression that is compiled.
#pragma once

#include "bench/suite/ways.h"

namespace tilewright::suite {

Prepared manual_gelu(const Problem& problem, const Way& way);
Prepared manual_softmax(const Problem& problem, const Way& way);
Prepared builtin_way(const Problem& problem, const Way& way);
Prepared compiled_gelu(const Problem& problem, const Way& way);
Prepared compiled_softmax(const Problem& problem, const Way& way);

}  // namespace tilewright::suite
