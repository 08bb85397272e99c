// SPDX-License-Identifier: Apache-2.0
// runtime_cuda/fake_cudnn.cpp — a cuDNN without a GPU: it convolves floats on the host as its
// descriptors say. Of its two kernels the first is not deterministic.
#include "fake_cudnn.h"

#include <array>

namespace tilewright::cuda {
namespace {

struct Tensor4 {
  cudnnDataType type;
  std::array<int, 4> sizes;
};
struct Window {
  std::array<int, 2> pad, stride, dilation;
  int groups = 1;
};

FakeCudnn& state() {
  static FakeCudnn instance;
  return instance;
}
template <class To, class From>
To* of(From* handle) {
  return reinterpret_cast<To*>(handle);
}

// One element of the result: output channel o at row h, column w of image n.
float convolved(const Tensor4& x, const float* from, const Tensor4& f, const float* weight,
                const Window& c, std::array<int, 4> at) {
  const int per_group = f.sizes[0] / c.groups, first = at[1] / per_group * f.sizes[1];
  float total = 0;
  for (int channel = 0; channel < f.sizes[1]; ++channel)
    for (int i = 0; i < f.sizes[2]; ++i)
      for (int j = 0; j < f.sizes[3]; ++j) {
        const int h = at[2] * c.stride[0] - c.pad[0] + i * c.dilation[0];
        const int w = at[3] * c.stride[1] - c.pad[1] + j * c.dilation[1];
        if (h < 0 || h >= x.sizes[2] || w < 0 || w >= x.sizes[3]) continue;
        total += from[((at[0] * x.sizes[1] + first + channel) * x.sizes[2] + h) * x.sizes[3] + w] *
                 weight[((at[1] * f.sizes[1] + channel) * f.sizes[2] + i) * f.sizes[3] + j];
      }
  return total;
}

}  // namespace
}  // namespace tilewright::cuda

using namespace tilewright::cuda;

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED FakeCudnn* fake_cudnn() { return &state(); }
EXPORTED std::size_t cudnnGetVersion() { return state().version; }
EXPORTED const char* cudnnGetErrorString(cudnnStatus) { return "a fake's reason"; }
EXPORTED cudnnStatus cudnnCreate(cudnnHandle* handle) {
  *handle = of<cudnnContext>(&state());
  return CUDNN_STATUS_SUCCESS;
}
EXPORTED cudnnStatus cudnnSetStream(cudnnHandle, CUstream stream) {
  state().stream = stream;
  return CUDNN_STATUS_SUCCESS;
}
EXPORTED cudnnStatus cudnnCreateTensorDescriptor(cudnnTensorDescriptor* made) {
  *made = of<cudnnTensorStruct>(new Tensor4{});
  return CUDNN_STATUS_SUCCESS;
}
EXPORTED cudnnStatus cudnnSetTensor4dDescriptor(cudnnTensorDescriptor to, cudnnTensorFormat,
                                                cudnnDataType type, int n, int c, int h, int w) {
  *of<Tensor4>(to) = {type, {n, c, h, w}};
  return CUDNN_STATUS_SUCCESS;
}
EXPORTED cudnnStatus cudnnCreateFilterDescriptor(cudnnFilterDescriptor* made) {
  *made = of<cudnnFilterStruct>(new Tensor4{});
  return CUDNN_STATUS_SUCCESS;
}
EXPORTED cudnnStatus cudnnSetFilter4dDescriptor(cudnnFilterDescriptor to, cudnnDataType type,
                                                cudnnTensorFormat, int k, int c, int h, int w) {
  *of<Tensor4>(to) = {type, {k, c, h, w}};
  return CUDNN_STATUS_SUCCESS;
}
EXPORTED cudnnStatus cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor* made) {
  *made = of<cudnnConvolutionStruct>(new Window{});
  return CUDNN_STATUS_SUCCESS;
}
EXPORTED cudnnStatus cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor to, int pad_h,
                                                     int pad_w, int stride_h, int stride_w,
                                                     int dilation_h, int dilation_w,
                                                     cudnnConvolutionMode, cudnnDataType) {
  *of<Window>(to) = {{pad_h, pad_w}, {stride_h, stride_w}, {dilation_h, dilation_w}};
  return CUDNN_STATUS_SUCCESS;
}
EXPORTED cudnnStatus cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor to, int groups) {
  of<Window>(to)->groups = groups;
  return CUDNN_STATUS_SUCCESS;
}
EXPORTED cudnnStatus cudnnSetConvolutionMathType(cudnnConvolutionDescriptor, cudnnMathType math) {
  state().math = math;
  return CUDNN_STATUS_SUCCESS;
}
EXPORTED cudnnStatus cudnnGetConvolutionForwardAlgorithm_v7(
    cudnnHandle, const cudnnTensorDescriptor, const cudnnFilterDescriptor,
    const cudnnConvolutionDescriptor, const cudnnTensorDescriptor, const int, int* count,
    cudnnConvolutionFwdAlgoPerf* found) {
  *count = 2;
  found[0] = {static_cast<cudnnConvolutionFwdAlgo>(5),
              CUDNN_STATUS_SUCCESS,
              1,
              64,
              CUDNN_NON_DETERMINISTIC,
              CUDNN_FMA_MATH,
              {}};
  found[1] = {static_cast<cudnnConvolutionFwdAlgo>(1),
              CUDNN_STATUS_SUCCESS,
              2,
              128,
              CUDNN_DETERMINISTIC,
              CUDNN_FMA_MATH,
              {}};
  return CUDNN_STATUS_SUCCESS;
}
EXPORTED cudnnStatus cudnnConvolutionForward(cudnnHandle, const void*,
                                             const cudnnTensorDescriptor x, const void* from,
                                             const cudnnFilterDescriptor filter, const void* weight,
                                             const cudnnConvolutionDescriptor conv,
                                             cudnnConvolutionFwdAlgo algo, void* workspace,
                                             std::size_t bytes, const void*,
                                             const cudnnTensorDescriptor out, void* to) {
  state().is_right = algo == 1 && bytes == 128 && workspace != nullptr;
  const auto& made = of<Tensor4>(out)->sizes;
  float* next = static_cast<float*>(to);
  for (int n = 0; n < made[0]; ++n)
    for (int o = 0; o < made[1]; ++o)
      for (int h = 0; h < made[2]; ++h)
        for (int w = 0; w < made[3]; ++w)
          *next++ =
              convolved(*of<Tensor4>(x), static_cast<const float*>(from), *of<Tensor4>(filter),
                        static_cast<const float*>(weight), *of<Window>(conv), {n, o, h, w});
  return CUDNN_STATUS_SUCCESS;
}
