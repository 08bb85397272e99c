// SPDX-License-Identifier: Apache-2.0
// codegen/cpu/in_place.cpp — operands of products that are read in memory instead of being copied
// into an array first, where the whole tile lies inside of its bounds.
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "codegen/cpu/program.h"

namespace tilewright {

// Whether all elements of the step's loads are inside of their bounds: a variable, or "true".
std::string ProgramWriter::wholeness(const Step& step) {
  std::vector<std::string> conditions;
  for (const WholenessTest& test : tests_of_wholeness(step)) {
    const std::string& value = text(test.value);
    switch (test.kind) {
      case WholenessTest::Kind::Multiple:
        conditions.push_back(fmt::format("u64({}) % {} == 0", value, test.number));
        break;
      case WholenessTest::Kind::AtMost:
        conditions.push_back(fmt::format("{} <= {}", value, test.number));
        break;
      case WholenessTest::Kind::AtLeast:
        conditions.push_back(fmt::format("{} >= {}", value, test.number));
        break;
    }
  }
  if (conditions.empty()) return "true";
  const std::string& own = kernel_.name_of(step.kept.front());
  const std::string name = names_.make(own.empty() ? "is_whole" : own + "_is_whole");
  out_.format("const bool {} = {};", name, fmt::join(conditions, " && "));
  return name;
}

std::optional<ProgramWriter::DotOperand> ProgramWriter::operand_in_place(ir::Value value) {
  const std::optional<OperandInMemory> operand = operand_in_memory(value);
  const auto found = operand ? is_whole_.find(operand->loaded.id) : is_whole_.end();
  if (found == is_whole_.end()) return std::nullopt;
  DotOperand out{text(operand->base), {text(operand->stride), "1"}};
  if (found->second != "true") {
    out.base = fmt::format("({} ? {} : {})", found->second, out.base, array(operand->loaded));
    out.strides[0] = fmt::format("({} ? {} : {})", found->second, out.strides[0],
                                 kernel_.type(operand->loaded).size(1));
  }
  if (operand->is_transposed) std::swap(out.strides[0], out.strides[1]);
  return out;
}

}  // namespace tilewright
