// SPDX-License-Identifier: Apache-2.0
// load_inline/local_includes.h — the headers of a source's own folder as part of its text.
#pragma once

#include <string>

namespace tilewright {

// The text of a file in which every `#include "x"` that is found beside it, or beside the header
// that asks, is replaced by x's text, once per header. Kernels in such headers are then kernels of
// the source, as for nvcc. `#line` keeps names and numbers. Throws ArgumentError when the file
// itself cannot be read.
std::string read_with_local_includes(const std::string& path);

}  // namespace tilewright
