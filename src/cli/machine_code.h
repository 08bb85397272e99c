// SPDX-License-Identifier: Apache-2.0
// cli/machine_code.h — the machine code of a binary as text.
#pragma once

#include <string>

#include "runtime/backend.h"
#include "tilewright/target.h"

namespace tilewright::cli {

// By nvdisasm, cuobjdump or objdump; MissingError without. Where nvdisasm knows lines, a comment
// says which line of the user's file the instructions below it do the work of, with its text as the
// comments of `lines` have it (generated CUDA has them):
//
//   // softmax.py:13: x = tl.load(x_ptr + row * row_stride + column, ...)
//   /*0140*/               @P0 LDG.E.128 R8, desc[UR6][R12.64] ;
std::string disassemble(const Binary& binary, const Target& target, const std::string& lines);

}  // namespace tilewright::cli
