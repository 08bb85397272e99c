// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/cublaslt_api.h — cuBLASLt, NVIDIA's matrix products, opened at the first use and
// declared by ourselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/cuda/driver_types.h"

namespace tilewright::cuda {

struct cublasLtContext;
struct cublasLtMatmulDescOpaque;
struct cublasLtMatrixLayoutOpaque;
struct cublasLtMatmulPreferenceOpaque;
using cublasLtHandle = cublasLtContext*;
using cublasLtMatmulDesc = cublasLtMatmulDescOpaque*;
using cublasLtMatrixLayout = cublasLtMatrixLayoutOpaque*;
using cublasLtMatmulPreference = cublasLtMatmulPreferenceOpaque*;

enum cublasStatus : int {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_SUPPORTED = 15,
};
enum cublasOperation : int { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1 };
enum cublasComputeType : int {
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_64F = 70,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77,
};
enum cudaDataType : int { CUDA_R_32F = 0, CUDA_R_64F = 1, CUDA_R_16F = 2, CUDA_R_16BF = 14 };
enum cublasLtMatmulDescAttribute : int {
  CUBLASLT_MATMUL_DESC_TRANSA = 3,
  CUBLASLT_MATMUL_DESC_TRANSB = 4,
  CUBLASLT_MATMUL_DESC_EPILOGUE = 7,
  CUBLASLT_MATMUL_DESC_BIAS_POINTER = 8,
};
enum cublasLtMatrixLayoutAttribute : int {
  CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT = 5,
  CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET = 6,
};
enum cublasLtMatmulPreferenceAttribute : int {
  CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES = 5,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES = 6,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES = 7,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES = 8,
};
enum cublasLtEpilogue : int { CUBLASLT_EPILOGUE_DEFAULT = 1, CUBLASLT_EPILOGUE_BIAS = 4 };

struct cublasLtMatmulAlgo {
  std::uint64_t data[8];
};
struct cublasLtMatmulHeuristicResult {
  cublasLtMatmulAlgo algo;
  std::size_t workspaceSize;
  cublasStatus state;
  float wavesCount;
  int reserved[4];
};

// OP(exported name, result type, parameter types)
// clang-format off
#define TW_CUBLASLT_FUNCTIONS(OP)                                                                                        \
  OP(cublasLtGetVersion, std::size_t, void)                                                                              \
  OP(cublasLtGetStatusString, const char*, cublasStatus)                                                                 \
  OP(cublasLtCreate, cublasStatus, cublasLtHandle*)                                                                      \
  OP(cublasLtMatmulDescCreate, cublasStatus, cublasLtMatmulDesc*, cublasComputeType, cudaDataType)                       \
  OP(cublasLtMatmulDescDestroy, cublasStatus, cublasLtMatmulDesc)                                                        \
  OP(cublasLtMatmulDescSetAttribute, cublasStatus, cublasLtMatmulDesc, cublasLtMatmulDescAttribute, const void*, std::size_t) \
  OP(cublasLtMatrixLayoutCreate, cublasStatus, cublasLtMatrixLayout*, cudaDataType, std::uint64_t, std::uint64_t, std::int64_t) \
  OP(cublasLtMatrixLayoutDestroy, cublasStatus, cublasLtMatrixLayout)                                                    \
  OP(cublasLtMatrixLayoutSetAttribute, cublasStatus, cublasLtMatrixLayout, cublasLtMatrixLayoutAttribute, const void*, std::size_t) \
  OP(cublasLtMatmulPreferenceCreate, cublasStatus, cublasLtMatmulPreference*)                                            \
  OP(cublasLtMatmulPreferenceDestroy, cublasStatus, cublasLtMatmulPreference)                                            \
  OP(cublasLtMatmulPreferenceSetAttribute, cublasStatus, cublasLtMatmulPreference, cublasLtMatmulPreferenceAttribute, const void*, std::size_t) \
  OP(cublasLtMatmulAlgoGetHeuristic, cublasStatus, cublasLtHandle, cublasLtMatmulDesc, cublasLtMatrixLayout, cublasLtMatrixLayout, cublasLtMatrixLayout, cublasLtMatrixLayout, cublasLtMatmulPreference, int, cublasLtMatmulHeuristicResult*, int*) \
  OP(cublasLtMatmul, cublasStatus, cublasLtHandle, cublasLtMatmulDesc, const void*, const void*, cublasLtMatrixLayout, const void*, cublasLtMatrixLayout, const void*, const void*, cublasLtMatrixLayout, void*, cublasLtMatrixLayout, const cublasLtMatmulAlgo*, void*, std::size_t, CUstream)
// clang-format on

struct CublasLtApi {
#define OP(name, result, ...) result (*name)(__VA_ARGS__) = nullptr;
  TW_CUBLASLT_FUNCTIONS(OP)
#undef OP
  std::string path;
  std::string version;  // "13.0.2"
};

// Null when there is none that can be used: a line of TILEWRIGHT_LOG=libraries says where it was
// looked for, a warning what is wrong with one that was found. Opened once, then kept.
const CublasLtApi* cublaslt();

}  // namespace tilewright::cuda
