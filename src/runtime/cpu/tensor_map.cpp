// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/tensor_map.cpp — the fields of an emulated map.
#include "runtime/cpu/tensor_map.h"

#include <cstring>

namespace tilewright {
namespace {

struct EmulatedMap {
  void* address;
  std::uint32_t element_bytes, rank;
  std::uint64_t sizes[5];
  std::uint64_t strides[4];
  std::uint16_t box[5];
  std::uint16_t swizzle_bytes;
  std::uint16_t rounds_to_tf32;
};
static_assert(sizeof(EmulatedMap) <= sizeof(TensorMap));

}  // namespace

void encode_emulated_map(const TensorMapRequest& request, TensorMap& map) {
  EmulatedMap out{.address = request.address,
                  .element_bytes = static_cast<std::uint32_t>(size_of(request.dtype)),
                  .rank = static_cast<std::uint32_t>(request.rank),
                  .swizzle_bytes = static_cast<std::uint16_t>(request.swizzle_bytes),
                  .rounds_to_tf32 = request.rounds_to_tf32};
  for (int d = 0; d < request.rank; ++d) {
    out.sizes[d] = request.sizes[d];
    out.box[d] = static_cast<std::uint16_t>(request.box[d]);
    if (d + 1 < request.rank) out.strides[d] = request.strides[d];
  }
  std::memcpy(&map, &out, sizeof out);
}

}  // namespace tilewright
