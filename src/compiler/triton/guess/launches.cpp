// SPDX-License-Identifier: Apache-2.0
// compiler/triton/guess/launches.cpp — a walk over the host code of a module.
#include "compiler/triton/guess/launches.h"

namespace tilewright {
namespace {

using namespace python;

bool is_kernel(const Node* node, std::string_view kernel) {
  if (const auto* name = cast_if<Name>(node)) return name->id == kernel;
  const auto* attribute = cast_if<Attribute>(node);
  return attribute != nullptr && attribute->name == kernel;
}

void visit(const LoadedModule& module, const Node& node, const FunctionDef* function,
           std::string_view kernel, std::vector<KernelLaunch>& found) {
  if (const auto* call = cast_if<Call>(&node))
    if (const auto* item = cast_if<Subscript>(call->function))
      if (is_kernel(item->value, kernel)) found.push_back({&module, call, item->index, function});
  if (const auto* inner = cast_if<FunctionDef>(&node)) function = inner;
  for_each_child(node, [&](const Node& child) { visit(module, child, function, kernel, found); });
}

// The last `name = ...` or `def name` below `node` that starts before `line`.
const Node* last_binding(const Node& node, std::string_view name, int line) {
  const Node* found = nullptr;
  for_each_child(node, [&](const Node& child) {
    if (child.span.line > line) return;
    const auto* assign = cast_if<Assign>(&child);
    const auto* function = cast_if<FunctionDef>(&child);
    if (assign != nullptr && assign->targets.size() == 1) {
      const auto* target = cast_if<Name>(assign->targets[0]);
      if (target != nullptr && target->id == name) found = assign->value;
    } else if (function != nullptr && function->name == name) {
      found = function;
    }
    if (const Node* inner = last_binding(child, name, line)) found = inner;
  });
  return found;
}

}  // namespace

const python::Node* KernelLaunch::argument(std::string_view name, std::size_t position) const {
  for (const Node* node : call->keywords)
    if (cast<Keyword>(node).name == name) return cast<Keyword>(node).value;
  for (std::size_t i = 0; i < call->arguments.size() && i <= position; ++i)
    if (is<Starred>(call->arguments[i])) return nullptr;
  return position < call->arguments.size() ? call->arguments[position] : nullptr;
}

std::vector<KernelLaunch> find_launches(const python::LoadedModule& module,
                                        std::string_view kernel) {
  std::vector<KernelLaunch> found;
  visit(module, *module.tree->root, nullptr, kernel, found);
  return found;
}

const python::Node* followed_grid(const KernelLaunch& launch) {
  const auto* name = cast_if<Name>(launch.grid);
  if (name == nullptr) return launch.grid;
  const Node& around = launch.function != nullptr ? *static_cast<const Node*>(launch.function)
                                                  : *launch.module->tree->root;
  const Node* found = last_binding(around, name->id, launch.call->span.line);
  return found == nullptr ? launch.grid : found;
}

}  // namespace tilewright
