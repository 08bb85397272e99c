// SPDX-License-Identifier: Apache-2.0
// runtime_cuda/gpu_kernels.h — the kernels of the GPU tests. Every loop that waits has an end.
#pragma once

#include "tilewright/kernel_source.h"

namespace tilewright {

inline const char* const gpu_kernel_text = R"(
extern "C" __global__ void add(const float* x, float* y, long n) {
  long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += x[i];
}
extern "C" __global__ void increment(int* counter) { atomicAdd(counter, 1); }
extern "C" __global__ void set_all(int* x, int value, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = value;
}
template <class T, int N> __global__ void scale(T* x) { x[threadIdx.x] *= N; }

// Waits until the host sets the flag, at most a few seconds.
extern "C" __global__ void wait_for(volatile int* flag, int* after) {
  long start = clock64();
  while (*flag == 0 && clock64() - start < 10000000000l) {}
  if (after) *after = 1;
}
extern "C" __global__ void spin(long cycles) {
  long start = clock64();
  while (clock64() - start < cycles) {}
}

// Reverses n ints through dynamic shared memory.
extern "C" __global__ void reverse(int* x, int n) {
  extern __shared__ int tile[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) tile[i] = x[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = tile[n - 1 - i];
}

extern "C" __global__ void cluster_rank(unsigned* ranks, unsigned* sizes) {
#if __CUDA_ARCH__ >= 900
  unsigned rank, size;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  ranks[blockIdx.x] = rank;
  sizes[blockIdx.x] = size;
#endif
}

// Every block waits for all others: ends well only when all run at the same time.
extern "C" __global__ void meet(int* arrived, int* met) {
  if (threadIdx.x != 0) return;
  atomicAdd(arrived, 1);
  long start = clock64();
  while (*(volatile int*)arrived < (int)gridDim.x && clock64() - start < 4000000000l) {}
  if (*(volatile int*)arrived == (int)gridDim.x) atomicAdd(met, 1);
}

extern "C" __global__ void write_bad(long address) { *(int*)address = 1; }
extern "C" __global__ void say(int number) { printf("the kernel says %d\n", number); }

struct alignas(64) Map { char bytes[128]; };
// Copies a 16 x 64 box of halves at (column, row) by TMA.
extern "C" __global__ void copy_box(const __grid_constant__ Map map, unsigned short* out, int column, int row, int* ok) {
#if __CUDA_ARCH__ >= 900
  __shared__ alignas(128) unsigned short tile[16 * 64];
  __shared__ alignas(8) unsigned long barrier;
  unsigned shared_tile = (unsigned)__cvta_generic_to_shared(tile), bar = (unsigned)__cvta_generic_to_shared(&barrier);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(bar));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(bar), "r"(2048) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 :: "r"(shared_tile), "l"(&map), "r"(column), "r"(row), "r"(bar) : "memory");
  }
  __syncthreads();
  unsigned done = 0;
  for (int i = 0; i < 1000000 && !done; ++i)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(bar) : "memory");
  if (threadIdx.x == 0) *ok = (int)done;
  for (int i = threadIdx.x; i < 16 * 64; i += blockDim.x) out[i] = tile[i];
#endif
}
)";

inline Parameter pointer_parameter(const char* name) {
  return {.name = name, .kind = Parameter::Kind::Pointer, .any_pointee = true};
}
inline Parameter scalar_parameter(const char* name, DType dtype) {
  return {.name = name, .kind = Parameter::Kind::Scalar, .dtype = dtype};
}

inline KernelSource gpu_kernel_source() {
  KernelSource source;
  source.name = "gpu_kernels.cu";
  source.text = gpu_kernel_text;
  source.name_expressions = {"scale<float, 4>", "scale<int, 3>"};
  const auto p = pointer_parameter;
  const auto s = scalar_parameter;
  const auto kernel = [&](const char* name, std::vector<Parameter> parameters) {
    source.kernels.push_back({name, std::move(parameters), {}, {}});
  };
  kernel("add", {p("x"), p("y"), s("n", DType::Int64)});
  kernel("increment", {p("counter")});
  kernel("set_all", {p("x"), s("value", DType::Int32), s("n", DType::Int32)});
  kernel("scale<float, 4>", {p("x")});
  kernel("scale<int, 3>", {p("x")});
  kernel("wait_for", {p("flag"), p("after")});
  kernel("spin", {s("cycles", DType::Int64)});
  kernel("reverse", {p("x"), s("n", DType::Int32)});
  kernel("cluster_rank", {p("ranks"), p("sizes")});
  kernel("meet", {p("arrived"), p("met")});
  kernel("write_bad", {s("address", DType::Int64)});
  kernel("say", {s("number", DType::Int32)});

  // The map is made from `x`, a matrix of halves with `columns` columns.
  const auto argument = [](int index) { return PlanExpression{{PlanOp::Kind::Argument, index}}; };
  LaunchPlan plan = direct_plan("copy_box", 5);
  plan.steps[0].parameters[0] = {KernelParameter::Kind::TensorMap, 0, 0};
  for (int i = 1; i < 5; ++i) plan.steps[0].parameters[static_cast<std::size_t>(i)].index = i + 2;
  PlanExpression row_bytes = argument(2);
  row_bytes.insert(row_bytes.end(), {{PlanOp::Kind::Constant, 2}, {PlanOp::Kind::Multiply, 0}});
  plan.tensor_maps = {{.dtype = DType::Float16,
                       .sizes = {argument(2), argument(1)},
                       .strides = {row_bytes},
                       .box = {64, 16}}};
  source.kernels.push_back({"copy_box",
                            {p("x"), s("rows", DType::Int32), s("columns", DType::Int32), p("out"),
                             s("column", DType::Int32), s("row", DType::Int32), p("ok")},
                            {plan},
                            {}});
  return source;
}

}  // namespace tilewright
