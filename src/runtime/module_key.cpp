// SPDX-License-Identifier: Apache-2.0
// runtime/module_key.cpp — feeds every field of a KernelSource to the hash; lists are preceded by
// their lengths.
#include "runtime/module_key.h"

namespace tilewright {
namespace {

template <class Number>
void add_number(Hasher& hasher, Number number) {
  hasher.add(static_cast<std::int64_t>(number));
}

void add(Hasher& hasher, const std::string& text) { hasher.add(text); }
void add(Hasher& hasher, std::uint32_t number) { add_number(hasher, number); }

template <class Item>
void add(Hasher& hasher, const std::vector<Item>& items) {
  add_number(hasher, items.size());
  for (const Item& item : items) add(hasher, item);
}

void add(Hasher& hasher, const PlanOp& op) {
  add_number(hasher, op.kind);
  add_number(hasher, op.value);
}

void add(Hasher& hasher, const NamedFile& file) {
  hasher.add(file.name);
  hasher.add(file.text);
}

void add(Hasher& hasher, const Parameter& parameter) {
  hasher.add(parameter.name);
  add_number(hasher, parameter.kind);
  add_number(hasher, parameter.dtype);
  add_number(hasher, parameter.any_pointee);
  add_number(hasher, parameter.is_const);
  add_number(hasher, parameter.needs_contiguous);
  add_number(hasher, parameter.opaque_bytes);
}

void add(Hasher& hasher, const KernelParameter& parameter) {
  add_number(hasher, parameter.kind);
  add_number(hasher, parameter.index);
  add_number(hasher, parameter.map);
}

void add(Hasher& hasher, const Workspace& workspace) {
  add(hasher, workspace.bytes);
  add_number(hasher, workspace.zeroed);
}

void add(Hasher& hasher, const TensorMapPlan& map) {
  add_number(hasher, map.dtype);
  add(hasher, map.sizes);
  add(hasher, map.strides);
  add(hasher, map.box);
  add_number(hasher, map.swizzle_bytes);
}

void add(Hasher& hasher, const LaunchStep& step) {
  hasher.add(step.entry);
  add(hasher, step.parameters);
  for (int axis = 0; axis < 3; ++axis) {
    add(hasher, step.grid[axis]);
    add(hasher, step.block[axis]);
    add(hasher, step.cluster[axis]);
  }
  add(hasher, step.shared_bytes);
}

void add(Hasher& hasher, const LaunchPlan& plan) {
  add(hasher, plan.conditions);
  add(hasher, plan.workspaces);
  add(hasher, plan.tensor_maps);
  add(hasher, plan.steps);
}

void add(Hasher& hasher, const KernelSource::Kernel& kernel) {
  hasher.add(kernel.name);
  add(hasher, kernel.parameters);
  add(hasher, kernel.variants);
}

}  // namespace

Hash128 module_key(const KernelSource& source) {
  Hasher hasher;
  add_number(hasher, source.language);
  hasher.add(source.name);
  hasher.add(source.text);
  add(hasher, source.headers);
  add(hasher, source.options);
  add(hasher, source.include_folders);
  add(hasher, source.name_expressions);
  add(hasher, source.kernels);
  return hasher.finish();
}

}  // namespace tilewright
