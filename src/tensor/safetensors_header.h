// SPDX-License-Identifier: Apache-2.0
// tensor/safetensors_header.h — the header of a safetensors file: JSON that says of each tensor its
// dtype, shape and bytes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/tensor.h"

namespace tilewright {

struct StoredTensor {
  std::string name;
  DType dtype = DType::Float32;
  Shape shape;
  std::uint64_t begin = 0, end = 0;  // bytes behind the header
};

struct SafetensorsHeader {
  std::vector<StoredTensor> tensors;  // in the order of their bytes
  std::map<std::string, std::string> metadata;
};

// Reads and checks the header of a file with `data_bytes` behind it: every claim must hold, and
// tensors cover those bytes without gaps and overlaps. Throws FormatError, which names `path`.
SafetensorsHeader parse_safetensors_header(std::string_view text, std::uint64_t data_bytes,
                                           const std::string& path);

// Everything that stands before the data, padded so that the data is 8-byte aligned.
std::string safetensors_preamble(const SafetensorsHeader& header);

}  // namespace tilewright
