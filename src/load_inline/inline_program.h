// SPDX-License-Identifier: Apache-2.0
// load_inline/inline_program.h — a call to load_inline as data: its sources, what they hold, and
// the texts to compile.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "load_inline/inline_source.h"
#include "load_inline/signature.h"
#include "tilewright/kernel_source.h"
#include "tilewright/load_inline.h"

namespace tilewright {

enum class InlineMode {
  Gpu,       // kernels through NVRTC, host functions through the host compiler
  Emulated,  // CUDA source, all of it through the host compiler
  Cpp,       // no CUDA source
};

// A kernel that the sources declare.
struct InlineKernel {
  const InlineSource* source = nullptr;
  const Declaration* declaration = nullptr;
  // Compiled only when it is asked for: a template, or one that an #if may leave out.
  bool is_on_demand = false;
  bool is_overloaded = false;
  const std::string& name() const { return declaration->qualified_name; }
};

class InlineProgram {
 public:
  // Throws ArgumentError for options that cannot be meant: no source, a function that is not there.
  // With `is_whole` the sources are a program with main.
  InlineProgram(const InlineOptions& options, bool for_gpu, bool is_whole = false);

  const InlineOptions& options() const { return options_; }
  InlineMode mode() const { return mode_; }
  const std::vector<InlineKernel>& kernels() const { return kernels_; }
  bool has_host_functions() const { return has_host_functions_; }

  // The kernel that a name or name expression means, found by its qualified or its bare name.
  // Throws ArgumentError with the nearest names.
  const InlineKernel& find(const NameExpression& expression) const;

  // Is there a host function of this name, bound or not?
  bool declares_host_function(std::string_view name) const;

  // All kernels that are not on demand; in the modes of the host compiler with the host functions.
  KernelSource main_source() const;
  // One kernel by a name expression.
  KernelSource instance_source(const InlineKernel& kernel, const NameExpression& expression) const;
  // Host functions alone: mode Gpu.
  KernelSource gpu_host_source() const;

  // A whole program: its host code, emulated with its kernels; and the kernels and variables by
  // name expression, for NVRTC.
  KernelSource program_source() const;
  KernelSource program_kernels(std::vector<std::string> name_expressions) const;

  // The names of kernels in launches from host functions: arguments are addresses, as their types
  // are already checked.
  static std::string host_launch_name(const std::string& expression) {
    return "launch " + expression;
  }

 private:
  void add_sources();
  void add_kernels();
  void check_functions() const;
  void check_main() const;
  void check_managed() const;
  std::string emulated_whole_program() const;
  KernelSource empty_source(Language language) const;
  void add_kernel(KernelSource& source, const InlineKernel& kernel,
                  const std::vector<std::string>& arguments, const std::string& name,
                  const std::string& entry) const;
  KernelSource gpu_source(
      const std::vector<std::pair<const InlineKernel*, NameExpression>>& wanted) const;
  KernelSource cpu_source(const std::vector<std::pair<const InlineKernel*, NameExpression>>& wanted,
                          bool with_host) const;
  std::string emulated_program(
      const std::vector<std::pair<const InlineKernel*, NameExpression>>& wanted,
      bool with_host) const;
  std::string cpp_program(const std::vector<std::pair<const InlineKernel*, NameExpression>>& wanted,
                          bool with_host) const;

  InlineOptions options_;
  InlineMode mode_;
  std::vector<InlineSource> sources_;
  std::vector<InlineKernel> kernels_;
  bool has_host_functions_ = false;
};

}  // namespace tilewright
