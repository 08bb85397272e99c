// SPDX-License-Identifier: Apache-2.0
// frontend/python/source.h — a Python file as checked text: UTF-8, no BOM, every line ended by
// '\n'.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/diagnostic.h"

namespace tilewright::python {

struct Source {
  std::string file;  // as messages name it
  std::string text;
};

// Larger files are refused: no program that a person wrote comes near.
inline constexpr std::size_t max_source_bytes = std::size_t{16} << 20;

// Checks and decodes the bytes of a file. Throws SyntaxOrTypeError at the first byte that is not
// UTF-8, at a null byte, and for other encodings.
Source make_source(std::string file, std::string_view bytes);

// The same for a file on disk; ArgumentError when it cannot be read.
Source read_source(const std::string& path);

[[noreturn]] void fail_at(const Source& source, Span span, std::string message,
                          std::string hint = {});

}  // namespace tilewright::python
