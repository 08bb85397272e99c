// SPDX-License-Identifier: Apache-2.0
// tensor/host_convert.h — rows of elements from one dtype to another, on the CPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tilewright/dtype.h"

namespace tilewright {

// `count` elements, each side stepping by a number of bytes (0 and negative ones too). Addresses
// need no alignment.
using ConvertRow = void (*)(std::byte* destination, std::ptrdiff_t destination_step,
                            const std::byte* source, std::ptrdiff_t source_step,
                            std::int64_t count);

ConvertRow convert_row(DType to, DType from);

}  // namespace tilewright
