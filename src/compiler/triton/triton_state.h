// SPDX-License-Identifier: Apache-2.0
// compiler/triton/triton_state.h — a loaded Triton kernel: its source, and what has been compiled
// from it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "compiler/launch_key.h"
#include "compiler/run_launch.h"
#include "compiler/specialization_table.h"
#include "compiler/triton/compile.h"
#include "compiler/triton/specialize.h"
#include "tilewright/triton.h"

namespace tilewright {

// One compiled form of a kernel.
struct TritonSpecialization : Specialization {
  TritonSignature signature;  // with everything that configs and heuristics filled in
};

// A launch with its arguments in their places: slots[i] belongs to parameter i, null when absent.
struct LaunchView {
  const TritonKernel::State& kernel;
  const TritonArgument* const* slots;
  const TritonSpecialization* specialization = nullptr;

  const Argument& value(ArgumentSource source) const {
    const TritonArgument& slot = *slots[source.parameter];
    return source.item < 0 ? slot.value
                           : items_of(slot)[static_cast<std::size_t>(source.item)].value;
  }
};

// What the kernel's table knows.
inline const TritonSpecialization& as_triton(const Specialization& known) {
  return static_cast<const TritonSpecialization&>(known);
}

struct TritonKernel::State {
  std::string name;
  std::string range;  // of a launch, for NVIDIA's tools: "gelu_kernel (gelu.py)"; empty without one
  python::DecoratedFunction function;
  std::vector<TritonParameter> parameters;
  KeyRules key_rules;
  python::ModuleLoader loader;

  bool is_autotuned() const { return function.find(python::Decorator::Kind::Autotune) != nullptr; }

  std::mutex tuning;          // one tuning at a time; taken before `mutex`
  mutable std::mutex mutex;   // all below, and the loader
  SpecializationTable table;  // of TritonSpecializations
  // By signature, options and place, for launches whose keys differ but whose code does not.
  std::map<std::string, std::unique_ptr<TritonSpecialization>> compiled;
  // By device and tune key (tune/key.h): what the autotuner chose, for launches that differ in
  // nothing it looks at.
  std::map<std::string, python::ConfigValue> winners;
};

// What is or will be compiled for a launch. `slots` has room for every parameter and gets the
// arguments.
const TritonSpecialization& find_specialization(TritonKernel::State& state,
                                                const TritonLaunch& launch,
                                                std::span<const TritonArgument> arguments,
                                                const TritonArgument** slots, LaunchPlace& place);

// The long way: fills in configs and heuristics, compiles, remembers. Takes the kernel's lock.
const TritonSpecialization& make_specialization(TritonKernel::State& state, const LaunchKey& key,
                                                const TritonArgument* const* slots,
                                                const TritonLaunch& launch,
                                                const LaunchPlace& place);

// The same for a signature as text.
const TritonSpecialization& make_specialization(TritonKernel::State& state,
                                                std::string_view signature,
                                                const TritonLaunch& launch,
                                                const LaunchPlace& place);

// Do heuristics ask more of arguments than whether they are None?
bool heuristics_read_values(const python::DecoratedFunction& function);

// The grid of the launch; throws ArgumentError for negative sizes.
Dim3 grid_of(const LaunchView& view, const TritonLaunch& launch);
// Queues a compiled specialisation.
void run_compiled(const LaunchView& view, const TritonLaunch& launch, Dim3 grid);

// Everything a grid function may ask, for grids that are Python expressions.
python::DictValue meta_values(const LaunchView& view);

}  // namespace tilewright
