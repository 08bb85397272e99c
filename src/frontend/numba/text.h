// SPDX-License-Identifier: Apache-2.0
// frontend/numba/text.h — a kernel in thread-level Python (Numba's @cuda.jit) becomes C++ text.
//
//   @cuda.jit                               extern "C" __global__ void square(float* x, float* y,
//   def square(x, y):                                                         long long x_shape0) {
//       i = cuda.grid(1)              =>      const long long i = ...;
//       if i < x.shape[0]:                    if (i < x_shape0) {
//           y[i] = x[i] * x[i]                  y[i] = x[i] * x[i];
//                                             }
//                                           }
//
// A text is made for the types of its arguments. Of an array the kernel takes the address, and the
// sizes and strides that it uses. Each statement has a #line of the user's file.
#pragma once

#include <string>
#include <vector>

#include "frontend/numba/types.h"
#include "frontend/python/module_loader.h"

namespace tilewright::numba {

// What the text is for.
enum class Dialect {
  Cuda,  // CUDA C++: NVRTC, or emulated
  Loop,  // C++ of one thread, called in a loop over threads that may become vector code
};

// What one parameter of the text is made from.
struct Slot {
  enum class Kind { Data, Shape, Stride, Scalar };
  Kind kind = Kind::Scalar;
  int argument = 0;
  int dimension = 0;           // of Shape and Stride, which count elements
  DType dtype = DType::Int64;  // of Scalar; of the elements of Data
  std::string name;            // in the text
  bool is_const = false;       // Data that the kernel does not write
  bool is_narrow = false;      // an int64 that is passed as an int32
};

struct KernelText {
  std::string text;
  std::string entry;  // the function's name in it
  std::vector<Slot> slots;
  // Barriers, shared memory, functions of a warp, atomics: what no loop over threads can do.
  bool needs_threads = false;
  bool uses_math = false;  // Loop: functions of device_lib/cpu/math.h
  bool uses_half = false;  // float16
  bool uses_fast_math = false;
  bool is_cooperative = false;  // synchronises its whole grid
  // Loop: the function is a template over what it does: 0 runs a thread, 1 runs one whose row is
  // known to be inside of the kernel's guard (`if i < n`), 2 asks whether a thread is.
  bool has_guard = false;
};

struct KernelRequest {
  python::ModuleLoader& loader;
  const python::LoadedModule& module;
  const python::FunctionDef& function;
  std::string name;  // as the user calls it
  std::vector<Type> arguments;
  Dialect dialect = Dialect::Cuda;
  // Of CUDA text, what its launches promise. Narrow: no array has more than 2^30 elements, no grid
  // more threads along an axis, and int64 numbers lie between 0 and that, so that indices need 32
  // bits. Apart: no two arrays share memory.
  bool is_narrow = false;
  bool are_apart = false;
  bool is_emulated = false;  // where a grid has one block when it synchronises as a whole
};

// Throws SyntaxOrTypeError with the place for what the language has not, and for types that do not
// fit.
KernelText write_kernel(const KernelRequest& request);

}  // namespace tilewright::numba
