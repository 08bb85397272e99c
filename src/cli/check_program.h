// SPDX-License-Identifier: Apache-2.0
// cli/check_program.h — `tilewright check -- PROGRAM`: every launch that it makes by this library.
#pragma once

#include "cli/verbs.h"

namespace tilewright::cli {

void check_program(const CheckVerbOptions& options);

}  // namespace tilewright::cli
