// SPDX-License-Identifier: Apache-2.0
// compiler/ir_state.h — a loaded kernel in the IR, and what has been compiled from it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "compiler/specialization_table.h"
#include "ir/kernel.h"
#include "tilewright/ir.h"

namespace tilewright {

struct IrKernel::State {
  KernelSource::Kernel signature;  // name and parameters
  std::string range;               // of a launch, for NVIDIA's tools; empty without one
  ir::Kernel kernel;               // at stage Source or Tile
  std::string text;                // that it was read from; empty when it was built
  KeyRules key_rules;
  bool specializes_integers = true;

  mutable std::mutex mutex;  // all below
  SpecializationTable table;
  // By the kernel as it is compiled, options and place, for launches whose keys differ but whose
  // code does not.
  std::map<std::string, std::unique_ptr<Specialization>> compiled;
};

// What is or will be compiled for a launch. Throws what is wrong with its arguments.
const Specialization& find_specialization(IrKernel::State& state, const IrLaunch& launch,
                                          std::span<const Argument> arguments);

}  // namespace tilewright
