// SPDX-License-Identifier: Apache-2.0
// frontend/python/print.h — a tree as one compact S-expression.
//
//   x = f(a, 1)   =>   (Assign [x] (Call f [a 1] []))
#pragma once

#include <string>

#include "frontend/python/ast.h"

namespace tilewright::python {

struct PrintOptions {
  bool places = false;  // (Call@3:5 ...)
};

// Fields stand in the order of ast.def: names and numbers bare, strings quoted, lists in [], `_`
// for what is absent.
std::string print(const Node& node, PrintOptions options = {});

}  // namespace tilewright::python
