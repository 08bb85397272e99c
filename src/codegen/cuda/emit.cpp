// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/emit.cpp — from a kernel to a KernelSource: sweeps, layouts, text.
#include "codegen/cuda/emit.h"

#include <algorithm>
#include <bit>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "base/embedded.h"
#include "codegen/cuda/inline_asm.h"
#include "codegen/cuda/launch_plan.h"
#include "codegen/cuda/library_headers.h"
#include "codegen/cuda/program_shape.h"
#include "codegen/cuda/source_lines.h"
#include "codegen/cuda/transposed_loads.h"
#include "codegen/cuda/wrapping.h"
#include "codegen/lower/lower_to_threads.h"
#include "codegen/print/cuda_kernel.h"
#include "codegen/print/read_back.h"
#include "codegen/text/names.h"
#include "codegen/text/wgmma_functions.h"
#include "ir/roles.h"
#include "machine/library.h"
#include "passes/laid/add_scratch.h"
#include "passes/laid/allocate_shared.h"
#include "passes/laid/assign_layouts.h"
#include "passes/laid/form_sweeps.h"
#include "passes/laid/op_facts.h"
#include "passes/laid/place_tiles.h"
#include "passes/laid/sweeps.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

// Parts of the device library in the order in which they build on each other.
constexpr std::string_view parts_in_order[] = {
    "ptx",     "types", "arithmetic", "math",   "memory", "async_copy", "mma",     "wgmma",
    "atomics", "warp",  "ring",       "reduce", "scan",   "sort",       "cluster", "check"};

// Parts that ask for a thread's lane.
constexpr std::string_view warp_parts[] = {"ring", "reduce", "scan", "sort", "cluster"};

bool is_wanted(const std::set<std::string>& parts, std::string_view part) {
  if (part == "ptx" || part == "types") return true;
  if (part == "warp")
    return parts.contains("warp") ||
           std::any_of(std::begin(warp_parts), std::end(warp_parts),
                       [&](std::string_view user) { return parts.contains(std::string(user)); });
  if (part == "arithmetic" && parts.contains("math")) return true;
  return parts.contains(std::string(part));
}

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

struct Emitted {
  std::string text;
  std::set<std::string> parts;
  std::set<WgmmaFunction> wgmmas;
  std::map<std::string, MapBox> boxes;
  std::int64_t shared_bytes = 0;
  std::int64_t dynamic_bytes = 0;  // of those, by the launch
  bool fits_shape = true;
  bool is_crowded = false;
  ir::Kernel laid;  // where it was made here
};

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

struct Trial {
  Emitted emitted = {};
  SweepRefusals refused = {};
};

// The text of what is lowered to stage Final.
Emitted print(const ir::Kernel& program, const CudaEmitOptions& options) {
  Emitted out;
  CudaFunction function = print_cuda_kernel(
      program, kernel_symbol(program.name),
      [&](int file, int line) {
        return options.line_text ? options.line_text(static_cast<std::uint16_t>(file), line)
                                 : std::string_view{};
      },
      options.line_directives);
  out.text = options.line_directives ? repeat_line_directives(function.text) : function.text;
  out.parts = std::move(function.parts);
  out.shared_bytes = function.shared_bytes;
  out.dynamic_bytes = function.dynamic_bytes;
  out.wgmmas = std::move(function.products);
  for (const auto& [map, box] : function.boxes)
    out.boxes[map] = {box.line, box.lines, box.swizzle_bytes};
  return out;
}

// What the source and its launch take from the printer.
std::string all_of(const Emitted& emitted) {
  return fmt::format("{}// {} {} {}\n", emitted.text, fmt::join(emitted.parts, ", "),
                     emitted.shared_bytes, emitted.dynamic_bytes);
}

// Whether all threads of a block meet, which those of programs that share one cannot.
bool meets_in_block(const ir::Kernel& program) {
  bool found = false;
  ir::walk(program.body, [&](const ir::Op& op) {
    found |= op.kind == ir::OpKind::Barrier;
    if (op.kind != ir::OpKind::Call) return;
    for (const LibraryEffect& effect : effects_of(*find_library_function(op.text("function"))))
      found |= effect.kind == LibraryEffect::Kind::Barrier;
  });
  return found;
}

// The text of a kernel whose tables are written.
Trial emit(const ir::Kernel& kernel, const LaidFacts& facts, const CudaEmitOptions& options) {
  const TileLayouts layouts(kernel, facts.sweeps);
  const ThreadProgram program = lower_to_threads(kernel, facts, layouts, options);
  Trial out{.refused = program.refusals};
  const bool is_one = kernel.shape.programs == 1 && kernel.shape.cluster == 1;
  out.emitted.fits_shape = program.fits_shape && (is_one || !meets_in_block(program.kernel));
  if (!out.refused.is_empty() || !out.emitted.fits_shape) return out;
  out.emitted = print(program.kernel, options);
  std::map<std::string, MapBox> boxes;
  for (std::size_t i = 0; i < kernel.maps.size(); ++i)
    boxes[kernel.maps[i].name] = out.emitted.boxes.at(program.kernel.maps[i].name);
  out.emitted.boxes = std::move(boxes);
  check_read_back(program.kernel, all_of(out.emitted),
                  [&](const ir::Kernel& read) { return all_of(print(read, options)); });
  out.emitted.is_crowded = program.is_crowded;
  return out;
}

// Writes the tables of a kernel in sweeps. Returns whether they are as the shape wants them.
bool write_tables(ir::Kernel& kernel, const LaidFacts& facts, const CudaEmitOptions& options,
                  const ProgramShape& shape) {
  const std::optional<Rotation>& rotation = facts.alignments.rotation();
  kernel.shape = {shape.warps, shape.programs, shape.blocks, shape.resident};
  // Few registers are enough where one tile becomes the next.
  const bool is_plain = !rotation || rotation->brings_all;
  if (ir::producer_of(kernel) || options.max_registers > 0 || count_kept(kernel, facts.sweeps) > 2 || !is_plain)
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

// The largest buffers in shared memory and their bytes.
std::string largest_buffers(const ir::Kernel& kernel) {
  std::vector<const ir::KernelBuffer*> sorted;
  for (const ir::KernelBuffer& buffer : kernel.buffers)
    if (buffer.is_shared()) sorted.push_back(&buffer);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto* a, const auto* b) { return a->bytes() > b->bytes(); });
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min<std::size_t>(sorted.size(), 3); ++i)
    texts.push_back(fmt::format("{} {}", sorted[i]->name, sorted[i]->bytes()));
  return fmt::format("{}", fmt::join(texts, ", "));
}

// Of a block, with its part of a private row.
std::int64_t block_bytes(const ir::Kernel& laid) {
  std::int64_t bytes = shared_bytes_of(laid);
  for (const ir::KernelBuffer& buffer : laid.buffers)
    if (buffer.is_private) bytes += buffer.bytes() / laid.shape.cluster;
  return bytes;
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

// What the lowering finds impossible is excepted in another try. Of a kernel that cannot run by its
// tables no text is written.
Emitted emit(const ir::Kernel& kernel, const CudaEmitOptions& options, const ProgramShape& shape,
             const Attempt& attempt) {
  SweepPolicy policy = policy_of(shape, attempt);
  policy.shares_accumulators = has_asynchronous_dots(kernel);
  policy.wraps = find_wrapping(kernel);
  policy.lines = values_with_lines(kernel);
  if (attempt.moves_products) {
    policy.apart = stored_products(kernel);
    const std::vector<bool> transposed = transposed_loads(kernel, Alignments(kernel));
    for (std::size_t i = 0; i < transposed.size(); ++i)
      if (transposed[i]) policy.apart[i] = true;
  }
  while (true) {
    LaidForm laid = form_sweeps(kernel, policy);
    Trial trial;
    {
      const LaidFacts facts(laid.kernel, shape.threads());
      const bool is_right = write_tables(laid.kernel, facts, options, shape);
      trial.emitted.shared_bytes = block_bytes(laid.kernel);
      trial.emitted.fits_shape = is_right && !excludes_shape(laid.kernel);
      if (trial.emitted.fits_shape &&
          trial.emitted.shared_bytes <= options.target.shared_bytes_per_block_optin)
        trial = emit(laid.kernel, facts, options);
    }
    if (trial.refused.is_empty()) {
      trial.emitted.laid = std::move(laid.kernel);
      return std::move(trial.emitted);
    }
    const bool parts = add(laid, trial.refused.unparted, policy.apart);
    const bool unshares = add(laid, trial.refused.unshared, policy.unshared);
    TW_CHECK(parts || unshares, "the sweeps of kernel '{}' are refused again", kernel.name);
  }
}

// The first attempt that fits, else the last one.
Emitted emit_smallest(const ir::Kernel& kernel, const CudaEmitOptions& options,
                      const ProgramShape& shape) {
  Emitted out;
  for (const Attempt& attempt : attempts) {
    out = emit(kernel, options, shape, attempt);
    if (out.shared_bytes <= options.target.shared_bytes_per_block_optin) break;
  }
  return out;
}

// The first shape that fits; one whose threads have to hold too much only where no other one fits.
Emitted emit_smallest(const ir::Kernel& kernel, const CudaEmitOptions& options) {
  Emitted out;
  std::optional<Emitted> crowded;
  for (const ProgramShape& shape : choose_shapes(kernel, options)) {
    out = emit_smallest(kernel, options, shape);
    if (!out.fits_shape || out.shared_bytes > options.target.shared_bytes_per_block_optin) continue;
    if (!out.is_crowded) return out;
    if (!crowded) crowded = std::move(out);
  }
  if (crowded) return std::move(*crowded);
  TW_CHECK(out.fits_shape, "kernel '{}' has no shape", kernel.name);
  return out;
}

// Throws ArgumentError for a Laid kernel that needs more shared memory than a block can have.
void require_space(const ir::Kernel& laid, const Target& target) {
  const std::int64_t bytes = block_bytes(laid);
  if (bytes <= target.shared_bytes_per_block_optin) return;
  int stages = 1;
  for (const ir::KernelBuffer& buffer : laid.buffers) stages = std::max(stages, buffer.slots);
  throw ArgumentError(fmt::format(
      "kernel '{}' needs {} bytes of shared memory for its tiles with {} (the largest: {}), but a "
      "block of {} has at most {}: use smaller blocks{} or more warps",
      laid.name, bytes, stages == 1 ? "1 stage" : fmt::format("{} stages", stages),
      largest_buffers(laid), target.name, target.shared_bytes_per_block_optin,
      stages == 1 ? "" : ", fewer stages"));
}

}  // namespace

ProgramShape shape_of(const ir::Kernel& laid, const Target& target) {
  return {.warps = laid.shape.warps,
          .lanes = target.warp_size,
          .programs = laid.shape.programs,
          .blocks = laid.shape.cluster,
          .resident = laid.shape.resident};
}

ir::Kernel laid_for_cuda(const ir::Kernel& tiles, const CudaEmitOptions& options) {
  return emit_smallest(tiles, options).laid;
}

ir::Kernel final_for_cuda(const ir::Kernel& laid, const CudaEmitOptions& options) {
  const LaidFacts facts(laid, shape_of(laid, options.target).threads());
  return lower_to_threads(laid, facts, TileLayouts(laid, facts.sweeps), options).kernel;
}

std::int64_t shared_bytes_of(const ir::Kernel& kernel, const CudaEmitOptions& options) {
  return emit_smallest(kernel, options).shared_bytes;
}

namespace {

void require_features(const ir::Kernel& kernel, const Target& target) {
  if (target.has(Feature::Bf16)) return;
  ir::walk(kernel.body, [&](const ir::Op& op) {
    for (ir::Value result : op.results)
      if (op.facts().has(ir::Elementwise) && kernel.type(result).dtype == DType::BFloat16)
        throw ArgumentError(
            fmt::format("kernel '{0}' computes bfloat16 values, but {1} has no instructions for "
                        "them: compile it for sm_80 or later, or use float16",
                        kernel.name, target.name));
  });
}

// The text with the parts of the device library that it needs, and how it is launched.
KernelSource source_of(const ir::Kernel& kernel, const Emitted& emitted,
                       const CudaEmitOptions& options) {
  KernelSource source;
  source.language = Language::Cuda;
  source.name = kernel.name;
  for (std::string_view part : parts_in_order) {
    if (!is_wanted(emitted.parts, part)) continue;
    source.text += fmt::format("#include \"{}\"\n", header_name(part));
    source.headers.push_back({header_name(part), std::string(embedded_file(fmt::format(
                                                     "device_lib/cuda/{}.cuh", part)))});
  }
  if (!emitted.wgmmas.empty()) {
    source.text += fmt::format("#include \"{}\"\n", wgmma_header);
    source.headers.push_back({std::string(wgmma_header), wgmma_functions(emitted.wgmmas)});
  }
  source.text += "\n" + inline_asm_functions(kernel) + emitted.text;
  // Without textures and launches from the device, which take the front end longer to read.
  source.options = {"--std=c++17", "--minimal", options.fp_fusion ? "--fmad=true" : "--fmad=false",
                    options.flush_denormals ? "--ftz=true" : "--ftz=false"};
  source.options.push_back(fmt::format("{}{}", lanes_option, options.target.warp_size));
  // A kernel cannot have __maxnreg__ beside its launch bounds.
  if (options.max_registers > 0)
    source.options.push_back(fmt::format("--maxrregcount={}", options.max_registers));
  source.kernels.push_back(
      launch_of(kernel, options.target, emitted.dynamic_bytes, emitted.boxes));
  return source;
}

void check_num_warps(const CudaEmitOptions& options) {
  const int warps = options.num_warps;
  const int most = options.target.max_warps();
  if (warps < 1 || warps > most || !std::has_single_bit(static_cast<unsigned>(warps)))
    throw ArgumentError(
        fmt::format("num_warps is {}, but must be a power of two from 1 to {}", warps, most));
}

}  // namespace

KernelSource emit_cuda(const ir::Kernel& kernel, const CudaEmitOptions& options) {
  check_num_warps(options);
  require_features(kernel, options.target);
  if (kernel.stage == ir::Stage::Final)
    return source_of(kernel, print(kernel, options), options);
  if (kernel.stage == ir::Stage::Laid) {
    TW_CHECK(kernel.shape.is_decided(), "kernel '{}' has no shape", kernel.name);
    require_space(kernel, options.target);
    const LaidFacts facts(kernel, shape_of(kernel, options.target).threads());
    const Trial trial = emit(kernel, facts, options);
    TW_CHECK(trial.refused.is_empty(), "kernel '{}' cannot be written in these sweeps",
             kernel.name);
    return source_of(kernel, trial.emitted, options);
  }
  const Emitted emitted = emit_smallest(kernel, options);
  require_space(emitted.laid, options.target);
  return source_of(emitted.laid, emitted, options);
}

}  // namespace tilewright
