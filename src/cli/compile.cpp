// SPDX-License-Identifier: Apache-2.0
// cli/compile.cpp — `tilewright compile`.
#include "cli/verbs.h"
#include "tilewright/error.h"

namespace tilewright::cli {

void run_compile(const CompileVerbOptions&) { throw MissingError("not yet"); }

}  // namespace tilewright::cli
