// SPDX-License-Identifier: Apache-2.0
// codegen/emulate/rewrite.h — CUDA C++ source becomes C++ that the host compiler builds into an
// emulated kernel.
//
//   EmulatedSource source = emulate_cuda(text, "gelu.cu");
//   std::string cpp = emulation_prelude({&source, 1}) + source.text +
//                     emulated_entry("gelu_entry", "gelu_kernel", uses_barriers(source,
//                     "gelu_kernel"));
//
// compiled as C++20 with emulation_options(), is a Language::Cpp source with the CPU entry
// `gelu_entry`. `text` must hold device code only: no launches, no host functions that need CUDA's
// host interface.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

struct EmulatedSource {
  std::string text;                 // begins with a #line directive; every line keeps its number
  bool has_barriers = false;        // a barrier or a function of a warp occurs somewhere
  bool has_dynamic_shared = false;  // extern __shared__
  bool has_half = false;            // fp16 or bf16
  bool has_groups = false;          // cooperative groups
  bool has_cub = false;             // CUB's collectives of a block
  bool has_copies = false;          // asynchronous copies into shared memory
  bool has_heap = false;            // device code allocates memory by itself
  bool needs_standard_library =
      false;                      // it includes standard headers beyond those that have a stand-in
  std::set<std::string> defined;  // functions, classes and macros that the text defines
  std::set<std::string>
      reaches_barrier;  // those of them from which a barrier can be reached, and the barriers
};

// Throws SyntaxOrTypeError, with the place, for a feature that emulation lacks (inline PTX,
// textures, grids that synchronise, tensor cores, ...). Inside #if groups such a feature becomes an
// #error that only fires when the group is compiled.
EmulatedSource emulate_cuda(std::string_view text, std::string_view name);

// Do threads of this kernel (a name or a name expression) have to run as fibers?
bool uses_barriers(const EmulatedSource& source, std::string_view kernel_expression);

// What must stand before the texts of `sources`: the calling convention and the emulation library.
std::string emulation_prelude(std::span<const EmulatedSource> sources);

// The CPU entry of one kernel, to stand after the texts: an extern "C" function `symbol`. With
// checks its threads are always fibers, so that one which does what it must not can be left.
// `kernel_expression` names the kernel as the source does: "scale", "ns::scale", "scale<float, 4>".
std::string emulated_entry(std::string_view symbol, std::string_view kernel_expression,
                           bool with_barriers);

// Are accesses to shared memory checked? By settings().emulate_check; not in builds with
// sanitizers, which leave no room for this instrumentation. Kernels with shared memory then always
// run as fibers.
bool is_emulation_checked();

// Flags for the host compiler that emulated sources need.
std::vector<std::string> emulation_options();

}  // namespace tilewright
