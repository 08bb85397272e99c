#include "tilewright/ptx.cuh"
#include "tilewright/types.cuh"
#include "tilewright/memory.cuh"

extern "C" __global__ void __launch_bounds__(128) add_kernel(f32* x_ptr, f32* y_ptr, f32* out_ptr, i32 n) {
  const int thread = int(threadIdx.x);
  // add.py:8: pid = tl.program_id(0)
  const i32 pid = i32(blockIdx.x);
  // add.py:11: x = tl.load(x_ptr + offsets, mask=mask)
  const i64 t = i64(pid * 1024);
  f32 x_tile[8];
  // add.py:12: y = tl.load(y_ptr + offsets, mask=mask)
  f32 y_tile[8];
  #pragma unroll
  for (int k = 0; k < 2; ++k) {
    const i32 i = thread * 4 + k * 512;
    // add.py:11: x = tl.load(x_ptr + offsets, mask=mask)
    tw::load_guarded<4>(x_tile + k * 4, x_ptr + t + thread * 4 + k * 512, 0, (i64(n) - t) - i, 0.0f);
    // add.py:12: y = tl.load(y_ptr + offsets, mask=mask)
    tw::load_guarded<4>(y_tile + k * 4, y_ptr + t + thread * 4 + k * 512, 0, (i64(n) - t) - i, 0.0f);
  }
  #pragma unroll
  for (int k = 0; k < 2; ++k) {
    // add.py:13: tl.store(out_ptr + offsets, x + y, mask=mask)
    f32 out[4];
    #pragma unroll
    for (int v = 0; v < 4; ++v) {
      out[v] = x_tile[k * 4 + v] + y_tile[k * 4 + v];
    }
    const i32 i_2 = thread * 4 + k * 512;
    tw::store_guarded<4>(out_ptr + t + thread * 4 + k * 512, out, 0, (i64(n) - t) - i_2);
  }
}
