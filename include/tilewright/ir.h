// SPDX-License-Identifier: Apache-2.0
// tilewright/ir.h — kernels given in the tile IR, compiled at their first launch and run on the GPU
// or the CPU. For programs that make kernels themselves.
//
//   auto twice = tw::load_ir(R"(
//     kernel @twice(%x: *f32, %n: i32) source {
//       %id = program_id {axis = 0} : i32
//       %size = constant {value = 1024} : i32
//       %first = mul %id, %size : i32
//       %lane = arange {start = 0} : i32[1024]
//       %base = splat %first : i32[1024]
//       %i = add %base, %lane : i32[1024]
//       %end = splat %n : i32[1024]
//       %inside = compare %i, %end {is = "lt"} : b1[1024]
//       %start = splat %x : *f32[1024]
//       %p = offset %start, %i : *f32[1024]
//       %v = load %p, %inside : f32[1024]
//       %sum = add %v, %v : f32[1024]
//       store %p, %sum, %inside
//     })");
//   twice[{.grid = tw::cdiv(n, 1024)}](x, n);
//
// `tilewright compile FILE.py:KERNEL --emit ir` prints kernels in this form, `tilewright opt` runs
// passes on it and checks it. A kernel at stage `source` goes through all passes; one at stage
// `tile`, which has been through them, is compiled as it is.
//
// A launch specialises the kernel: addresses and integers that are multiples of 16 are known as
// such, an integer 1 is a constant, and arguments that lie in the same memory keep the order of
// their accesses. What the text itself says of an argument (`{divisible = 16}`) is checked.
//
// Launches may come from many threads. A launch like an earlier one takes no lock and allocates
// nothing.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/module.h"
#include "tilewright/target.h"

namespace tilewright {

namespace ir {
class Kernel;
}

struct IrLaunch {
  Dim3 grid = {};
  std::optional<int> num_warps = {};   // 4, or what suits the kernel
  std::optional<int> num_stages = {};  // 3
  std::optional<int> num_ctas = {};    // 1
  std::optional<int> maxnreg = {};
  std::optional<Stream> stream = {};  // else the current stream of the device
  bool fp_fusion = true;              // a multiply and an add may become one instruction
  bool flush_to_zero = false;         // f32 numbers below the normal ones count as 0
  bool interpret = false;             // in the interpreter, which finds accesses out of bounds
  bool float64 = false;               // interpreter: floats are doubles until the end, a reference
  // The CUDA text for this target runs on the CPU thread by thread, over tensors of the CPU;
  // checked with TILEWRIGHT_EMULATE_CHECK=1. Null: code for the device of the tensors.
  const Target* emulate = nullptr;
};

class IrKernel {
 public:
  IrKernel() = default;

  class Bound {
   public:
    template <class... Values>
    void operator()(const Values&... values) const {
      const std::array<Argument, sizeof...(Values)> arguments{Argument(values)...};
      kernel_.launch(launch_, arguments);
    }

   private:
    friend class IrKernel;
    Bound(const IrKernel& kernel, IrLaunch launch) : kernel_(kernel), launch_(std::move(launch)) {}
    const IrKernel& kernel_;
    IrLaunch launch_;
  };
  Bound operator[](IrLaunch launch) const { return Bound(*this, std::move(launch)); }

  // Arguments in the order of the kernel's. The device is that of the tensors. Throws ArgumentError
  // for wrong arguments, and what the compiler says of the kernel.
  void launch(const IrLaunch& launch, std::span<const Argument> arguments) const;

  // Runs each launch with these arguments and returns the place of the fastest one. The tensors'
  // contents are as before afterwards. One that cannot run (too much shared memory, say) is passed
  // over; when all are such, the error of the first is thrown.
  std::size_t fastest(std::span<const IrLaunch> launches,
                      std::span<const Argument> arguments) const;

  // The source that a launch with these arguments compiles.
  KernelSource source(const IrLaunch& launch, std::span<const Argument> arguments) const;

  const std::string& name() const;
  // What is launched, in the order of the arguments.
  const std::vector<Parameter>& parameters() const;
  // How many different specialisations there are by now.
  std::size_t specializations() const;

  struct State;
  explicit IrKernel(std::shared_ptr<State> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<State> state_;
};

// One kernel in text form. `file` is what messages call the text. Throws UserError, one sentence
// with line, op and the rule that is broken, when it is no valid kernel.
IrKernel load_ir(std::string_view text, const std::string& file = "<ir>");
IrKernel load_ir_file(const std::string& file);

// The same for a kernel that was built in memory, at stage Source or Tile: for front ends inside
// this library, whose headers alone define ir::Kernel. With `specializes_integers` false, integers
// are arguments and nothing else: what the kernel says of them ({divisible = 16}) is all that is
// known, so that other sizes are the same code.
IrKernel load_ir(ir::Kernel kernel, bool specializes_integers = true);

}  // namespace tilewright
