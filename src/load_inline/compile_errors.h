// SPDX-License-Identifier: Apache-2.0
// load_inline/compile_errors.h — a compiler's log about the user's source, with a first sentence
// that says what to do.
#pragma once

#include <string>

#include "tilewright/error.h"

namespace tilewright {

// The same error, its sentence made plainer where the log shows a header that is missing or a part
// of torch, CUDA's runtime or pybind11 that our headers do not have.
CompileError explained(const CompileError& error, const std::string& name);

}  // namespace tilewright
