// SPDX-License-Identifier: Apache-2.0
// frontend/numba/places.h — in which block of a function each name stands, to declare variables
// where they are first assigned.
#pragma once

#include <map>
#include <vector>

#include "frontend/numba/webs.h"

namespace tilewright::numba {

struct Place {
  std::vector<int> blocks;  // outermost first
  const python::Node* statement = nullptr;
  int order = 0;

  bool is_inside(const Place& other) const;
};

class Places {
 public:
  explicit Places(const python::FunctionDef& function);

  const Place& of(const python::Node* name) const { return all_.at(name); }
  // May the web's variable be declared by its first assignment: is that always run before all other
  // assignments and uses of the web, in the same block or inside of it?
  bool is_declarable(const Web& web) const;
  const python::Node* first_definition(const Web& web) const;

 private:
  void block(python::NodeList body);
  void statement(const python::Node& node);
  void names(const python::Node* node);

  std::map<const python::Node*, Place> all_;
  Place now_;
  int blocks_ = 0;
};

}  // namespace tilewright::numba
