// SPDX-License-Identifier: Apache-2.0
// codegen/print/cpu_entry.h — a Final kernel as C++ for the host: the function of one program, and
// the entry that runs a range of them (base/cpu_entry.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/text_writer.h"
#include "codegen/print/statements.h"
#include "ir/kernel.h"

namespace tilewright {

// Bytes of the arena that the kernel's arrays lie in; 0: it has none.
std::int64_t arena_bytes_of(const ir::Kernel& kernel);

// Both functions, under this name of C++.
std::string print_program(const ir::Kernel& kernel, const std::string& symbol,
                          const LineText& line_text);
std::string print_entry(const ir::Kernel& kernel, const std::string& symbol);

// A list in lines of at most 100 columns.
void write_wrapped(TextWriter& out, const std::string& head, const std::vector<std::string>& items,
                   const std::string& tail);
// Lines of a function's body.
void write_indented(TextWriter& out, const std::string& text);
// What tells the library that programs wait for each other.
void write_communicates(TextWriter& out, const std::string& symbol);
// The program's number, taken apart.
void write_program_id(TextWriter& out, const std::string& number, const std::string& row);

}  // namespace tilewright
