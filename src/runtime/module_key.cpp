// SPDX-License-Identifier: Apache-2.0
// runtime/module_key.cpp — feeds every field of a KernelSource to the hash; lists are preceded by
// their lengths.
#include "runtime/module_key.h"

#include <type_traits>

namespace tilewright {
namespace {

struct KeyBuilder {
  Hasher hasher;

  template <class... Fields>
  void fields(const Fields&... values) {
    (add(values), ...);
  }

  template <class Number>
  requires(std::is_arithmetic_v<Number> || std::is_enum_v<Number>) void add(Number number) {
    hasher.add(static_cast<std::int64_t>(number));
  }

  template <class Item>
  void add(const std::vector<Item>& items) {
    add(items.size());
    for (const Item& item : items) add(item);
  }

  void add(const std::string& text) { hasher.add(text); }
  void add(const PlanOp& op) { fields(op.kind, op.value); }
  void add(const NamedFile& file) { fields(file.name, file.text); }
  void add(const KernelParameter& p) { fields(p.kind, p.index, p.map); }
  void add(const Workspace& workspace) { fields(workspace.bytes, workspace.zeroed); }

  void add(const Parameter& p) {
    fields(p.name, p.kind, p.dtype, p.any_pointee, p.is_const, p.needs_contiguous, p.opaque_bytes);
  }

  void add(const TensorMapPlan& map) {
    fields(map.dtype, map.sizes, map.strides, map.box, map.swizzle_bytes,
           map.rounds_to_tf32);
  }

  void add(const LaunchStep& step) {
    fields(step.entry, step.parameters, step.shared_bytes);
    for (int axis = 0; axis < 3; ++axis)
      fields(step.grid[axis], step.block[axis], step.cluster[axis]);
  }

  void add(const LaunchPlan& plan) {
    fields(plan.conditions, plan.workspaces, plan.tensor_maps, plan.steps);
  }

  void add(const KernelSource::Kernel& k) {
    fields(k.name, k.parameters, k.variants, k.otherwise != nullptr);
    if (k.otherwise) add(*k.otherwise);
  }
  void add(const KernelSource& s) {
    fields(s.language, s.name, s.text, s.headers, s.options, s.include_folders, s.name_expressions,
           s.kernels);
  }
};

}  // namespace

Hash128 module_key(const KernelSource& s) {
  KeyBuilder key;
  key.add(s);
  return key.hasher.finish();
}

}  // namespace tilewright
