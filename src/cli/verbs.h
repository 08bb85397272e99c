// SPDX-License-Identifier: Apache-2.0
// cli/verbs.h — the verbs as functions over their options; each prints its result and throws on
// failure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/isolate.h"

namespace tilewright::cli {

// A wrong command line: exit code 2. Everything else that is thrown is exit code 1.
struct UsageError {
  std::string sentence;
};

// Thrown by a verb that has printed its result and must end with another exit code than 0.
struct ExitWith {
  int code = 0;
};

struct InfoOptions {
  bool json = false;
  bool measure = true;
};
void run_info(const InfoOptions& options);

struct OccupancyOptions {
  bool json = false;
  std::optional<std::string> target;  // else the GPU of this machine, else sm_90a
  std::optional<int> threads;         // else the suggested block size
  int registers = 32;
  std::int64_t shared_bytes = 0;
  std::optional<std::int64_t> grid;
};
void run_occupancy(const OccupancyOptions& options);

struct CacheOptions {
  enum class Action { Info, Verify, Clear };
  Action action = Action::Info;
  bool json = false;
};
void run_cache(const CacheOptions& options);

struct RunVerbOptions {
  std::string path;                    // FILE.py:KERNEL
  std::vector<std::string> arguments;  // NAME=VALUE
  std::string grid;                    // else that of the file's own launch
  std::string block;                   // of a .cu or @cuda.jit kernel: threads per block, else 256
  std::int64_t shared_bytes = 0;       // of a .cu kernel: dynamic shared memory
  std::vector<std::string> saves;      // NAME=FILE.npy
  std::vector<std::string> expects;    // NAME=FILE.npy, to compare with
  std::vector<std::string> compares;   // devices and float64, to compare with
  std::optional<double> tolerance;     // of those, else by type
  std::string device;                  // cpu, cuda, emulate, interpret; else the default device
  std::string target;                  // of `emulate`; else sm_90a
  bool bare = false;                   // without the kernel's autotune and heuristics
  bool float64 = false;                // interpret: floats are rounded once, at the end
  std::uint64_t seed = 0;
  bool json = false;
  std::optional<int> num_warps;
  std::optional<int> num_stages;
  std::optional<int> maxnreg;
  bool no_fp_fusion = false;
  bool flush_to_zero = false;
  bool debug = false;
  bool guess = false;
  std::string keep;     // with --guess: a folder for the launches, which are not compared
  Isolation isolation;  // with --guess
};
void run_run(const RunVerbOptions& options);
void run_run_guess(const RunVerbOptions& options);

struct CheckVerbOptions {
  std::string path;                    // FILE.py:KERNEL, FILE.cu:KERNEL, or a program
  std::vector<std::string> arguments;  // NAME=VALUE; of a program, its own
  std::string grid;                    // else that of the file's own launch
  std::string block;                   // of a .cu or @cuda.jit kernel: threads per block, else 256
  std::int64_t shared_bytes = 0;       // of a .cu kernel: dynamic shared memory
  std::string sizes;                   // "odd": a sweep over the sizes that have names
  bool bare = false;                   // without the kernel's autotune and heuristics
  std::uint64_t seed = 0;
  bool json = false;
};
void run_check(const CheckVerbOptions& options);

struct StepVerbOptions {
  std::string path;                    // FILE.py:KERNEL
  std::vector<std::string> arguments;  // NAME=VALUE
  std::string grid;                    // else that of the file's own launch
  bool bare = false;                   // without the kernel's autotune and heuristics
  bool dap = false;                    // the Debug Adapter Protocol instead of commands
  std::string html;                    // a page of the whole launch instead of commands
  std::uint64_t seed = 0;
};
void run_step(const StepVerbOptions& options);

struct TuneVerbOptions {
  std::string path;                    // FILE.py:KERNEL
  std::vector<std::string> arguments;  // NAME=VALUE
  std::string grid;                    // else that of the file's own launch
  std::string device;                  // cpu, cuda; else the default device
  std::string configs;                 // a JSON file; else the kernel's own list
  bool propose = false;                // the compiler's list instead of the kernel's
  double seconds = 0.2;                // of timing, per config
  std::uint64_t seed = 0;
  bool json = false;
  std::optional<int> maxnreg;
};
void run_tune(const TuneVerbOptions& options);

struct BenchVerbOptions {
  std::string operation;               // gelu, ..., or FILE.py:KERNEL, FILE.cu:KERNEL with `like`
  std::vector<std::string> arguments;  // of a kernel of the user's: NAME=VALUE
  std::string like;                    // the operation that a kernel of the user's does
  std::string reference;               // else another, FILE.py:KERNEL, FILE.cu:NAME, torch:FUNCTION
  std::string grid;
  std::string block;
  std::string dims;
  std::optional<std::int64_t> layers, batch, steps;  // of mlp
  bool print_loss = false;                           // of mlp: trains instead of measuring
  std::string shapes;
  std::vector<std::string> dtypes;
  std::string device;
  std::vector<std::string> ways;
  std::optional<int> warmups;
  std::optional<int> trials;
  std::string clock;  // wall, device
  bool no_ceiling = false;
  double seconds = 1.0;  // of measuring, per way
  std::string format;    // text, json, csv, markdown
  std::string baseline;  // a report to compare with
  double threshold = 5;  // percent that count as slower
  std::string html;
  bool explain = false;
  std::string command;  // the command line, for the report
  bool has_rivals = false;
  std::string python;  // of the rivals
  bool list = false;
};
void run_bench(const BenchVerbOptions& options);

struct CompileVerbOptions {
  std::string path;  // FILE.py:KERNEL, FILE.cu:KERNEL; with `guess` a file or folder
  std::string signature;
  std::vector<std::string> targets;  // else this machine's GPU, else sm_90a
  std::vector<std::string> emit;     // ir, cuda, cpp, ptx, cubin, header, sass, asm
  bool self_contained = false;       // cuda and cpp with our device headers inside
  std::string folder;                // -o; else what is text goes to stdout
  bool guess = false;
  std::string stage = "binary";  // of guess: ir, source, binary
  Isolation isolation;           // of guess
  bool json = false;
  std::optional<int> num_warps;
  std::optional<int> num_stages;
  std::optional<int> maxnreg;
  bool no_fp_fusion = false;
  bool flush_to_zero = false;
  bool debug = false;
  std::string block;            // of .cu files: threads per block, for the occupancy
  std::optional<int> optimize;  // -O0 .. -O3
  bool device_debug = false;    // -G
};
void run_compile(const CompileVerbOptions& options);
void run_compile_guess(const CompileVerbOptions& options);

struct ProfileVerbOptions {
  std::vector<std::string> command;  // the program and its arguments
  bool print_loss = false;           // of mlp
  int row_limit = 20;
  std::string sort_by;
  bool by_stack = false;
  std::string trace;   // file of the Chrome trace
  std::string stacks;  // of folded stacks
  std::string flame;   // of the flame graph
  bool json = false;
};
void run_profile(const ProfileVerbOptions& options);

struct OptOptions {
  std::string file;                 // "-": the standard input
  std::vector<std::string> passes;  // empty: the pipeline of the tile stage
  std::string target = "cpu";
  bool print_after_all = false;
  bool verify_only = false;
  bool layouts = false;  // instead of the kernel: who holds its tiles, for a CUDA target
  bool sweeps = false;   // goes on to the Laid stage
  int num_warps = 4;     // of those two, for a CUDA target
  bool list = false;
};
void run_opt(const OptOptions& options);

}  // namespace tilewright::cli
