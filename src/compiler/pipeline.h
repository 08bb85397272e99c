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
  // Stages of pipelined loops, where copies go on beside the threads; below 2: none.
  int num_stages = 0;
  int most_slots = 1 << 20;  // of buffers, also of loops that ask for more stages
  int num_warps = 4;
  bool keeps_warps = false;  // never more than those
  // Of the rows that a loop with stages loads ahead into registers.
  std::int64_t ahead_bytes = 0;
  bool asks_conditions = true;  // whether arguments may be made positive ones
  // Gets a sentence for what could not be done as it was asked for; may be null.
  std::vector<std::string>* notes = nullptr;
  // Called after each pass; may be empty.
  std::function<void(std::string_view pass, const ir::Kernel& kernel)> after = {};
};

// The passes of a pipeline in order; a pass that is not for the target is left out.
struct PassGroup {
  std::string_view title;
  std::span<const std::string_view> passes;
};
std::span<const PassGroup> pass_groups();

// The names of the passes up to stage Tile, as `tilewright opt` takes them.
std::span<const std::string_view> tile_pipeline();

// From stage Source to stage Tile, ready for an emitter.
void run_pipeline(ir::Kernel& kernel, const Target& target, const PipelineOptions& options = {});

}  // namespace tilewright
