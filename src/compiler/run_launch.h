// SPDX-License-Identifier: Apache-2.0
// compiler/run_launch.h — the three ways in which a launch of a specialisation runs: as compiled
// code, as emulated CUDA, in the interpreter.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "compiler/specialization.h"

namespace tilewright {

// `arguments` are those of the compiled kernel, in its order.
struct ReadyLaunch {
  const std::string& kernel;  // its name, for messages
  const Specialization& specialization;
  std::span<const Argument* const> arguments;
  Dim3 grid;
  const std::optional<Stream>& stream;
};

// Queues compiled code.
inline void run_compiled(const ReadyLaunch& launch) {
  launch.specialization.function.launch({.grid = launch.grid, .stream = launch.stream},
                                        launch.arguments);
}

// Runs emulated CUDA, which may touch the memory of the arguments and no other.
void run_emulated(const ReadyLaunch& launch);

// Runs it in the interpreter. CUDA tensors are copied to the host and back. With `float64` every
// float is a double inside and is rounded to the tensors' types once, after the launch.
void run_interpreted(const ReadyLaunch& launch, bool float64);

// By what the specialisation is made for.
void run_launch(const ReadyLaunch& launch, bool float64);

// Throws ArgumentError for negative sizes.
void check_grid(const std::string& kernel, const Dim3& grid);

}  // namespace tilewright
