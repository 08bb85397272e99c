// SPDX-License-Identifier: Apache-2.0
// cli/arguments.cpp — the verbs and their options.
#include "cli/arguments.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/quote.h"
#include "cli/command_description.h"
#include "cli/verb_examples.h"
#include "cli/verbs.h"
#include "cli/wrong_arguments.h"
#include "tilewright/error.h"
#include "tilewright/version.h"

namespace tilewright::cli {
namespace {

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

void add_grid(CLI::App& verb, std::string& grid) {
  verb.add_option("--grid", grid, "X[,Y[,Z]], or expressions over the arguments");
}

void add_bare(CLI::App& verb, bool& bare) {
  verb.add_flag("--bare", bare,
                "Without the kernel's autotune and heuristics: all constants are given");
}

// Of launches of CUDA text, which the verbs `run` and `check` share.
template <class Options>
void add_block(CLI::App& verb, Options& options) {
  verb.add_option("--block", options.block,
                  "Threads per block of a .cu or @cuda.jit kernel (default 256)");
  verb.add_option("--shared", options.shared_bytes,
                  "Bytes of dynamic shared memory of a .cu kernel")
      ->check(CLI::Range(0, 232448));
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
  add_grid(*verb, options->grid);
  add_block(*verb, *options);
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
  add_bare(*verb, options->bare);
  verb->add_flag("--float64", options->float64,
                 "A reference: interpreted with floats that are rounded once, at the end");
  add_seed(*verb, options->seed);
  add_kernel_options(*verb, *options);
  CLI::Option* guess = verb->add_flag(
      "--guess", options->guess,
      "Runs every kernel of a file or folder on guessed inputs, here and in the interpreter");
  verb->add_option("--keep", options->keep,
                   "Folder for launch.json and the tensors of every launch, instead of comparing")
      ->needs(guess);
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
  add_grid(*verb, options->grid);
  verb->add_option("--sizes", options->sizes,
                   "odd: also with other values of the sizes that have names");
  add_block(*verb, *options);
  add_bare(*verb, options->bare);
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
  add_grid(*verb, options->grid);
  add_bare(*verb, options->bare);
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
  add_grid(*verb, options->grid);
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
