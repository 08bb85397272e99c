// SPDX-License-Identifier: Apache-2.0
// bench/suite/mlp.h — the end-to-end example of the course: layers of linear and GELU, the mean as
// loss, forward, backward and a step of AdamW, eager and in every mode of tw::compile.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/suite/rivals.h"
#include "bench/suite/run.h"
#include "tilewright/compile.h"

namespace tilewright::suite {

struct MlpCase {
  std::int64_t dim = 256, layers = 4, batch = 256;
  int steps = 1;  // in one timed run
  DType dtype = DType::Float32;
  Device device;

  Shape shape() const { return {dim, layers, batch}; }
};

// "eager" (a kernel for each operation), "compiled", "reduce-overhead", ...
const std::vector<std::string>& mlp_ways();
CompileOptions options_of_way(const std::string& way);

// Records of "mlp forward", "mlp backward" (which runs forward as well) and "mlp step". Empty
// `ways`: all. False when it was interrupted.
bool run_mlp(const MlpCase& which, const std::vector<std::string>& ways, const Ceilings& ceilings,
             const RunOptions& options, Rivals* rivals, std::vector<Record>& records);

// Steps of training on one batch; `show` is given the loss of each, which waits for the device.
void train_mlp(const MlpCase& which, const std::string& way,
               const std::function<void(int step, double loss)>& show);

}  // namespace tilewright::suite
