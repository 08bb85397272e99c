// SPDX-License-Identifier: Apache-2.0
// test/fuzz/python_evaluate_fuzz.cpp — whatever a module defines, evaluating it ends, with a value
// or with an error.
#include <cstddef>
#include <cstdint>
#include <string>

#include "frontend/python/config_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilewright;
  using namespace tilewright::python;
  ModuleLoader loader;
  EvaluateOptions options;
  options.facts = nvidia_facts(9, 0);
  options.max_steps = 2000;
  const LoadedModule* module = nullptr;
  try {
    module = &loader.load_text("/nowhere/fuzz.py", {reinterpret_cast<const char*>(data), size});
  } catch (const UserError&) {
    return 0;
  }
  for (const auto& [name, definitions] : module->definitions.names) {
    Evaluator evaluator(loader, options);
    const Binding binding = loader.lookup(*module, name);
    try {
      if (binding.kind == Binding::Kind::Constant)
        repr(evaluator.evaluate(*binding.module, binding.node));
      if (binding.kind == Binding::Kind::Function)
        evaluator.call(FunctionValue{binding.module, binding.node, nullptr},
                       {make_dict({{"n", 8}})});
    } catch (const UserError&) {
      continue;
    }
  }
  for (const DecoratedFunction& function : jit_functions(loader, *module)) {
    Evaluator evaluator(loader, options);
    try {
      read_jit_options(evaluator, function);
      if (const Decorator* tune = function.find(Decorator::Kind::Autotune))
        read_autotune(evaluator, *tune);
      if (const Decorator* rules = function.find(Decorator::Kind::Heuristics))
        read_heuristics(evaluator, *rules);
    } catch (const UserError&) {
      continue;
    }
  }
  return 0;
}
