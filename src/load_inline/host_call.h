// SPDX-License-Identifier: Apache-2.0
// load_inline/host_call.h — calls into host functions compiled at run time, and what those call
// back.
//
// The library's side of torch/abi.h. An error inside a callback is kept with the running call;
// compiled code unwinds with an exception of its own, and the call then throws what was kept.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "load_inline/torch/abi.h"
#include "tilewright/load_inline.h"
#include "tilewright/module.h"

namespace tilewright {

// Where host functions of a module work.
struct HostContext {
  Device device;
  bool is_emulated = false;  // tensors are on the CPU, and the source is told "cuda"
  std::function<Function(const std::string&)>
      gpu_kernel;  // by name expression; takes addresses as structs
};

struct HostFunction {
  std::string name;
  long parameter_count = 0;
  long required_count = 0;  // the others have defaults (py::arg)
};

// The functions that the compiled text binds, in their order. `entry` is its host_entry.
std::vector<HostFunction> list_host_functions(const Function& entry, const HostContext& context);

// Throws ArgumentError for a wrong number or kind of arguments, UserError with the function's name
// for what it throws, and the library's own errors as they are.
HostValue call_host_function(const Function& entry, const HostContext& context,
                             const HostFunction& function, long number,
                             std::span<const HostValue> arguments);

}  // namespace tilewright
