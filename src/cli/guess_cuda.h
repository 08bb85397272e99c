// SPDX-License-Identifier: Apache-2.0
// cli/guess_cuda.h — `run --guess` for .cu files: every program and kernel of a file or folder, on
// made-up arguments.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/isolate.h"
#include "tilewright/device.h"

namespace tilewright::cli {

struct CudaGuess {
  std::string file;
  std::string kernel;     // "main" for a whole program; empty for a file that cannot be read
  std::string result;     // runs, agrees, disagrees, fails, cannot be guessed, cannot be read
  std::string reason;     // of all but the first two
  std::string arguments;  // "grid=4 block=256 x=float32[65536] n=32"
  double seconds = 0;
};

// Whether the path is a .cu file, FILE.cu:KERNEL, or a folder with .cu files in it.
bool has_cuda_files(const std::string& path);

// Each in a process of its own: emulated, and on a GPU also there, where the results are compared
// with the emulation's. `show` hears of progress.
std::vector<CudaGuess> guess_cuda(const std::string& path, Device device,
                                  const Isolation& isolation,
                                  const std::function<void(const std::string&)>& show);

}  // namespace tilewright::cli
