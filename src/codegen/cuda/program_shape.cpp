// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/program_shape.cpp — what a kernel works on, and the table of shapes.
#include "codegen/cuda/program_shape.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "passes/laid/access_shape.h"
#include "passes/laid/form_sweeps.h"
#include "passes/laid/op_facts.h"
#include "passes/laid/sweeps.h"
#include "passes/laid/tile_layouts.h"

namespace tilewright {
namespace {

using ir::OpKind;

constexpr int warps_of_shared_block = 4;  // of programs that share one
constexpr int most_blocks = 8;            // of a cluster that every GPU with clusters has

struct Work {
  bool has_reduction = false;
  bool has_program = false;
  std::int64_t elements = 0;  // of the largest tile
  int element_bytes = 1;      // of the widest that such tiles load or store
  int loads = 0;              // of such tiles, and those that loops carry
  bool is_aligned = true;     // all of these go in vectors of 16 bytes
  int lanes = 0;              // of a warp
  int most_warps = 0;         // of a block
};

// Whether there are only loads, stores, arithmetic and reductions.
bool is_plain(const ir::Kernel& kernel) {
  bool is_fixed = false;
  ir::walk(kernel.body, [&](const ir::Op& op) { is_fixed |= op.facts().has(ir::FixedShape); });
  return !is_fixed;
}

Work work_of(const ir::Kernel& kernel, const Target& target) {
  Work work{.elements = largest_tile(kernel),
            .lanes = target.warp_size,
            .most_warps = target.max_warps()};
  const Alignments alignments(kernel);
  const auto is_largest = [&](ir::Value value) {
    return kernel.type(value).is_tile() && kernel.type(value).numel() == work.elements;
  };
  ir::walk(kernel.body, [&](const ir::Op& op) {
    work.has_program |= op.kind == OpKind::ProgramId;
    work.has_reduction |= op.kind == OpKind::Reduce;
    const bool is_access = op.kind == OpKind::Load || op.kind == OpKind::Store;
    if (is_access && is_largest(op.operands[0])) {
      const auto bytes = static_cast<int>(size_of(kernel.type(op.operands[0]).dtype));
      work.element_bytes = std::max(work.element_bytes, bytes);
      work.is_aligned &= bytes << access_shape(kernel, alignments, op).log_width >= 16;
      work.loads += op.kind == OpKind::Load ? 1 : 0;
    }
    if (op.kind == OpKind::For)
      for (const ir::Value value : op.results) work.loads += is_largest(value) ? 1 : 0;
  });
  return work;
}

int warps_for(const Work& work, std::int64_t elements, std::int64_t per_thread) {
  const std::int64_t warps = std::max<std::int64_t>(elements / (work.lanes * per_thread), 1);
  return static_cast<int>(std::min<std::int64_t>(warps, work.most_warps));
}

ProgramShape of_warps(int warps, bool shares) {
  return {.warps = warps, .programs = shares ? std::max(warps_of_shared_block / warps, 1) : 1};
}

// A few tiles at once, or many: what a thread holds of each must fit into its registers.
int elements_at_most(const Work& work) { return work.loads <= 4 ? 64 : work.loads <= 8 ? 32 : 16; }

// How many registers are enough, when one tile becomes the next; 0: unknown.
int registers_for(const Work& work, std::int64_t held) {
  if (work.loads <= 1 && work.element_bytes <= 4) return held == 64 ? 80 : held == 32 ? 64 : 0;
  if (work.loads <= 3 && work.element_bytes <= 2) return held == 32 ? 64 : 0;
  if (work.loads <= 3 && work.element_bytes <= 4) return held == 64 ? 128 : 0;
  return 0;
}

// The compiler takes more registers than it needs when nothing stops it: fewer rows would be on
// their way at once.
ProgramShape packed(ProgramShape shape, const Work& work, const Target& target) {
  const int threads = shape.warps * work.lanes;
  const int registers = registers_for(work, work.elements / (threads * shape.blocks));
  const bool is_shared = shape.programs > 1;
  if (registers == 0 || (!work.is_aligned && !is_shared)) return shape;
  shape.resident = target.registers_per_processor / (registers * threads * shape.programs);
  return shape;
}

// One row of wide elements is best spread thinly; smaller ones, and rows that weights are applied
// to, want more work per thread.
int warps_of_row(const Work& work, bool is_thin) {
  if (is_thin)
    return std::min(warps_for(work, work.elements, 8),
                    work.elements < 32768 ? work.most_warps / 2 : work.most_warps);
  const bool is_small = work.element_bytes <= 2;
  const bool is_light = is_small && work.is_aligned && work.elements < 16384 &&
                        (work.loads <= 2 || (work.loads <= 3 && work.elements <= 1024));
  const bool is_packed = is_small && work.loads > 1;
  const bool is_odd = is_small && !work.is_aligned && work.loads <= 1;  // begins anywhere
  const int per_thread = is_light ? 16 : is_packed || (work.elements < 16384 && !is_odd) ? 32 : 64;
  return warps_for(work, work.elements, std::min(elements_at_most(work), per_thread));
}

// A long row in the shared memory of as many blocks as give each a part of which three or so are on
// their way at once on a multiprocessor.
std::optional<ProgramShape> stowed_shape(const Work& work, const Target& target) {
  constexpr std::int64_t part = 64 << 10;
  constexpr std::int64_t beside = 8 << 10;  // for what is summed up
  const int warps = work.most_warps / 2;
  const std::int64_t blocks = work.elements * work.element_bytes / part;
  if (!target.has(Feature::AsyncCopy) || blocks < 1 ||
      blocks > (target.has(Feature::Clusters) ? most_blocks : 1))
    return std::nullopt;
  if (work.elements < 32768 || (work.elements == 32768 && work.element_bytes > 2))
    return std::nullopt;
  const std::int64_t resident = target.shared_bytes_per_processor / (part + beside);
  return ProgramShape{.warps = warps,
                      .blocks = static_cast<int>(blocks),
                      .resident = static_cast<int>(std::min<std::int64_t>(resident, 3)),
                      .stows_row = true};
}

std::vector<ProgramShape> shapes_of_rows(const Work& work, const CudaEmitOptions& options) {
  const int most = elements_at_most(work);
  const bool is_thin = work.loads <= 1 && work.element_bytes > 2;
  std::vector<ProgramShape> out;
  const int within_warp =
      is_thin || (work.element_bytes <= 2 && work.is_aligned) ? 16 * work.lanes : work.lanes * most;
  if (work.elements <= within_warp) out.push_back(of_warps(1, work.has_program));
  const std::int64_t blocks = std::min<std::int64_t>(work.elements / 16384, most_blocks);
  if (options.target.has(Feature::Clusters) && work.elements > 32768)
    out.push_back({.warps = warps_for(work, work.elements / blocks, std::min(most, 32)),
                   .blocks = static_cast<int>(blocks)});
  out.push_back(of_warps(warps_of_row(work, is_thin), false));
  for (ProgramShape& shape : out) shape = packed(shape, work, options.target);
  if (const auto shape = stowed_shape(work, options.target)) out.insert(out.begin(), *shape);
  return out;
}

// Roughly the instructions of a warp when one warp does all: loops over the elements that a thread
// holds are unrolled. A product of 16x8x8 elements is one instruction.
std::int64_t instructions_of(const ir::Kernel& kernel, int lanes) {
  std::int64_t count = 0;
  ir::walk(kernel.body, [&](const ir::Op& op) {
    for (const ir::Value value : op.results) {
      const ir::Type& type = kernel.type(value);
      if (!type.is_tile()) continue;
      const ir::Type& first = op.operands.empty() ? type : kernel.type(op.operands[0]);
      count += op.kind == OpKind::Dot ? type.numel() * first.size(first.rank - 1) / 1024
                                      : type.numel() / lanes;
    }
  });
  return count;
}

// Compilers take minutes for a text whose threads hold thousands of elements, and spill them all:
// more warps than were asked for, which changes no result, make it shorter.
int warps_for_text(const ir::Kernel& kernel, const Target& target, int warps) {
  constexpr std::int64_t most_instructions = 8192;
  const int enough_warps = std::min(8, target.max_warps());
  const std::int64_t instructions = instructions_of(kernel, target.warp_size);
  while (warps < enough_warps && instructions / warps > most_instructions) warps *= 2;
  return warps;
}

// Whether the tile's elements are only loaded, computed and stored, each by itself.
bool is_elementwise(const ir::Kernel& kernel) {
  bool is_plain = true;
  ir::walk(kernel.body, [&](const ir::Op& op) {
    is_plain &= !op.facts().has(ir::FixedShape) && !op.facts().has(ir::Loops) &&
                !op.facts().is(ir::Family::Across) && op.kind != OpKind::Reduce;
  });
  return is_plain;
}

// Threads without elements of their own repeat what others do: they load the same once more, and
// memory that they load and others write needs barriers. Fewer warps change no result, but a user's
// own instructions may count them.
int warps_with_elements(const ir::Kernel& kernel, const Target& target, int warps) {
  const std::int64_t elements = largest_tile(kernel);
  bool has_asm = false;
  ir::walk(kernel.body, [&](const ir::Op& op) { has_asm |= op.kind == OpKind::InlineAsm; });
  if (elements < target.warp_size || has_dot(kernel) || has_asm) return warps;
  while (warps > 1 && elements < std::int64_t{warps} * target.warp_size) warps /= 2;
  return warps;
}

// Where each element is worked on by itself, threads with a word or less take as many instructions
// as those with a whole vector would. Programs of few warps share a block, since a multiprocessor
// has as many blocks as it has of larger ones.
ProgramShape shape_with_vectors(const ir::Kernel& kernel, const Target& target, int warps) {
  constexpr int vector_bytes = 16, word_bytes = 4;
  bool has_asm = false;
  ir::walk(kernel.body, [&](const ir::Op& op) { has_asm |= op.kind == OpKind::InlineAsm; });
  if (has_asm || largest_tile(kernel) < target.warp_size || !is_elementwise(kernel))
    return {.warps = warps};
  const Work work = work_of(kernel, target);
  const std::int64_t bytes = work.elements * work.element_bytes;
  const auto of_each = [&](int per_thread) {
    return std::int64_t{warps} * target.warp_size * per_thread;
  };
  if (bytes > of_each(word_bytes)) return {.warps = warps};
  const int given = warps;
  while (warps > 1 && bytes < of_each(vector_bytes)) warps /= 2;
  return of_warps(warps, warps < given && work.has_program);
}

// Whether programs wait for each other.
bool has_lock(const ir::Kernel& kernel) {
  bool has = false;
  ir::walk(kernel.body, [&](const ir::Op& op) {
    if (op.kind == OpKind::While)
      for (const ir::Op* inner : op.regions[0].ops) has |= inner->facts().is_atomic();
  });
  return has;
}

// Whether every tile of that many elements is only summed up along columns while it is loaded. More
// warps would then add a sum over warps for every column.
bool sums_columns_only(const ir::Kernel& kernel, std::int64_t elements) {
  constexpr std::int64_t few_columns = 32;
  bool sums = false, others = false;
  ir::walk(kernel.body, [&](const ir::Op& op) {
    const bool stores = op.kind == OpKind::Store && kernel.type(op.operands[0]).numel() == elements;
    others |= op.facts().has(ir::FixedShape) || op.kind == OpKind::For || stores;
    if (op.kind != OpKind::Reduce || kernel.type(op.operands[0]).numel() != elements) return;
    sums = true;
    others |= op.integer("axis") + 1 == kernel.type(op.operands[0]).rank ||
              kernel.type(op.result()).numel() < few_columns;
  });
  if (!sums || others) return false;
  const LaidForm laid = form_sweeps(kernel, {.reload_from = INT64_MAX,
                                             .recompute_limit = 6,
                                             .keep_broadcast_from = 4,
                                             .pointer_limit = 24,
                                             .keeps_narrow = true});
  const std::vector<ir::Value> placed = Sweeps(laid.kernel).placed_results();
  return std::none_of(placed.begin(), placed.end(), [&](ir::Value value) {
    return laid.kernel.type(value).numel() == elements;
  });
}

}  // namespace

bool has_too_few_warps(const ir::Kernel& kernel, const Target& target, int warps) {
  constexpr int most_slices = 4;
  const std::int64_t elements = largest_tile(kernel);
  const std::int64_t held = std::int64_t{TileLayouts::most_registers} * target.warp_size * warps;
  if (elements <= held) return false;
  return elements > most_slices * held || !sums_columns_only(kernel, elements);
}

int first_program_axis(const ir::Kernel& kernel) {
  std::int64_t axis = 3;
  ir::walk(kernel.body, [&](const ir::Op& op) {
    if (op.kind == OpKind::ProgramId) axis = std::min(axis, op.integer("axis"));
  });
  return axis == 3 ? 0 : static_cast<int>(axis);
}

namespace {

std::vector<ProgramShape> shapes_in_warps(const ir::Kernel& kernel,
                                          const CudaEmitOptions& options) {
  const ProgramShape given{.warps = options.num_warps};
  std::vector<ProgramShape> asked;
  if (options.stows_row)
    asked.push_back({.warps = options.num_warps, .blocks = options.num_ctas, .stows_row = true});
  if (options.num_ctas > 1 && options.target.has(Feature::Clusters))
    asked.push_back({.warps = options.num_warps, .blocks = options.num_ctas});
  if (options.programs > 1)
    asked.push_back({.warps = options.num_warps, .programs = options.programs});
  if (const int warps = warps_for_text(kernel, options.target, options.num_warps);
      asked.empty() && warps > options.num_warps)
    asked.push_back({.warps = warps});
  if (asked.empty() && options.drops_warps) {
    const int warps = warps_with_elements(kernel, options.target, options.num_warps);
    const ProgramShape shape = shape_with_vectors(kernel, options.target, warps);
    if (shape.warps < warps) asked.push_back(shape);
    if (warps < options.num_warps) asked.push_back({.warps = warps});
  }
  asked.push_back(given);
  if (!options.chooses_shape) return asked;
  // With more threads more of the tiles fit into registers, where there is too little shared
  // memory.
  for (int warps = 2 * options.num_warps; warps <= options.target.max_warps(); warps *= 2)
    asked.push_back({.warps = warps});
  const std::int64_t elements = largest_tile(kernel);
  // While one program has a lock others wait: more threads have it for a shorter time.
  constexpr int warps_of_lock = 8;
  if (has_lock(kernel) && !has_dot(kernel) && elements >= 128 * warps_of_lock &&
      options.num_warps < warps_of_lock)
    asked.insert(asked.begin(), {.warps = warps_of_lock});
  if (!is_plain(kernel) || elements < options.target.warp_size) return asked;
  const Work work = work_of(kernel, options.target);
  return work.has_reduction ? shapes_of_rows(work, options) : asked;
}

}  // namespace

std::vector<ProgramShape> choose_shapes(const ir::Kernel& kernel, const CudaEmitOptions& options) {
  std::vector<ProgramShape> out = shapes_in_warps(kernel, options);
  for (ProgramShape& shape : out) shape.lanes = options.target.warp_size;
  return out;
}

}  // namespace tilewright
