// SPDX-License-Identifier: Apache-2.0
// codegen/lower/program_lowering.cpp — scalars of a program.
#include "codegen/lower/program_lowering.h"

#include "base/check.h"

namespace tilewright {

using ir::OpKind;

ir::Value ProgramLowering::scalar(ir::Value value) {
  const auto found = scalars_.find(value.id);
  if (found != scalars_.end()) return found->second;
  const ir::Op* maker = laid_.maker(value);
  if (maker && maker->facts().is(ir::Family::View)) return only_element(*maker, value);
  TW_CHECK(maker && maker->kind == OpKind::Constant, "a scalar is used before it is lowered");
  return constant_of(laid_.type(value), *maker->find("value"));
}

ir::Value ProgramLowering::only_element(const ir::Op& view, ir::Value) {
  TW_UNREACHABLE("the element of '{}' is used before it is lowered", view.facts().name);
}

void ProgramLowering::define(ir::Value value, ir::Value made) {
  scalars_[value.id] = named(made, names_.make(laid_.name_of(value)), *list_);
}

}  // namespace tilewright
