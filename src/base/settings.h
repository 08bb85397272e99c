// SPDX-License-Identifier: Apache-2.0
// base/settings.h — the environment variables that tilewright reads; this is the only place that
// reads them.
//
// They are read once, at first use. docs/environment.md lists them for users; keep it in step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tilewright {

struct Settings {
  std::string cache_folder;      // TILEWRIGHT_CACHE_DIR, else XDG_CACHE_HOME/tilewright, else
                                 // HOME/.cache/tilewright; may be empty
  std::int64_t cache_max_bytes;  // TILEWRIGHT_CACHE_SIZE in MiB, else 1 GiB
  std::string cuda_home;  // TILEWRIGHT_CUDA_HOME, then CUDA_HOME, then CUDA_PATH; "none" hides
                          // CUDA; may be empty
  bool
      launch_blocking;  // TILEWRIGHT_LAUNCH_BLOCKING: every launch waits and reports its own faults
  std::string host_compiler;  // TILEWRIGHT_CXX, then CXX; may be empty (then g++, clang++, c++ are
                              // looked for)
  int threads;                // TILEWRIGHT_NUM_THREADS; 0: all cores this process may use
  std::string
      dump_folder;  // TILEWRIGHT_DUMP_DIR: every source that is compiled is also written here
  bool interpret;   // TILEWRIGHT_INTERPRET: Triton kernels run in the IR interpreter
  std::string check_folder;    // TILEWRIGHT_CHECK: every launch is checked, and what is found goes
                               // into a file here; `tilewright check -- PROGRAM` sets it
  bool debug;                  // TILEWRIGHT_DEBUG: asserts of Triton kernels fire
  std::string skipped_passes;  // TILEWRIGHT_SKIP_PASSES: by comma; to see what a pass is worth
  std::string extra_passes;    // TILEWRIGHT_EXTRA_PASSES: by comma; those that run only when they are named
  bool autotune;          // TILEWRIGHT_AUTOTUNE: off takes the first config that compiles, untimed
  bool print_autotuning;  // TILEWRIGHT_PRINT_AUTOTUNING: every tuning's winner goes to stderr
  std::string profile_folder;  // TILEWRIGHT_PROFILE: this process writes what it does into a file
                               // here; `tilewright profile` sets it
  bool check_trace;  // TILEWRIGHT_CHECK_TRACE: compiled functions are traced in every call
  bool check_text;   // TILEWRIGHT_CHECK_TEXT: stage Final is read back from its text and printed again
  std::string nvtx_injection;  // NVTX_INJECTION64_PATH: the library of a tool that takes ranges
  std::string log;          // TILEWRIGHT_LOG: comma-separated topics ("compile", "cache", "launch")
  bool no_color;            // NO_COLOR
  std::string search_path;  // PATH
  std::uint64_t
      emulate_seed;  // TILEWRIGHT_EMULATE_SEED: order of emulated CUDA threads, else 1; 0: by index
  bool emulate_check;  // TILEWRIGHT_EMULATE_CHECK: accesses to emulated shared memory are checked
  bool use_libraries;  // TILEWRIGHT_LIBRARIES: off makes products and convolutions by our kernels
  bool allow_tf32;     // TILEWRIGHT_ALLOW_TF32: products of float32 on CUDA may round to TF32
  std::string
      onednn;  // TILEWRIGHT_ONEDNN: the oneDNN plug-in's path; "none" hides it; may be empty
  std::string library_path;  // LD_LIBRARY_PATH: where libraries that are opened at run time are
                             // also looked for
  std::string
      virtual_env;  // VIRTUAL_ENV: a Python environment, whose packages may bring CUDA libraries
  std::string conda_prefix;  // CONDA_PREFIX: likewise
  std::string home;          // HOME

  bool hides_cuda() const { return cuda_home == "none"; }
};

const Settings& settings();

// For tests and the command: replaces the settings of this process until the returned value goes.
class SettingsOverride {
 public:
  explicit SettingsOverride(Settings replacement);
  ~SettingsOverride();
  SettingsOverride(const SettingsOverride&) = delete;
  SettingsOverride& operator=(const SettingsOverride&) = delete;

 private:
  const Settings* previous_;
  Settings replacement_;
};

}  // namespace tilewright
