// SPDX-License-Identifier: Apache-2.0
// fuzz/kernels/program.cpp — a generated kernel as Triton source.
#include "program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tilewright::fuzz {
namespace {

void write_block(std::string& out, const Block& block, int depth) {
  const std::string indent(static_cast<std::size_t>(4 * depth), ' ');
  if (block.empty()) out += indent + "pass\n";
  for (const Statement& statement : block) {
    for (const std::string& line : statement.text) out += indent + line + "\n";
    for (const Statement::Branch& branch : statement.branches) {
      out += indent + branch.header + "\n";
      write_block(out, branch.body, depth + 1);
    }
  }
}

}  // namespace

std::string source_of(const Program& program) {
  std::vector<std::string> parameters;
  for (const PointerArgument& pointer : program.pointers) parameters.push_back(pointer.name);
  for (const IntegerArgument& integer : program.integers)
    parameters.push_back(integer.name + (integer.is_constant ? ": tl.constexpr" : ""));
  std::string out = "import triton\nimport triton.language as tl\n\n\n";
  out += program.functions + "@triton.jit\n";
  out += fmt::format("def {}({}):\n", program.name, fmt::join(parameters, ", "));
  write_block(out, program.body, 1);
  return out;
}

std::string launch_of(const Program& program) {
  std::vector<std::string> words;
  for (const PointerArgument& pointer : program.pointers) {
    const Memory& memory = program.memory[pointer.memory];
    words.push_back(fmt::format("{}=buffer{}:{}[{}]{}", pointer.name, pointer.memory,
                                name_of(memory.dtype), memory.count,
                                pointer.start != 0 ? fmt::format("+{}", pointer.start) : ""));
  }
  for (const IntegerArgument& integer : program.integers)
    words.push_back(fmt::format("{}={}", integer.name, integer.value));
  const std::string warps =
      program.warps == 0 ? "warps chosen" : fmt::format("num_warps={}", program.warps);
  return fmt::format("{}, grid={}, {}", fmt::join(words, " "), program.grid, warps);
}

std::size_t statement_count(const Block& block) {
  std::size_t count = 0;
  for (const Statement& statement : block) {
    ++count;
    for (const Statement::Branch& branch : statement.branches)
      count += statement_count(branch.body);
  }
  return count;
}

}  // namespace tilewright::fuzz
