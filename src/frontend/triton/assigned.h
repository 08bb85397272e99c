// SPDX-License-Identifier: Apache-2.0
// frontend/triton/assigned.h — what statements do to names, read from the tree alone.
#pragma once

#include <map>
#include <string>

#include "frontend/python/ast.h"

namespace tilewright::triton {

// The names that the statements bind, at any depth, each with the first place that does. Functions
// and classes inside are not entered.
std::map<std::string, const python::Node*> assigned_names(python::NodeList statements);

// Is there a `return` in the statement, functions inside apart?
bool contains_return(const python::Node& statement);

// `tl.constexpr`, also as text or as one side of `|`.
bool is_constexpr_annotation(const python::Node* annotation);

}  // namespace tilewright::triton
