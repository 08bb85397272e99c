#include "tilewright/ptx.cuh"
#include "tilewright/types.cuh"
#include "tilewright/arithmetic.cuh"
#include "tilewright/memory.cuh"
#include "tilewright/async_copy.cuh"
#include "tilewright/mma.cuh"

extern "C" __global__ void __launch_bounds__(128) matmul_kernel(f16* a_ptr, f16* b_ptr, f16* c_ptr, i32 m, i32 n, i32 k_2, i32 a_row, i32 b_row, i32 c_row) {
  const int thread = int(threadIdx.x);
  extern __shared__ __align__(16) unsigned char shared[];
  f16* const a_buffer = reinterpret_cast<f16*>(shared + 0);
  f16* const b_buffer = reinterpret_cast<f16*>(shared + 49152);
  f16* const kept_shared = reinterpret_cast<f16*>(shared + 0);
  // matmul.py:24: tile_m, tile_n = tile_of(tl.program_id(0), m, n, BLOCK_M, BLOCK_N, GROUP)
  const i32 t = i32(blockIdx.x);
  // matmul.py:11: tiles_m = tl.cdiv(m, BLOCK_M)
  const i32 tiles_m = (m + 127) / 128;
  // matmul.py:12: tiles_n = tl.cdiv(n, BLOCK_N)
  const i32 tiles_n = (n + 127) / 128;
  // matmul.py:13: group = program // (GROUP * tiles_n)
  const i32 t_2 = tiles_n * 8;
  const i32 group = tw::divide(t, t_2);
  // matmul.py:14: first = group * GROUP
  const i32 first_v = group * 8;
  // matmul.py:15: height = min(tiles_m - first, GROUP)
  const i32 height = tw::min((tiles_m - first_v), 8);
  // matmul.py:16: within = program % (GROUP * tiles_n)
  const i32 within = tw::remainder(t, t_2);
  // matmul.py:17: return first + within % height, within // height
  const i32 tile_m = first_v + tw::remainder(within, height);
  const i32 tile_n = tw::divide(within, height);
  // matmul.py:34: for first in range(0, k, BLOCK_K):
  const i64 t_3 = i64(b_row);
  const i64 t_4 = i64(tile_n * 128);
  f16* const b_ptrs = b_ptr + t_4;
  const i64 t_5 = i64(a_row);
  const i64 t_6 = i64(tile_m * 128);
  f16* const a_ptrs = a_ptr + (t_5 * t_6);
  // matmul.py:36: a = tl.load(a_ptrs, mask=inside_m & (inner[None, :] < left), other=0.0)
  const i64 t_7 = i64(m) - t_6;
  // matmul.py:37: b = tl.load(b_ptrs, mask=(inner[:, None] < left) & inside_n, other=0.0)
  const i64 t_8 = i64(n) - t_4;
  // matmul.py:34: for first in range(0, k, BLOCK_K):
  const i64 t_9 = i64(b_row * 64);
  const i64 t_10 = i64(k_2);
  f16* const t_11 = b_ptrs + t_9;
  f16* const t_12 = a_ptrs + 64ll;
  // matmul.py:35: left = k - first
  const i32 left = k_2 - 64;
  // matmul.py:36: a = tl.load(a_ptrs, mask=inside_m & (inner[None, :] < left), other=0.0)
  const i64 t_13 = i64(left);
  // matmul.py:43: tl.store(c_ptrs, total.to(c_ptr.dtype.element_ty), mask=inside_m & inside_n)
  const i64 t_14 = i64(c_row);
  f16* const c_ptrs = c_ptr + ((t_14 * t_6) + t_4);
  // matmul.py:34: for first in range(0, k, BLOCK_K):
  if ((0ll < t_10)) {
    // matmul.py:36: a = tl.load(a_ptrs, mask=inside_m & (inner[None, :] < left), other=0.0)
    f16* const a_buffer_slot = a_buffer;
    #pragma unroll
    for (int k = 0; k < 8; ++k) {
      const i32 i = (thread >> 3) + k * 16;
      const i32 i_2 = (thread & 7) * 8;
      const i32 i_3 = ((thread & 7) * 8 ^ (thread >> 3 & 7) * 72) + (thread >> 6) * 512 + k * 1024;
      tw::copy_async<16>(a_buffer_slot + i_3, a_ptrs + t_5 * i + i_2, i < t_7 && i_2 < k_2);
    }
    // matmul.py:37: b = tl.load(b_ptrs, mask=(inner[:, None] < left) & inside_n, other=0.0)
    f16* const b_buffer_slot = b_buffer;
    #pragma unroll
    for (int k = 0; k < 8; ++k) {
      const i32 i_4 = (thread >> 4) + k * 8;
      const i32 i_5 = (thread & 15) * 8;
      const i32 i_6 = ((thread & 15) * 8 ^ (thread >> 4) * 136) + k * 1024;
      tw::copy_async<16>(b_buffer_slot + i_6, b_ptrs + t_3 * i_4 + i_5, i_4 < k_2 && i_5 < t_8);
    }
  }
  // matmul.py:34: for first in range(0, k, BLOCK_K):
  tw::commit_copies();
  if ((64ll < t_10)) {
    // matmul.py:36: a = tl.load(a_ptrs, mask=inside_m & (inner[None, :] < left), other=0.0)
    f16* const a_buffer_slot_2 = a_buffer + 8192;
    #pragma unroll
    for (int k = 0; k < 8; ++k) {
      const i32 i_7 = (thread >> 3) + k * 16;
      const i32 i_8 = (thread & 7) * 8;
      const i32 i_9 = ((thread & 7) * 8 ^ (thread >> 3 & 7) * 72) + (thread >> 6) * 512 + k * 1024;
      tw::copy_async<16>(a_buffer_slot_2 + i_9, t_12 + t_5 * i_7 + i_8, i_7 < t_7 && i_8 < left);
    }
    // matmul.py:37: b = tl.load(b_ptrs, mask=(inner[:, None] < left) & inside_n, other=0.0)
    f16* const b_buffer_slot_2 = b_buffer + 8192;
    #pragma unroll
    for (int k = 0; k < 8; ++k) {
      const i32 i_10 = (thread >> 4) + k * 8;
      const i32 i_11 = (thread & 15) * 8;
      const i32 i_12 = ((thread & 15) * 8 ^ (thread >> 4) * 136) + k * 1024;
      tw::copy_async<16>(b_buffer_slot_2 + i_12, t_11 + t_3 * i_10 + i_11, i_10 < left && i_11 < t_8);
    }
  }
  // matmul.py:34: for first in range(0, k, BLOCK_K):
  tw::commit_copies();
  f32 total_tile[128];
  #pragma unroll
  for (int k = 0; k < 64; ++k) {
    #pragma unroll
    for (int v = 0; v < 2; ++v) {
      total_tile[k * 2 + v] = 0.0f;
    }
  }
  f16* a_ptrs_2 = (t_12 + 64ll);
  f16* b_ptrs_2 = (t_11 + t_9);
  i32 slot = 0;
  // Two steps' words: of the one that is multiplied, and of the next one.
  const i32 a_at = ((thread & 7) * 72 ^ (thread >> 4 & 1) * 8) + (thread >> 3 & 1) * 512 + (thread >> 6) * 4096;
  u32 a_part[2][16];
  const i32 b_at = ((thread & 7) * 136 ^ (thread >> 4 & 1) * 8) + (thread >> 3 & 1) * 1024 + (thread >> 5 & 1) * 64;
  u32 b_part[2][16];
  const i32 a_buffer_at = ((thread & 7) * 8 ^ (thread >> 3 & 7) * 72) + (thread >> 6) * 512;
  const i32 i_15 = thread >> 3;
  const i32 i_16 = (thread & 7) * 8;
  f16* a_buffer_from = a_ptrs_2 + t_5 * i_15 + i_16;
  const i32 b_buffer_at = (thread & 15) * 8 ^ (thread >> 4) * 136;
  const i32 i_17 = thread >> 4;
  const i32 i_18 = (thread & 15) * 8;
  f16* b_buffer_from = b_ptrs_2 + t_3 * i_17 + i_18;
  tw::wait_copies<1>();
  __syncthreads();
  if (0 < k_2) {
    #pragma unroll
    for (int i_13 = 0; i_13 < 4; ++i_13) {
      tw::load_matrices<4>(a_part[0] + i_13 * 4, a_buffer + a_at + i_13 * 1024);
    }
    #pragma unroll
    for (int i_14 = 0; i_14 < 4; ++i_14) {
      tw::load_matrices_transposed<4>(b_part[0] + i_14 * 4, b_buffer + (b_at ^ (i_14 * 16)));
    }
  }
  #pragma unroll 1
  for (i32 first_v_2 = 0; first_v_2 < k_2; first_v_2 += 64) {
    const i32 free_slot = (slot == 0) ? 2 : (slot - 1);
    // matmul.py:35: left = k - first
    const i32 left_2 = k_2 - (first_v_2 + 128);
    // matmul.py:36: a = tl.load(a_ptrs, mask=inside_m & (inner[None, :] < left), other=0.0)
    const i64 t_15 = i64(left_2);
    // matmul.py:34: for first in range(0, k, BLOCK_K):
    const i32 t_16 = slot + 1;
    // matmul.py:36: a = tl.load(a_ptrs, mask=inside_m & (inner[None, :] < left), other=0.0)
    f16* const a = a_buffer + slot * 8192;
    // matmul.py:37: b = tl.load(b_ptrs, mask=(inner[:, None] < left) & inside_n, other=0.0)
    f16* const b = b_buffer + slot * 8192;
    // matmul.py:38: total = tl.dot(a, b, total, input_precision="ieee")
    const bool is_ahead = (i64(first_v_2) + 128ll) < t_10;
    // matmul.py:36: a = tl.load(a_ptrs, mask=inside_m & (inner[None, :] < left), other=0.0)
    f16* const a_buffer_slot_3 = a_buffer + free_slot * 8192;
    // matmul.py:37: b = tl.load(b_ptrs, mask=(inner[:, None] < left) & inside_n, other=0.0)
    f16* const b_buffer_slot_3 = b_buffer + free_slot * 8192;
    const i32 next_slot = first_v_2 + 64 < k_2 ? ((t_16 == 3) ? 0 : t_16) : slot;
    f16* const next_a = a_buffer + next_slot * 8192;
    f16* const next_b = b_buffer + next_slot * 8192;
    #pragma unroll
    for (int step = 1; step < 4; ++step) {
      #pragma unroll
      for (int i_13 = 0; i_13 < 4; ++i_13) {
        tw::load_matrices<4>(a_part[step & 1] + i_13 * 4, a + (a_at ^ (step * 16)) + i_13 * 1024);
      }
      #pragma unroll
      for (int i_14 = 0; i_14 < 4; ++i_14) {
        tw::load_matrices_transposed<4>(b_part[step & 1] + i_14 * 4, b + (b_at ^ (i_14 * 16)) + step * 2048);
      }
      #pragma unroll
      for (int k = (step - 1) * 8 / 3; k < step * 8 / 3; ++k) {
        const i32 i_19 = k * 16;
        const i32 i_20 = (thread >> 3) + k * 16;
        // matmul.py:36: a = tl.load(a_ptrs, mask=inside_m & (inner[None, :] < left), other=0.0)
        tw::copy_async_if<16>(a_buffer_slot_3 + a_buffer_at + k * 1024, a_buffer_from + t_5 * i_19, is_ahead, i_20 < t_7 && i_16 < left_2);
      }
      #pragma unroll
      for (int k = (step - 1) * 8 / 3; k < step * 8 / 3; ++k) {
        const i32 i_21 = k * 8;
        const i32 i_22 = (thread >> 4) + k * 8;
        // matmul.py:37: b = tl.load(b_ptrs, mask=(inner[:, None] < left) & inside_n, other=0.0)
        tw::copy_async_if<16>(b_buffer_slot_3 + b_buffer_at + k * 1024, b_buffer_from + t_3 * i_21, is_ahead, i_22 < left_2 && i_18 < t_8);
      }
      #pragma unroll
      for (int row = 0; row < 4; ++row) {
        #pragma unroll
        for (int column = 0; column < 8; ++column) {
          tw::mma_f16(total_tile + row * 32 + column * 4, a_part[(step - 1) & 1] + row * 4, b_part[(step - 1) & 1] + column * 2);
        }
      }
    }
    // matmul.py:34: for first in range(0, k, BLOCK_K):
    tw::commit_copies();
    tw::wait_copies<1>();
    __syncthreads();
    #pragma unroll
    for (int i_13 = 0; i_13 < 4; ++i_13) {
      tw::load_matrices<4>(a_part[0] + i_13 * 4, next_a + a_at + i_13 * 1024);
    }
    #pragma unroll
    for (int i_14 = 0; i_14 < 4; ++i_14) {
      tw::load_matrices_transposed<4>(b_part[0] + i_14 * 4, next_b + (b_at ^ (i_14 * 16)));
    }
    #pragma unroll
    for (int row_2 = 0; row_2 < 4; ++row_2) {
      #pragma unroll
      for (int column_2 = 0; column_2 < 8; ++column_2) {
        tw::mma_f16(total_tile + row_2 * 32 + column_2 * 4, a_part[1] + row_2 * 4, b_part[1] + column_2 * 2);
      }
    }
    a_buffer_from += (a_ptrs_2 + 64ll) - a_ptrs_2;
    b_buffer_from += (b_ptrs_2 + t_9) - b_ptrs_2;
    f16* const next = a_ptrs_2 + 64ll;
    f16* const next_2 = b_ptrs_2 + t_9;
    const i32 next_3 = (t_16 == 3) ? 0 : t_16;
    a_ptrs_2 = next;
    b_ptrs_2 = next_2;
    slot = next_3;
  }
  __syncthreads();
  #pragma unroll
  for (int k = 0; k < 64; ++k) {
    f16 out[2];
    #pragma unroll
    for (int v = 0; v < 2; ++v) {
      const f16 t_17 = tw::to_f16(total_tile[k * 2 + v]);
      out[v] = t_17;
    }
    const i32 i_23 = (thread & 3) * 2 + ((thread >> 2 & 7) * 136 ^ (k >> 1 & 7) * 8) + (thread >> 5 & 1) * 64 + (thread >> 6) * 8192 + (k & 1) * 1024 + (k >> 4) * 2048;
    tw::store_shared<2>(kept_shared + i_23, out);
  }
  __syncthreads();
  #pragma unroll 1
  for (int s = 0; s < 8; ++s) {
    f16 tile[16];
    #pragma unroll
    for (int k = 0; k < 2; ++k) {
      const i32 i_24 = ((thread & 15) * 8 ^ (thread >> 4) * 136) + s * 2048 + k * 1024;
      tw::load<8>(tile + k * 8, kept_shared + i_24);
    }
    #pragma unroll
    for (int k = 0; k < 2; ++k) {
      // matmul.py:43: tl.store(c_ptrs, total.to(c_ptr.dtype.element_ty), mask=inside_m & inside_n)
      f16 out_2[8];
      #pragma unroll
      for (int v = 0; v < 8; ++v) {
        out_2[v] = tile[k * 8 + v];
      }
      const i32 i_25 = (thread >> 4) + s * 16 + k * 8;
      const i32 i_26 = (thread & 15) * 8;
      tw::store_whole<8, 8, tw::Cache::Together>(c_ptrs + t_14 * i_25 + i_26, out_2, i_25 < t_7 && i_26 < t_8);
    }
  }
}
