// SPDX-License-Identifier: Apache-2.0
// load_inline/inline_source.h — one source of a call to load_inline with its outline.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "load_inline/outline.h"

namespace tilewright {

struct InlineSource {
  std::string text;
  std::string file;  // as the user's compiler messages name it: "gelu.cu", "cuda_sources[1]"
  bool is_cuda = false;
  std::vector<Declaration> outline;
};

InlineSource make_inline_source(std::string text, std::string file, bool is_cuda);

// A header of ours as text to stand in front of the user's, without its includes of other headers
// of ours.
std::string embedded_part(std::string_view name);

// The header that an #include directive of the outline names, with its brackets or quotes; empty
// for everything else.
std::string_view included_header_of(const InlineSource& source, const Declaration& declaration);

// Headers whose content our own texts stand in for: the standard library's, torch's, CUDA's. With
// brackets or quotes.
bool is_torch_header(std::string_view header);
bool is_cuda_header(
    std::string_view header);  // but not those with types of their own, such as cuda_fp16.h
bool is_standard_header(std::string_view header);
// Headers of CUDA for device code alone: cooperative groups, CUB, cuRAND's kernels, ...
bool is_device_header(std::string_view header);

// May device code see this declaration? No for host functions (but constexpr ones), for bindings,
// and for types, variables and aliases that mention torch, pybind11 or parts of the standard
// library that only hosts have.
bool is_device_visible(const InlineSource& source, const Declaration& declaration);

// Is there any use of the name as an identifier in the sources?
bool mentions(std::span<const InlineSource> sources, std::string_view identifier);

}  // namespace tilewright
