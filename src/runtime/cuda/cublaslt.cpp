// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/cublaslt.cpp — products as cuBLASLt sees them: it counts columns first, so that the
// row-major result is its transpose, b^T a^T, and the operands change places.
#include "runtime/cuda/cublaslt.h"

#include <algorithm>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include <fmt/format.h>

#include "runtime/cuda/context.h"
#include "runtime/cuda/cublaslt_api.h"
#include "tilewright/buffer.h"
#include "tilewright/error.h"

namespace tilewright::cuda {
namespace {

constexpr std::uint64_t most_workspace = std::uint64_t{32} << 20;

struct LtTypes {
  cudaDataType data;
  cudaDataType scale;
  cublasComputeType compute;
};
bool types_of(const LibraryProduct& p, LtTypes& types) {
  switch (p.dtype) {
    case DType::Float32:
      types = {CUDA_R_32F, CUDA_R_32F,
               p.allows_tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F};
      return true;
    case DType::Float64:
      types = {CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F};
      return true;
    case DType::Float16:
      types = {CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F};
      return true;
    case DType::BFloat16:
      types = {CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F};
      return true;
    default:
      return false;
  }
}

// What an address is a multiple of, up to 256: the kernels that may be chosen depend on it.
std::uint32_t alignment_of(const void* data) {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  std::uint32_t alignment = 256;
  while (address % alignment != 0) alignment /= 2;
  return alignment;
}

// All that the choice of a kernel depends on.
using LtKey =
    std::tuple<const CublasLtApi*, int, DType, bool, std::int64_t, std::int64_t, std::int64_t,
               std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
               std::int64_t, bool, std::uint32_t, std::uint32_t, std::uint32_t>;
LtKey key_of(const CublasLtApi* api, const LibraryProduct& p, int device) {
  return {api,
          device,
          p.dtype,
          p.allows_tf32,
          p.m,
          p.n,
          p.k,
          p.batch,
          p.a.row_stride,
          p.a.column_stride,
          p.a.batch_stride,
          p.b.row_stride,
          p.b.column_stride,
          p.b.batch_stride,
          p.bias != nullptr,
          alignment_of(p.a.data),
          alignment_of(p.b.data),
          alignment_of(p.out)};
}

// Descriptors and the chosen kernel; never changed but for the pointer of the bias, under a lock.
struct LtPlan {
  LtPlan() = default;
  LtPlan(const LtPlan&) = delete;
  LtPlan& operator=(const LtPlan&) = delete;
  ~LtPlan() {
    if (desc != nullptr) static_cast<void>(api->cublasLtMatmulDescDestroy(desc));
    for (const cublasLtMatrixLayout layout : {a, b, out})
      if (layout != nullptr) static_cast<void>(api->cublasLtMatrixLayoutDestroy(layout));
  }

  const CublasLtApi* api = nullptr;
  cublasLtHandle handle = nullptr;
  cublasLtMatmulDesc desc = nullptr;
  cublasLtMatrixLayout a = nullptr, b = nullptr, out = nullptr;
  cublasLtMatmulAlgo algo{};
  std::size_t workspace = 0;
  bool is_taken = false;
  std::mutex mutex;  // of the bias in `desc`
};

// Calls in a row, of which the first that fails is told.
class LtCalls {
 public:
  explicit LtCalls(const CublasLtApi& api) : api_(api) {}
  void operator()(cublasStatus status, const char* call) {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    throw EnvironmentError(
        fmt::format("{} failed: {} (cuBLASLt {} at {}); TILEWRIGHT_LIBRARIES=off does without it",
                    call, api_.cublasLtGetStatusString(status), api_.version, api_.path));
  }

 private:
  const CublasLtApi& api_;
};
#define TW_LT(check, api, call) (check)((api).call, #call)

cublasLtHandle handle_of(const CublasLtApi& api, int device) {
  static std::mutex mutex;
  static auto& handles = *new std::map<std::pair<const CublasLtApi*, int>, cublasLtHandle>;
  const std::lock_guard lock(mutex);
  cublasLtHandle& handle = handles[{&api, device}];
  if (handle == nullptr) {
    LtCalls check(api);
    TW_LT(check, api, cublasLtCreate(&handle));
  }
  return handle;
}

// Rows and columns as the library counts them: a matrix whose columns lie together is its own
// transpose there.
struct LtMatrix {
  std::uint64_t rows, columns;
  std::int64_t leading;
  cublasOperation operation;
};
LtMatrix seen_by_library(const LibraryMatrix& matrix, std::int64_t rows, std::int64_t columns) {
  const auto r = static_cast<std::uint64_t>(rows), c = static_cast<std::uint64_t>(columns);
  const bool is_row_major = matrix.column_stride == 1;
  if (is_row_major) return {c, r, std::max(matrix.row_stride, columns), CUBLAS_OP_N};
  return {r, c, std::max(matrix.column_stride, rows), CUBLAS_OP_T};
}

cublasLtMatrixLayout layout_of(const CublasLtApi& api, cudaDataType type, const LtMatrix& matrix,
                               std::int64_t batch, std::int64_t batch_stride) {
  LtCalls check(api);
  cublasLtMatrixLayout layout = nullptr;
  TW_LT(check, api,
        cublasLtMatrixLayoutCreate(&layout, type, matrix.rows, matrix.columns, matrix.leading));
  if (batch > 1) {
    const auto count = static_cast<std::int32_t>(batch);
    TW_LT(check, api,
          cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count,
                                           sizeof count));
    TW_LT(check, api,
          cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                           &batch_stride, sizeof batch_stride));
  }
  return layout;
}

void choose_kernel(LtPlan& plan, const LibraryProduct& p) {
  const CublasLtApi& api = *plan.api;
  LtCalls check(api);
  cublasLtMatmulPreference preference = nullptr;
  TW_LT(check, api, cublasLtMatmulPreferenceCreate(&preference));
  const auto prefer = [&](cublasLtMatmulPreferenceAttribute attribute, const auto& value) {
    TW_LT(check, api,
          cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof value));
  };
  prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, most_workspace);
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment_of(p.b.data));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment_of(p.a.data));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment_of(p.out));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment_of(p.out));
  cublasLtMatmulHeuristicResult found{};
  int count = 0;
  const cublasStatus status = api.cublasLtMatmulAlgoGetHeuristic(
      plan.handle, plan.desc, plan.a, plan.b, plan.out, plan.out, preference, 1, &found, &count);
  static_cast<void>(api.cublasLtMatmulPreferenceDestroy(preference));
  plan.is_taken =
      status == CUBLAS_STATUS_SUCCESS && count > 0 && found.state == CUBLAS_STATUS_SUCCESS;
  plan.algo = found.algo;
  plan.workspace = found.workspaceSize;
}

std::shared_ptr<LtPlan> make_lt_plan(const CublasLtApi& api, const LibraryProduct& p, int device) {
  LtTypes types{};
  auto plan = std::make_shared<LtPlan>();
  plan->api = &api;
  // Stacks are counted by 32 bits.
  const bool is_small = p.batch <= std::numeric_limits<std::int32_t>::max();
  if (!types_of(p, types) || !is_small) return plan;
  plan->handle = handle_of(api, device);
  LtCalls check(api);
  TW_LT(check, api, cublasLtMatmulDescCreate(&plan->desc, types.compute, types.scale));
  const LtMatrix first = seen_by_library(p.b, p.k, p.n), second = seen_by_library(p.a, p.m, p.k);
  const auto describe = [&](cublasLtMatmulDescAttribute attribute, const auto& value) {
    TW_LT(check, api, cublasLtMatmulDescSetAttribute(plan->desc, attribute, &value, sizeof value));
  };
  describe(CUBLASLT_MATMUL_DESC_TRANSA, first.operation);
  describe(CUBLASLT_MATMUL_DESC_TRANSB, second.operation);
  if (p.bias != nullptr) {
    describe(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
    describe(CUBLASLT_MATMUL_DESC_BIAS_POINTER, p.bias);
  }
  const LtMatrix result{static_cast<std::uint64_t>(p.n), static_cast<std::uint64_t>(p.m), p.n,
                        CUBLAS_OP_N};
  plan->a = layout_of(api, types.data, first, p.batch, p.b.batch_stride);
  plan->b = layout_of(api, types.data, second, p.batch, p.a.batch_stride);
  plan->out = layout_of(api, types.data, result, p.batch, p.m * p.n);
  choose_kernel(*plan, p);
  return plan;
}

// The plans that were used last. Every size of a product has its own, and a program whose shapes
// change has no end of those. A call holds its plan, which another thread may drop meanwhile.
class LtPlans {
 public:
  static constexpr std::size_t most = 4096;

  std::shared_ptr<LtPlan> plan_for(const CublasLtApi& api, const LibraryProduct& p, int device) {
    const LtKey key = key_of(&api, p, device);
    const std::lock_guard lock(mutex_);
    if (const auto known = by_key_.find(key); known != by_key_.end()) {
      used_.splice(used_.begin(), used_, known->second);
      return used_.front().plan;
    }
    const CaptureTolerance tolerance;
    used_.push_front({key, make_lt_plan(api, p, device)});
    by_key_.emplace(key, used_.begin());
    if (used_.size() > most) {
      by_key_.erase(used_.back().key);
      used_.pop_back();
    }
    return used_.front().plan;
  }

 private:
  struct Used {
    LtKey key;
    std::shared_ptr<LtPlan> plan;
  };
  std::mutex mutex_;
  std::list<Used> used_;  // the last one first
  std::map<LtKey, std::list<Used>::iterator> by_key_;
};

LtPlans& lt_plans() {
  static auto& plans = *new LtPlans;
  return plans;
}

cublasStatus run_lt(LtPlan& plan, const LibraryProduct& p, const Stream& stream) {
  const CublasLtApi& api = *plan.api;
  Buffer workspace;
  if (plan.workspace > 0)
    workspace = Buffer::allocate(plan.workspace, stream.device(), MemoryKind::Device, stream);
  const float one = 1, zero = 0;
  const double one_double = 1, zero_double = 0;
  const bool is_double = p.dtype == DType::Float64;
  const void* const alpha = is_double ? static_cast<const void*>(&one_double) : &one;
  const void* const beta = is_double ? static_cast<const void*>(&zero_double) : &zero;
  // The descriptor holds the bias: nobody else may change it before the call has read it.
  std::unique_lock lock(plan.mutex, std::defer_lock);
  if (p.bias != nullptr) {
    lock.lock();
    LtCalls check(api);
    TW_LT(check, api,
          cublasLtMatmulDescSetAttribute(plan.desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &p.bias,
                                         sizeof p.bias));
  }
  return api.cublasLtMatmul(plan.handle, plan.desc, alpha, p.b.data, plan.a, p.a.data, plan.b, beta,
                            p.out, plan.out, p.out, plan.out, &plan.algo, workspace.data(),
                            plan.workspace, static_cast<CUstream>(stream.native()));
}

}  // namespace

// A bias is read in vectors of 16 bytes.
bool cublaslt_multiply(const LibraryProduct& p, const Stream& stream) {
  const CublasLtApi* const api = cublaslt();
  if (api == nullptr || (p.bias != nullptr && alignment_of(p.bias) < 16)) return false;
  const ContextScope scope(stream.device().index);
  const std::shared_ptr<LtPlan> plan = lt_plans().plan_for(*api, p, stream.device().index);
  if (!plan->is_taken) return false;
  LtCalls check(*api);
  check(run_lt(*plan, p, stream), "cublasLtMatmul");
  return true;
}

std::string cublaslt_name() {
  const CublasLtApi* const api = cublaslt();
  return api == nullptr ? "" : "cuBLASLt " + api->version;
}

}  // namespace tilewright::cuda
