// SPDX-License-Identifier: Apache-2.0
// cli/self_contained.h — generated source as one text that needs no header of ours.
#pragma once

#include <string>

#include "tilewright/kernel_source.h"
#include "tilewright/target.h"

namespace tilewright::cli {

// `text` with every `#include "..."` of the source's own headers replaced by that header, each
// once. nvcc is told not to name every function of the library that the kernel does not call.
std::string with_headers_inside(const KernelSource& source, const std::string& text,
                                const Target& target);

}  // namespace tilewright::cli
