// SPDX-License-Identifier: Apache-2.0
// compiler/memory_use.cpp — each access is held against each argument.
#include "compiler/memory_use.h"

#include "ir/analysis/memory_order.h"

namespace tilewright {

MemoryUse memory_use(const ir::Kernel& kernel) {
  MemoryUse use{std::vector<bool>(kernel.arguments.size()),
                std::vector<bool>(kernel.arguments.size())};
  const ir::MemoryOrder order(kernel);
  ir::walk(kernel.body, [&](const ir::Op& op) {
    if (!ir::is_access(kernel, op)) return;
    for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
      const ir::Value argument = kernel.arguments[i].value;
      if (!kernel.type(argument).is_pointer || !order.may_overlap(op.operands[0], argument))
        continue;
      if (op.facts().has(ir::Reads)) use.reads[i] = true;
      if (op.facts().has(ir::Writes)) use.writes[i] = true;
    }
  });
  return use;
}

bool writes_overlap(const ir::Kernel& kernel) {
  const ir::MemoryOrder order(kernel);
  bool writes = false;
  ir::walk(kernel.body, [&](const ir::Op& op) {
    if (!op.facts().has(ir::Writes) || !ir::is_access(kernel, op)) return;
    for (const ir::KernelArgument& argument : kernel.arguments)
      writes |= argument.memory >= 0 && order.may_overlap(op.operands[0], argument.value);
  });
  return writes;
}

}  // namespace tilewright
