// SPDX-License-Identifier: Apache-2.0
// compiler/triton/guess/guess.h — signatures for a kernel that nobody gave one: pointer or scalar by use,
// constants from configs, heuristics, launches, defaults and names.
#pragma once

#include <string>
#include <vector>

#include "compiler/triton/guess/usage.h"
#include "compiler/triton/signature.h"

namespace tilewright {

// What one attempt assumes where the text leaves several things possible.
struct GuessChoices {
  DType floats = DType::Float32;
  DType integers = DType::Int64;
  bool flags = false;               // of tl.constexpr flags that nothing sets
  bool optionals_are_none = false;  // parameters that are compared with None
  std::int64_t size = 64;           // of blocks that no config names
  std::int64_t extent = 64;         // of whole dimensions that are tl.constexpr
  std::int64_t unrolled = 4;        // of sizes that are also bounds of unrolled loops
  std::size_t text = 0;             // which of the literals that a parameter is compared with
  bool indices_win = false;         // what is used in an address is an integer, whatever else
  bool integers_win = false;        // what is used as an integer anywhere is one
  bool floats_everywhere = false;   // no pointer is taken for one to integers
  bool last_config = false;         // of the autotuner, instead of the first
  std::string_view name;            // for messages
};

struct Guess {
  TritonSignature signature;
  int num_warps = 4;
  int num_stages = 3;
};

// In the order in which they are worth trying.
const std::vector<GuessChoices>& guess_choices();

class Guesser {
 public:
  explicit Guesser(python::ModuleLoader& loader) : loader_(loader), usage_(loader) {}

  // For a machine of which host code sees `facts`. Never fails on what it cannot read (a config
  // list made by other Python): it then goes by names.
  Guess guess(const python::DecoratedFunction& function, const GuessChoices& choices,
              const python::Facts& facts);

  const FunctionUse& uses(const python::DecoratedFunction& function) {
    return usage_.read(*function.module, *function.function);
  }

  // The kernels of a module that a host could launch: those that return nothing and that no other
  // jit function of `modules` calls.
  std::vector<python::DecoratedFunction> entries(
      const std::vector<const python::LoadedModule*>& modules);

 private:
  python::ModuleLoader& loader_;
  UsageReader usage_;
};

}  // namespace tilewright
