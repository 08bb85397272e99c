// SPDX-License-Identifier: Apache-2.0
// fuzz/kernels/keep.h — a generated kernel, its launch and its memory before and after as files,
// for test/differential/random_kernels.py.
#pragma once

#include <string>

#include "program.h"

namespace tilewright::fuzz {

// Into DIR/NAME, which is made.
void keep(const Program& program, const std::string& folder);

}  // namespace tilewright::fuzz
