// SPDX-License-Identifier: Apache-2.0
// ir/analysis/same_value.h — values that are equal because they are computed alike: a Laid kernel
// has an op once in each sweep that needs it.
#pragma once

#include "ir/kernel.h"

namespace tilewright::ir {

// Whether both are one value, or tiles that equal pure ops make of such values.
bool is_same_value(const Kernel& kernel, Value a, Value b);
// Whether the ops do the same with the same values; loads then read the same places.
bool is_same_op(const Kernel& kernel, const Op& a, const Op& b);

}  // namespace tilewright::ir
