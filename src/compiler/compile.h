// SPDX-License-Identifier: Apache-2.0
// compiler/compile.h — a kernel of the IR becomes source for a target: passes, then an emitter.
//
// This is the core of the compiler. What makes kernels (compiler/triton, ir_kernel.h) stands on it;
// it knows of no language that kernels are written in.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/kernel.h"
#include "tilewright/kernel_source.h"
#include "tilewright/target.h"

namespace tilewright {

// Options of a launch, with Triton's defaults.
struct KernelOptions {
  int num_warps = 4;
  int num_stages = 3;
  int num_ctas = 1;
  bool chooses_warps = false;  // nobody has asked for the numbers of warps and CTAs
  bool keeps_warps = false;    // the kernel asks how many warps there are: so many run it
  std::optional<int> maxnreg = {};
  bool fp_fusion = true;
  bool flush_to_zero = false;
  bool debug = false;  // asserts fire
  // Whether passes may take for granted that integers are positive: other launches then take
  // ir::Kernel::otherwise.
  bool asks_conditions = true;

  friend bool operator==(const KernelOptions&, const KernelOptions&) = default;
};

// Throws ArgumentError: warps are a power of two up to 32, stages and CTAs at least 1.
void check_options(std::string_view kernel, const KernelOptions& options);

// How a backend will write a kernel of stage Tile, for a target and options.
struct KernelPlan;
struct TilePlan {
  Target target;
  KernelOptions options;
  std::shared_ptr<const KernelPlan> plan;
};

// What run_passes finds beside the kernel.
struct PassResults {
  std::vector<std::string> notes;  // what could not be done as it was asked for, in sentences
  std::optional<TilePlan> plan;    // for emit_source, where passes had to ask what fits
};

// From stage Source to stage Tile, with loops of no more stages than fit the target. A kernel at
// stage Tile has been through this and stays as it is.
PassResults run_passes(ir::Kernel& kernel, const Target& target, const KernelOptions& options);

// Throws ArgumentError when a kernel at stage Tile has been made for another kind of machine: with
// asynchronous copies, for one that has none.
void check_target(const ir::Kernel& kernel, const Target& target);

// The text of a line of the user's source (file as in Kernel::files), without its end; empty when
// it is unknown.
using LineText = std::function<std::string_view(int file, int line)>;

// The kernel at stage Laid, in the sweeps in which emit_source writes it.
ir::Kernel laid_for(const ir::Kernel& tiles, const Target& target, const KernelOptions& options);
// The Laid kernel at stage Final.
ir::Kernel final_for(const ir::Kernel& laid, const Target& target, const KernelOptions& options);

// The text for the target of a kernel at stage Tile. Throws ArgumentError when the kernel needs
// more than the target has. `plan` is what run_passes found; one for something else is left alone.
KernelSource emit_source(const ir::Kernel& tiles, const Target& target,
                         const KernelOptions& options, const LineText& line_text = {},
                         const std::optional<TilePlan>& plan = {});

}  // namespace tilewright
