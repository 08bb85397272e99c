// SPDX-License-Identifier: Apache-2.0
// load_inline/build_report.h — `verbose` and `build_directory`: what is compiled, how, and what the
// compiler said.
#pragma once

#include "runtime/compile.h"
#include "tilewright/load_inline.h"

namespace tilewright {

// Compiles, and prints and writes what the options ask for; the files are written when the compiler
// fails, too.
Binary compile_reported(const InlineOptions& options, const KernelSource& source,
                        const Target& target);

// The same for a device; nothing at all when the options ask for no report.
void report_build(const InlineOptions& options, const KernelSource& source, Device device);

}  // namespace tilewright
