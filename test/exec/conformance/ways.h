// SPDX-License-Identifier: Apache-2.0
// exec/conformance/ways.h — the ways to run one Triton kernel: interpreter, CPU code, the text of
// the CUDA kernel emulated on the CPU, and CUDA where there is one.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tilewright/triton.h"

namespace tilewright::conformance {

enum class Way { Interpreter, Cpu, EmulatedCuda, Cuda };

std::string name_of(Way way);
std::vector<Way> all_ways();  // Cuda only with a GPU
// Where tensors of a way live.
Device device_of(Way way);

void run(Way way, const TritonKernel& kernel, Dim3 grid, int num_warps,
         std::span<const TritonArgument> arguments);

}  // namespace tilewright::conformance
