// SPDX-License-Identifier: Apache-2.0
// cli/cuda_call.h — a host function or kernel of a .cu file, with values by the names of its
// parameters.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/cpu_entry.h"
#include "cli/kernel_arguments.h"
#include "load_inline/inline_source.h"
#include "tilewright/load_inline.h"

namespace tilewright::cli {

bool is_cuda_path(const std::string& path);  // FILE.cu, FILE.cpp or FILE.cc, also with :NAME
void refuse_cpp(const std::string& path);    // throws UsageError for a file of C++

struct CudaFile {
  std::string path;
  std::string wanted;   // behind the colon; may be empty
  std::string name;     // of the file alone
  bool is_cuda = true;  // else C++ for the host alone
  InlineSource source;  // with the headers beside it

  bool has_main() const;
  std::vector<std::string> kernels() const;
};
// Throws UsageError for an empty name, and what reading the file throws.
CudaFile read_cuda_file(const std::string& path);

InlineOptions inline_options(const CudaFile& file, Device device);

// NAME=VALUE for the parameters that are given. Throws for names that are no parameters.
std::vector<NamedValue> values_for(const std::vector<std::string>& texts,
                                   const std::string& function,
                                   const std::vector<std::string>& parameters,
                                   const ValueTextOptions& options);

// What the tensors among them hold, for LaunchMemoryScope.
std::vector<TwMemory> memory_of(const std::vector<NamedValue>& values);

// How a kernel is launched; a host function has no shape.
struct CudaShape {
  std::string grid;   // sizes, or expressions over the values
  std::string block;  // else 256
  std::size_t shared_bytes = 0;
};

class CudaCall {
 public:
  // Compiles. Throws ArgumentError with the nearest names.
  CudaCall(const CudaFile& file, Device device);

  const std::string& name() const { return name_; }
  const std::vector<std::string>& parameters() const { return parameters_; }
  bool is_kernel() const { return static_cast<bool>(kernel_); }
  Device device() const { return device_; }

  // Throws for a parameter without a value, and a shape that is wrong or missing.
  void bind(const std::vector<NamedValue>& values, const CudaShape& shape);
  const LaunchConfig& config() const { return config_; }
  // After bind: what run() launches, for reports.
  const InlineOptions& options() const { return options_; }
  const Function& kernel() const { return kernel_; }

  HostValue run() const { return run_(); }

 private:
  std::size_t least_given(const std::vector<NamedValue>& values) const;
  void bind_function(const std::vector<NamedValue>& values, const CudaShape& shape);
  void bind_kernel(const std::vector<NamedValue>& values, const CudaShape& shape);

  std::string name_;
  std::vector<std::string> parameters_;
  Device device_;
  InlineOptions options_;
  InlineModule module_;
  Function kernel_;
  LaunchConfig config_;
  std::function<HostValue()> run_;
};

}  // namespace tilewright::cli
