// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/cudnn_api.h — cuDNN's convolutions, opened at the first use and declared by
// ourselves.
#pragma once

#include <cstddef>
#include <string>

#include "runtime/cuda/driver_types.h"

namespace tilewright::cuda {

struct cudnnContext;
struct cudnnTensorStruct;
struct cudnnFilterStruct;
struct cudnnConvolutionStruct;
using cudnnHandle = cudnnContext*;
using cudnnTensorDescriptor = cudnnTensorStruct*;
using cudnnFilterDescriptor = cudnnFilterStruct*;
using cudnnConvolutionDescriptor = cudnnConvolutionStruct*;

enum cudnnStatus : int { CUDNN_STATUS_SUCCESS = 0 };
enum cudnnDataType : int {
  CUDNN_DATA_FLOAT = 0,
  CUDNN_DATA_DOUBLE = 1,
  CUDNN_DATA_HALF = 2,
  CUDNN_DATA_BFLOAT16 = 9,
};
enum cudnnTensorFormat : int { CUDNN_TENSOR_NCHW = 0 };
enum cudnnConvolutionMode : int { CUDNN_CROSS_CORRELATION = 1 };
enum cudnnMathType : int {
  CUDNN_DEFAULT_MATH = 0,
  CUDNN_TENSOR_OP_MATH = 1,
  CUDNN_FMA_MATH = 3,  // IEEE: no TF32
};
enum cudnnDeterminism : int { CUDNN_NON_DETERMINISTIC = 0, CUDNN_DETERMINISTIC = 1 };
enum cudnnConvolutionFwdAlgo : int { CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM = 0 };

struct cudnnConvolutionFwdAlgoPerf {
  cudnnConvolutionFwdAlgo algo;
  cudnnStatus status;
  float time;
  std::size_t memory;
  cudnnDeterminism determinism;
  cudnnMathType mathType;
  int reserved[3];
};

// OP(exported name, result type, parameter types)
// clang-format off
#define TW_CUDNN_FUNCTIONS(OP)                                                                                           \
  OP(cudnnGetVersion, std::size_t, void)                                                                                 \
  OP(cudnnGetErrorString, const char*, cudnnStatus)                                                                      \
  OP(cudnnCreate, cudnnStatus, cudnnHandle*)                                                                             \
  OP(cudnnSetStream, cudnnStatus, cudnnHandle, CUstream)                                                                 \
  OP(cudnnCreateTensorDescriptor, cudnnStatus, cudnnTensorDescriptor*)                                                   \
  OP(cudnnSetTensor4dDescriptor, cudnnStatus, cudnnTensorDescriptor, cudnnTensorFormat, cudnnDataType, int, int, int, int) \
  OP(cudnnCreateFilterDescriptor, cudnnStatus, cudnnFilterDescriptor*)                                                   \
  OP(cudnnSetFilter4dDescriptor, cudnnStatus, cudnnFilterDescriptor, cudnnDataType, cudnnTensorFormat, int, int, int, int) \
  OP(cudnnCreateConvolutionDescriptor, cudnnStatus, cudnnConvolutionDescriptor*)                                         \
  OP(cudnnSetConvolution2dDescriptor, cudnnStatus, cudnnConvolutionDescriptor, int, int, int, int, int, int, cudnnConvolutionMode, cudnnDataType) \
  OP(cudnnSetConvolutionGroupCount, cudnnStatus, cudnnConvolutionDescriptor, int)                                        \
  OP(cudnnSetConvolutionMathType, cudnnStatus, cudnnConvolutionDescriptor, cudnnMathType)                                \
  OP(cudnnGetConvolutionForwardAlgorithm_v7, cudnnStatus, cudnnHandle, const cudnnTensorDescriptor, const cudnnFilterDescriptor, const cudnnConvolutionDescriptor, const cudnnTensorDescriptor, const int, int*, cudnnConvolutionFwdAlgoPerf*) \
  OP(cudnnConvolutionForward, cudnnStatus, cudnnHandle, const void*, const cudnnTensorDescriptor, const void*, const cudnnFilterDescriptor, const void*, const cudnnConvolutionDescriptor, cudnnConvolutionFwdAlgo, void*, std::size_t, const void*, const cudnnTensorDescriptor, void*)
// clang-format on

struct CudnnApi {
#define OP(name, result, ...) result (*name)(__VA_ARGS__) = nullptr;
  TW_CUDNN_FUNCTIONS(OP)
#undef OP
  std::string path;
  std::string version;  // "9.10.2"
};

// Null when there is none that can be used, as cublaslt().
const CudnnApi* cudnn();

}  // namespace tilewright::cuda
