// SPDX-License-Identifier: Apache-2.0
// cli/compile.cpp — `tilewright compile FILE:KERNEL`: Triton and CUDA kernels to text and binaries.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/input_file.h"
#include "base/nearest.h"
#include "base/output_file.h"
#include "base/quote.h"
#include "cli/compile_numba.h"
#include "cli/compile_report.h"
#include "cli/cuda_call.h"
#include "cli/kernel_path.h"
#include "cli/machine_code.h"
#include "cli/run_numba.h"
#include "cli/self_contained.h"
#include "cli/verbs.h"
#include "codegen/cuda/source_lines.h"
#include "compiler/faults.h"
#include "compiler/launcher_header.h"
#include "compiler/pack_blocks.h"
#include "compiler/product_facts.h"
#include "compiler/triton/compile.h"
#include "compiler/triton/guess/guess.h"
#include "ir/print.h"
#include "ir/roles.h"
#include "load_inline/inline_program.h"
#include "load_inline/signature.h"
#include "passes/laid/op_facts.h"
#include "runtime/compile.h"
#include "runtime/cuda/cubin.h"
#include "runtime/plan.h"
#include "tilewright/device.h"
#include "tilewright/load_inline.h"

namespace tilewright::cli {
namespace {

// What can be emitted, for which kind of target, and the end of its file's name.
struct EmitKind {
  std::string_view name;
  enum class For { Any, Cuda, Cpu } target;
  std::string_view ending;
  bool is_binary = false;
};
constexpr EmitKind emit_kinds[] = {
    {"ir", EmitKind::For::Any, ".tir"},
    {"cuda", EmitKind::For::Cuda, ".cu"},
    {"cpp", EmitKind::For::Cpu, ".cpp"},
    {"ptx", EmitKind::For::Cuda, ".ptx"},
    {"cubin", EmitKind::For::Cuda, ".cubin", true},
    {"header", EmitKind::For::Cuda, ".h"},
    {"sass", EmitKind::For::Cuda, ".sass"},
    {"asm", EmitKind::For::Cpu, ".s"},
};

const EmitKind& emit_kind(const std::string& name) {
  std::vector<std::string> known;
  for (const EmitKind& kind : emit_kinds) {
    if (kind.name == name) return kind;
    known.emplace_back(kind.name);
  }
  throw UsageError{fmt::format("--emit has no '{}'{}", name, suggest_names(name, known))};
}

bool applies(const EmitKind& kind, const Target& target) {
  return kind.target == EmitKind::For::Any ||
         (kind.target == EmitKind::For::Cuda) == target.is_cuda();
}

std::vector<Target> targets_of(const CompileVerbOptions& options) {
  std::vector<Target> targets;
  for (const std::string& name : options.targets) targets.push_back(Target::parse(name));
  if (targets.empty())
    targets.push_back(cuda_device_count() > 0 ? Device::cuda().target() : Target::parse("sm_90a"));
  for (const std::string& name : options.emit) {
    const EmitKind& kind = emit_kind(name);
    if (kind.is_binary && options.folder.empty())
      throw UsageError{fmt::format("--emit {} writes a binary file; give a folder with -o", name)};
    if (std::none_of(targets.begin(), targets.end(),
                     [&](const Target& target) { return applies(kind, target); }))
      throw UsageError{fmt::format("--emit {} is for {} targets, and none is given with --target",
                                   name, kind.target == EmitKind::For::Cuda ? "CUDA" : "CPU")};
  }
  return targets;
}

bool wants(const CompileVerbOptions& options, const Target& target, std::string_view name) {
  return std::find(options.emit.begin(), options.emit.end(), name) != options.emit.end() &&
         applies(emit_kind(std::string(name)), target);
}

// Only the front end and the emitter are needed for these.
bool needs_binary(const CompileVerbOptions& options, const Target& target) {
  if (options.emit.empty() || options.json) return true;
  return std::any_of(options.emit.begin(), options.emit.end(),
                     [&](const std::string& name) {
                       return applies(emit_kind(name), target) && name != "ir" && name != "cuda" &&
                              name != "cpp";
                     }) ||
         !options.folder.empty();
}

void add_compiler_flags(const CompileVerbOptions& options, KernelSource& source) {
  const bool is_cuda = source.language == Language::Cuda;
  if (options.optimize) {
    if (*options.optimize < 0 || *options.optimize > 3)
      throw UsageError{fmt::format("-O takes 0 to 3, not {}", *options.optimize)};
    if (is_cuda && options.device_debug && *options.optimize > 0)
      throw UsageError{
          fmt::format("-G makes CUDA code without optimisation; leave out -O{} or give -O0",
                      *options.optimize)};
    source.options.push_back(is_cuda ? fmt::format("--ptxas-options=-O{}", *options.optimize)
                                     : fmt::format("-O{}", *options.optimize));
  }
  if (options.device_debug) source.options.emplace_back(is_cuda ? "--device-debug" : "-g");
}

// "ns::scale<float, 4>" as part of a file's name: "ns_scale_float_4".
std::string file_word(std::string_view kernel) {
  std::string word;
  for (const char c : kernel) {
    const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c < 0;
    if (is_plain) word += c;
    else if (!word.empty() && word.back() != '_') word += '_';
  }
  while (word.size() > 1 && word.back() == '_' && !kernel.ends_with('_')) word.pop_back();
  return word;
}

void emit(const CompileVerbOptions& options, CompileReportRow& row, std::string_view kind,
          const std::function<std::string()>& content) {
  if (!wants(options, row.target, kind)) return;
  const EmitKind& facts = emit_kind(std::string(kind));
  row.emitted.push_back(
      {std::string(kind),
       fmt::format("{}_{}{}", file_word(row.kernel), row.target.name, facts.ending), content(),
       facts.is_binary});
}

std::string bytes_text(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// What comes from the binary, for both kinds of source. `lines` is a text with the user's lines in
// its comments (machine_code.h).
void emit_from_binary(const CompileVerbOptions& options, CompileReportRow& row,
                      const KernelSource& source, const Binary& binary, const std::string& lines) {
  if (row.target.is_cuda()) {
    const std::string ptx = ptx_with_nvrtc(source, row.target);
    for (std::string& fault : faults_in_ptx(ptx_facts(ptx, row.symbol), row.spill_bytes))
      row.faults.push_back(std::move(fault));
    for (std::string& fault : faults_in_log(binary.log)) row.faults.push_back(std::move(fault));
    emit(options, row, "ptx", [&] { return ptx; });
  }
  emit(options, row, "cubin", [&] { return bytes_text(binary.bytes); });
  emit(options, row, "sass", [&] { return disassemble(binary, row.target, lines); });
  emit(options, row, "asm", [&] { return disassemble(binary, row.target, lines); });
}

// ---- Triton.

KernelOptions kernel_options(const CompileVerbOptions& options) {
  KernelOptions result;
  result.num_warps = options.num_warps.value_or(4);
  result.chooses_warps = !options.num_warps.has_value();
  result.num_stages = options.num_stages.value_or(3);
  result.maxnreg = options.maxnreg;
  result.fp_fusion = !options.no_fp_fusion;
  result.flush_to_zero = options.flush_to_zero;
  result.debug = options.debug;
  return result;
}

// Threads of a block, and of a program, when there are many programs.
struct Threads {
  int block = 1;
  double program = 1;
  int programs = 1;  // that share a block
  int cluster = 1;   // blocks of a program
};

// Of a kernel at stage Laid.
Threads threads_of(const KernelSource& source, const ir::Kernel& laid, int num_warps,
                   const Target& target) {
  if (!target.is_cuda()) return {128, 128};
  constexpr std::int64_t many[3] = {1 << 20, 1 << 20, 1 << 20};
  const KernelSource::Kernel& kernel = source.kernels.front();
  const LaunchStep& step = kernel.variants.front().steps.front();
  const PlanInputs inputs{.kernel = kernel.name,
                          .parameters = kernel.parameters,
                          .values = nullptr,
                          .grid = many,
                          .block = many,
                          .processors = 128};
  Threads out{.block = static_cast<int>(evaluate(step.block[0], inputs))};
  out.program = out.block;
  if (ir::producer_of(laid) != nullptr) out.program = num_warps * target.warp_size;
  if (ir::is_persistent(laid)) return out;
  for (int axis = 0; axis < 3; ++axis)
    out.program *= static_cast<double>(evaluate_or(step.grid[axis], inputs, many[axis])) /
                   static_cast<double>(many[axis]);
  out.programs = std::max(static_cast<int>(out.block / out.program), 1);
  out.cluster = static_cast<int>(evaluate_or(step.cluster[0], inputs, 1));
  return out;
}

struct TritonInput {
  python::ModuleLoader loader;
  python::DecoratedFunction function;
  std::vector<TritonParameter> parameters;
  TritonSignature signature;
};

[[noreturn]] void throw_no_signature(const TritonInput& input) {
  std::vector<std::string> names;
  for (const TritonParameter& parameter : input.parameters) names.push_back(parameter.name);
  throw UsageError{fmt::format(
      "the types of {} are not known; give them with --signature \"*fp32:16, i32, 1024\", an item "
      "for each of {}, or use --guess",
      input.function.name, fmt::join(names, ", "))};
}

void read_triton(const CompileVerbOptions& options, const KernelPath& path, TritonInput& input) {
  const python::LoadedModule& module = input.loader.load(path.file);
  Guesser guesser(input.loader);
  std::vector<std::string> names;
  for (const auto& function : guesser.entries({&module})) names.push_back(function.name);
  input.function = find_kernel(input.loader, module, chosen_kernel(path, names));
  python::Evaluator evaluator(input.loader, {.facts = python::nvidia_facts(9, 0)});
  input.parameters = read_parameters(input.loader, evaluator, input.function);
  if (options.signature.empty() && !input.parameters.empty()) throw_no_signature(input);
  if (!options.block.empty())
    throw UsageError{fmt::format(
        "--block is for .cu files; a Triton kernel has --num-warps, and {} is one", path.file)};
  input.signature = parse_signature(input.function.name, input.parameters, options.signature);
}

CompileReportRow compile_triton(const CompileVerbOptions& options, TritonInput& input,
                                const Target& target) {
  const KernelOptions settings = kernel_options(options);
  check_options(input.function.name, settings);
  CompileReportRow row{.kernel = input.function.name,
                       .signature = signature_text(input.parameters, input.signature),
                       .target = target};
  const auto start = std::chrono::steady_clock::now();
  const TileKernel kernel = lower_to_tiles(input.loader, input.function, input.signature, target,
                                           settings, wants(options, target, "ir"));
  row.notes = kernel.passes.notes;
  for (const std::string& line : kernel.lowered.printed)
    row.notes.push_back(fmt::format("static_print: {}", line));
  const ir::Kernel laid = laid_for(kernel.lowered.kernel, target, settings);
  emit(options, row, "ir", [&] {
    return kernel.source_ir + "\n// ---- stage Tile\n" + ir::print(kernel.lowered.kernel) +
           "\n// ---- stage Laid\n" + ir::print(laid) + "\n// ---- stage Final\n" +
           ir::print(final_for(laid, target, settings));
  });
  const bool only_ir = !options.emit.empty() && options.folder.empty() && !options.json &&
                       std::all_of(options.emit.begin(), options.emit.end(),
                                   [](const std::string& name) { return name == "ir"; });
  if (only_ir) return row;
  KernelSource source = packed_source(kernel.lowered.kernel,
                                      emit_source(input.loader, kernel, target, settings), target);
  const Threads threads = threads_of(source, laid, settings.num_warps, target);
  if (target.is_cuda()) {
    row.products = product_facts(laid);
    row.roles = role_facts(laid, settings.num_warps);
  }
  row.threads = threads.block;
  row.programs = threads.programs;
  row.cluster = threads.cluster;
  add_compiler_flags(options, source);
  const auto readable = [&](const std::string& text) {
    return options.self_contained ? with_headers_inside(source, text, target) : text;
  };
  emit(options, row, "cuda", [&] { return readable(without_line_directives(source.text)); });
  emit(options, row, "cpp", [&] { return readable(source.text); });
  if (!needs_binary(options, target)) return row;
  const Binary binary = compile(source, target);
  row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  row.elements_per_thread =
      static_cast<double>(std::max<std::int64_t>(largest_tile(kernel.lowered.kernel), 1)) /
      threads.program;
  const std::string symbol = source.kernels.front().variants.front().steps.front().entry;
  add_resources(row, binary, symbol, dynamic_shared_bytes(source));
  emit(options, row, "header", [&] {
    return launcher_header(
        {source, binary, kernel.lowered.kernel, target, row.signature, row.threads});
  });
  row.faults = faults_in_tiles(kernel.lowered.kernel);
  emit_from_binary(options, row, source, binary, source.text);
  return row;
}

// ---- CUDA C++.

int threads_of(const std::string& block) {
  if (block.empty()) return 256;
  std::int64_t threads = 1;
  std::string_view rest = block;
  while (!rest.empty()) {
    int size = 0;
    const auto [end, status] = std::from_chars(rest.data(), rest.data() + rest.size(), size);
    const bool ends = end == rest.data() + rest.size();
    if (status != std::errc{} || size < 1 || (!ends && *end != ','))
      throw UsageError{fmt::format("--block takes X[,Y[,Z]], not '{}'", block)};
    threads *= size;
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()) + (ends ? 0 : 1));
    if (threads > 1024)
      throw UsageError{fmt::format("--block {} has more than 1024 threads", block)};
  }
  return static_cast<int>(threads);
}

// Each line as the comments of generated text have it: "// k.cu:7: y[i] = x[i];".
std::string numbered(const std::string& text, const std::string& name) {
  std::string out;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find_first_not_of(" \t");
    ++number;
    if (begin != std::string::npos)
      out += cpp_comment(fmt::format("{}:{}: {}", name, number, line.substr(begin))) + "\n";
  }
  return out;
}

// Of a file with one kernel its name may be left out.
std::string cuda_kernel_name(const CudaFile& file) {
  const std::vector<std::string> names = file.kernels();
  const std::string wanted = chosen_kernel({file.path, file.wanted}, names);
  const std::string base = parse_name_expression(wanted).base;
  const bool is_known = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return name == base || name.ends_with("::" + base);
  });
  if (!is_known)
    throw ArgumentError(
        fmt::format("{} has no kernel '{}'{}", file.path, wanted, suggest_names(base, names)));
  return wanted;
}

CompileReportRow compile_cuda(const CompileVerbOptions& options, const CudaFile& file,
                              const Target& target) {
  if (!target.is_cuda())
    throw UsageError{fmt::format("{} is CUDA C++ and compiles for CUDA targets, not {}", file.path,
                                 target.name)};
  CompileReportRow row{.target = target, .threads = threads_of(options.block)};
  row.kernel = cuda_kernel_name(file);
  const InlineProgram program(inline_options(file, Device::cpu()), true);
  const NameExpression expression = parse_name_expression(row.kernel);
  const InlineKernel& kernel = program.find(expression);
  KernelSource source =
      kernel.is_on_demand ? program.instance_source(kernel, expression) : program.main_source();
  add_compiler_flags(options, source);
  const auto start = std::chrono::steady_clock::now();
  const Binary binary = compile(source, target);
  row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  // An instance is alone in its source.
  const auto found = kernel.is_on_demand
                         ? source.kernels.begin()
                         : std::find_if(source.kernels.begin(), source.kernels.end(),
                                        [&](const KernelSource::Kernel& each) {
                                          return each.name == kernel.name();
                                        });
  if (found == source.kernels.end())
    throw InternalError(fmt::format("the source of {} lacks '{}'", file.path, row.kernel));
  const bool has_steps = !found->variants.empty() && !found->variants.front().steps.empty();
  add_resources(row, binary, has_steps ? found->variants.front().steps.front().entry : found->name,
                0);
  emit_from_binary(options, row, source, binary, numbered(read_input(file.path), file.name));
  return row;
}

// ---- Thread-level Python.

CompileReportRow compile_numba(const CompileVerbOptions& options, const KernelPath& path,
                               const Target& target) {
  for (const char* kind : {"ir", "header"})
    if (std::find(options.emit.begin(), options.emit.end(), kind) != options.emit.end())
      throw UsageError{fmt::format(
          "--emit {} is for Triton kernels; {} is a @cuda.jit kernel, which goes straight to CUDA",
          kind, options.path)};
  NumbaCompile made = numba_to_compile(path, options.signature, target);
  CompileReportRow row{.kernel = made.kernel, .target = target};
  row.signature = made.signature;
  row.threads = threads_of(options.block);
  add_compiler_flags(options, made.source);
  emit(options, row, "cuda", [&] { return made.text; });
  emit(options, row, "cpp", [&] { return made.text; });
  if (!needs_binary(options, target)) return row;
  const auto start = std::chrono::steady_clock::now();
  const Binary binary = compile(made.source, target);
  row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  add_resources(row, binary, made.source.kernels.front().variants.front().steps.front().entry, 0);
  emit_from_binary(options, row, made.source, binary, made.text);
  return row;
}

// All or nothing would be better still, but each file is whole.
void write_files(const std::string& folder, const std::vector<CompileReportRow>& rows) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem)
    throw EnvironmentError(
        fmt::format("the folder '{}' cannot be made: {}", folder, problem.message()));
  for (const CompileReportRow& row : rows)
    for (const Emitted& emitted : row.emitted)
      write_output(folder + "/" + emitted.file, emitted.content);
}

}  // namespace

void run_compile(const CompileVerbOptions& options) {
  refuse_folder(options.path, "compiles every kernel in it");
  refuse_cpp(options.path);
  const std::vector<Target> targets = targets_of(options);
  std::vector<CompileReportRow> rows;
  if (is_cuda_path(options.path)) {
    const CudaFile file = read_cuda_file(options.path);
    for (const Target& target : targets) rows.push_back(compile_cuda(options, file, target));
  } else if (is_numba_path(options.path)) {
    const KernelPath path = parse_kernel_path(options.path);
    for (const Target& target : targets) rows.push_back(compile_numba(options, path, target));
  } else {
    TritonInput input;
    read_triton(options, parse_kernel_path(options.path), input);
    for (const Target& target : targets) rows.push_back(compile_triton(options, input, target));
  }
  if (!options.folder.empty()) write_files(options.folder, rows);
  print_reports(rows, options.folder, options.json);
}

}  // namespace tilewright::cli
