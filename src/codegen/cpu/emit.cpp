// SPDX-License-Identifier: Apache-2.0
// codegen/cpu/emit.cpp — the file around a program: includes, entry, parameters, flags.
#include "codegen/cpu/emit.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/cpu_entry.h"
#include "base/embedded.h"
#include "base/quote.h"
#include "base/text_writer.h"
#include "codegen/cpu/function_chains.h"
#include "codegen/lower/lower_to_loops.h"
#include "codegen/lower/nest_facts.h"
#include "codegen/print/cpu_entry.h"
#include "codegen/print/read_back.h"
#include "codegen/text/names.h"
#include "ir/calls.h"
#include "passes/laid/form_sweeps.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

using ir::OpKind;

SweepPolicy policy_of(const ir::Kernel& kernel) {
  return {.shares_accumulators = true,
          .keep_broadcast_from = 4,
          .apart = cuts_of_chains(kernel),
          .lines = values_with_own_lines(kernel),
          .line_name = "v"};
}

// Functions of f32 that exponentials.h has.
bool is_exponential(const ir::Kernel& kernel, const ir::Op& op) {
  static constexpr std::string_view names[] = {"erf",  "exp",   "exp2", "log",     "log10",
                                               "log2", "rsqrt", "sqrt", "sqrt_rn", "tanh"};
  return kernel.type(op.operands[0]).dtype == DType::Float32 &&
         std::find(std::begin(names), std::end(names), op.text("function")) != std::end(names);
}

struct Uses {
  bool exponentials = false, math = false, small_floats = false, small_math = false, dot = false,
       scan = false, sort = false, atomics = false, print = false, rows = false, maps = false,
       streams = false, defers = false;
};

Uses uses_of(const ir::Kernel& kernel) {
  Uses uses;
  ir::walk(kernel.body, [&](const ir::Op& op) {
    const auto calls = [&](LibraryKind function) { return ir::calls(op, function); };
    if (op.kind == OpKind::Math) {
      uses.exponentials = true;
      uses.math |= !is_exponential(kernel, op);
      const ir::Type& type = kernel.type(op.operands[0]);
      uses.small_math |= type.is_float() && size_of(type.dtype) < 4;
    }
    uses.exponentials |= calls(LibraryKind::ExpPlus);
    uses.atomics |= (op.facts().is_atomic() && op.facts().is(ir::Family::Access)) ||
                    op.integer("volatile") != 0;
    uses.dot |= calls(LibraryKind::Dot);
    uses.scan |= calls(LibraryKind::RunningSum);
    uses.sort |= calls(LibraryKind::MergeRuns);
    uses.maps |= calls(LibraryKind::Map);
    for (const LibraryKind kind :
         {LibraryKind::Map, LibraryKind::Sum, LibraryKind::SumF64, LibraryKind::SumBeside,
          LibraryKind::SumKept, LibraryKind::Largest, LibraryKind::LargestOrNan})
      uses.rows |= calls(kind);
    uses.streams |= calls(LibraryKind::IsLarge);
    uses.defers |= calls(LibraryKind::Defer);
    uses.print |= op.kind == OpKind::Print || op.kind == OpKind::Assert;
  });
  uses.small_floats |= uses.dot || uses.print;
  for (std::uint32_t id = 0; id < kernel.value_count(); ++id) {
    const ir::Type& type = kernel.type(ir::Value{id});
    uses.small_floats |= is_floating(type.dtype) && size_of(type.dtype) < 4;
  }
  return uses;
}

class FileWriter {
 public:
  FileWriter(const ir::Kernel& kernel, const CpuEmitOptions& options)
      : kernel_(kernel),
        options_(options),
        symbol_(kernel_symbol(kernel.name)),
        uses_(uses_of(kernel)) {}

  KernelSource run() {
    const Uses& uses = uses_;
    const std::string of = kernel_.files.empty() ? "" : " of " + kernel_.files[0];
    out_.line(cpp_comment(fmt::format("Kernel {}{}.", kernel_.name, of)));
    include("core.h");
    include("floats.h");
    if (uses.small_floats) include("small_floats.h");
    if (uses.exponentials) include("exponentials.h");
    if (uses.math) include("math.h");
    if (uses.small_math) include("small_math.h");
    if (uses.dot) include("dot.h");
    if (uses.scan) include("scan.h");
    if (uses.sort) include("sort.h");
    if (uses.atomics) include("atomics.h");
    if (uses.print) include("print.h");
    if (uses.rows || uses.streams) include("lines.h");
    if (uses.rows) include("rows.h");
    if (uses.streams) include("stream.h");
    if (uses.defers) include("late.h");
    out_.line("#include \"tw/entry.h\"");
    headers_.push_back({"tw/entry.h", cpu_entry_text});
    out_.line();
    out_.raw(print_program(kernel_, symbol_, options_.line_text));
    out_.line();
    out_.raw(print_entry(kernel_, symbol_));
    return source();
  }

 private:
  void include(const std::string& file) {
    out_.format("#include \"tw/{}\"", file);
    headers_.push_back({"tw/" + file, std::string(embedded_file("device_lib/cpu/" + file))});
  }

  KernelSource source() {
    KernelSource source;
    source.language = Language::Cpp;
    source.name = kernel_.name + ".cpp";
    source.text = out_.take();
    source.headers = std::move(headers_);
    // Integers wrap; float products and sums may be fused; nothing else of IEEE is given up.
    source.options = {"-fopenmp-simd",        "-fwrapv", "-ffp-contract=fast", "-fno-trapping-math",
                      "-fno-strict-aliasing", "-w"};
    // Loops stay as they are written: g++ 12 makes wrong copies of loops marked `omp simd` when it
    // looks for memcpy in them, and its jump threading splits clamped values into many blends.
    source.options.insert(
        source.options.end(),
        {"-fno-tree-loop-distribute-patterns", "-fno-tree-loop-distribution",
         "-fno-loop-interchange", "-fno-loop-unroll-and-jam", "-fno-thread-jumps"});
    // The C library is in every process; the linker need not read its symbols. An arena is freed
    // when an error unwinds the program, which takes more of the compiler's own library.
    if (arena_bytes_of(kernel_) == 0)
      source.options.insert(source.options.end(), {"-nostdlib", "-lm", "-lgcc"});
    // Products of tiles need -O3, which unrolls their loops; all else is as fast and made sooner
    // without. Unrolled loops of the user's make texts that take it minutes.
    const auto lines = std::count(source.text.begin(), source.text.end(), '\n');
    if (lines > 1500) source.options.emplace_back("-DTW_ALWAYS=");
    if (lines > 4000) source.options.emplace_back("-O1");
    else if (lines > 1500) source.options.emplace_back("-O2");
    else if (!uses_.dot)
      source.options.insert(source.options.end(),
                            {"-O2", "-ftree-vectorize", "-fvect-cost-model=dynamic"});
    // Blocks of elements in registers, and those of tw::map side by side.
    if (uses_.defers || uses_.maps)
      source.options.insert(source.options.end(),
                            {"-fpeel-loops", "-fschedule-insns", "-fsched-pressure"});
    KernelSource::Kernel kernel{.name = kernel_.name};
    for (const ir::KernelArgument& argument : kernel_.arguments) {
      const ir::Type& type = kernel_.type(argument.value);
      kernel.parameters.push_back(
          {.name = kernel_.name_of(argument.value),
           .kind = type.is_pointer ? Parameter::Kind::Pointer : Parameter::Kind::Scalar,
           .dtype = type.dtype,
           .is_const = argument.is_const});
    }
    kernel.variants.push_back(direct_plan(symbol_, kernel_.arguments.size()));
    source.kernels.push_back(std::move(kernel));
    return source;
  }

  const ir::Kernel& kernel_;
  const CpuEmitOptions& options_;
  std::string symbol_;
  Uses uses_;
  TextWriter out_;
  std::vector<NamedFile> headers_;
};

}  // namespace

ir::Kernel laid_for_cpu(const ir::Kernel& tiles) {
  return form_sweeps(tiles, policy_of(tiles)).kernel;
}

ir::Kernel final_for_cpu(const ir::Kernel& laid) { return lower_to_loops(laid); }

KernelSource emit_cpu(const ir::Kernel& kernel, const CpuEmitOptions& options) {
  ir::walk(kernel.body, [&](const ir::Op& op) {
    if (op.kind == OpKind::InlineAsm)
      throw ArgumentError(
          fmt::format("kernel '{}' holds inline PTX (tl.inline_asm_elementwise), which NVIDIA GPUs "
                      "alone run; write it with tl functions for the CPU",
                      kernel.name));
  });
  if (kernel.stage == ir::Stage::Final) return FileWriter(kernel, options).run();
  if (kernel.stage == ir::Stage::Laid) {
    const ir::Kernel loops = final_for_cpu(kernel);
    KernelSource source = FileWriter(loops, options).run();
    check_read_back(loops, source.text,
                    [&](const ir::Kernel& read) { return FileWriter(read, options).run().text; });
    return source;
  }
  return emit_cpu(laid_for_cpu(kernel), options);
}

}  // namespace tilewright
