// SPDX-License-Identifier: Apache-2.0
// runtime_cuda/toolkit_libraries_test.cpp — our declarations of cuBLASLt and cuDNN equal those of
// NVIDIA's headers.
//
// Built only where a toolkit's headers are. Ours are included first.
#include "runtime/cuda/cublaslt_api.h"
#include "runtime/cuda/cudnn_api.h"

#if __has_include(<cublasLt.h>)
#include <cublasLt.h>
#define TW_HAS_CUBLASLT
#endif
#if __has_include(<cudnn.h>)
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <cudnn.h>
#define TW_HAS_CUDNN
#endif

#include <gtest/gtest.h>

#include "equivalent.h"

namespace tilewright::cuda {
namespace {

#define SAME(name) \
  static_assert(static_cast<unsigned>(name) == static_cast<unsigned>(::name), #name)

#ifdef TW_HAS_CUBLASLT
#define OP(name, result, ...) \
  static_assert(              \
      equivalent<std::remove_pointer_t<decltype(CublasLtApi::name)>, decltype(::name)>(), #name);
TW_CUBLASLT_FUNCTIONS(OP)
#undef OP
SAME(CUBLAS_STATUS_SUCCESS);
SAME(CUBLAS_STATUS_NOT_SUPPORTED);
SAME(CUBLAS_OP_N);
SAME(CUBLAS_OP_T);
SAME(CUBLAS_COMPUTE_32F);
SAME(CUBLAS_COMPUTE_64F);
SAME(CUBLAS_COMPUTE_32F_FAST_TF32);
SAME(CUDA_R_32F);
SAME(CUDA_R_64F);
SAME(CUDA_R_16F);
SAME(CUDA_R_16BF);
SAME(CUBLASLT_MATMUL_DESC_TRANSA);
SAME(CUBLASLT_MATMUL_DESC_TRANSB);
SAME(CUBLASLT_MATMUL_DESC_EPILOGUE);
SAME(CUBLASLT_MATMUL_DESC_BIAS_POINTER);
SAME(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
SAME(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
SAME(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
SAME(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
SAME(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
SAME(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES);
SAME(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
SAME(CUBLASLT_EPILOGUE_DEFAULT);
SAME(CUBLASLT_EPILOGUE_BIAS);
static_assert(sizeof(cublasLtMatmulAlgo) == sizeof(::cublasLtMatmulAlgo_t));
static_assert(offsetof(cublasLtMatmulHeuristicResult, workspaceSize) ==
              offsetof(::cublasLtMatmulHeuristicResult_t, workspaceSize));
static_assert(offsetof(cublasLtMatmulHeuristicResult, state) ==
              offsetof(::cublasLtMatmulHeuristicResult_t, state));
#endif

#ifdef TW_HAS_CUDNN
#define OP(name, result, ...)                                                                    \
  static_assert(equivalent<std::remove_pointer_t<decltype(CudnnApi::name)>, decltype(::name)>(), \
                #name);
TW_CUDNN_FUNCTIONS(OP)
#undef OP
SAME(CUDNN_STATUS_SUCCESS);
SAME(CUDNN_DATA_FLOAT);
SAME(CUDNN_DATA_DOUBLE);
SAME(CUDNN_DATA_HALF);
SAME(CUDNN_DATA_BFLOAT16);
SAME(CUDNN_TENSOR_NCHW);
SAME(CUDNN_CROSS_CORRELATION);
SAME(CUDNN_DEFAULT_MATH);
SAME(CUDNN_TENSOR_OP_MATH);
SAME(CUDNN_FMA_MATH);
SAME(CUDNN_DETERMINISTIC);
static_assert(offsetof(cudnnConvolutionFwdAlgoPerf, memory) ==
              offsetof(::cudnnConvolutionFwdAlgoPerf_t, memory));
static_assert(offsetof(cudnnConvolutionFwdAlgoPerf, mathType) ==
              offsetof(::cudnnConvolutionFwdAlgoPerf_t, mathType));
static_assert(sizeof(cudnnConvolutionFwdAlgoPerf) == sizeof(::cudnnConvolutionFwdAlgoPerf_t));
#endif

// All of it is asserted by the compiler.
TEST(ToolkitLibraries, DeclarationsAreNvidias) {
  EXPECT_EQ(sizeof(cublasLtMatmulHeuristicResult), 96u);
}

}  // namespace
}  // namespace tilewright::cuda
