#include "tilewright/ptx.cuh"
#include "tilewright/types.cuh"
#include "tilewright/arithmetic.cuh"
#include "tilewright/memory.cuh"
#include "tilewright/async_copy.cuh"
#include "tilewright/mma.cuh"
#include "tilewright/wgmma.cuh"
#include "tilewright/wgmma_functions.cuh"

extern "C" __global__ void __launch_bounds__(128) matmul_kernel(f16* a_ptr, f16* b_ptr, f16* c_ptr, i32 m, i32 n, i32 k_2, i32 a_row, i32 b_row, i32 c_row) {
  const int thread = int(threadIdx.x);
  extern __shared__ __align__(1024) unsigned char shared[];
  f16* const a_buffer = reinterpret_cast<f16*>(shared + 0);
  f16* const b_buffer = reinterpret_cast<f16*>(shared + 81920);
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
  const i32 left_2 = k_2 - 64;
  // matmul.py:36: a = tl.load(a_ptrs, mask=inside_m & (inner[None, :] < left), other=0.0)
  const i64 t_13 = i64(left_2);
  // matmul.py:34: for first in range(0, k, BLOCK_K):
  f16* const t_14 = t_11 + t_9;
  f16* const t_15 = t_12 + 64ll;
  // matmul.py:35: left = k - first
  const i32 left_3 = k_2 - 128;
  // matmul.py:36: a = tl.load(a_ptrs, mask=inside_m & (inner[None, :] < left), other=0.0)
  const i64 t_16 = i64(left_3);
  // matmul.py:43: tl.store(c_ptrs, total.to(c_ptr.dtype.element_ty), mask=inside_m & inside_n)
  const i64 t_17 = i64(c_row);
  f16* const c_ptrs = c_ptr + ((t_17 * t_6) + t_4);
  // matmul.py:34: for first in range(0, k, BLOCK_K):
  if (0ll < t_10) {
    // matmul.py:36: a = tl.load(a_ptrs, mask=inside_m & (inner[None, :] < left), other=0.0)
    f16* const a_buffer_slot = a_buffer;
    const i32 a_buffer_at = (((thread & 7) * 8) ^ ((thread >> 3 & 7) * 72)) + (thread >> 6) * 512;
    const i32 i = thread >> 3;
    const i32 i_2 = (thread & 7) * 8;
    f16* const a_buffer_from = a_ptrs + t_5 * i + i_2;
    if (t_7 >= 128 && k_2 >= 64) {
      #pragma unroll
      for (int k = 0; k < 8; ++k) {
        const i32 i_3 = k * 16;
        tw::copy_async<16>(a_buffer_slot + a_buffer_at + k * 1024, a_buffer_from + t_5 * i_3);
      }
    } else {
      #pragma unroll
      for (int k = 0; k < 8; ++k) {
        const i32 i_4 = k * 16;
        const i32 i_5 = (thread >> 3) + k * 16;
        tw::copy_async<16>(a_buffer_slot + a_buffer_at + k * 1024, a_buffer_from + t_5 * i_4, i_5 < t_7 && i_2 < k_2);
      }
    }
    // matmul.py:37: b = tl.load(b_ptrs, mask=(inner[:, None] < left) & inside_n, other=0.0)
    f16* const b_buffer_slot = b_buffer;
    const i32 b_buffer_at = (((thread & 7) * 8) ^ ((thread >> 4) * 72)) + (thread >> 3 & 1) * 4096;
    const i32 i_6 = thread >> 4;
    const i32 i_7 = (thread & 15) * 8;
    f16* const b_buffer_from = b_ptrs + t_3 * i_6 + i_7;
    if (k_2 >= 64 && t_8 >= 128) {
      #pragma unroll
      for (int k = 0; k < 8; ++k) {
        const i32 i_8 = k * 8;
        tw::copy_async<16>(b_buffer_slot + b_buffer_at + k * 512, b_buffer_from + t_3 * i_8);
      }
    } else {
      #pragma unroll
      for (int k = 0; k < 8; ++k) {
        const i32 i_9 = k * 8;
        const i32 i_10 = (thread >> 4) + k * 8;
        tw::copy_async<16>(b_buffer_slot + b_buffer_at + k * 512, b_buffer_from + t_3 * i_9, i_10 < k_2 && i_7 < t_8);
      }
    }
  }
  // matmul.py:34: for first in range(0, k, BLOCK_K):
  tw::commit_copies();
  if (64ll < t_10) {
    // matmul.py:36: a = tl.load(a_ptrs, mask=inside_m & (inner[None, :] < left), other=0.0)
    f16* const a_buffer_slot_2 = a_buffer + 8192;
    const i32 a_buffer_at_2 = (((thread & 7) * 8) ^ ((thread >> 3 & 7) * 72)) + (thread >> 6) * 512;
    const i32 i_11 = thread >> 3;
    const i32 i_12 = (thread & 7) * 8;
    f16* const a_buffer_from_2 = t_12 + t_5 * i_11 + i_12;
    if (t_7 >= 128 && left_2 >= 64) {
      #pragma unroll
      for (int k = 0; k < 8; ++k) {
        const i32 i_13 = k * 16;
        tw::copy_async<16>(a_buffer_slot_2 + a_buffer_at_2 + k * 1024, a_buffer_from_2 + t_5 * i_13);
      }
    } else {
      #pragma unroll
      for (int k = 0; k < 8; ++k) {
        const i32 i_14 = k * 16;
        const i32 i_15 = (thread >> 3) + k * 16;
        tw::copy_async<16>(a_buffer_slot_2 + a_buffer_at_2 + k * 1024, a_buffer_from_2 + t_5 * i_14, i_15 < t_7 && i_12 < left_2);
      }
    }
    // matmul.py:37: b = tl.load(b_ptrs, mask=(inner[:, None] < left) & inside_n, other=0.0)
    f16* const b_buffer_slot_2 = b_buffer + 8192;
    const i32 b_buffer_at_2 = (((thread & 7) * 8) ^ ((thread >> 4) * 72)) + (thread >> 3 & 1) * 4096;
    const i32 i_16 = thread >> 4;
    const i32 i_17 = (thread & 15) * 8;
    f16* const b_buffer_from_2 = t_11 + t_3 * i_16 + i_17;
    if (left_2 >= 64 && t_8 >= 128) {
      #pragma unroll
      for (int k = 0; k < 8; ++k) {
        const i32 i_18 = k * 8;
        tw::copy_async<16>(b_buffer_slot_2 + b_buffer_at_2 + k * 512, b_buffer_from_2 + t_3 * i_18);
      }
    } else {
      #pragma unroll
      for (int k = 0; k < 8; ++k) {
        const i32 i_19 = k * 8;
        const i32 i_20 = (thread >> 4) + k * 8;
        tw::copy_async<16>(b_buffer_slot_2 + b_buffer_at_2 + k * 512, b_buffer_from_2 + t_3 * i_19, i_20 < left_2 && i_17 < t_8);
      }
    }
  }
  // matmul.py:34: for first in range(0, k, BLOCK_K):
  tw::commit_copies();
  if (128ll < t_10) {
    // matmul.py:36: a = tl.load(a_ptrs, mask=inside_m & (inner[None, :] < left), other=0.0)
    f16* const a_buffer_slot_3 = a_buffer + 16384;
    const i32 a_buffer_at_3 = (((thread & 7) * 8) ^ ((thread >> 3 & 7) * 72)) + (thread >> 6) * 512;
    const i32 i_21 = thread >> 3;
    const i32 i_22 = (thread & 7) * 8;
    f16* const a_buffer_from_3 = t_15 + t_5 * i_21 + i_22;
    if (t_7 >= 128 && left_3 >= 64) {
      #pragma unroll
      for (int k = 0; k < 8; ++k) {
        const i32 i_23 = k * 16;
        tw::copy_async<16>(a_buffer_slot_3 + a_buffer_at_3 + k * 1024, a_buffer_from_3 + t_5 * i_23);
      }
    } else {
      #pragma unroll
      for (int k = 0; k < 8; ++k) {
        const i32 i_24 = k * 16;
        const i32 i_25 = (thread >> 3) + k * 16;
        tw::copy_async<16>(a_buffer_slot_3 + a_buffer_at_3 + k * 1024, a_buffer_from_3 + t_5 * i_24, i_25 < t_7 && i_22 < left_3);
      }
    }
    // matmul.py:37: b = tl.load(b_ptrs, mask=(inner[:, None] < left) & inside_n, other=0.0)
    f16* const b_buffer_slot_3 = b_buffer + 16384;
    const i32 b_buffer_at_3 = (((thread & 7) * 8) ^ ((thread >> 4) * 72)) + (thread >> 3 & 1) * 4096;
    const i32 i_26 = thread >> 4;
    const i32 i_27 = (thread & 15) * 8;
    f16* const b_buffer_from_3 = t_14 + t_3 * i_26 + i_27;
    if (left_3 >= 64 && t_8 >= 128) {
      #pragma unroll
      for (int k = 0; k < 8; ++k) {
        const i32 i_28 = k * 8;
        tw::copy_async<16>(b_buffer_slot_3 + b_buffer_at_3 + k * 512, b_buffer_from_3 + t_3 * i_28);
      }
    } else {
      #pragma unroll
      for (int k = 0; k < 8; ++k) {
        const i32 i_29 = k * 8;
        const i32 i_30 = (thread >> 4) + k * 8;
        tw::copy_async<16>(b_buffer_slot_3 + b_buffer_at_3 + k * 512, b_buffer_from_3 + t_3 * i_29, i_30 < left_3 && i_27 < t_8);
      }
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
  f16* carried{};
  f16* carried_2{};
  i32 carried_3{};
  if (0 < k_2) {
    f16* a_ptrs_2 = (t_15 + 64ll);
    f16* b_ptrs_2 = (t_14 + t_9);
    i32 slot = 0;
    #pragma unroll 1
    for (i32 first_v_2 = 0; first_v_2 < k_2; first_v_2 += 64) {
      tw::wait_copies<2>();
      tw::show_to_products();
      __syncthreads();
      const i32 free_slot = (slot < 2) ? (slot + 3) : (slot - 2);
      // matmul.py:35: left = k - first
      const i32 left_4 = k_2 - (first_v_2 + 192);
      // matmul.py:36: a = tl.load(a_ptrs, mask=inside_m & (inner[None, :] < left), other=0.0)
      const i64 t_18 = i64(left_4);
      // matmul.py:34: for first in range(0, k, BLOCK_K):
      const i32 t_19 = slot + 1;
      if ((i64(first_v_2) + 192ll) < t_10) {
        // matmul.py:36: a = tl.load(a_ptrs, mask=inside_m & (inner[None, :] < left), other=0.0)
        f16* const a_buffer_slot_4 = a_buffer + free_slot * 8192;
        const i32 a_buffer_at_4 = (((thread & 7) * 8) ^ ((thread >> 3 & 7) * 72)) + (thread >> 6) * 512;
        const i32 i_31 = thread >> 3;
        const i32 i_32 = (thread & 7) * 8;
        f16* const a_buffer_from_4 = a_ptrs_2 + t_5 * i_31 + i_32;
        if (t_7 >= 128 && left_4 >= 64) {
          #pragma unroll
          for (int k = 0; k < 8; ++k) {
            const i32 i_33 = k * 16;
            tw::copy_async<16>(a_buffer_slot_4 + a_buffer_at_4 + k * 1024, a_buffer_from_4 + t_5 * i_33);
          }
        } else {
          #pragma unroll
          for (int k = 0; k < 8; ++k) {
            const i32 i_34 = k * 16;
            const i32 i_35 = (thread >> 3) + k * 16;
            tw::copy_async<16>(a_buffer_slot_4 + a_buffer_at_4 + k * 1024, a_buffer_from_4 + t_5 * i_34, i_35 < t_7 && i_32 < left_4);
          }
        }
        // matmul.py:37: b = tl.load(b_ptrs, mask=(inner[:, None] < left) & inside_n, other=0.0)
        f16* const b_buffer_slot_4 = b_buffer + free_slot * 8192;
        const i32 b_buffer_at_4 = (((thread & 7) * 8) ^ ((thread >> 4) * 72)) + (thread >> 3 & 1) * 4096;
        const i32 i_36 = thread >> 4;
        const i32 i_37 = (thread & 15) * 8;
        f16* const b_buffer_from_4 = b_ptrs_2 + t_3 * i_36 + i_37;
        if (left_4 >= 64 && t_8 >= 128) {
          #pragma unroll
          for (int k = 0; k < 8; ++k) {
            const i32 i_38 = k * 8;
            tw::copy_async<16>(b_buffer_slot_4 + b_buffer_at_4 + k * 512, b_buffer_from_4 + t_3 * i_38);
          }
        } else {
          #pragma unroll
          for (int k = 0; k < 8; ++k) {
            const i32 i_39 = k * 8;
            const i32 i_40 = (thread >> 4) + k * 8;
            tw::copy_async<16>(b_buffer_slot_4 + b_buffer_at_4 + k * 512, b_buffer_from_4 + t_3 * i_39, i_40 < left_4 && i_37 < t_8);
          }
        }
      }
      // matmul.py:34: for first in range(0, k, BLOCK_K):
      tw::commit_copies();
      // matmul.py:36: a = tl.load(a_ptrs, mask=inside_m & (inner[None, :] < left), other=0.0)
      f16* const a = a_buffer + slot * 8192;
      // matmul.py:37: b = tl.load(b_ptrs, mask=(inner[:, None] < left) & inside_n, other=0.0)
      f16* const b = b_buffer + slot * 8192;
      const tw::Descriptor a_operand = tw::describe<128>(a, 0, 1024);
      const tw::Descriptor b_operand = tw::describe<128>(b, 8192, 1024);
      // matmul.py:38: total = tl.dot(a, b, total, input_precision="ieee")
      tw::begin_products();
      #pragma unroll
      for (int step = 0; step < 4; ++step) {
        #pragma unroll
        for (int row = 0; row < 2; ++row) {
          tw::wgmma_n128_f16_right_transposed(total_tile + row * 64, tw::further(a_operand, row * 512 + step * 2), tw::further(b_operand, step * 128), true);
        }
      }
      tw::commit_products();
      tw::wait_products<1>();
      a_ptrs_2 = (a_ptrs_2 + 64ll);
      b_ptrs_2 = (b_ptrs_2 + t_9);
      slot = ((t_19 == 5) ? 0 : t_19);
    }
    tw::wait_products<0>();
    tw::take_products(total_tile);
    carried = a_ptrs_2;
    carried_2 = b_ptrs_2;
    carried_3 = slot;
  } else {
    carried = (t_15 + 64ll);
    carried_2 = (t_14 + t_9);
    carried_3 = 0;
  }
  __syncthreads();
  #pragma unroll
  for (int k = 0; k < 64; ++k) {
    f16 out[2];
    #pragma unroll
    for (int v = 0; v < 2; ++v) {
      const f16 t_20 = tw::to_f16(total_tile[k * 2 + v]);
      out[v] = t_20;
    }
    const i32 i_41 = (thread & 3) * 2 + (((thread >> 2 & 7) * 136) ^ ((k >> 1 & 15) * 8)) + (thread >> 5) * 2048 + (k & 1) * 1024 + (k >> 5) * 8192;
    tw::store_shared<2>(kept_shared + i_41, out);
  }
  __syncthreads();
  #pragma unroll 1
  for (int s = 0; s < 8; ++s) {
    f16 tile[16];
    #pragma unroll
    for (int k = 0; k < 2; ++k) {
      const i32 i_42 = (((thread & 15) * 8) ^ ((thread >> 4) * 136)) + s * 2048 + k * 1024;
      tw::load<8>(tile + k * 8, kept_shared + i_42);
    }
    #pragma unroll
    for (int k = 0; k < 2; ++k) {
      // matmul.py:43: tl.store(c_ptrs, total.to(c_ptr.dtype.element_ty), mask=inside_m & inside_n)
      f16 out_2[8];
      #pragma unroll
      for (int v = 0; v < 8; ++v) {
        out_2[v] = tile[k * 8 + v];
      }
      const i32 i_43 = (thread >> 4) + s * 16 + k * 8;
      const i32 i_44 = (thread & 15) * 8;
      tw::store_whole<8, 8, tw::Cache::Together>(c_ptrs + t_17 * i_43 + i_44, out_2, i_43 < t_7 && i_44 < t_8);
    }
  }
}
