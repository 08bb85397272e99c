// SPDX-License-Identifier: Apache-2.0
// frontend/numba/webs.h — which assignments of a name reach which uses of it.
//
// Numba gives a name that is assigned again a new type where no use can see both values:
//   v = x[i]        # float32
//   v = v * 2.0     # another v, a float64
// Assignments that reach one use belong together: a web. Each has one type.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/python/ast.h"

namespace tilewright::numba {

struct Web {
  std::string_view name;
  // Name nodes that assign it, or the Parameter.
  std::vector<const python::Node*> definitions;
  std::vector<const python::Node*> uses;  // Name nodes
  bool is_parameter = false;
};

struct Webs {
  std::vector<Web> all;
  // By Name node (or Parameter). An augmented assignment is both a use and a definition.
  std::map<const python::Node*, int> of_use;
  std::map<const python::Node*, int> of_definition;
  // Uses that no assignment reaches although the function assigns the name.
  std::vector<const python::Name*> unassigned;

  bool is_local(const python::Node* name) const { return of_use.contains(name); }
};

Webs find_webs(const python::FunctionDef& function);

}  // namespace tilewright::numba
