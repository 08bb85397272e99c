// SPDX-License-Identifier: Apache-2.0
// frontend/python/decorators.h — which functions of a module are kernels, and what is stacked on
// them.
#pragma once

#include <string>
#include <vector>

#include "frontend/python/module_loader.h"

namespace tilewright::python {

struct Decorator {
  // Autotune includes the look-alikes of other libraries that take configs and key as
  // triton.autotune does.
  enum class Kind { Jit, Autotune, Heuristics, ConstexprFunction, Other };
  Kind kind = Kind::Other;
  std::string
      name;  // resolved where possible: "triton.autotune", "fla.ops.utils.cache.fla_cache_autotune"
  const Node* node = nullptr;            // the decorating expression
  const Call* call = nullptr;            // its arguments, when it has any
  const LoadedModule* module = nullptr;  // where it is written
  Moment moment;                         // when it is evaluated
  // `tuned = functools.partial(triton.autotune, key=["n"])`: calls whose arguments come before and
  // beside those of `call`, the innermost first.
  struct Partial {
    const Call* call = nullptr;
    Moment moment;
  };
  std::vector<Partial> partials;
  std::string note;  // what was skipped, for Other and for look-alikes
};

// A function with all that decorates it, `@` form and call form alike.
struct DecoratedFunction {
  std::string name;  // under which the module knows it
  const LoadedModule* module = nullptr;
  const FunctionDef* function = nullptr;
  Moment moment;                      // when its defaults are evaluated
  std::vector<Decorator> decorators;  // outermost first

  bool is_jit() const { return find(Decorator::Kind::Jit) != nullptr; }
  const Decorator* find(Decorator::Kind kind) const;
};

// `binding` must be a Function.
DecoratedFunction read_decorators(ModuleLoader& loader, std::string_view name,
                                  const Binding& binding);

// Every jit function that the module itself defines, in the order of the file; those inside
// functions and classes too.
std::vector<DecoratedFunction> jit_functions(ModuleLoader& loader, const LoadedModule& module);

}  // namespace tilewright::python
