// SPDX-License-Identifier: Apache-2.0
// frontend/triton/lower_value.cpp — the expression is what a function returns, and is lowered as
// one.
#include "frontend/triton/lower_value.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "frontend/triton/lowering.h"

namespace tilewright::triton {

LoweredValue lower_value(const std::string& expression, const std::vector<ValueOperand>& operands,
                         const std::vector<std::pair<std::string, Value>>& constants) {
  std::vector<std::string> parameters;
  for (const ValueOperand& operand : operands) parameters.push_back(operand.name);
  for (const auto& [name, value] : constants) parameters.push_back(name + ": tl.constexpr");
  py::ModuleLoader loader;
  const py::LoadedModule& module = loader.load_text(
      "expression", fmt::format("import triton\nimport triton.language as tl\n@triton.jit\n"
                                "def expression({}):\n    return ({})\n",
                                fmt::join(parameters, ", "), expression));
  LoweredValue out;
  out.kernel.name = "expression";
  const LowerOptions options;
  Lowering lowering(loader, options, out.kernel);
  const py::DecoratedFunction function = py::jit_functions(loader, module).front();
  lowering.set_place(&module, function.function);
  CallArguments arguments;
  for (const ValueOperand& operand : operands)
    arguments.keywords.emplace_back(operand.name,
                                    out.kernel.add_argument(operand.type, operand.name));
  for (const auto& [name, value] : constants) arguments.keywords.emplace_back(name, value);
  out.result = lowering.call_function(
      {.name = function.name, .module = function.module, .node = function.function}, arguments);
  return out;
}

}  // namespace tilewright::triton
