// SPDX-License-Identifier: Apache-2.0
// codegen/device_lib/emulate/source_map.h — from the lines of an emulated text to those of the file
// that it was generated from.
#pragma once

#include <cstdint>
#include <string>

namespace tilewright {

extern "C" {

// device_lib/emulate/cuda/core.cuh declares the same as text.
struct TwSourceLine {
  std::uint32_t line;  // 0: none
  std::uint32_t file;  // of the map's
};
struct TwSourceMap {
  const TwSourceLine* lines;  // of the text's line `first` and those after it
  std::uint32_t first;
  std::uint32_t count;
  const char* const* files;
};

}  // extern "C"

// "line 57"; "line 57 (softmax.py:12)" where the map knows more. The map may be null.
std::string line_text(const TwSourceMap* map, std::uint32_t line);

}  // namespace tilewright
