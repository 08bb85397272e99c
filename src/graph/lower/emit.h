// SPDX-License-Identifier: Apache-2.0
// graph/lower/emit.h — one step of a formula as ops of the tile IR.
#pragma once

#include <span>
#include <vector>

#include "graph/formula.h"
#include "ir/builder.h"

namespace tilewright::graph {

// A pointwise step on values of one shape, which are converted as the step says. The result has
// compute_dtype(step.dtype).
ir::Value emit_pointwise(ir::Builder& builder, const Step& step, std::vector<ir::Value> operands);

// A reduction's partial results: one value, or a value and its place. Elements outside of the row
// are given as `neutral`.
std::vector<ir::Value> emit_neutral(ir::Builder& builder, const Step& step, const ir::Type& shape);
// `place` is the element's index in its row, an i64 of the operand's shape.
std::vector<ir::Value> emit_partial(ir::Builder& builder, const Step& step, ir::Value operand,
                                    ir::Value place);
std::vector<ir::Value> emit_combined(ir::Builder& builder, const Step& step,
                                     std::span<const ir::Value> a, std::span<const ir::Value> b);
// All elements of the rank-1 tiles combined, and what the step makes of the partial results.
std::vector<ir::Value> emit_reduced(ir::Builder& builder, const Step& step,
                                    const std::vector<ir::Value>& partial);
ir::Value emit_result(const Step& step, std::span<const ir::Value> partial);

}  // namespace tilewright::graph
