// SPDX-License-Identifier: Apache-2.0
// compiler/triton/triton_state.h — a loaded Triton kernel: its source, and what has been compiled from it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "compiler/triton/compile.h"
#include "compiler/launch_key.h"
#include "compiler/specialization_table.h"
#include "compiler/triton/specialize.h"
#include "tilewright/triton.h"

namespace tilewright {

// Where an argument of a compiled kernel comes from: a parameter, or an item of what it was given.
struct ArgumentSource {
  std::size_t parameter = 0;
  int item = -1;  // the whole
};

// Counts from 1 and gives no number twice.
std::uint64_t new_specialization_number();

// One compiled form of a kernel. Immutable once it is in the table.
struct Specialization {
  // Tells it from every other one, also from those that are gone: addresses are used again.
  std::uint64_t number = new_specialization_number();
  TritonSignature signature;  // with everything that configs and heuristics filled in
  KernelOptions options;
  std::vector<ArgumentSource> sources;  // of each argument of the compiled kernel
  bool takes_items = false;             // does any come from inside of a launch's argument?
  Function function;                    // compiled; empty when interpreted
  std::optional<TileKernel> tiles;      // interpreted
  bool is_emulated = false;             // CUDA text on the CPU
};

// Where a launch is to run.
struct LaunchPlace {
  Device device;
  bool interpret = false;
  const Target* emulate = nullptr;  // its CUDA text, on `device`, which is a CPU
};

// A launch with its arguments in their places: slots[i] belongs to parameter i, null when absent.
struct LaunchView {
  const TritonKernel::State& kernel;
  const TritonArgument* const* slots;
  const Specialization* specialization = nullptr;

  const Argument& value(ArgumentSource source) const {
    const TritonArgument& slot = *slots[source.parameter];
    return source.item < 0 ? slot.value
                           : items_of(slot)[static_cast<std::size_t>(source.item)].value;
  }
};

struct TritonKernel::State {
  std::string name;
  std::string range;  // of a launch, for NVIDIA's tools: "gelu_kernel (gelu.py)"; empty without one
  python::DecoratedFunction function;
  std::vector<TritonParameter> parameters;
  KeyRules key_rules;
  python::ModuleLoader loader;

  bool is_autotuned() const { return function.find(python::Decorator::Kind::Autotune) != nullptr; }

  std::mutex tuning;         // one tuning at a time; taken before `mutex`
  mutable std::mutex mutex;  // all below, and the loader
  SpecializationTable table;
  // By signature, options and place, for launches whose keys differ but whose code does not.
  std::map<std::string, std::unique_ptr<Specialization>> compiled;
  // By device and tune key (tune/key.h): what the autotuner chose, for launches that differ in
  // nothing it looks at.
  std::map<std::string, python::ConfigValue> winners;
};

// What is or will be compiled for a launch. `slots` has room for every parameter and gets the
// arguments.
const Specialization& find_specialization(TritonKernel::State& state, const TritonLaunch& launch,
                                          std::span<const TritonArgument> arguments,
                                          const TritonArgument** slots, LaunchPlace& place);

// The long way: fills in configs and heuristics, compiles, remembers. Takes the kernel's lock.
const Specialization& make_specialization(TritonKernel::State& state, const LaunchKey& key,
                                          const TritonArgument* const* slots,
                                          const TritonLaunch& launch, const LaunchPlace& place);

// The same for a signature as text.
const Specialization& make_specialization(TritonKernel::State& state, std::string_view signature,
                                          const TritonLaunch& launch, const LaunchPlace& place);

// Do heuristics ask more of arguments than whether they are None?
bool heuristics_read_values(const python::DecoratedFunction& function);

// The grid of the launch; throws ArgumentError for negative sizes.
Dim3 grid_of(const LaunchView& view, const TritonLaunch& launch);
// Queues a compiled specialisation.
void run_compiled(const LaunchView& view, const TritonLaunch& launch, Dim3 grid);

// Runs emulated CUDA, which may touch the memory of the arguments and no other.
void emulate_launch(const LaunchView& view, const TritonLaunch& launch, Dim3 grid);

// Runs an interpreted specialisation. CUDA tensors are copied to the host and back. With `float64`
// every float is a double inside and is rounded to the tensors' types once, after the launch.
void interpret_launch(const LaunchView& view, Dim3 grid, bool float64);

// Everything a grid function may ask, for grids that are Python expressions.
python::DictValue meta_values(const LaunchView& view);

}  // namespace tilewright
