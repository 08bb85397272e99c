// SPDX-License-Identifier: Apache-2.0
// ir/calls.cpp — functions by the name that a call has.
#include "ir/calls.h"

#include "base/check.h"

namespace tilewright::ir {

const LibraryFunction* called_function(const Op& op) {
  return op.kind == OpKind::Call ? find_library_function(op.text("function")) : nullptr;
}

const LibraryFunction& function_of(const Op& call) {
  const LibraryFunction* function = called_function(call);
  TW_CHECK(function, "the library has no function '{}'", call.text("function"));
  return *function;
}

bool calls(const Op& op, LibraryKind function) {
  return op.kind == OpKind::Call && op.text("function") == name_of(function);
}

bool calls(const Kernel& kernel, LibraryKind function) {
  bool found = false;
  walk(kernel.body, [&](const Op& op) { found |= calls(op, function); });
  return found;
}

}  // namespace tilewright::ir
