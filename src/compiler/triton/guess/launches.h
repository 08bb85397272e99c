// SPDX-License-Identifier: Apache-2.0
// compiler/triton/guess/launches.h — the places of a file that launch a kernel: `kernel[grid](x, n,
// BLOCK=64)`.
#pragma once

#include <string_view>
#include <vector>

#include "frontend/python/module_loader.h"

namespace tilewright {

struct KernelLaunch {
  const python::LoadedModule* module = nullptr;
  const python::Call* call = nullptr;
  const python::Node* grid = nullptr;             // as written between the brackets
  const python::FunctionDef* function = nullptr;  // around it; null at the top of the module
  // The argument of this parameter: by name, else at its position; null when it is not given.
  const python::Node* argument(std::string_view name, std::size_t position) const;
};

std::vector<KernelLaunch> find_launches(const python::LoadedModule& module,
                                        std::string_view kernel);

// A name in brackets is followed to its last assignment in the function around: `grid = (n,)`,
// `grid = lambda meta: ...`, `def grid(meta)`. The node itself when there is none.
const python::Node* followed_grid(const KernelLaunch& launch);

}  // namespace tilewright
