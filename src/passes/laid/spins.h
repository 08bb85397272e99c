// SPDX-License-Identifier: Apache-2.0
// passes/laid/spins.h — loops that only wait for an exchange: one thread of a program runs them.
#pragma once

#include "passes/laid/step.h"

namespace tilewright {

// Whether a `while` only waits for an exchange.
bool is_spin(const Step& step);
// An exchange of a scalar, by whatever condition.
bool is_exchange(const ir::Op& op);

}  // namespace tilewright
