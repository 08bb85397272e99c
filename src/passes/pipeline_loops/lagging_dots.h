// SPDX-License-Identifier: Apache-2.0
// passes/pipeline_loops/lagging_dots.h — products of a loop that may go on while the next round begins.
#pragma once

#include <vector>

#include "ir/kernel.h"

namespace tilewright {

// The asynchronous products of a loop if all products of it are such, each only adds to a tile that the loop carries for it, and
// reads nothing but `loads` and what was there before the loop: then nobody looks at their sums before the loop ends. Else none.
std::vector<ir::Op*> find_lagging_dots(const ir::Kernel& kernel, const ir::Op& loop, const std::vector<ir::Op*>& loads);

}  // namespace tilewright
