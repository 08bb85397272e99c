// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/cudnn.cpp — convolutions as cuDNN is told of them; of its kernels only those that
// give the same result every time.
#include "runtime/cuda/cudnn.h"

#include <array>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <fmt/format.h>

#include "runtime/cuda/context.h"
#include "runtime/cuda/cudnn_api.h"
#include "tilewright/buffer.h"
#include "tilewright/error.h"

namespace tilewright::cuda {
namespace {

constexpr std::size_t most_conv_workspace = std::size_t{256} << 20;

bool cudnn_type(DType dtype, cudnnDataType& type) {
  switch (dtype) {
    case DType::Float32:
      type = CUDNN_DATA_FLOAT;
      return true;
    case DType::Float64:
      type = CUDNN_DATA_DOUBLE;
      return true;
    case DType::Float16:
      type = CUDNN_DATA_HALF;
      return true;
    case DType::BFloat16:
      type = CUDNN_DATA_BFLOAT16;
      return true;
    default:
      return false;
  }
}

struct ConvPlan {
  cudnnTensorDescriptor x = nullptr, out = nullptr;
  cudnnFilterDescriptor weight = nullptr;
  cudnnConvolutionDescriptor conv = nullptr;
  cudnnConvolutionFwdAlgo algo = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM;
  std::size_t workspace = 0;
  bool is_taken = false;
};

class CudnnCalls {
 public:
  explicit CudnnCalls(const CudnnApi& api) : api_(api) {}
  void operator()(cudnnStatus status, const char* call) const {
    if (status == CUDNN_STATUS_SUCCESS) return;
    throw EnvironmentError(
        fmt::format("{} failed: {} (cuDNN {} at {}); TILEWRIGHT_LIBRARIES=off does without it",
                    call, api_.cudnnGetErrorString(status), api_.version, api_.path));
  }

 private:
  const CudnnApi& api_;
};
#define TW_DNN(check, api, call) (check)((api).call, #call)

std::array<std::int64_t, 16> numbers_of(const LibraryConvolution& c) {
  return {c.batch,    c.in,         c.height,     c.width,    c.out_channels, c.window_h,
          c.window_w, c.out_height, c.out_width,  c.stride_h, c.stride_w,     c.pad_h,
          c.pad_w,    c.dilation_h, c.dilation_w, c.groups};
}

bool fits_int(const LibraryConvolution& c) {
  for (const std::int64_t number : numbers_of(c))
    if (number > std::numeric_limits<int>::max()) return false;
  return true;
}

void describe_convolution(const CudnnApi& api, ConvPlan& plan, const LibraryConvolution& c,
                          cudnnDataType type) {
  const CudnnCalls check(api);
  const auto i = [](std::int64_t number) { return static_cast<int>(number); };
  TW_DNN(check, api, cudnnCreateTensorDescriptor(&plan.x));
  TW_DNN(check, api, cudnnCreateTensorDescriptor(&plan.out));
  TW_DNN(check, api, cudnnCreateFilterDescriptor(&plan.weight));
  TW_DNN(check, api, cudnnCreateConvolutionDescriptor(&plan.conv));
  TW_DNN(check, api,
         cudnnSetTensor4dDescriptor(plan.x, CUDNN_TENSOR_NCHW, type, i(c.batch), i(c.in),
                                    i(c.height), i(c.width)));
  TW_DNN(check, api,
         cudnnSetTensor4dDescriptor(plan.out, CUDNN_TENSOR_NCHW, type, i(c.batch),
                                    i(c.out_channels), i(c.out_height), i(c.out_width)));
  TW_DNN(check, api,
         cudnnSetFilter4dDescriptor(plan.weight, type, CUDNN_TENSOR_NCHW, i(c.out_channels),
                                    i(c.in / c.groups), i(c.window_h), i(c.window_w)));
  const cudnnDataType sums = type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
  TW_DNN(check, api,
         cudnnSetConvolution2dDescriptor(plan.conv, i(c.pad_h), i(c.pad_w), i(c.stride_h),
                                         i(c.stride_w), i(c.dilation_h), i(c.dilation_w),
                                         CUDNN_CROSS_CORRELATION, sums));
  TW_DNN(check, api, cudnnSetConvolutionGroupCount(plan.conv, i(c.groups)));
  const bool is_ieee = type == CUDNN_DATA_FLOAT && !c.allows_tf32;
  TW_DNN(check, api,
         cudnnSetConvolutionMathType(plan.conv, is_ieee ? CUDNN_FMA_MATH : CUDNN_TENSOR_OP_MATH));
}

void choose_algorithm(const CudnnApi& api, cudnnHandle handle, ConvPlan& plan) {
  std::array<cudnnConvolutionFwdAlgoPerf, 8> found{};
  int count = 0;
  const cudnnStatus status = api.cudnnGetConvolutionForwardAlgorithm_v7(
      handle, plan.x, plan.weight, plan.conv, plan.out, static_cast<int>(found.size()), &count,
      found.data());
  if (status != CUDNN_STATUS_SUCCESS) return;
  for (int n = 0; n < count && !plan.is_taken; ++n) {
    const cudnnConvolutionFwdAlgoPerf& one = found[static_cast<std::size_t>(n)];
    plan.is_taken = one.status == CUDNN_STATUS_SUCCESS && one.determinism == CUDNN_DETERMINISTIC &&
                    one.memory <= most_conv_workspace;
    plan.algo = one.algo;
    plan.workspace = one.memory;
  }
}

// Of one device. A handle has one stream at a time.
struct CudnnDevice {
  std::mutex mutex;
  cudnnHandle handle = nullptr;
  std::map<std::pair<int, std::array<std::int64_t, 16>>, std::unique_ptr<ConvPlan>> plans;
};

CudnnDevice& cudnn_device(const CudnnApi& api, int device) {
  static std::mutex mutex;
  static auto& devices = *new std::map<std::pair<const CudnnApi*, int>, CudnnDevice>;
  const std::lock_guard lock(mutex);
  return devices[{&api, device}];
}

const ConvPlan& conv_plan(const CudnnApi& api, CudnnDevice& device, const LibraryConvolution& c,
                          cudnnDataType type) {
  const int kind = 2 * static_cast<int>(c.dtype) + (c.allows_tf32 ? 1 : 0);
  std::unique_ptr<ConvPlan>& plan = device.plans[{kind, numbers_of(c)}];
  if (plan) return *plan;
  const CaptureTolerance tolerance;
  if (device.handle == nullptr) {
    const CudnnCalls check(api);
    TW_DNN(check, api, cudnnCreate(&device.handle));
  }
  plan = std::make_unique<ConvPlan>();
  describe_convolution(api, *plan, c, type);
  choose_algorithm(api, device.handle, *plan);
  return *plan;
}

}  // namespace

bool cudnn_convolve(const LibraryConvolution& c, const Stream& stream) {
  cudnnDataType type{};
  if (!cudnn_type(c.dtype, type) || !fits_int(c)) return false;
  const CudnnApi* const api = cudnn();
  if (api == nullptr) return false;
  const ContextScope scope(stream.device().index);
  CudnnDevice& device = cudnn_device(*api, stream.device().index);
  const std::lock_guard lock(device.mutex);
  const ConvPlan& plan = conv_plan(*api, device, c, type);
  if (!plan.is_taken) return false;
  Buffer workspace;
  if (plan.workspace > 0)
    workspace = Buffer::allocate(plan.workspace, stream.device(), MemoryKind::Device, stream);
  const float one = 1, zero = 0;
  const double one_double = 1, zero_double = 0;
  const bool is_double = type == CUDNN_DATA_DOUBLE;
  const void* const alpha = is_double ? static_cast<const void*>(&one_double) : &one;
  const void* const beta = is_double ? static_cast<const void*>(&zero_double) : &zero;
  const CudnnCalls check(*api);
  TW_DNN(check, *api, cudnnSetStream(device.handle, static_cast<CUstream>(stream.native())));
  check(api->cudnnConvolutionForward(device.handle, alpha, plan.x, c.x, plan.weight, c.weight,
                                     plan.conv, plan.algo, workspace.data(), plan.workspace, beta,
                                     plan.out, c.out),
        "cudnnConvolutionForward");
  return true;
}

}  // namespace tilewright::cuda
