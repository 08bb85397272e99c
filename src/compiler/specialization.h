// SPDX-License-Identifier: Apache-2.0
// compiler/specialization.h — one compiled form of a kernel, and where its launches run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "tilewright/module.h"

namespace tilewright {

// Where an argument of a compiled kernel comes from: a parameter, or an item of what it was given.
struct ArgumentSource {
  std::size_t parameter = 0;
  int item = -1;  // the whole
};

// Counts from 1 and gives no number twice.
std::uint64_t new_specialization_number();

// Immutable once it is in a table.
struct Specialization {
  // Tells it from every other one, also from those that are gone: addresses are used again.
  std::uint64_t number = new_specialization_number();
  KernelOptions options;
  std::vector<ArgumentSource> sources;  // of each argument of the compiled kernel
  std::vector<std::string> names;       // of those arguments, for messages
  bool takes_items = false;             // does any come from inside of a launch's argument?
  Function function;                    // compiled; empty when interpreted
  std::optional<ir::Kernel> tiles;      // interpreted
  bool is_emulated = false;             // CUDA text on the CPU
};

// Where a launch is to run.
struct LaunchPlace {
  Device device;
  bool interpret = false;
  const Target* emulate = nullptr;  // its CUDA text, on `device`, which is a CPU

  // What code is made for there.
  const Target& target() const;
};

// Throws ArgumentError when a launch that is to be emulated cannot be.
void check_emulated(std::string_view kernel, const LaunchPlace& place);

// Makes the source for the place, and of it a function. Both throw what compilers say.
KernelSource place_source(const KernelSource& source, const LaunchPlace& place);
Function load_function(const KernelSource& source, Device device);

}  // namespace tilewright
