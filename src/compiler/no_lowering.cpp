// SPDX-License-Identifier: Apache-2.0
// compiler/no_lowering.cpp — stands in for the front end where it is not part of the build.
#include "frontend/triton/lower.h"
#include "tilewright/error.h"

namespace tilewright::triton {

[[gnu::weak]] LoweredKernel lower(python::ModuleLoader&, const python::DecoratedFunction&,
                                  const std::map<std::string, ParameterType>&,
                                  const LowerOptions&) {
  throw MissingError("this build has no Triton front end");
}

}  // namespace tilewright::triton
