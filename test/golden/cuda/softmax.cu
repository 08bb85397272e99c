#include "tilewright/ptx.cuh"
#include "tilewright/types.cuh"
#include "tilewright/arithmetic.cuh"
#include "tilewright/math.cuh"
#include "tilewright/memory.cuh"
#include "tilewright/warp.cuh"
#include "tilewright/reduce.cuh"

extern "C" __global__ void __launch_bounds__(128) softmax_kernel(f32* out_ptr, f32* x_ptr, i32 stride, i32 n) {
  const int thread = int(threadIdx.x);
  __shared__ __align__(16) f32 maximum_slots[4];
  __shared__ __align__(16) f32 sum_slots[4];
  // softmax.py:8: row = tl.program_id(0)
  const i32 row = i32(blockIdx.x);
  // softmax.py:11: x = tl.load(x_ptr + row * stride + columns, mask=mask, other=-float('inf'))
  const i32 t = row * stride;
  f32 x_tile[8];
  // softmax.py:12: x = x - tl.max(x, axis=0)
  f32 maximum;
  #pragma unroll
  for (int k = 0; k < 2; ++k) {
    const i32 i = thread * 4 + k * 512;
    // softmax.py:11: x = tl.load(x_ptr + row * stride + columns, mask=mask, other=-float('inf'))
    tw::load_guarded<4>(x_tile + k * 4, x_ptr + t + thread * 4 + k * 512, 0, i64(n) - i, -tw::inf<f32>());
  }
  #pragma unroll
  for (int k = 0; k < 2; ++k) {
    #pragma unroll
    for (int v = 0; v < 4; ++v) {
      // softmax.py:12: x = x - tl.max(x, axis=0)
      if (k == 0 && v == 0) maximum = x_tile[k * 4 + v];
      else {
        maximum = tw::max_number(maximum, x_tile[k * 4 + v]);
      }
    }
  }
  const auto combine = [&](f32 a, f32 b) { return tw::max_number(a, b); };
  maximum = tw::reduce_block<31, 3>(maximum, maximum_slots, combine);
  f32 e_tile[8];
  // softmax.py:14: tl.store(out_ptr + row * stride + columns, e / tl.sum(e, axis=0), mask=mask)
  f32 sum = -0.0f;
  #pragma unroll
  for (int k = 0; k < 2; ++k) {
    #pragma unroll
    for (int v = 0; v < 4; ++v) {
      // softmax.py:12: x = x - tl.max(x, axis=0)
      const f32 x = x_tile[k * 4 + v] - maximum;
      // softmax.py:13: e = tl.exp(x)
      const f32 e = tw::exp(x);
      // softmax.py:14: tl.store(out_ptr + row * stride + columns, e / tl.sum(e, axis=0), mask=mask)
      sum = sum + e;
      e_tile[k * 4 + v] = e;
    }
  }
  const auto combine_2 = [&](f32 a_2, f32 b_2) { return a_2 + b_2; };
  sum = tw::reduce_block<31, 3>(sum, sum_slots, combine_2);
  const auto divisor = tw::Divisor(sum);
  #pragma unroll
  for (int k = 0; k < 2; ++k) {
    f32 out[4];
    #pragma unroll
    for (int v = 0; v < 4; ++v) {
      out[v] = divisor.divide(e_tile[k * 4 + v]);
    }
    const i32 i_2 = thread * 4 + k * 512;
    tw::store_guarded<4>(out_ptr + t + thread * 4 + k * 512, out, 0, i64(n) - i_2);
  }
}
