// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/tensor_map.cpp — checks a request against the rules of TMA, so that the error can
// say which one it breaks.
#include "runtime/cuda/tensor_map.h"

#include <cstring>

#include "base/check.h"
#include "runtime/cuda/errors.h"

namespace tilewright::cuda {
namespace {

constexpr std::uint64_t max_size = std::uint64_t{1} << 32;
constexpr std::uint64_t max_stride = std::uint64_t{1} << 40;
constexpr std::uint32_t max_box = 256;

CUtensorMapDataType data_type(DType dtype, bool rounds_to_tf32) {
  if (rounds_to_tf32) return CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
  switch (dtype) {
    case DType::Float64:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
    case DType::Float32:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    case DType::Float16:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    case DType::BFloat16:
      return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    case DType::Int64:
      return CU_TENSOR_MAP_DATA_TYPE_INT64;
    case DType::UInt64:
      return CU_TENSOR_MAP_DATA_TYPE_UINT64;
    case DType::Int32:
      return CU_TENSOR_MAP_DATA_TYPE_INT32;
    case DType::UInt32:
      return CU_TENSOR_MAP_DATA_TYPE_UINT32;
    case DType::Int16:
    case DType::UInt16:
      return CU_TENSOR_MAP_DATA_TYPE_UINT16;
    default:
      return CU_TENSOR_MAP_DATA_TYPE_UINT8;
  }
}

CUtensorMapSwizzle swizzle(int bytes) {
  switch (bytes) {
    case 0:
      return CU_TENSOR_MAP_SWIZZLE_NONE;
    case 32:
      return CU_TENSOR_MAP_SWIZZLE_32B;
    case 64:
      return CU_TENSOR_MAP_SWIZZLE_64B;
    case 128:
      return CU_TENSOR_MAP_SWIZZLE_128B;
    default:
      throw ArgumentError(
          fmt::format("a tensor map's swizzle is 0, 32, 64 or 128 bytes, got {}", bytes));
  }
}

void check_dimension(const TensorMapRequest& r, int d) {
  const std::uint64_t size = r.sizes[d];
  if (size < 1 || size > max_size)
    throw ArgumentError(
        fmt::format("dimension {} of a tensor map has size {}; it must be 1 to 2^32", d, size));
  if (r.box[d] < 1 || r.box[d] > max_box)
    throw ArgumentError(fmt::format(
        "dimension {} of a tensor map has a box of {}; it must be 1 to {}", d, r.box[d], max_box));
  if (d == 0) return;
  const std::uint64_t stride = r.strides[d - 1];
  if (stride % 16 != 0 || stride >= max_stride)
    throw ArgumentError(
        fmt::format("dimension {} of a tensor map has a stride of {} bytes; it must be a multiple "
                    "of 16 below 2^40",
                    d, stride));
}

void check_request(const TensorMapRequest& r) {
  if (r.rank < 1 || r.rank > 5)
    throw ArgumentError(fmt::format("a tensor map has 1 to 5 dimensions, got {}", r.rank));
  if (reinterpret_cast<std::uintptr_t>(r.address) % 16 != 0)
    throw ArgumentError(
        fmt::format("a tensor map needs an address that is a multiple of 16, got {}", r.address));
  for (int d = 0; d < r.rank; ++d) check_dimension(r, d);
  const std::size_t row = r.box[0] * size_of(r.dtype);
  if (row % 16 != 0)
    throw ArgumentError(
        fmt::format("a tensor map's box is {} bytes wide; it must be a multiple of 16", row));
  if (r.swizzle_bytes != 0 && row > static_cast<std::size_t>(r.swizzle_bytes))
    throw ArgumentError(fmt::format(
        "a tensor map's box is {} bytes wide, more than its swizzle of {}", row, r.swizzle_bytes));
}

// Bytes from the first to the end of the last element.
std::uint64_t span_of(const TensorMapRequest& r) {
  std::uint64_t bytes = r.sizes[0] * size_of(r.dtype);
  for (int d = 1; d < r.rank; ++d) bytes += (r.sizes[d] - 1) * r.strides[d - 1];
  return bytes;
}

// Drivers up to CUDA 13.1 set a bit that is wrong for tensors of less than 128 KiB.
void correct_small_tensor(const TensorMapRequest& request, CUtensorMap& map) {
  int version = 0;
  driver().cuDriverGetVersion(&version);
  if (version <= 13010 && span_of(request) < 128 * 1024) map.opaque[1] &= ~(std::uint64_t{1} << 21);
}

}  // namespace

void encode_tensor_map(const TensorMapRequest& request, TensorMap& map) {
  check_request(request);
  constexpr std::uint32_t element_strides[5] = {1, 1, 1, 1, 1};
  CUtensorMap encoded;
  static_assert(sizeof(CUtensorMap) == sizeof(TensorMap));
  const CUresult result = driver().cuTensorMapEncodeTiled(
      &encoded, data_type(request.dtype, request.rounds_to_tf32), static_cast<std::uint32_t>(request.rank), request.address,
      request.sizes, request.strides, request.box, element_strides, CU_TENSOR_MAP_INTERLEAVE_NONE,
      swizzle(request.swizzle_bytes), CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) throw_cuda_error(result, "cuTensorMapEncodeTiled");
  correct_small_tensor(request, encoded);
  std::memcpy(&map, &encoded, sizeof map);
}

}  // namespace tilewright::cuda
