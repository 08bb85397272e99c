// SPDX-License-Identifier: Apache-2.0
// passes/repeat_ops.h — ops of a loop's body once more, with the values of another iteration.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "ir/builder.h"

namespace tilewright {

// By the id of a value in the body: what it is in the other iteration.
using IterationValues = std::map<std::uint32_t, ir::Value>;

// Values that are not mapped are the same in every iteration.
std::vector<ir::Value> mapped(const std::vector<ir::Value>& from, const IterationValues& values);

// The op with these operands, at its own place in the source; its results are added to `values`.
ir::Op* repeat(ir::Builder& build, const ir::Op& op, std::vector<ir::Value> operands,
               IterationValues& values);

}  // namespace tilewright
