// SPDX-License-Identifier: Apache-2.0
// codegen/cpu/emit.cpp — the file around a program: includes, entry, parameters, flags.
#include "codegen/cpu/emit.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/cpu_entry.h"
#include "base/embedded.h"
#include "base/quote.h"
#include "codegen/cpu/program.h"
#include "codegen/lower/lower_to_loops.h"
#include "codegen/print/cpu_entry.h"
#include "machine/library.h"
#include "passes/laid/form_sweeps.h"
#include "passes/laid/sweeps.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

using ir::OpKind;

SweepPolicy policy_of(const ir::Kernel& kernel) {
  return {.shares_accumulators = true,
          .keep_broadcast_from = 4,
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
       scan = false, sort = false, atomics = false, print = false;
};

Uses uses_of(const ir::Kernel& kernel) {
  Uses uses;
  ir::walk(kernel.body, [&](const ir::Op& op) {
    const auto calls = [&](LibraryKind function) {
      return op.kind == OpKind::Call && op.text("function") == name_of(function);
    };
    if (op.kind == OpKind::Math) {
      uses.exponentials = true;
      uses.math |= !is_exponential(kernel, op);
      const ir::Type& type = kernel.type(op.operands[0]);
      uses.small_math |= type.is_float() && size_of(type.dtype) < 4;
    }
    uses.exponentials |= calls(LibraryKind::ExpPlus);
    uses.atomics |= (op.facts().is_atomic() && op.facts().is(ir::Family::Access)) ||
                    op.integer("volatile") != 0;
    uses.dot |= op.kind == OpKind::Dot || calls(LibraryKind::Dot);
    uses.scan |= op.kind == OpKind::Scan || calls(LibraryKind::RunningSum);
    uses.sort |= op.kind == OpKind::Sort || calls(LibraryKind::MergeRuns);
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
    // What the program needs of the library is known when it is written.
    TextWriter head = std::exchange(out_, TextWriter());
    Needs needs = is_final() ? final_program() : program();
    const std::string program_text = std::exchange(out_, std::move(head)).take();
    if (needs.rows || needs.streamed_bytes > 0) include("lines.h");
    if (needs.rows) include("rows.h");
    if (needs.streamed_bytes > 0) include("stream.h");
    if (needs.late.step) include("late.h");
    out_.line("#include \"tw/entry.h\"");
    headers_.push_back({"tw/entry.h", cpu_entry_text});
    out_.line();
    out_.raw(program_text);
    out_.line();
    if (is_final()) out_.raw(print_entry(kernel_, symbol_));
    else entry(needs);
    return source(needs);
  }

 private:
  void include(const std::string& file) {
    out_.format("#include \"tw/{}\"", file);
    headers_.push_back({"tw/" + file, std::string(embedded_file("device_lib/cpu/" + file))});
  }

  struct Needs {
    std::int64_t arena_bytes, streamed_bytes;
    bool rows, maps;
    LateRow late;
    bool uses_arena;  // the program itself
  };

  bool is_final() const { return kernel_.stage == ir::Stage::Final; }

  // The function of one program of a kernel of stage Final.
  Needs final_program() {
    out_.raw(print_program(kernel_, symbol_, options_.line_text));
    const std::int64_t arena = arena_bytes_of(kernel_);
    const bool maps = calls_function(kernel_, name_of(LibraryKind::Map));
    const bool streams = calls_function(kernel_, name_of(LibraryKind::IsLarge));
    return {arena, streams ? 1 : 0, maps, maps, {}, arena > 0};
  }

  // The function of one program.
  Needs program() {
    Names& names = names_;
    for (const char* own : {"id", "programs", "arena", "launch", "parameters", "streams", "late"})
      names.make(own);
    const Sweeps sweeps(kernel_);
    TextWriter body;
    ProgramWriter writer(kernel_, sweeps, options_, body, names);
    for (const ir::KernelArgument& argument : kernel_.arguments) {
      const ir::Type& type = kernel_.type(argument.value);
      const std::string name = names.make(kernel_.name_of(argument.value), "argument");
      parameters_.push_back({type_text(type), name});
      writer.set_argument(argument.value, name);
    }
    writer.write();
    std::vector<std::string> list = {"const TwCpuLaunch* launch", "const i32 (&id)[3]",
                                     "const i32 (&programs)[3]"};
    if (writer.arena_bytes() > 0) list.emplace_back("u8* arena");
    if (writer.streamed_bytes() > 0) list.emplace_back("bool streams");
    const LateRow& late = writer.late();
    if (late.step) {
      late_row(late);
      list.push_back(fmt::format("tw::Late<{}_late, {}>& late", symbol_, late.type));
    }
    for (const LateRow::Array& array : late.arrays)
      list.push_back(fmt::format("{}* {}", array.type, array.name));
    for (const auto& [type, name] : parameters_) list.push_back(fmt::format("{} {}", type, name));
    out_.line("// Runs the program with this id.");
    write_wrapped(out_, fmt::format("static void {}_program(", symbol_), list, ") {");
    write_indented(out_, body.text());
    out_.line("}");
    if (writer.communicates()) write_communicates(out_, symbol_);
    return {writer.arena_bytes(),
            writer.streamed_bytes(),
            writer.uses_rows(),
            writer.uses_maps(),
            late,
            writer.arena_bytes() > 0};
  }

  // What the elements of a late row are computed from.
  void late_row(const LateRow& late) {
    out_.line("// An element of the row that a program leaves to be written beside the next one.");
    out_.open(fmt::format("struct {}_late", symbol_));
    for (const auto& [type, name] : late.variables) out_.format("{} {};", type, name);
    out_.open(fmt::format("TW_ALWAYS f32 operator()(i64 {}) const", late.position));
    for (const std::string& line : late.lines) out_.line(line);
    out_.close();
    out_.close(";");
    out_.line();
  }

  // Two of each array of a late row; returns the arguments of program `number`.
  std::string late_arrays(Needs& needs, const std::string& number) {
    const auto bytes_of = [](const LateRow::Array& array) {
      return padded(array.size * array.element_bytes);
    };
    std::int64_t total = 0;
    for (const LateRow::Array& array : needs.late.arrays) total += 2 * bytes_of(array);
    std::string arguments;
    for (const auto& array : needs.late.arrays) {
      if (total <= stack_limit) {
        out_.format("alignas({}) {} {}[2][{}];", array_alignment, array.type, array.name,
                    array.size);
        arguments += fmt::format(", {}[{} & 1]", array.name, number);
      } else {
        arguments += fmt::format(", ({}*)(arena.bytes + {} + ({} & 1) * {})", array.type,
                                 needs.arena_bytes, number, bytes_of(array));
        needs.arena_bytes += 2 * bytes_of(array);
      }
    }
    return arguments;
  }

  void entry(Needs& needs) {
    out_.line("// Runs programs `first` to `last` of the grid, x fastest.");
    out_.open(
        fmt::format("extern \"C\" void {}(const TwCpuLaunch* launch, void* const* parameters, "
                    "unsigned long first, unsigned long last)",
                    symbol_));
    out_.line(
        "const i32 programs[3] = {i32(launch->grid[0]), i32(launch->grid[1]), "
        "i32(launch->grid[2])};");
    // Parameters of the user's may be called like these.
    const std::string number = names_.make("number"), row = names_.make("grid_row");
    std::string arguments = "launch, id, programs";
    const std::string arrays = late_arrays(needs, number);
    if (needs.arena_bytes > 0) out_.format("const tw::Arena arena({});", needs.arena_bytes);
    if (needs.uses_arena) arguments += ", arena.bytes";
    if (needs.streamed_bytes > 0) {
      out_.format("const bool streams = tw::is_large(launch, {});", needs.streamed_bytes);
      arguments += ", streams";
    }
    if (needs.late.step) {
      out_.format("tw::Late<{}_late, {}> late(streams);", symbol_, needs.late.type);
      arguments += ", late" + arrays;
    }
    for (std::size_t k = 0; k < parameters_.size(); ++k) {
      const auto& [type, name] = parameters_[k];
      if (type == "bool") out_.format("const bool {} = *(const u8*)parameters[{}] != 0;", name, k);
      else out_.format("const auto {} = *({}*)parameters[{}];", name, type, k);
      arguments += ", " + name;
    }
    write_program_id(out_, number, row);
    out_.format("{}_program({});", symbol_, arguments);
    out_.close();
    if (needs.late.step) out_.line("late.finish(launch);");
    if (needs.streamed_bytes > 0) out_.line("if (streams) tw::finish_streams();");
    out_.close();
  }

  KernelSource source(const Needs& needs) {
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
    if (needs.arena_bytes == 0)
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
    if (needs.late.step || needs.maps)
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
  Names names_;  // of the program and of the entry
  std::vector<std::pair<std::string, std::string>> parameters_;
};

}  // namespace

ir::Kernel laid_for_cpu(const ir::Kernel& tiles) {
  return form_sweeps(tiles, policy_of(tiles)).kernel;
}

std::optional<ir::Kernel> final_for_cpu(const ir::Kernel& laid, std::string* refusal) {
  return lower_to_loops(laid, refusal);
}

KernelSource emit_cpu(const ir::Kernel& kernel, const CpuEmitOptions& options) {
  ir::walk(kernel.body, [&](const ir::Op& op) {
    if (op.kind == OpKind::InlineAsm)
      throw ArgumentError(
          fmt::format("kernel '{}' holds inline PTX (tl.inline_asm_elementwise), which NVIDIA GPUs "
                      "alone run; write it with tl functions for the CPU",
                      kernel.name));
  });
  if (kernel.stage == ir::Stage::Final) return FileWriter(kernel, options).run();
  if (kernel.stage != ir::Stage::Laid) return emit_cpu(laid_for_cpu(kernel), options);
  const std::optional<ir::Kernel> loops = final_for_cpu(kernel);
  return FileWriter(loops ? *loops : kernel, options).run();
}

}  // namespace tilewright
