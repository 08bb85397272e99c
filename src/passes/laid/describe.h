// SPDX-License-Identifier: Apache-2.0
// passes/laid/describe.h — a schedule as text, for people and tests.
#pragma once

#include <string>

#include "passes/laid/schedule.h"

namespace tilewright {

// One line per step: "elements [64]: %x load, %y mul; keeps %y; reduces %m max".
std::string describe(const ir::Kernel& kernel, const Schedule& schedule);

}  // namespace tilewright
