// SPDX-License-Identifier: Apache-2.0
// compiler/pack_blocks.h — room for one more block of a kernel on a multiprocessor.
//
// Left alone, the assembler takes a few registers more than it needs, and those few can be the
// place of a whole block. What a kernel that waits for memory gains by one more block, and what it
// loses where registers are spilled for it, has been measured (bench/results/rows-h200.md): 1.03
// to 1.09 times as fast, or 0.74 to 0.99. Which of the two it is, only the assembler knows: it is
// asked.
#pragma once

#include "ir/kernel.h"
#include "tilewright/kernel_source.h"
#include "tilewright/target.h"

namespace tilewright {

// The source with a larger least number of blocks where that spills next to nothing, else as it is:
// for a GPU, without products and without large tiles that a loop carries, where the number of
// blocks is left to the compiler; and a second block for loops in which products wait for each
// other, where no more than a few words are spilled. Compiles up to twice, or finds both in the
// disk cache; needs no lock.
KernelSource packed_source(const ir::Kernel& tiles, KernelSource source, const Target& target);

}  // namespace tilewright
