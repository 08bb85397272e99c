// SPDX-License-Identifier: Apache-2.0
// load_inline/device_text.h — the device code of CUDA sources as one text, for NVRTC and for
// emulation.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/emulate/rewrite.h"
#include "load_inline/inline_source.h"

namespace tilewright {

// The CUDA sources with everything that device code cannot see blanked; every line keeps its number
// and file.
// `with_torch_types` brings c10::Half and the like even where the sources do not name them.
std::string nvrtc_text(std::span<const InlineSource> sources, bool with_torch_types = false);
// The same of a whole program, without the types, aliases and constants that only its host code
// names: those may need what NVRTC does not have (struct timeval, FILE).
std::string nvrtc_program_text(std::span<const InlineSource> sources);

struct EmulationNeeds {
  bool with_host = false;              // kernels are renamed, so that stubs can take their names
  bool with_standard_library = false;  // the text includes standard headers
  bool with_torch_types = false;       // as above
  std::string includes;                // these, to stand in front
  std::string headers;                 // these, between the emulation library and the sources
};

struct EmulatedText {
  std::string text;  // includes, emulation library and device code
  std::vector<EmulatedSource> sources;

  // Of a kernel by the name that it has in `text`.
  bool uses_barriers(std::string_view kernel_expression) const;
};

// Throws SyntaxOrTypeError for CUDA features that emulation lacks.
EmulatedText emulated_text(std::span<const InlineSource> sources, const EmulationNeeds& needs);

}  // namespace tilewright
