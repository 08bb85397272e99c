// SPDX-License-Identifier: Apache-2.0
// compiler/faults.cpp — counts instructions of PTX, and looks at matrix products.
#include "compiler/faults.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "base/units.h"
#include "ir/constant.h"

namespace tilewright {
namespace {

// From the kernel's head to the next kernel or function.
std::string_view body_of(std::string_view ptx, std::string_view symbol) {
  const std::string head = fmt::format(".entry {}(", symbol);
  const std::size_t begin = std::min(ptx.find(head), ptx.size());
  const std::size_t end = std::min(ptx.find("\n}", begin), ptx.size());
  return ptx.substr(begin, end - begin);
}

// "fma.rn.f64" of "	@%p1 fma.rn.f64 	%fd1, ..."; empty for what is no instruction.
std::string_view instruction_of(std::string_view line) {
  const auto skip_blanks = [&] {
    while (!line.empty() && (line[0] == ' ' || line[0] == '\t')) line.remove_prefix(1);
  };
  skip_blanks();
  if (line.starts_with('@')) {
    while (!line.empty() && line[0] != ' ') line.remove_prefix(1);
    skip_blanks();
  }
  if (line.empty() || line[0] < 'a' || line[0] > 'z') return {};
  return line.substr(0, line.find_first_of(" \t;"));
}

// Whether one of the parts between points is this.
bool has_part(std::string_view instruction, std::string_view part) {
  std::size_t begin = 0;
  while (begin <= instruction.size()) {
    const std::size_t end = std::min(instruction.find('.', begin), instruction.size());
    if (instruction.substr(begin, end - begin) == part) return true;
    begin = end + 1;
  }
  return false;
}

bool moves_data(std::string_view instruction) {
  return instruction.starts_with("ld.") || instruction.starts_with("st.") ||
         instruction.starts_with("mov.") || instruction.starts_with("selp.");
}

// ".local .align 16 .b8 	__local_depot0[64];"
std::size_t local_array(std::string_view line) {
  if (line.find(".local ") == std::string_view::npos) return 0;
  std::size_t bytes = 0;
  bool is_inside = false;
  for (char c : line) {
    if (is_inside && c >= '0' && c <= '9') bytes = bytes * 10 + static_cast<std::size_t>(c - '0');
    is_inside = (is_inside || c == '[') && c != ']';
  }
  return bytes;
}

void count(PtxFacts& facts, std::string_view instruction) {
  const bool copies =
      instruction.starts_with("cp.async.c") || instruction.starts_with("cp.async.b");
  if (copies && has_part(instruction, "global")) ++facts.vector_loads;  // 4 bytes and more
  if (moves_data(instruction)) {
    facts.has_float64_memory |=
        instruction.find(".global") != std::string_view::npos && has_part(instruction, "f64");
    if (!instruction.starts_with("ld.global")) return;
    const bool is_vector = has_part(instruction, "v2") || has_part(instruction, "v4");
    ++(is_vector ? facts.vector_loads : facts.narrow_loads);
    return;
  }
  if (has_part(instruction, "f64")) ++facts.float64_arithmetic;
  else if (has_part(instruction, "f32")) ++facts.float32_arithmetic;
}

}  // namespace

PtxFacts ptx_facts(std::string_view ptx, std::string_view symbol) {
  PtxFacts facts;
  std::string_view rest = body_of(ptx, symbol);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    facts.local_bytes += local_array(line);
    if (const std::string_view instruction = instruction_of(line); !instruction.empty())
      count(facts, instruction);
  }
  return facts;
}

std::vector<std::string> faults_in_log(std::string_view log) {
  constexpr std::string_view mark = "Potential Performance Loss: ";
  std::vector<std::string> out;
  for (std::size_t at = log.find(mark); at != std::string_view::npos; at = log.find(mark, at)) {
    at += mark.size();
    std::string_view said = log.substr(at, log.find('\n', at) - at);
    said = said.substr(0, said.find(" in function"));
    said = said.substr(0, said.find(" in the function"));
    std::string fault = fmt::format("the assembler says: {}", said);
    if (std::find(out.begin(), out.end(), fault) == out.end()) out.push_back(std::move(fault));
  }
  return out;
}

std::vector<std::string> faults_in_ptx(const PtxFacts& facts, std::size_t spill_bytes) {
  std::vector<std::string> out;
  if (facts.float64_arithmetic > 0 && !facts.has_float64_memory)
    out.push_back(fmt::format(
        "{} instructions compute in float64 although no memory holds float64: constants without f "
        "(0.5 for 0.5f) and functions without f (tanh for tanhf) make them so, at half to a 64th "
        "of the speed",
        facts.float64_arithmetic));
  if (spill_bytes > 0)
    out.push_back(fmt::format(
        "{} of registers per thread are spilled to memory: use more warps, smaller tiles, or allow "
        "more registers (maxnreg, __launch_bounds__)",
        format_bytes(spill_bytes)));
  if (facts.local_bytes > 0 && spill_bytes == 0)
    out.push_back(fmt::format(
        "an array of {} per thread lies in memory, not in registers: its indices must be constants "
        "after unrolling",
        format_bytes(facts.local_bytes)));
  if (facts.narrow_loads > 0 && facts.vector_loads == 0)
    out.push_back(fmt::format(
        "{} one element per thread: where 4 to 16 bytes are consecutive and aligned (float4; "
        "pointers and sizes divisible by 16), fewer and wider loads are faster",
        facts.narrow_loads == 1 ? "its load takes"
                                : fmt::format("each of its {} loads takes", facts.narrow_loads)));
  return out;
}

namespace {

constexpr std::int64_t sector_bytes = 32;

// How far apart the nearest neighbours of a large tile of addresses lie, in elements; 0 when the
// tile is small or the strides are not known.
std::int64_t nearest_stride(const ir::Kernel& kernel, ir::Value pointers) {
  const ir::Op* op = kernel.maker(pointers);
  if (!op || op->kind != ir::OpKind::Affine || kernel.type(pointers).numel() < 32) return 0;
  std::int64_t nearest = 0;
  for (std::size_t i = 1; i < op->operands.size(); ++i) {
    if (kernel.type(pointers).shape()[i - 1] < 2) continue;
    const std::optional<std::int64_t> stride = ir::integer_constant(kernel, op->operands[i]);
    if (!stride) return 0;
    const std::int64_t size = std::abs(*stride);
    if (size > 0 && (nearest == 0 || size < nearest)) nearest = size;
  }
  return nearest;
}

void find_scattered(const ir::Kernel& kernel, std::vector<std::string>& out) {
  ir::walk(kernel.body, [&](const ir::Op& op) {
    if (op.kind != ir::OpKind::Load && op.kind != ir::OpKind::Store) return;
    const std::int64_t stride = nearest_stride(kernel, op.operands[0]);
    const auto bytes =
        static_cast<std::int64_t>(size_of(kernel.type(op.operands[0]).dtype)) * stride;
    if (bytes < sector_bytes) return;
    out.push_back(fmt::format(
        "the {} in line {} accesses elements that lie {} apart: each needs a sector of {} bytes of "
        "its own, 32 sectors per request of a warp instead of 4 or fewer; let neighbouring "
        "elements be neighbours in memory",
        op.kind == ir::OpKind::Load ? "load" : "store", op.location.line, stride, sector_bytes));
  });
}

}  // namespace

std::vector<std::string> faults_in_tiles(const ir::Kernel& kernel) {
  std::vector<std::string> out;
  find_scattered(kernel, out);
  int rounded = 0;
  ir::walk(kernel.body, [&](const ir::Op& op) {
    if (op.kind != ir::OpKind::Dot || kernel.type(op.operands[0]).dtype != DType::Float32) return;
    rounded += op.text("precision") == "tf32";
  });
  if (rounded == 0) return out;
  out.push_back(
      fmt::format("{} matrix product{} of float32 round{} the operands to tf32 (10 bits): "
                  "input_precision=\"ieee\" computes exactly and slowly, \"tf32x3\" nearly so",
                  rounded, rounded == 1 ? "" : "s", rounded == 1 ? "s" : ""));
  return out;
}

}  // namespace tilewright
