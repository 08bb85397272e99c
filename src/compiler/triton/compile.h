// SPDX-License-Identifier: Apache-2.0
// compiler/triton/compile.h — a jit function with a signature becomes IR, and then source for a
// target.
#pragma once

#include <string>
#include <vector>

#include "compiler/compile.h"
#include "compiler/triton/signature.h"
#include "frontend/triton/lower.h"

namespace tilewright {

struct TileKernel {
  triton::LoweredKernel lowered;   // at stage Tile
  std::string source_ir;           // at stage Source, as text; when it was asked for
  PassResults passes;
};

// What host code may ask of this target while it is read (config lists, module constants).
python::Facts facts_of(const Target& target);

// As the front end makes it, at stage Source, for those who watch the interpreter.
TileKernel lower_to_source(python::ModuleLoader& loader, const python::DecoratedFunction& function,
                           const TritonSignature& signature, const Target& target,
                           const KernelOptions& options);

TileKernel lower_to_tiles(python::ModuleLoader& loader, const python::DecoratedFunction& function,
                          const TritonSignature& signature, const Target& target,
                          const KernelOptions& options, bool keep_source_ir = false);

// The text for the target. `loader` gives the lines of the source that the text quotes.
KernelSource emit_source(python::ModuleLoader& loader, const TileKernel& kernel,
                         const Target& target, const KernelOptions& options);

}  // namespace tilewright
