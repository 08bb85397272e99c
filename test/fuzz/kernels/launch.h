// SPDX-License-Identifier: Apache-2.0
// fuzz/kernels/launch.h — one generated kernel: its memory, its reference by the interpreter, its
// text for a place, and the comparison.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "compiler/triton/triton_state.h"
#include "evaluate.h"
#include "ir/interpret/interpret.h"
#include "tilewright/module.h"
#include "tilewright/triton.h"

namespace tilewright::fuzz {

class Launch {
 public:
  using Images = std::vector<std::vector<unsigned char>>;  // the bytes of each memory

  // Interprets the kernel as it was written, before any pass; throws what the interpreter throws.
  explicit Launch(const Program& program);

  KernelSource source_for(Place place) { return emit(place, lower(place)); }
  TileKernel lower(Place place);
  KernelSource emit(Place place, const TileKernel& tiles);
  // Runs a compiled kernel and says what differs first; empty: nothing.
  std::string run(const Function& function);
  // Interprets the kernel in the sweeps of each target, read back from their text.
  std::string run_laid();

  const Images& initial() const { return initial_; }
  const Images& expected() const { return expected_; }

 private:
  class Arguments;
  const TritonSpecialization& specialization() const;
  using EmitText = std::function<std::string(const ir::Kernel&)>;
  std::string run_sweeps(const ir::Kernel& kernel, const ir::Kernel& laid,
                         const EmitText& emit_text) const;
  Images images_of(const ir::Kernel& kernel, const ir::Kernel& named) const;
  ir::InterpretArgument interpreted(const std::string& name) const;
  std::string difference(const Images& got) const;

  const Program& program_;
  TritonKernel kernel_;
  Images initial_;
  Images expected_;
};

// Whether they are compiled alike, and headers of one name are the same.
bool can_merge(const KernelSource& a, const KernelSource& b);

// The texts of several kernels as one. Their headers are given once.
KernelSource merge(const std::vector<KernelSource>& sources);

}  // namespace tilewright::fuzz
