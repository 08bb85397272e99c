// SPDX-License-Identifier: Apache-2.0
// cli/self_contained.h — generated source as one text that needs no header of ours.
#pragma once

#include <string>

#include "tilewright/kernel_source.h"

namespace tilewright::cli {

// `text` with every `#include "..."` of the source's own headers replaced by that header, each
// once.
std::string with_headers_inside(const KernelSource& source, const std::string& text);

}  // namespace tilewright::cli
