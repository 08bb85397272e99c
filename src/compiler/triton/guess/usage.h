// SPDX-License-Identifier: Apache-2.0
// compiler/triton/guess/usage.h — what the body of a jit function does with its parameters: which are
// pointers, sizes, flags, types.
//
// A reading of the tree that follows values through assignments, arithmetic and calls of other jit
// functions. It never fails: what it cannot follow says nothing.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/python/decorators.h"

namespace tilewright {

struct ParameterUse {
  bool is_pointer = false;      // the base of an address that is loaded, stored or updated
  bool is_descriptor = false;   // x.load([...]), x.store([...])
  bool is_tuple = false;        // x[0], len(x)
  bool holds_integers = false;  // what is loaded through it serves as an index, a bound, a mask
  bool holds_indices = false;   // ... of an address
  bool holds_floats = false;    // what is loaded through it goes into exp, sqrt, dot
  bool holds_flags = false;     // `not` of what is loaded through it
  bool is_atomic = false;
  bool is_flag = false;      // `if x`, `not x`
  bool is_optional = false;  // `x is None`
  bool is_type = false;      // v.to(x), dtype=x
  bool is_size = false;      // of an arange or a shape
  bool is_unrolled = false;  // a bound of static_range
  bool is_one = false;       // the last stride of a descriptor
  bool is_integer = false;   // of //, %, range, or an offset
  bool is_float = false;     // an argument of a math function
  bool is_called = false;    // x(...)
  bool is_used = false;
  std::vector<std::string> texts;  // literals that it is compared with
  std::set<std::int64_t> numbers;  // that it is tested for
  // Of a descriptor, for each dimension: the parameter that the offsets of its accesses are
  // multiples of, or -1.
  std::vector<int> block_steps;

  void merge(const ParameterUse& other);
};

struct FunctionUse {
  std::vector<ParameterUse> parameters;
  bool returns_value = false;
  // The parameters that a returned value is an address from.
  std::vector<int> returned_pointers;
  std::vector<const python::Node*> called;  // jit functions, by their FunctionDef
};

class UsageReader {
 public:
  explicit UsageReader(python::ModuleLoader& loader) : loader_(loader) {}

  const FunctionUse& read(const python::LoadedModule& module, const python::FunctionDef& function);
  python::ModuleLoader& loader() { return loader_; }

 private:
  python::ModuleLoader& loader_;
  std::map<const python::Node*, FunctionUse> known_;
};

}  // namespace tilewright
