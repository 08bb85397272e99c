// SPDX-License-Identifier: Apache-2.0
// ir/interpret/interpret.h — runs a kernel slowly and exactly: the definition of what the IR means.
//
// Integers wrap at their width; floats are rounded to their type after every op (once, to nearest
// even); with `float64` no float is rounded at all, which gives references. Every pointer remembers
// the buffer it came from: an access outside that buffer is an error that names the source line,
// the program, the index and the buffer. Programs run one after another, x fastest.
//
// Where hardware leaves a result open, it is defined here: an integer divided by 0 gives all ones
// and leaves the dividend as remainder; the smallest integer divided by -1 wraps; floats out of
// range cast to the nearest integer of the type, NaN to 0; masked-off elements of a load without
// `other` are 0.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "ir/kernel.h"

namespace tilewright::ir {

struct Checkpoint;
class OrderWatch;
class Watch;

// Memory that the kernel may touch.
struct InterpretBuffer {
  std::string name;
  void* data = nullptr;
  std::size_t bytes = 0;
  // With `float64`: elements of `shadow_dtype` are read and written here instead, unrounded; one
  // double per element.
  std::vector<double>* shadow = nullptr;
  DType shadow_dtype = DType::Float32;
};

// One kernel argument: a scalar, or a place in a buffer (buffer -1 is the null pointer).
struct InterpretPointer {
  int buffer = -1;
  std::int64_t byte_offset = 0;
};
using InterpretArgument = std::variant<std::int64_t, double, InterpretPointer>;

struct InterpretOptions {
  std::int64_t grid[3] = {1, 1, 1};
  bool float64 = false;
  bool reversed = false;               // the last program first
  std::int64_t first = 0;              // programs before this one are left out
  const Checkpoint* resume = nullptr;  // where the first one goes on (checkpoint.h)
  std::uint64_t role_seed = 0;         // in which order roles run (rings.h)
  std::uint64_t jitter = 0;     // a seed: ops round as some device might (jitter.h); 0: as defined
  OrderWatch* order = nullptr;  // is told of every access to memory (order.h)
  Watch* watch = nullptr;       // is told of every op (watch.h)
  // Ops executed by one program before it counts as endless; 0: no limit.
  std::int64_t max_ops = 100'000'000;
  std::function<void(const std::string&)>
      print;  // gets each line of `print` ops; stdout when empty
};

// How many blocks run `programs` programs of a kernel along axis 0: as many, or a third of them where blocks take several.
std::int64_t block_count(const Kernel& kernel, std::int64_t programs);

// Throws UserError for what the kernel does wrong (out of bounds, a failed assert, an endless
// loop).
void interpret(const Kernel& kernel, std::span<const InterpretBuffer> buffers,
               std::span<const InterpretArgument> arguments, const InterpretOptions& options);

}  // namespace tilewright::ir
