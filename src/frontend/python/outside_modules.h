// SPDX-License-Identifier: Apache-2.0
// frontend/python/outside_modules.h — modules of other packages that kernels call into, as texts of
// our own.
#pragma once

#include <string_view>

namespace tilewright::python {

// The text of a module by its dotted name ("torch._inductor.runtime.triton_helpers"), which means
// the same as the module; empty for others.
std::string_view outside_module(std::string_view dotted);

}  // namespace tilewright::python
