// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/plan_kernel.cpp — candidates of shape and sweeps, each laid out and lowered until one
// fits.
#include "codegen/cuda/plan_kernel.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "codegen/cuda/program_shape.h"
#include "codegen/cuda/transposed_loads.h"
#include "codegen/cuda/wrapping.h"
#include "codegen/lower/lower_to_threads.h"
#include "ir/calls.h"
#include "ir/clone.h"
#include "ir/roles.h"
#include "ir/shared_extent.h"
#include "machine/cuda.h"
#include "passes/laid/add_scratch.h"
#include "passes/laid/allocate_shared.h"
#include "passes/laid/assign_layouts.h"
#include "passes/laid/form_sweeps.h"
#include "passes/laid/op_facts.h"
#include "passes/laid/place_tiles.h"
#include "passes/laid/sweeps.h"

namespace tilewright {
namespace {

// The more may be repeated, the less must be kept. The first whose arrays fit is taken.
constexpr int unlimited = 1 << 20;
struct Attempt {
  bool moves_products;  // and transposed loads, through shared memory
  bool reloads;
  int recompute_limit;
  int keep_broadcast_from;
};
constexpr Attempt attempts[] = {
    {true, false, 6, 4}, {false, false, 6, 4}, {false, true, 6, 4}, {false, true, unlimited, 0}};

// An exponential and a little more: cheaper than the registers for it, when the row lies in shared
// memory.
constexpr int recompute_limit_of_rows = 16;

// Tiles that are kept from one loop to another, as large as the largest.
int count_kept(const ir::Kernel& kernel, const Sweeps& sweeps) {
  const std::int64_t largest = largest_tile(kernel);
  const std::vector<ir::Value> placed = sweeps.placed_results();
  return static_cast<int>(std::count_if(placed.begin(), placed.end(), [&](ir::Value value) {
    return kernel.type(value).numel() == largest;
  }));
}

// Values that are used several times are written once, each in a line of its own.
std::vector<bool> values_with_lines(const ir::Kernel& kernel) {
  std::vector<int> uses(kernel.value_count(), 0);
  ir::walk(kernel.body, [&](const ir::Op& op) {
    for (const ir::Value value : op.operands) ++uses[value.id];
  });
  std::vector<bool> lines(kernel.value_count(), false);
  ir::walk(kernel.body, [&](const ir::Op& op) {
    const bool is_written =
        op.facts().is(ir::Family::Elementwise) || op.facts().is(ir::Family::Source);
    if (!is_written || op.kind == ir::OpKind::Constant) return;  // a literal where it is used
    for (const ir::Value value : op.results) lines[value.id] = uses[value.id] > 1;
  });
  return lines;
}

// Whether all threads of a block meet, which those of programs that share one cannot.
bool meets_in_block(const ir::Kernel& program) {
  bool found = false;
  ir::walk(program.body, [&](const ir::Op& op) {
    found |= op.kind == ir::OpKind::Barrier;
    const LibraryFunction* function = ir::called_function(op);
    if (!function) return;
    for (const LibraryEffect& effect : effects_of(*function))
      found |= effect.kind == LibraryEffect::Kind::Barrier;
  });
  return found;
}

// Writes the tables of a kernel in sweeps. Returns whether they are as the shape wants them.
bool write_tables(ir::Kernel& kernel, const LaidFacts& facts, const CudaEmitOptions& options,
                  const ProgramShape& shape) {
  const std::optional<Rotation>& rotation = facts.alignments.rotation();
  kernel.shape = {shape.warps, shape.programs, shape.blocks, shape.resident};
  // Few registers are enough where one tile becomes the next.
  const bool is_plain = !rotation || rotation->brings_all;
  if (ir::producer_of(kernel) || options.max_registers > 0 ||
      count_kept(kernel, facts.sweeps) > 2 || !is_plain)
    kernel.shape.resident = 0;
  assign_layouts(kernel, facts, options.target);
  place_tiles(kernel, facts, {.keeps_row_private = shape.stows_row});
  add_scratch(kernel, facts);
  allocate_shared(kernel, facts);
  return !shape.stows_row ||
         std::any_of(kernel.buffers.begin(), kernel.buffers.end(),
                     [](const ir::KernelBuffer& buffer) { return buffer.is_private; });
}

SweepPolicy policy_of(const ProgramShape& shape, const Attempt& attempt) {
  const std::int64_t few = std::int64_t{TileLayouts::most_registers} * shape.threads();
  return {.reload_from = attempt.reloads ? few + 1 : INT64_MAX,
          .recompute_limit =
              std::max(attempt.recompute_limit, shape.stows_row ? recompute_limit_of_rows : 0),
          .keep_broadcast_from = attempt.keep_broadcast_from,
          .pointer_limit = 24,
          .keeps_narrow = true,
          .narrow_from = std::int64_t{16} * shape.threads(),
          .repeats_from_loads = shape.stows_row,
          .loads_before_stores = true,
          .line_name = "t"};
}

// Whether one of the values of the Laid kernel is new among those of the Tile kernel.
bool add(const LaidForm& laid, const std::vector<ir::Value>& values, std::vector<bool>& to) {
  bool is_new = false;
  for (const ir::Value value : values) {
    const std::uint32_t origin = laid.origins[value.id].id;
    if (to.size() <= origin) to.resize(origin + 1, false);
    is_new |= !to[origin];
    to[origin] = true;
  }
  return is_new;
}

// Whether the tables have what the shape excludes: programs that share a block have nothing in its
// shared memory, and those of a cluster nothing but scratch; beside a private row there is static
// memory alone.
bool excludes_shape(const ir::Kernel& laid) {
  const auto is_met_in = [&](const ir::KernelBuffer& buffer) {
    return buffer.offset >= 0 &&
           (laid.shape.programs > 1 || (laid.shape.cluster > 1 && !buffer.is_scratch()));
  };
  const bool has_row = std::any_of(laid.buffers.begin(), laid.buffers.end(),
                                   [](const auto& buffer) { return buffer.is_private; });
  return std::any_of(laid.buffers.begin(), laid.buffers.end(), is_met_in) ||
         (has_row && shared_bytes_of(laid) > most_static_bytes);
}

struct Lowered {
  ThreadProgram thread;
  bool fits_shape = true;
};

using Lower = decltype(lower_to_threads);

// A kernel whose tables are written.
Lowered lower_with(Lower& to_threads, const ir::Kernel& laid, const LaidFacts& facts,
                   const CudaEmitOptions& options) {
  Lowered out{to_threads(laid, facts, TileLayouts(laid, facts.sweeps), options)};
  const bool is_one = laid.shape.programs == 1 && laid.shape.cluster == 1;
  out.fits_shape = out.thread.fits_shape && (is_one || !meets_in_block(out.thread.kernel));
  return out;
}

// What the lowering finds impossible is excepted in another try. A kernel that cannot run by its
// tables is not lowered.
KernelPlan plan(const ir::Kernel& kernel, const CudaEmitOptions& options, Lower& to_threads,
                const ProgramShape& shape, const Attempt& attempt) {
  SweepPolicy policy = policy_of(shape, attempt);
  policy.shares_accumulators = has_asynchronous_dots(kernel);
  policy.wraps = find_wrapping(kernel);
  policy.lines = values_with_lines(kernel);
  if (attempt.moves_products) {
    policy.apart = stored_products(kernel);
    const std::vector<bool> transposed = transposed_loads(kernel);
    for (std::size_t i = 0; i < transposed.size(); ++i)
      if (transposed[i]) policy.apart[i] = true;
  }
  while (true) {
    LaidForm form = form_sweeps(kernel, policy);
    KernelPlan out;
    SweepRefusals refused;
    {
      const LaidFacts facts(form.kernel, shape.threads());
      const bool is_right = write_tables(form.kernel, facts, options, shape);
      out.shared_bytes = block_bytes(form.kernel);
      out.fits_shape = is_right && !excludes_shape(form.kernel);
      if (out.fits(options.target)) {
        Lowered lowered = lower_with(to_threads, form.kernel, facts, options);
        refused = std::move(lowered.thread.refusals);
        out.fits_shape = lowered.fits_shape;
        out.is_crowded = lowered.thread.is_crowded;
        out.program = std::move(lowered.thread.kernel);
        if (out.fits_shape) out.shared_bytes = ir::shared_extent(out.program).all_bytes();
      }
    }
    if (refused.is_empty()) {
      out.laid = std::move(form.kernel);
      return out;
    }
    const bool parts = add(form, refused.unparted, policy.apart);
    const bool unshares = add(form, refused.unshared, policy.unshared);
    TW_CHECK(parts || unshares, "the sweeps of kernel '{}' are refused again", kernel.name);
  }
}

// The first attempt that fits, else the last one.
KernelPlan plan(const ir::Kernel& kernel, const CudaEmitOptions& options, Lower& to_threads,
                const ProgramShape& shape) {
  KernelPlan out;
  for (const Attempt& attempt : attempts) {
    out = plan(kernel, options, to_threads, shape, attempt);
    if (out.shared_bytes <= options.target.shared_bytes_per_block_optin) break;
  }
  return out;
}

// One whose threads have to hold too much is taken only where no other one fits.
KernelPlan plan(const ir::Kernel& tiles, const CudaEmitOptions& options, Lower& to_threads) {
  KernelPlan out;
  std::optional<KernelPlan> crowded;
  for (const ProgramShape& shape : choose_shapes(tiles, options)) {
    out = plan(tiles, options, to_threads, shape);
    out.shape = shape;
    if (!out.fits(options.target)) continue;
    if (!out.is_crowded) return out;
    if (!crowded) crowded = std::move(out);
  }
  if (crowded) return std::move(*crowded);
  TW_CHECK(out.fits_shape, "kernel '{}' has no shape", tiles.name);
  return out;
}

// What one thread sees in memory for all goes through a place in shared memory.
std::int64_t most_bytes_of_looks(const ir::Kernel& tiles) {
  constexpr std::int64_t place = 16;
  std::int64_t bytes = 0;
  ir::walk(tiles.body, [&](const ir::Op& op) {
    if (op.integer("volatile") != 0) bytes += place;
  });
  return bytes;
}

}  // namespace

std::int64_t block_bytes(const ir::Kernel& laid) {
  std::int64_t bytes = shared_bytes_of(laid);
  for (const ir::KernelBuffer& buffer : laid.buffers)
    if (buffer.is_private) bytes += buffer.bytes() / laid.shape.cluster;
  return bytes;
}

bool KernelPlan::fits(const Target& target) const {
  return fits_shape && shared_bytes <= target.shared_bytes_per_block_optin;
}

KernelPlan plan_kernel(const ir::Kernel& tiles, const CudaEmitOptions& options) {
  return plan(tiles, options, lower_to_threads);
}

KernelPlan sketch_kernel(const ir::Kernel& tiles, const CudaEmitOptions& options) {
  KernelPlan out = plan(tiles, options, sketch_threads);
  out.shared_bytes += most_bytes_of_looks(tiles);
  return out;
}

std::optional<ir::Kernel> finished_program(const KernelPlan& sketch, const ir::Kernel& tiles,
                                           const CudaEmitOptions& options) {
  const ir::KernelShape& shape = sketch.laid.shape;
  const bool may_meet = shape.programs == 1 && shape.cluster == 1;
  if (!may_meet || !sketch.fits(options.target) || sketch.is_crowded ||
      sketch.shape != choose_shapes(tiles, options).front())
    return std::nullopt;
  ir::Kernel program = ir::clone(sketch.program);
  if (finish_threads(sketch.laid, program, options.target)) return std::nullopt;
  return program;
}

ir::Kernel program_of(const ir::Kernel& laid, const CudaEmitOptions& options) {
  const LaidFacts facts(laid, shape_of(laid, options.target).threads());
  Lowered lowered = lower_with(lower_to_threads, laid, facts, options);
  TW_CHECK(lowered.thread.refusals.is_empty(), "kernel '{}' cannot be written in these sweeps",
           laid.name);
  return std::move(lowered.thread.kernel);
}

}  // namespace tilewright
