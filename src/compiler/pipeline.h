// SPDX-License-Identifier: Apache-2.0
// compiler/pipeline.h — the passes between the front end and the emitters, in order.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "passes/passes.h"

namespace tilewright {

struct PipelineOptions {
  // A kernel that breaks a rule of the IR after a pass is an InternalError that names the pass.
#ifdef NDEBUG
  bool verifies = false;
#else
  bool verifies = true;
#endif
  // Stages of pipelined loops on CUDA; below 2: none.
  int num_stages = 0;
  int most_stages = 1 << 20;  // also of loops that ask for more
  // Of the rows that a loop with stages loads ahead into registers.
  std::int64_t ahead_bytes = 0;
  // Gets a sentence for what could not be done as it was asked for; may be null.
  std::vector<std::string>* notes = nullptr;
  // Called after each pass; may be empty.
  std::function<void(std::string_view pass, const ir::Kernel& kernel)> after = {};
};

// The names of the passes, as `tilewright opt` takes them.
std::span<const std::string_view> tile_pipeline();

// From stage Source to stage Tile, ready for an emitter.
void run_pipeline(ir::Kernel& kernel, const Target& target, const PipelineOptions& options = {});

}  // namespace tilewright
