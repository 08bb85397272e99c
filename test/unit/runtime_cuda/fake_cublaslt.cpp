// SPDX-License-Identifier: Apache-2.0
// runtime_cuda/fake_cublaslt.cpp — a cuBLASLt without a GPU: it takes products of float32 and
// multiplies on the host as its descriptors say, column-major, so that a wrong descriptor is a
// wrong result.
#include "fake_cublaslt.h"

#include <cstring>
#include <map>

namespace tilewright::cuda {
namespace {

struct Desc {
  cublasComputeType compute;
  cublasOperation operations[2] = {CUBLAS_OP_N, CUBLAS_OP_N};
  bool has_bias = false;
  const float* bias = nullptr;
};
struct Layout {
  cudaDataType type;
  std::int64_t rows, columns, leading, batch = 1, batch_stride = 0;
};

FakeCublasLt& state() {
  static FakeCublasLt instance;
  return instance;
}

template <class T>
T read(const void* data, std::size_t bytes) {
  T value{};
  if (bytes == sizeof value) std::memcpy(&value, data, bytes);
  else ++state().mistakes;
  return value;
}

Desc* of(cublasLtMatmulDesc handle) { return reinterpret_cast<Desc*>(handle); }
Layout* of(cublasLtMatrixLayout handle) { return reinterpret_cast<Layout*>(handle); }

float element(const float* data, const Layout& m, cublasOperation op, std::int64_t row,
              std::int64_t column) {
  return op == CUBLAS_OP_N ? data[row + column * m.leading] : data[column + row * m.leading];
}

}  // namespace
}  // namespace tilewright::cuda

using namespace tilewright::cuda;

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED FakeCublasLt* fake_cublaslt() { return &state(); }
EXPORTED std::size_t cublasLtGetVersion() { return 130002; }
EXPORTED const char* cublasLtGetStatusString(cublasStatus) { return "a fake's reason"; }
EXPORTED cublasStatus cublasLtCreate(cublasLtHandle* handle) {
  *handle = reinterpret_cast<cublasLtHandle>(&state());
  ++state().handles;
  return CUBLAS_STATUS_SUCCESS;
}
EXPORTED cublasStatus cublasLtMatmulDescCreate(cublasLtMatmulDesc* desc, cublasComputeType compute,
                                               cudaDataType) {
  *desc = reinterpret_cast<cublasLtMatmulDesc>(new Desc{compute});
  state().last_compute = compute;
  ++state().descriptors;
  return CUBLAS_STATUS_SUCCESS;
}
EXPORTED cublasStatus cublasLtMatmulDescDestroy(cublasLtMatmulDesc desc) {
  delete of(desc);
  --state().descriptors;
  return CUBLAS_STATUS_SUCCESS;
}
EXPORTED cublasStatus cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc desc,
                                                     cublasLtMatmulDescAttribute attribute,
                                                     const void* data, std::size_t bytes) {
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
    case CUBLASLT_MATMUL_DESC_TRANSB:
      of(desc)->operations[attribute - CUBLASLT_MATMUL_DESC_TRANSA] =
          read<cublasOperation>(data, bytes);
      break;
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      of(desc)->has_bias = read<cublasLtEpilogue>(data, bytes) == CUBLASLT_EPILOGUE_BIAS;
      break;
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      of(desc)->bias = read<const float*>(data, bytes);
      break;
  }
  return CUBLAS_STATUS_SUCCESS;
}
EXPORTED cublasStatus cublasLtMatrixLayoutCreate(cublasLtMatrixLayout* layout, cudaDataType type,
                                                 std::uint64_t rows, std::uint64_t columns,
                                                 std::int64_t leading) {
  *layout = reinterpret_cast<cublasLtMatrixLayout>(new Layout{
      type, static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns), leading});
  if (leading < static_cast<std::int64_t>(rows)) ++state().mistakes;
  ++state().descriptors;
  return CUBLAS_STATUS_SUCCESS;
}
EXPORTED cublasStatus cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout layout) {
  delete of(layout);
  --state().descriptors;
  return CUBLAS_STATUS_SUCCESS;
}
EXPORTED cublasStatus cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout layout,
                                                       cublasLtMatrixLayoutAttribute attribute,
                                                       const void* data, std::size_t bytes) {
  if (attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT)
    of(layout)->batch = read<std::int32_t>(data, bytes);
  else of(layout)->batch_stride = read<std::int64_t>(data, bytes);
  return CUBLAS_STATUS_SUCCESS;
}
EXPORTED cublasStatus cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference* preference) {
  *preference = reinterpret_cast<cublasLtMatmulPreference>(&state());
  return CUBLAS_STATUS_SUCCESS;
}
EXPORTED cublasStatus cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference) {
  return CUBLAS_STATUS_SUCCESS;
}
EXPORTED cublasStatus cublasLtMatmulPreferenceSetAttribute(
    cublasLtMatmulPreference, cublasLtMatmulPreferenceAttribute attribute, const void* data,
    std::size_t bytes) {
  if (attribute == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES) read<std::uint64_t>(data, bytes);
  else state().last_alignment = read<std::uint32_t>(data, bytes);
  return CUBLAS_STATUS_SUCCESS;
}
EXPORTED cublasStatus cublasLtMatmulAlgoGetHeuristic(cublasLtHandle, cublasLtMatmulDesc,
                                                     cublasLtMatrixLayout a, cublasLtMatrixLayout,
                                                     cublasLtMatrixLayout, cublasLtMatrixLayout,
                                                     cublasLtMatmulPreference, int,
                                                     cublasLtMatmulHeuristicResult* found,
                                                     int* count) {
  ++state().choices;
  *count = of(a)->type == CUDA_R_32F ? 1 : 0;
  found->state = CUBLAS_STATUS_SUCCESS;
  found->workspaceSize = 1024;
  return *count > 0 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}
EXPORTED cublasStatus cublasLtMatmul(cublasLtHandle, cublasLtMatmulDesc desc_handle,
                                     const void* alpha, const void* a,
                                     cublasLtMatrixLayout a_layout, const void* b,
                                     cublasLtMatrixLayout b_layout, const void* beta, const void* c,
                                     cublasLtMatrixLayout, void* out,
                                     cublasLtMatrixLayout out_layout, const cublasLtMatmulAlgo*,
                                     void* workspace, std::size_t bytes, CUstream stream) {
  if (state().fails) return CUBLAS_STATUS_NOT_SUPPORTED;
  const Desc& d = *of(desc_handle);
  const Layout &x = *of(a_layout), &y = *of(b_layout), &z = *of(out_layout);
  const std::int64_t depth = d.operations[0] == CUBLAS_OP_N ? x.columns : x.rows;
  const bool fits = *static_cast<const float*>(alpha) == 1 &&
                    *static_cast<const float*>(beta) == 0 && c == out && workspace != nullptr &&
                    bytes == 1024 && x.batch == z.batch && y.batch == z.batch;
  if (!fits) ++state().mistakes;
  state().last_stream = stream;
  ++state().products;
  for (std::int64_t i = 0; i < z.batch; ++i) {
    const float* const left = static_cast<const float*>(a) + i * x.batch_stride;
    const float* const right = static_cast<const float*>(b) + i * y.batch_stride;
    float* const to = static_cast<float*>(out) + i * z.batch_stride;
    for (std::int64_t row = 0; row < z.rows; ++row)
      for (std::int64_t column = 0; column < z.columns; ++column) {
        float total = d.has_bias ? d.bias[row] : 0;
        for (std::int64_t k = 0; k < depth; ++k)
          total += element(left, x, d.operations[0], row, k) *
                   element(right, y, d.operations[1], k, column);
        to[row + column * z.leading] = total;
      }
  }
  return CUBLAS_STATUS_SUCCESS;
}
