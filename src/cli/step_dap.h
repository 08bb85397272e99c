// SPDX-License-Identifier: Apache-2.0
// cli/step_dap.h — `tilewright step --dap`: the Debug Adapter Protocol over the standard streams,
// for editors.
//
// Requests are answered in order. The kernel and its arguments are those of the command line; it
// starts at configurationDone. Editors see one thread, the program that stands, and its functions.
#pragma once

#include <functional>

#include "cli/stepper.h"

namespace tilewright::cli {

// `launch` runs the kernel with a stepper that was made for the constants.
void serve_dap(const std::string& file, const Stepper::Constants& constants,
               const std::function<void(Stepper& stepper)>& launch);

}  // namespace tilewright::cli
