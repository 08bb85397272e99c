// SPDX-License-Identifier: Apache-2.0
// cli/arguments.cpp — the verbs' options, help and examples; the only file that knows the argument
// parser.
#include "cli/arguments.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/nearest.h"
#include "base/quote.h"
#include "cli/command_description.h"
#include "cli/verbs.h"
#include "tilewright/error.h"
#include "tilewright/version.h"

namespace tilewright::cli {
namespace {

constexpr const char* info_examples = R"(Examples:
  tilewright info                        devices, measured ceilings, tools, what is missing
  tilewright info --no-measure --json    the same for programs, without measuring
  tilewright info --occupancy --threads 256 --registers 64 --shared 49152 --target sm_90a --grid 10000
                                         resident blocks, their limit and waves; needs no GPU)";

constexpr const char* cache_examples = R"(Examples:
  tilewright cache info     folder, entries, size
  tilewright cache verify   reads every entry and checks it
  tilewright cache clear    removes every entry)";

constexpr const char* run_examples = R"x(Examples:
  tilewright run add.py:add_kernel --grid "cdiv(n, BLOCK)" x=randn:f32[1000] y=randn:f32[1000]
                 out=empty:f32[1000] n=1000 BLOCK=128 --save out=out.npy
                                         one launch, and what it changed
  tilewright run add.py:add_kernel ... --device interpret
                                         slowly and exactly; finds accesses out of bounds
  tilewright run add.py:add_kernel ... --device emulate --target sm_80
                                         its CUDA text on the CPU; finds races in shared memory
  tilewright run softmax.py:softmax_kernel x_ptr=randn:f32[64,781] --compare interpret,float64
                                         the rest as the file's own launch has it; how many elements
                                         differ, the first and the worst
  tilewright run add.py:add_kernel ... --expect out=ref.npy
                                         compares with a file; exit code 4 when an element differs
  tilewright run src/kernels --guess     every kernel of a folder, compared with the interpreter
  tilewright run gelu.cu:gelu x=randn:f32[1000]
                                         a host function over torch::Tensor; without a GPU emulated
  tilewright run gelu.cu:gelu_kernel x=randn:f32[1000] y=empty:f32[1000] n=1000 --grid "cdiv(n, 256)"
                                         a CUDA kernel; templates by their arguments: scale<float>
  tilewright run program.cu -- 1024      a CUDA program with main and its arguments, without nvcc
Values: 1024, 4k, 5:i64, 0.5:f64, inf, true, none, word, 'text', fp32, x.npy, bf16:x.npy,
  randn:f32[1024,781], rand:, zeros:, ones:, empty:, arange:i64[100], full:f32[8]=0.5, randint:i32[8]=0..10,
  randn:f32[n,2*m] n=1000 m=64           sizes by name
  randn:f32[64,781]@strides(1024,1)      rows that are further apart
  @x, @x+4, @x+4[8,8]                    the memory of argument x, from its element 4 on
  ptrs.0=... ptrs.1=...                  items of a tuple
  a=randn:f32[128,128] a.block=64x64     a tensor descriptor
What is not given is as in the file's own launch (the grid too) where the given tensors determine it.)x";

constexpr const char* check_examples = R"x(Examples:
  tilewright check add.py:add_kernel --grid "cdiv(n, BLOCK)" x=randn:f32[n] out=empty:f32[n] n=1000 BLOCK=128
                                         out of bounds, races between programs, memory nobody wrote, results of
                                         masked-off elements, where NaN begins, overflows, broken promises
  tilewright check add.py:add_kernel ... --sizes odd
                                         also with n = 1, primes, and around the size of a tile
  tilewright check reduce.cu:sum --grid 4 --block 128 x=randn:f32[512] out=zeros:f32[4]
                                         races in shared memory, barriers, bounds, by emulation; also for a
                                         @cuda.jit kernel: sum.py:block_sum
  tilewright check -- ./program --its-options
                                         every launch of a program that uses this library
Each thing is told once, with its line, program, element, values and a remedy. Exit code 4 when
something was found. Values are those of tilewright run.)x";

constexpr const char* step_examples = R"x(Examples:
  tilewright step add.py:add_kernel --grid "cdiv(n, BLOCK)" x=randn:f32[n] out=empty:f32[n] n=1000 BLOCK=128
                                         stops at the first line; next, print x, back, help
  tilewright step softmax.py:softmax_kernel ... < commands.txt
                                         the same by a script
  tilewright step add.py:add_kernel ... --html trace.html
                                         one page: drag through time, see what each program touches
Commands: next, into, out, continue, back, break LINE [if EXPRESSION], watch NAME, program X,Y,Z,
  print EXPRESSION, heat EXPRESSION, locals, where, list, help, quit. Values are those of tilewright run.)x";

constexpr const char* tune_examples = R"x(Examples:
  tilewright tune matmul.py:matmul_kernel --grid "cdiv(M, BLOCK_M), cdiv(N, BLOCK_N)"
                  a_ptr=randn:f16[512,512] b_ptr=randn:f16[512,512] c_ptr=empty:f16[512,512] M=512 N=512 K=512
                                         times every config of its triton.autotune, keeps the winner
  tilewright tune add.py:add_kernel --grid "cdiv(n, BLOCK)" x=randn:f32[1000000] ... n=1000000
                                         a kernel without a list: the compiler proposes configs
  tilewright tune matmul.py:matmul_kernel ... --configs list.json
                                         [{"BLOCK_M": 64, "BLOCK_N": 64, "num_warps": 4, "num_stages": 3}]
Later launches with the same key take the winner. Ctrl-C keeps what was measured; the same command
goes on from there. Values are those of tilewright run.)x";

constexpr const char* bench_examples = R"x(Examples:
  tilewright bench gelu                    every way to write GELU, checked and timed on this machine
  tilewright bench softmax --dim 256..4096 a sweep over sizes, with the exponent of time against size
  tilewright bench matmul --shape 1024x1024x512 --dtype f32,bf16 --ways tile,cuda
  tilewright bench gelu --json > before.json, then tilewright bench gelu --baseline before.json
                                           exit code 3 when something became slower
  tilewright bench softmax --rivals python3     PyTorch, torch.compile and Triton in the same table
  tilewright bench my.py:kernel --like softmax  a kernel of yours beside ours
  tilewright bench my.py:kernel x=randn:f32[n] out=empty:f32[n] n=1k..4M BLOCK=512
                                           a kernel of yours alone, swept over n
  tilewright bench my.py:fast --reference my.py:simple x=randn:f32[4096] out=empty:f32[4096] n=4096
                 BLOCK=512 --grid "cdiv(n, BLOCK)"   a kernel of yours beside another one of yours
  tilewright bench my.py:kernel x=randn:f32[n] ... --reference torch:torch.nn.functional.gelu
                                           beside a function of PyTorch on the same tensors
  tilewright bench matmul --explain        why each way is as fast as it is
  tilewright bench mlp --dim 256 --layers 4     forward, backward and a step of training, in every mode
  tilewright bench compile                 where compiling a function pays, and where it does not
  tilewright bench --list                  the operations and their ways)x";

constexpr const char* compile_examples = R"(Examples:
  tilewright compile softmax.py:softmax_kernel --signature "*fp32:16, *fp32:16, i32, i32, 1024"
                                         registers, spills, shared memory, occupancy; needs no GPU
  tilewright compile add.py:add --signature "*fp32:16, *fp32:16, i32, 1024" --target cpu --emit cpp
                                         the generated C++ of the kernel
  tilewright compile add.py:add --signature "..." --target sm_80,sm_90a --emit cubin,header -o out
                                         files to use without tilewright
  tilewright compile softmax.py:softmax_kernel --guess
                                         one kernel with a guessed signature
  tilewright compile add.py:add --guess --emit cuda --self-contained > add.cu
                                         one text for nvcc, without headers of ours
  tilewright compile src/kernels --guess --target sm_90a
                                         tries every kernel of a folder)";

constexpr const char* opt_examples = R"(Examples:
  tilewright opt kernel.tir                          the passes up to the tile stage, and the result
  tilewright opt kernel.tir --passes canonicalize    one pass
  tilewright opt - --print-after-all < kernel.tir    the kernel after every pass
  tilewright opt kernel.tir --verify-only            only whether the kernel is valid
  tilewright opt kernel.tir --target sm_90a --layouts   which thread holds which element
  tilewright opt kernel.tir --sweeps                    in which loops it runs, and what they keep
  tilewright opt --list                              every pass with what it does)";

constexpr const char* profile_examples = R"(Examples:
  tilewright profile -- ./program --its-options     a program that uses this library or CUDA
  tilewright profile gelu                           short for: profile -- tilewright bench gelu
  tilewright profile --trace t.json -- python3 train.py
                                                    PyTorch too; open t.json in ui.perfetto.dev
  tilewright profile --sort-by host --row-limit 50 --flame f.svg -- ./program
Sorts by device, self_device, host, self_host, calls, memory or name. The exit code is the program's.)";

struct InfoArguments {
  InfoOptions info;
  OccupancyOptions occupancy;
  bool wants_occupancy = false;
  bool no_measure = false;
};

void add_json(CLI::App& app, bool& json) { app.add_flag("--json", json, "Print JSON"); }

// Options live in the returned function's own state, which the parser writes to.
std::function<void()> add_info(CLI::App& app) {
  auto a = std::make_shared<InfoArguments>();
  CLI::App* verb =
      app.add_subcommand("info", "Devices, limits, measured ceilings, tools and what is missing");
  verb->footer(info_examples);
  add_json(*verb, a->info.json);
  verb->add_flag("--no-measure", a->no_measure,
                 "Do not measure copy bandwidth and multiply-add rate");
  CLI::Option* occupancy =
      verb->add_flag("--occupancy", a->wants_occupancy, "Resident blocks of a kernel instead");
  const auto add = [&](const char* name, auto& value, const char* text) {
    verb->add_option(name, value, text)->needs(occupancy);
  };
  add("--threads", a->occupancy.threads, "Threads per block (default: the suggested size)");
  add("--registers", a->occupancy.registers, "Registers per thread (default 32)");
  add("--shared", a->occupancy.shared_bytes, "Bytes of shared memory per block (default 0)");
  add("--target", a->occupancy.target,
      "sm_80, sm_90a, ... (default: this machine's GPU, else sm_90a)");
  add("--grid", a->occupancy.grid, "Blocks of the launch, for the number of waves");
  return [a] {
    a->occupancy.json = a->info.json;
    a->info.measure = !a->no_measure;
    a->wants_occupancy ? run_occupancy(a->occupancy) : run_info(a->info);
  };
}

std::function<void()> add_cache(CLI::App& app) {
  auto options = std::make_shared<CacheOptions>();
  CLI::App* verb = app.add_subcommand("cache", "The compiled kernels on disk");
  verb->footer(cache_examples);
  verb->require_subcommand(1);
  const auto add = [&](const char* name, const char* text, CacheOptions::Action action) {
    CLI::App* sub = verb->add_subcommand(name, text);
    add_json(*sub, options->json);
    sub->callback([options, action] { options->action = action; });
  };
  add("info", "Folder, entries, size", CacheOptions::Action::Info);
  add("verify", "Read every entry and check it; fails when one is damaged",
      CacheOptions::Action::Verify);
  add("clear", "Remove every entry", CacheOptions::Action::Clear);
  return [options] { run_cache(*options); };
}

// Checks whose sentences a person can read; the parser's own know no upper limit but the type's.
CLI::Validator positive_seconds() {
  return CLI::Validator(
      [](const std::string& text) {
        double seconds = 0;
        const bool is_number = CLI::detail::lexical_cast(text, seconds);
        const bool fits = is_number && seconds > 0 && seconds <= 86400;
        return fits ? std::string() : fmt::format("seconds are above 0, not '{}'", text);
      },
      "");
}

void add_seed(CLI::App& verb, std::uint64_t& seed) {
  verb.add_option("--seed", seed, "Of generated tensors (default 0)")
      ->check(CLI::Validator(
          [](const std::string& text) {
            std::uint64_t value = 0;
            const char* last = text.data() + text.size();
            const auto [end, error] = std::from_chars(text.data(), last, value);
            return error == std::errc() && end == last
                       ? std::string()
                       : fmt::format("a seed is a whole number from 0 to 2^64 - 1, not '{}'", text);
          },
          ""));
}

// Options that the verbs `run` and `compile` share.
template <class Options>
void add_kernel_options(CLI::App& verb, Options& options) {
  verb.add_option("--num-warps", options.num_warps,
                  "Warps per program (default: by the kernel's rows, else 4)");
  verb.add_option("--num-stages", options.num_stages, "Stages of loop pipelines (default 3)");
  verb.add_option("--maxnreg", options.maxnreg, "Most registers per thread");
  verb.add_flag("--no-fp-fusion", options.no_fp_fusion, "Never fuse a multiply and an add");
  verb.add_flag("--ftz", options.flush_to_zero, "Flush denormal floats to zero");
  verb.add_flag("--debug", options.debug, "Asserts of the kernel fire");
}

void add_isolation(CLI::App& verb, Isolation& isolation, CLI::Option* guess) {
  verb.add_option("--limit", isolation.limit_seconds, "Seconds per kernel (default 20)")
      ->needs(guess)
      ->check(positive_seconds());
  verb.add_option("--jobs", isolation.jobs, "Kernels at a time (default: one per processor)")
      ->needs(guess)
      ->check(CLI::Range(1, 1024));
}

std::function<void()> add_run(CLI::App& app) {
  auto options = std::make_shared<RunVerbOptions>();
  CLI::App* verb = app.add_subcommand("run", "Runs a Triton or CUDA kernel, a function or program");
  verb->footer(run_examples);
  verb->add_option("PATH", options->path,
                   "FILE.py:KERNEL, FILE.cu:NAME, FILE.cpp:NAME, PROGRAM.cu, or PATH with --guess")
      ->required();
  verb->add_option("NAME=VALUE", options->arguments,
                   "Arguments of the kernel; of a program, behind --, its own");
  verb->add_option("--grid", options->grid, "X[,Y[,Z]], or expressions over the arguments");
  verb->add_option("--block", options->block,
                   "Threads per block of a .cu or @cuda.jit kernel (default 256)");
  verb->add_option("--shared", options->shared_bytes,
                   "Bytes of dynamic shared memory of a .cu kernel")
      ->check(CLI::Range(0, 232448));
  verb->add_option("--save", options->saves, "NAME=FILE.npy: writes a tensor after the launch")
      ->allow_extra_args(false);
  verb->add_option("--expect", options->expects,
                   "NAME=FILE.npy: what a tensor must hold after the launch, else exit code 4")
      ->allow_extra_args(false);
  verb->add_option("--compare", options->compares,
                   "Runs it there too and compares, else exit code 4: cpu, cuda, emulate, "
                   "interpret, float64, by comma")
      ->delimiter(',')
      ->allow_extra_args(false);
  verb->add_option("--tolerance", options->tolerance,
                   "Of floats that are compared (default 1e-5 for f32, 2e-3 f16, 1.6e-2 bf16)")
      ->check(CLI::Validator(
          [](const std::string& text) {
            double value = 0;  // no number is larger than a NaN
            const bool is_number = CLI::detail::lexical_cast(text, value);
            return is_number && value >= 0 && value <= 1e6
                       ? std::string()
                       : fmt::format("a tolerance is a number from 0 to 1e6, not '{}'", text);
          },
          ""));
  verb->add_option("--device", options->device, "cpu, cuda, cuda:N, emulate or interpret");
  verb->add_option("--target", options->target,
                   "With --device emulate: sm_80, ... (default sm_90a)");
  verb->add_flag("--bare", options->bare,
                 "Without the kernel's autotune and heuristics: all constants are given");
  verb->add_flag("--float64", options->float64,
                 "A reference: interpreted with floats that are rounded once, at the end");
  add_seed(*verb, options->seed);
  add_kernel_options(*verb, *options);
  CLI::Option* guess = verb->add_flag(
      "--guess", options->guess,
      "Runs every kernel of a file or folder on guessed inputs, here and in the interpreter");
  add_isolation(*verb, options->isolation, guess);
  add_json(*verb, options->json);
  return [options] { options->guess ? run_run_guess(*options) : run_run(*options); };
}

std::function<void()> add_check(CLI::App& app) {
  auto options = std::make_shared<CheckVerbOptions>();
  CLI::App* verb = app.add_subcommand("check", "Finds what is wrong with a kernel by running it");
  verb->footer(check_examples);
  verb->add_option("PATH", options->path, "FILE.py:KERNEL, FILE.cu:KERNEL, or behind -- a program")
      ->required();
  verb->add_option("NAME=VALUE", options->arguments, "Arguments of the kernel, or of the program");
  verb->add_option("--grid", options->grid, "X[,Y[,Z]], or expressions over the arguments");
  verb->add_option("--sizes", options->sizes,
                   "odd: also with other values of the sizes that have names");
  verb->add_option("--block", options->block,
                   "Threads per block of a .cu or @cuda.jit kernel (default 256)");
  verb->add_option("--shared", options->shared_bytes,
                   "Bytes of dynamic shared memory of a .cu kernel")
      ->check(CLI::Range(0, 232448));
  verb->add_flag("--bare", options->bare,
                 "Without the kernel's autotune and heuristics: all constants are given");
  add_seed(*verb, options->seed);
  add_json(*verb, options->json);
  return [options] { run_check(*options); };
}

std::function<void()> add_step(CLI::App& app) {
  auto options = std::make_shared<StepVerbOptions>();
  CLI::App* verb = app.add_subcommand("step", "Goes through a Triton kernel line by line");
  verb->footer(step_examples);
  verb->add_option("PATH", options->path, "FILE.py:KERNEL")->required();
  verb->add_option("NAME=VALUE", options->arguments, "Arguments of the kernel");
  verb->add_option("--grid", options->grid, "X[,Y[,Z]], or expressions over the arguments");
  verb->add_flag("--bare", options->bare,
                 "Without the kernel's autotune and heuristics: all constants are given");
  verb->add_flag("--dap", options->dap,
                 "Speak the Debug Adapter Protocol on the standard streams, for editors");
  verb->add_option("--html", options->html,
                   "Write a page that shows which elements each program touches, through time");
  add_seed(*verb, options->seed);
  return [options] { run_step(*options); };
}

std::function<void()> add_tune(CLI::App& app) {
  auto options = std::make_shared<TuneVerbOptions>();
  CLI::App* verb = app.add_subcommand("tune", "Times a kernel's configs and keeps the fastest");
  verb->footer(tune_examples);
  verb->add_option("PATH", options->path, "FILE.py:KERNEL")->required();
  verb->add_option("NAME=VALUE", options->arguments, "Arguments of the kernel");
  verb->add_option("--grid", options->grid, "X[,Y[,Z]], or expressions over the arguments");
  verb->add_option("--device", options->device, "cpu, cuda or cuda:N");
  CLI::Option* configs =
      verb->add_option("--configs", options->configs, "A JSON list of configs instead of its own");
  verb->add_flag("--propose", options->propose, "Configs of the compiler's choice")
      ->excludes(configs);
  verb->add_option("--seconds", options->seconds, "Of timing, per config (default 0.2)")
      ->check(positive_seconds());
  add_seed(*verb, options->seed);
  verb->add_option("--maxnreg", options->maxnreg, "Most registers per thread");
  add_json(*verb, options->json);
  return [options] { run_tune(*options); };
}

void add_bench_output(CLI::App& verb, BenchVerbOptions& options) {
  std::vector<CLI::Option*> formats;
  for (const char* name : {"json", "csv", "markdown"}) {
    CLI::Option* flag = verb.add_flag_callback(
        fmt::format("--{}", name), [&options, name] { options.format = name; },
        fmt::format("Print {}", name));
    for (CLI::Option* other : formats) flag->excludes(other);
    formats.push_back(flag);
  }
  verb.add_flag(
      "--explain", options.explain,
      "Also say why: work, bounds, occupancy, waves, hardware counters, faults, loops without "
      "vector code");
  verb.add_option("--html", options.html, "Also write a page with charts to this file");
  CLI::Option* baseline =
      verb.add_option("--baseline", options.baseline,
                      "A report of --json to compare with; exit code 3 when something is slower");
  verb.add_option("--threshold", options.threshold, "Percent that count as slower (default 5)")
      ->needs(baseline);
}

std::function<void()> add_bench(CLI::App& app, const std::string& command) {
  auto options = std::make_shared<BenchVerbOptions>();
  options->command = command;
  CLI::App* verb = app.add_subcommand("bench", "Times every way to write an operation");
  verb->footer(bench_examples);
  CLI::Option* operation = verb->add_option(
      "OP", options->operation,
      "gelu, softmax, ... (see --list), or FILE:KERNEL with its arguments or --like");
  verb->add_option("NAME=VALUE", options->arguments, "Arguments of a kernel of yours");
  verb->add_option("--like", options->like, "The operation that a kernel of yours does");
  verb->add_option(
      "--reference", options->reference,
      "FILE.py:KERNEL or FILE.cu:NAME that does the same as a kernel of yours, instead "
      "of --like, or torch:FUNCTION (Python of --rivals, else python3)");
  verb->add_option("--grid", options->grid, "Of a kernel of yours: X[,Y[,Z]] or expressions");
  verb->add_option("--block", options->block, "Threads per block of a .cu kernel of yours");
  CLI::Option* dim = verb->add_option("--dim", options->dims, "Size: 4096, 1k..8k, 256,1024");
  verb->add_option("--shape", options->shapes, "Shape: 8192x781, by comma")->excludes(dim);
  verb->add_option("--layers", options->layers, "Of mlp (default 4)");
  verb->add_option("--batch", options->batch, "Of mlp: rows (default 256)");
  verb->add_option("--steps", options->steps, "Of mlp: in one timed run (default 1)");
  verb->add_flag("--print-loss", options->print_loss,
                 "Of mlp: train for --steps steps (default 10) and print the loss of each");
  verb->add_option("--dtype", options->dtypes, "f32, bf16, f16, by comma")
      ->delimiter(',')
      ->allow_extra_args(false);
  verb->add_option("--device", options->device, "cpu, cuda or cuda:N");
  verb->add_option("--ways", options->ways, "Only these, by comma")
      ->delimiter(',')
      ->allow_extra_args(false);
  verb->add_option("--warmup", options->warmups, "Exactly so many runs before (default: by time)");
  verb->add_option("--trials", options->trials, "Exactly so many timed runs (default: by time)");
  verb->add_option("--clock", options->clock, "wall or device (default: device on a GPU)");
  verb->add_option("--seconds", options->seconds, "Of measuring, per way (default 1)");
  CLI::Option* rivals = verb->add_option(
      "--rivals", options->python, "PyTorch and Triton of a Python (default python3) beside ours");
  rivals->expected(0, 1);
  verb->add_flag("--no-ceiling", options->no_ceiling, "Do not measure what the device can do");
  add_bench_output(*verb, *options);
  verb->add_flag("--list", options->list, "List the operations and ways")->excludes(operation);
  verb->callback([options, rivals] {
    options->has_rivals = rivals->count() > 0;
    if (options->python.empty()) options->python = "python3";
  });
  return [options] { run_bench(*options); };
}

std::function<void()> add_compile(CLI::App& app) {
  auto options = std::make_shared<CompileVerbOptions>();
  CLI::App* verb = app.add_subcommand("compile", "Compiles kernels without running them");
  verb->footer(compile_examples);
  verb->add_option("PATH", options->path, "FILE.py:KERNEL, FILE.cu:KERNEL, or PATH with --guess")
      ->required();
  verb->add_option("--signature", options->signature,
                   "Types of the parameters: \"*fp32:16, i32, 1024\"; of a @cuda.jit kernel "
                   "\"float32[:], int32\"");
  verb->add_option("--target", options->targets,
                   "sm_80, sm_90a, cpu, ..., by comma (default: this machine's GPU, else sm_90a)")
      ->delimiter(',');
  verb->add_option("--emit", options->emit,
                   "ir, cuda, cpp, ptx, cubin, header, sass, asm, by comma")
      ->delimiter(',');
  verb->add_flag("--self-contained", options->self_contained,
                 "Emit cuda and cpp with our device headers inside, to compile elsewhere");
  verb->add_option("-o,--output", options->folder, "Folder to write what is emitted to");
  add_kernel_options(*verb, *options);
  verb->add_option("--block", options->block,
                   "Threads per block of a .cu or @cuda.jit kernel: X[,Y[,Z]]");
  verb->add_option("-O", options->optimize, "Optimisation level, 0 to 3");
  verb->add_flag("-G", options->device_debug, "Debug information for device code");
  CLI::Option* guess = verb->add_flag(
      "--guess", options->guess, "Guesses the signature; of a file or folder, tries every kernel");
  verb->add_option("--stage", options->stage, "How far to go: ir, source, binary")->needs(guess);
  add_isolation(*verb, options->isolation, guess);
  add_json(*verb, options->json);
  return [options] { options->guess ? run_compile_guess(*options) : run_compile(*options); };
}

std::function<void()> add_opt(CLI::App& app) {
  auto options = std::make_shared<OptOptions>();
  CLI::App* verb = app.add_subcommand("opt", "Run passes on a kernel in the IR's text form");
  verb->footer(opt_examples);
  CLI::Option* file = verb->add_option("FILE", options->file, "A .tir file, or - for the input");
  CLI::Option* passes =
      verb->add_option("--passes", options->passes,
                       "Passes in order, with commas between (default: the tile pipeline)");
  passes->delimiter(',')->allow_extra_args(false);
  verb->add_option("--target", options->target, "cpu, sm_80, sm_90a, ... (default cpu)");
  CLI::Option* print =
      verb->add_flag("--print-after-all", options->print_after_all, "Print after every pass");
  verb->add_flag("--verify-only", options->verify_only, "Check the kernel and run nothing")
      ->excludes(passes)
      ->excludes(print);
  CLI::Option* layouts = verb->add_flag("--layouts", options->layouts,
                                        "Draw which thread holds which element of each kept tile");
  verb->add_flag("--sweeps", options->sweeps,
                 "Go on to the Laid stage: in which loops over elements the target runs the kernel")
      ->excludes(layouts);
  verb->add_option("--num-warps", options->num_warps,
                   "Warps per program, for --layouts and --sweeps (default 4)");
  verb->add_flag("--list", options->list, "List the passes")->excludes(file);
  return [options] {
    if (options->file.empty() && !options->list)
      throw UsageError{
          "tilewright opt needs a file, or - for the input (see tilewright opt --help)"};
    run_opt(*options);
  };
}

std::function<void()> add_profile(CLI::App& app) {
  auto options = std::make_shared<ProfileVerbOptions>();
  CLI::App* verb = app.add_subcommand("profile", "Where the time of a program goes");
  verb->footer(profile_examples);
  verb->add_option("COMMAND", options->command,
                   "The program and its arguments, after --; or an operation of bench")
      ->required();
  verb->add_flag("--print-loss", options->print_loss,
                 "Of mlp: a training that prints its loss in every step, and waits for it");
  verb->add_option("--row-limit", options->row_limit, "Rows of the table, 0 for all (default 20)")
      ->check(CLI::Validator(
          [](const std::string& text) {
            const bool is_count = !text.empty() && text.size() < 10 &&
                                  text.find_first_not_of("0123456789") == std::string::npos;
            return is_count ? std::string() : fmt::format("'{}' is no number of rows", text);
          },
          ""));
  verb->add_option("--sort-by", options->sort_by,
                   "Largest first by this (default: device time, else the host's own)");
  verb->add_flag("--by-stack", options->by_stack, "A row per place in the nesting of ranges");
  verb->add_option("--trace", options->trace, "Write a Chrome trace (JSON)");
  verb->add_option("--stacks", options->stacks, "Write folded stacks");
  verb->add_option("--flame", options->flame,
                   "Write a flame graph (SVG; a click zooms, / searches)");
  add_json(*verb, options->json);
  return [options] { run_profile(*options); };
}

// ---- The command as data, for completions and the manual page.

constexpr const char* completion_examples = R"(Examples:
  tilewright completion bash > /etc/bash_completion.d/tilewright
  tilewright completion zsh > ~/.zfunc/_tilewright
  tilewright completion fish > ~/.config/fish/completions/tilewright.fish
  tilewright completion man | man -l -)";

std::shared_ptr<std::string> add_completion(CLI::App& app) {
  auto form = std::make_shared<std::string>();
  CLI::App* verb =
      app.add_subcommand("completion", "Writes a shell's completions, or the manual page");
  verb->footer(completion_examples);
  verb->add_option("FORM", *form, "bash, zsh, fish or man")->required();
  return form;
}

DescribedVerb describe(const CLI::App& app) {
  DescribedVerb verb{app.get_name(), app.get_description(), app.get_footer(), {}, {}, {}};
  for (const CLI::Option* option : app.get_options({})) {
    DescribedOption described{option->get_snames(), option->get_lnames(),
                              option->get_items_expected_max() > 0, option->get_description()};
    if (!option->get_positional()) verb.options.push_back(std::move(described));
    else verb.positionals.push_back({{}, {option->get_name(true)}, true, described.text});
  }
  for (const CLI::App* inner : app.get_subcommands([](const CLI::App*) { return true; }))
    verb.verbs.push_back(describe(*inner));
  return verb;
}

// ---- Wrong command lines.

std::vector<std::string> names_of(const CLI::App& app, bool options) {
  std::vector<std::string> names;
  if (options) {
    for (const CLI::Option* option : app.get_options({}))
      if (!option->get_positional())
        names.push_back(option->get_lnames().empty() ? option->get_name()
                                                     : "--" + option->get_lnames().front());
  } else
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
      names.push_back(sub->get_name());
  return names;
}

// The innermost verb that the arguments name, and the first argument that is not one of its own.
const CLI::App& innermost(const CLI::App& app) {
  const std::vector<CLI::App*> taken = app.get_subcommands();
  return taken.empty() ? app : innermost(*taken.front());
}

std::string full_name(const CLI::App& app) {
  return app.get_parent() ? full_name(*app.get_parent()) + " " + app.get_name() : "tilewright";
}

[[noreturn]] void throw_usage(const CLI::App& app, const std::string& sentence) {
  throw UsageError{fmt::format("{} (see {} --help)", sentence, full_name(app))};
}

[[noreturn]] void throw_unknown(const CLI::App& root) {
  const CLI::App& app = innermost(root);
  const std::vector<std::string> rest = root.remaining(true);
  const std::string& wanted = rest.front();
  const bool is_option = wanted.starts_with("-");
  if (is_option && app.get_name() == "profile" &&
      nearest_names(wanted, names_of(app, true)).empty())
    throw_usage(app, fmt::format("{0} has no option '{1}'; what is for the program goes behind "
                                 "--, as in {0} -- gelu --dim 1024",
                                 full_name(app), wanted));
  if (!is_option && names_of(app, false).empty())
    throw_usage(app, fmt::format("{} takes no argument '{}'", full_name(app), wanted));
  throw_usage(app, fmt::format("{} has no {} '{}'{}", full_name(app), is_option ? "option" : "verb",
                               wanted, suggest_names(wanted, names_of(app, is_option))));
}

std::string lower_first(std::string text) {
  const bool is_name = text.size() > 1 && std::isupper(static_cast<unsigned char>(text[1]));
  if (!text.empty() && !is_name)
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

// "Could not convert: --trials = abc"
std::string conversion_sentence(std::string text) {
  text = text.substr(text.find(": ") + 2);
  const std::size_t equals = text.find(" = ");
  return fmt::format("{} takes a number, and '{}' is none or too large", text.substr(0, equals),
                     text.substr(equals + 3));
}

[[noreturn]] void throw_parse_error(const CLI::App& root, const CLI::ParseError& error) {
  const CLI::App& app = innermost(root);
  if (dynamic_cast<const CLI::ConversionError*>(&error) &&
      std::string_view(error.what()).find(" = ") != std::string_view::npos)
    throw_usage(app, conversion_sentence(error.what()));
  const bool is_value = dynamic_cast<const CLI::ValidationError*>(&error) != nullptr;
  if (!is_value && !root.remaining(true).empty()) throw_unknown(root);
  if (dynamic_cast<const CLI::RequiredError*>(&error) && !names_of(app, false).empty())
    throw_usage(app, fmt::format("{} needs a verb: {}", full_name(app),
                                 fmt::join(names_of(app, false), ", ")));
  throw_usage(app, lower_first(error.what()));
}

// An empty value would mean the same as none at all, which nobody who gives one wants.
void check_values(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options({}))
    if (!option->get_positional() && option->get_items_expected_min() > 0)
      for (const std::string& value : option->results())
        if (value.empty())
          throw_usage(app, fmt::format("the value of {} is empty", option->get_name()));
}

std::string help_of(const CLI::App& verb) {
  return verb.get_parent() ? verb.help(full_name(*verb.get_parent())) : verb.help();
}

std::string command_text(int count, char** arguments) {
  std::string text = "tilewright";
  for (int i = 1; i < count; ++i) text += " " + shell_word(arguments[i]);
  return text;
}

}  // namespace

std::function<void()> parse_command_line(int count, char** arguments) {
  CLI::App app("Tile kernels from C++: compile, run, measure, understand", "tilewright");
  app.require_subcommand(1);
  app.set_version_flag("--version", fmt::format("tilewright {}", version()));
  app.footer("Every verb has --help with examples.");
  const std::vector<std::pair<std::string, std::function<void()>>> verbs = {
      {"bench", add_bench(app, command_text(count, arguments))},
      {"run", add_run(app)},
      {"check", add_check(app)},
      {"step", add_step(app)},
      {"compile", add_compile(app)},
      {"tune", add_tune(app)},
      {"profile", add_profile(app)},
      {"info", add_info(app)},
      {"cache", add_cache(app)},
      {"opt", add_opt(app)}};
  const std::shared_ptr<std::string> completion = add_completion(app);
  try {
    app.parse(count, arguments);
  } catch (const CLI::Success& success) {
    if (!app.remaining(true).empty()) throw_unknown(app);
    std::string text = success.get_name() == "CallForVersion" ? std::string(success.what()) + "\n"
                                                              : help_of(innermost(app));
    return [text] { fmt::print("{}", text); };
  } catch (const CLI::ParseError& error) {
    throw_parse_error(app, error);
  }
  check_values(innermost(app));
  if (app.got_subcommand("completion")) {
    const std::string text = written_description(describe(app), *completion);
    return [text] { fmt::print("{}", text); };
  }
  for (const auto& [name, run] : verbs)
    if (app.got_subcommand(name)) return run;
  throw InternalError("a parsed command line names no verb");
}

}  // namespace tilewright::cli
