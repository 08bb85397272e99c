// SPDX-License-Identifier: Apache-2.0
// codegen/cpu/emit.h — a kernel of the Tile stage as C++ for the host compiler.
//
// Each tile op is a plain loop over elements that the compiler turns into vector code; tiles that
// outlive their loop are arrays. One function runs one program, the entry runs a range of them
// (base/cpu_entry.h).
#pragma once

#include <functional>
#include <string_view>

#include "ir/kernel.h"
#include "tilewright/kernel_source.h"
#include "tilewright/target.h"

namespace tilewright {

struct CpuEmitOptions {
  Target target = Target::host();
  // The text of a line of the user's source (file as in Kernel::files); may be empty.
  std::function<std::string_view(int file, int line)> line_text;
};

// The kernel in the sweeps in which it is emitted.
ir::Kernel laid_for_cpu(const ir::Kernel& tiles);

// The Laid kernel as loops over elements and calls of the library (lower/lower_to_loops.h).
ir::Kernel final_for_cpu(const ir::Kernel& laid);

// Of stage Final as it is; of stage Laid after final_for_cpu; of stage Tile after laid_for_cpu.
KernelSource emit_cpu(const ir::Kernel& kernel, const CpuEmitOptions& options = {});

}  // namespace tilewright
