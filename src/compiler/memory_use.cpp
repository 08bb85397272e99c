// SPDX-License-Identifier: Apache-2.0
// compiler/memory_use.cpp — each access is held against each argument.
#include "compiler/memory_use.h"

#include "ir/analysis/memory_order.h"

namespace tilewright {
namespace {

// What a copy or store by a tensor map touches; -1: the op is none.
int mapped_argument(const ir::Kernel& kernel, const ir::Op& op) {
  const bool has_map = op.kind == ir::OpKind::CopyMap || op.kind == ir::OpKind::StoreMap;
  return has_map ? kernel.map_of(op).argument : -1;
}

}  // namespace

MemoryUse memory_use(const ir::Kernel& kernel) {
  MemoryUse use{std::vector<bool>(kernel.arguments.size()),
                std::vector<bool>(kernel.arguments.size())};
  const ir::MemoryOrder order(kernel);
  ir::walk(kernel.body, [&](const ir::Op& op) {
    if (const int mapped = mapped_argument(kernel, op); mapped >= 0) {
      const bool is_store = op.kind == ir::OpKind::StoreMap;
      (is_store ? use.writes : use.reads)[static_cast<std::size_t>(mapped)] = true;
    }
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
    if (op.kind == ir::OpKind::StoreMap)
      writes |= kernel.arguments[static_cast<std::size_t>(mapped_argument(kernel, op))].memory >= 0;
    if (!op.facts().has(ir::Writes) || !ir::is_access(kernel, op)) return;
    for (const ir::KernelArgument& argument : kernel.arguments)
      writes |= argument.memory >= 0 && order.may_overlap(op.operands[0], argument.value);
  });
  return writes;
}

}  // namespace tilewright
