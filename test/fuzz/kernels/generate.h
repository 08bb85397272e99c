// SPDX-License-Identifier: Apache-2.0
// fuzz/kernels/generate.h — kernels of random statements, the same for the same seed and kinds.
#pragma once

#include "kinds.h"
#include "program.h"

namespace tilewright::fuzz {

// A kernel named k<seed>. It contains some of `allowed`, chosen by the seed.
Program generate(unsigned seed, const Kinds& allowed);

}  // namespace tilewright::fuzz
