// SPDX-License-Identifier: Apache-2.0
// frontend/numba/program.h — what the functions of one kernel share: the module, instances of
// device functions, helpers that the text needs.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/numba/names.h"
#include "frontend/numba/text.h"
#include "frontend/numba/value.h"

namespace tilewright::numba {

// A device function for the types of its arguments.
struct Instance {
  const python::FunctionDef* function = nullptr;
  const python::LoadedModule* module = nullptr;
  std::vector<Type> arguments;
  std::vector<bool> nonnegative;
  std::vector<std::string> constants;  // per argument: what is known of it and not passed, or empty
  std::string name;                    // in the text
  std::string text;
  Type result = Type::none();
  bool is_result_nonnegative = false;
  std::vector<const Instance*> callees;
  std::set<std::string> helpers;
  std::vector<bool> writes;  // per argument: is the array written?
};

// np.array([1, 2, 3], dtype=np.float32) of the module: its values are part of the text.
struct FrozenArray {
  DType dtype = DType::Float64;
  std::vector<std::int64_t> shape;
  std::vector<Number> elements;
  std::string name;  // in the text

  std::string declaration(Dialect dialect) const;
};

struct Program {
  Program(python::ModuleLoader& module_loader, Dialect text_dialect)
      : loader(module_loader), dialect(text_dialect) {}

  python::ModuleLoader& loader;
  Dialect dialect;
  Names names;  // of functions
  std::deque<Instance> instances;
  std::vector<const python::FunctionDef*> active;     // functions being written, to find recursion
  std::vector<const python::Node*> constants;         // being evaluated, likewise
  std::map<const python::Node*, FrozenArray> frozen;  // arrays of the module, by their expressions
  bool needs_threads = false;
  bool is_narrow = false;  // as KernelRequest has them
  bool are_apart = false;
  bool is_emulated = false;
  bool is_cooperative = false;
};

// The text of a helper by its name, and the helpers that it calls itself.
struct Helper {
  std::string_view name;
  std::string_view text;
  std::string_view needs;  // another helper
};
std::string helper_texts(const std::set<std::string>& names);

// How a decorator says that a function is compiled: @cuda.jit, @cuda.jit(device=True), @njit.
struct JitKind {
  bool is_jit = false;
  bool is_cuda = false;
  bool is_device = false;
  bool is_fastmath = false;
};
JitKind jit_kind(python::ModuleLoader& loader, const python::LoadedModule& module,
                 const python::FunctionDef& function);

}  // namespace tilewright::numba
