// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/emit.h — a kernel of stage Tile, Laid or Final as CUDA C++ that is made to be read.
//
//   KernelSource source = emit_cuda(kernel, {.target = Target::parse("sm_90a"), .num_warps = 4});
//
// The text includes nothing but parts of the device library, which travel along as headers of the
// source. It holds no inline PTX, so that emulate_source() can turn it into a source for a CPU.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "ir/kernel.h"
#include "tilewright/kernel_source.h"
#include "tilewright/target.h"

namespace tilewright {

// How programs lie on the threads of the machine.
struct ProgramShape {
  int warps = 4;     // of a program in each of its blocks, a power of two
  int lanes = 0;     // of a warp, as many as the machine has
  int programs = 1;  // that share a block at most, where none of them needs it for itself
  int blocks = 1;    // of the cluster over which one program is spread
  int resident = 0;  // blocks that registers must suffice for on a multiprocessor; 0: any number
  // The row that a program works on lies in shared memory, each thread's part for itself, and what
  // is computed from it is computed again where it is needed.
  bool stows_row = false;

  int threads() const { return block_threads() * blocks; }  // of one program
  int block_threads() const { return warps * lanes; }       // of one program in one of its blocks

  friend bool operator==(const ProgramShape&, const ProgramShape&) = default;
};

struct CudaEmitOptions {
  Target target;
  int num_warps = 4;       // a power of two
  int num_ctas = 1;        // blocks of a cluster per program, where the kernel can be spread
  int programs = 1;        // per block, where the kernel needs no shared memory and no barrier
  bool stows_row = false;  // in shared memory, where the kernel has one that is kept
  // Nobody has asked for those four: choose_shapes() does.
  bool chooses_shape = false;
  bool drops_warps = false;      // that would only hold copies of what others have
  int max_registers = 0;         // per thread; 0: the compiler's choice
  bool fp_fusion = true;         // a * b + c may be rounded once
  bool flush_denormals = false;  // f32 numbers below the normal ones count as 0
  bool line_directives = false;  // #line to the user's source, for profilers
  // The text of a line of the user's source, without its end; empty when unknown.
  std::function<std::string_view(std::uint16_t file, std::int32_t line)> line_text = {};
};

struct KernelPlan;  // plan_kernel.h

// How programs of a Laid kernel lie on the threads of a target.
ProgramShape shape_of(const ir::Kernel& laid, const Target& target);

// Of stages Laid and Final as it is, of stage Tile after laid_for_cuda. Throws ArgumentError when the kernel cannot
// run: more shared memory than a block can have, or a number of warps that is no power of two or
// more than a block has. `sketch` is what sketch_kernel made of the kernel for this target, if
// anybody has asked.
KernelSource emit_cuda(const ir::Kernel& kernel, const CudaEmitOptions& options,
                       const KernelPlan* sketch = nullptr);

// The kernel at stage Laid as it is emitted: in sweeps, with its shape, layouts and places.
ir::Kernel laid_for_cuda(const ir::Kernel& tiles, const CudaEmitOptions& options);

// The Laid kernel as the program of one thread (lower/lower_to_threads.h).
ir::Kernel final_for_cuda(const ir::Kernel& laid, const CudaEmitOptions& options);

// The same kernels for Device::cpu(), thread by thread: slow, for tests and for machines without a
// GPU. `source` is what emit_cuda made.
KernelSource emulate_source(const KernelSource& source);

}  // namespace tilewright
