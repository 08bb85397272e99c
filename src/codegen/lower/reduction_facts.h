// SPDX-License-Identifier: Apache-2.0
// codegen/lower/reduction_facts.h — what is known of a reduction before its loop is written.
#pragma once

#include <optional>
#include <string>

#include "ir/kernel.h"
#include "passes/laid/step.h"

namespace tilewright {

// The op of a reduction or scan that combines its two arguments by that op alone; null for any
// other.
const ir::Op* only_op(const ir::Op& reduce);

// What leaves every other value as it is; nothing when there is no such value.
std::optional<ir::AttributeValue> identity_of(const ir::Op& op, const ir::Type& type);

// The name of the reduction in `#pragma omp simd reduction(name : sum)`; empty: there is none. With
// tw_ in front: the largest or smallest of floats, where NaN counts for itself.
std::string clause_of(const ir::Op& op, const ir::Type& type);

// The type of an array that a sum needs beside its result's: where the innermost loop runs along
// another dimension, and the result is of a smaller type.
std::optional<ir::Type> wide_array_type(const ir::Kernel& kernel, const ir::Op& reduce);

// The region of a reduction as steps: scalars and control flow in program order.
Steps steps_of(const ir::Region& region);

}  // namespace tilewright
