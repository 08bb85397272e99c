// SPDX-License-Identifier: Apache-2.0
// frontend/triton/builtin_ops.h — what several families of builtins are made of.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "frontend/triton/semantic.h"

namespace tilewright::triton {

class Call;

// ---- Values

// The two-sided functions of tl.maximum and tl.minimum on operands of one type and shape.
ir::Value extremum(Semantic& semantic, ir::OpKind kind, ir::Value a, ir::Value b,
                   bool propagates_nan = false);
ir::Value lift_bfloat16(Semantic& semantic, ir::Value value);  // bfloat16 becomes float32
// The same elements in row-major order; throws Mistake when their number changes.
ir::Value reshape(Semantic& semantic, ir::Value value, const std::vector<std::int64_t>& shape);
// The value of a tile that has one element.
ir::Value scalar_of(Semantic& semantic, ir::Value value);

// ---- Groups of neighbours, which one call of a function gets

// Throws Mistake where a group is no power of two, or no part of a tile of this type.
void check_pack(Call& call, std::int64_t pack, const ir::Type& type);
// A tile as `count` smaller ones: element i of part k is element i * count + k of the tile.
std::vector<ir::Value> apart(Semantic& semantic, ir::Value tile, std::int64_t count);
// The other way round, in the shape of `shape`.
ir::Value together(Semantic& semantic, const std::vector<ir::Value>& parts, const ir::Type& shape);

// ---- Reductions and scans

// Gets the 2n scalars of one step, gives n.
using Combine = std::function<std::vector<ir::Value>(std::span<const ir::Value>)>;

struct Reduction {
  std::optional<int> axis;  // none: over all elements
  bool keep_dims = false;
};
std::vector<ir::Value> reduce(Semantic& semantic, std::vector<ir::Value> inputs,
                              Reduction reduction, const Combine& combine);
ir::Value reduce(Semantic& semantic, ir::Value input, Reduction reduction, ir::OpKind kind);
std::vector<ir::Value> scan(Semantic& semantic, const std::vector<ir::Value>& inputs, int axis,
                            bool reverse, const Combine& combine);

// ---- Memory

struct Access {
  ir::Value pointers;
  ir::Value mask;   // may be absent
  ir::Value other;  // may be absent
};
// The pointers of a block and which of them are inside, for the dimensions in `checked`.
Access block_access(Semantic& semantic, const BlockPointer& block,
                    const std::vector<bool>& checked);

}  // namespace tilewright::triton
