// SPDX-License-Identifier: Apache-2.0
// frontend/triton/lower.h — a @triton.jit function, with the types of its arguments, becomes a
// kernel of the IR.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "frontend/python/decorators.h"
#include "frontend/python/evaluate.h"
#include "frontend/triton/value.h"
#include "ir/kernel.h"

namespace tilewright::triton {

// What is known of one parameter: a constant, or a type with what its values promise.
struct ParameterType {
  enum class Kind { Constant, Tensor, Tuple, Descriptor };
  Kind kind = Kind::Tensor;
  Value constant;                    // of Constant: numbers, text, None, a TypeValue, a Function
  ir::Type type;                     // of Tensor: a scalar or a pointer; of Descriptor: its base
  int divisible = 1;                 // 16: the integer or the address is a multiple of it
  bool is_const = false;             // a pointer to const
  int memory = -1;                   // of pointers: those with the same number may overlap
  int address = -1;                  // those with the same number are the same pointer
  std::vector<ParameterType> items;  // of Tuple
  // Of a Descriptor, which the host made: kernel arguments "x" (the base), "x.shape.0"... and
  // "x.strides.0"..., all int64; the last stride is 1 and no argument.
  std::vector<std::int64_t> block_shape;
  bool pads_with_nan = false;
};

struct LowerOptions {
  bool debug = false;  // asserts and device_assert fire
  bool fp_fusion = true;
  // Loads of padded blocks have an `other`: whoever checks a kernel tells them from loads that
  // leave elements undefined.
  bool writes_padding = false;
  // Every assignment of a tensor is an op at its own line: whoever steps through a kernel finds each
  // name there.
  bool names_assignments = false;
  int num_warps = 4;    // what tl.extra.cuda.num_warps() gives
  python::Facts facts;  // what module-level code asks of the machine (evaluate.h)
};

struct LoweredKernel {
  ir::Kernel kernel;  // stage Source, verified
  // For each kernel argument of the IR, the parameter it comes from: "x", or "ptrs.0" of a tuple.
  std::vector<std::string> argument_names;
  std::vector<std::string> notes;
  std::vector<std::string> printed;  // by tl.static_print
  bool asks_for_warps = false;       // so many must run it as the options say
};

// `signature` holds every parameter of the function by name; those with a default may be absent.
// Throws SyntaxOrTypeError at the place of the mistake, with the calls that led there.
LoweredKernel lower(python::ModuleLoader& loader, const python::DecoratedFunction& function,
                    const std::map<std::string, ParameterType>& signature,
                    const LowerOptions& options);

}  // namespace tilewright::triton
