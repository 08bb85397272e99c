// SPDX-License-Identifier: Apache-2.0
// frontend/triton/range.h — range, tl.range and tl.static_range: their bounds and options.
#pragma once

#include <cstdint>
#include <vector>

#include "frontend/triton/semantic.h"
#include "frontend/triton/value.h"

namespace tilewright::triton {

enum class RangeKind { None, Counted, Static };
// What a call of this value in a `for` makes.
RangeKind range_kind(const Value& callee);

// The numbers of a range whose bounds are constants. Throws Mistake for more than `most`.
std::vector<std::int64_t> constant_range(Semantic& semantic, const CallArguments& range,
                                         std::int64_t most);

// A range as the IR counts: upwards, in the common integer type of the bounds. One that steps down
// is counted up between the same bounds, and the index is to - (counter - from).
struct Counting {
  ir::Value from;
  ir::Value to;
  ir::Value step;
  bool is_down = false;
};
Counting count_range(Semantic& semantic, const CallArguments& range);

// num_stages, loop_unroll_factor, flatten; options that are hints for other compilers are left
// aside.
std::vector<ir::Attribute> loop_attributes(Semantic& semantic, const CallArguments& range);

}  // namespace tilewright::triton
