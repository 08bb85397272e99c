#include "tilewright/ptx.cuh"
#include "tilewright/types.cuh"
#include "tilewright/arithmetic.cuh"
#include "tilewright/math.cuh"
#include "tilewright/memory.cuh"
#include "tilewright/warp.cuh"
#include "tilewright/reduce.cuh"

extern "C" __global__ void __launch_bounds__(128) softmax_kernel(bf16* x_ptr, bf16* out_ptr, i32 columns) {
  const int thread = int(threadIdx.x);
  __shared__ __align__(16) f32 maximum_slots[4];
  __shared__ __align__(16) f32 sum_slots[4];
  // odd_rows.py:9: start = tl.program_id(0).to(tl.int64) * columns
  const i64 t = i64(columns);
  const i64 start = i64(i32(blockIdx.x)) * t;
  // Rows begin anywhere: slot i of a tile holds element (i - shift) % 1024 of it, so that
  // vectors are aligned in memory.
  const i32 shift = i32(start & 7ll);
  bf16 x_tile[8];
  // odd_rows.py:13: power = tl.exp(x - tl.max(x, axis=0))
  f32 maximum;
  // odd_rows.py:12: x = tl.load(x_ptr + start + column, mask=inside, other=-float("inf")).to(tl.float32)
  tw::load_rotated<1024, 8, 8, tw::Cache::Linger>(x_tile, x_ptr + start, thread * 8, 0, shift, 0, columns, tw::bf16_bits(0xff80));
  #pragma unroll
  for (int v = 0; v < 8; ++v) {
    const f32 x = tw::to_f32(x_tile[v]);
    // odd_rows.py:13: power = tl.exp(x - tl.max(x, axis=0))
    if (v == 0) maximum = x;
    else {
      maximum = tw::max_number(maximum, x);
    }
  }
  const auto combine = [&](f32 a, f32 b) { return tw::max_number(a, b); };
  maximum = tw::reduce_block<31, 3>(maximum, maximum_slots, combine);
  f32 power_tile[8];
  // odd_rows.py:14: tl.store(out_ptr + start + column, power / tl.sum(power, axis=0), mask=inside)
  f32 sum = -0.0f;
  #pragma unroll
  for (int v = 0; v < 8; ++v) {
    // odd_rows.py:12: x = tl.load(x_ptr + start + column, mask=inside, other=-float("inf")).to(tl.float32)
    const f32 x_2 = tw::to_f32(x_tile[v]);
    // odd_rows.py:13: power = tl.exp(x - tl.max(x, axis=0))
    const f32 power = tw::exp(x_2 - maximum);
    // odd_rows.py:14: tl.store(out_ptr + start + column, power / tl.sum(power, axis=0), mask=inside)
    sum = sum + power;
    power_tile[v] = power;
  }
  const auto combine_2 = [&](f32 a_2, f32 b_2) { return a_2 + b_2; };
  sum = tw::reduce_block<31, 3>(sum, sum_slots, combine_2);
  bf16 out[8];
  const auto divisor = tw::Divisor(sum);
  #pragma unroll
  for (int v = 0; v < 8; ++v) {
    out[v] = tw::to_bf16(divisor.divide(power_tile[v]));
  }
  tw::store_rotated<1024, 8>(out_ptr + start, thread * 8, 0, shift, 0, columns, out);
}
