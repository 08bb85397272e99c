#include "tilewright/ptx.cuh"
#include "tilewright/types.cuh"
#include "tilewright/arithmetic.cuh"
#include "tilewright/math.cuh"
#include "tilewright/memory.cuh"

extern "C" __global__ void __launch_bounds__(128) gelu_kernel(bf16* x_ptr, bf16* out_ptr, i32 n) {
  const int thread = int(threadIdx.x);
  // gelu.py:10: x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
  const i64 t = i64(i32(blockIdx.x) * 1024);
  bf16 tile[8];
  const i32 i = thread * 8;
  tw::load_whole<8, 8, tw::Cache::Linger>(tile, x_ptr + t + i, i < (i64(n) - t), tw::bf16_bits(0x0000));
  // gelu.py:12: tl.store(out_ptr + offsets, y, mask=mask)
  bf16 out[8];
  #pragma unroll
  for (int v = 0; v < 8; ++v) {
    // gelu.py:10: x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    const f32 x = tw::to_f32(tile[v]);
    // gelu.py:11: y = 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))
    const f32 y = (x * 0.5f) * (tw::erf(x * 0.70710677f) + 1.0f);
    // gelu.py:12: tl.store(out_ptr + offsets, y, mask=mask)
    out[v] = tw::to_bf16(y);
  }
  tw::store_whole<8>(out_ptr + t + i, out, i < (i64(n) - t));
}
