// SPDX-License-Identifier: Apache-2.0
// cli/kernel_arguments.h — a kernel and its arguments as a command line gives them: FILE.py:KERNEL
// --grid ... NAME=VALUE ...
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "compiler/triton/launch_values.h"
#include "compiler/triton/value_text.h"
#include "tilewright/triton.h"

namespace tilewright::cli {

struct NamedValue {
  std::string name;  // of a parameter; "ptrs.0" is the first item of a tuple
  ArgumentValue value;
  Tensor before;  // of a tensor: its content before the launch, on the host
  const Tensor* tensor() const { return std::get_if<Tensor>(&value); }
};

// The only kernel of the file when none is named.
TritonKernel load_kernel(const std::string& path);

// Throws ArgumentError for names that are no parameters and what is no value.
std::vector<NamedValue> read_values(const std::vector<std::string>& texts,
                                    const TritonKernel& kernel, Device device, std::uint64_t seed);

// Tensors that `empty:` made hold NaN, or -1, from now on: what a kernel does not write shows, and
// neither the count of what a launch has changed nor the scale by which results are compared
// depends on what lay in that memory before.
void mark_unwritten(const std::vector<std::string>& texts, std::vector<NamedValue>& values);

struct KernelArguments {
  std::vector<NamedValue> values;
  std::optional<LaunchValues> launch;  // what the file's own launch added to those given
};

struct ReadOptions {
  Device device;
  std::uint64_t seed = 0;
  bool leaves_sizes = false;  // integer constants of the launch are left out, for a tuner to choose
};

// The values of `texts`, and what the file's own launch gives for the rest as far as they determine
// it.
KernelArguments read_arguments(const std::vector<std::string>& texts, const TritonKernel& kernel,
                               const ReadOptions& options);

// The arguments of a launch: values by their names, items of tuples put together, and descriptors
// where "x.block=64x64" stands beside the tensor x. Holds what they point to.
class LaunchArguments {
 public:
  explicit LaunchArguments(const std::vector<NamedValue>& values);
  const std::vector<TritonArgument>& get() const { return arguments_; }

 private:
  std::deque<std::string> names_;
  std::deque<TritonTuple> tuples_;
  std::deque<TensorDescriptor> descriptors_;
  std::vector<TritonArgument> arguments_;
};

// The text's, else that of the file's own launch.
Grid grid_for(const std::string& text, const TritonKernel& kernel,
              const KernelArguments& arguments);

}  // namespace tilewright::cli
