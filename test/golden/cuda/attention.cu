#include "tilewright/ptx.cuh"
#include "tilewright/types.cuh"
#include "tilewright/arithmetic.cuh"
#include "tilewright/math.cuh"
#include "tilewright/memory.cuh"
#include "tilewright/async_copy.cuh"
#include "tilewright/mma.cuh"
#include "tilewright/wgmma.cuh"
#include "tilewright/warp.cuh"
#include "tilewright/reduce.cuh"
#include "tilewright/wgmma_functions.cuh"

extern "C" __global__ void __launch_bounds__(128) attention_forward(f16* q_ptr, f16* k_ptr, f16* v_ptr, f16* out_ptr, f32* log_sum_ptr, i32 length, f32 scale) {
  const int thread = int(threadIdx.x);
  const bool is_owner = (thread & 3) == 0;
  extern __shared__ __align__(1024) unsigned char shared[];
  f16* const q_shared = reinterpret_cast<f16*>(shared + 0);
  f16* const k_buffer = reinterpret_cast<f16*>(shared + 16384);
  f16* const v_buffer = reinterpret_cast<f16*>(shared + 40960);
  f16* const kept_shared = reinterpret_cast<f16*>(shared + 0);
  // attention.py:26: head = tl.program_id(1).to(tl.int64) * length
  const i64 t = i64(length);
  const i64 head = i64(i32(blockIdx.y)) * t;
  // attention.py:27: first = tl.program_id(0) * BLOCK_M
  const i32 first_v = i32(blockIdx.x) * 128;
  // attention.py:29: q = tl.load(block_of(q_ptr + head * DIM, length, first, DIM, BLOCK_M), boundary_check=(0,)
  const i64 t_2 = head * 64ll;
  const i64 t_3 = i64(first_v);
  const i64 t_4 = t_3 * 64ll;
  const i64 t_5 = t - t_3;
  // attention.py:34: k_block = block_of(k_ptr + head * DIM, length, 0, DIM, BLOCK_N)
  f16* const t_6 = k_ptr + t_2;
  // attention.py:35: v_block = block_of(v_ptr + head * DIM, length, 0, DIM, BLOCK_N)
  f16* const t_7 = v_ptr + t_2;
  // attention.py:29: q = tl.load(block_of(q_ptr + head * DIM, length, first, DIM, BLOCK_M), boundary_check=(0,)
  f16 q_tile[64];
  #pragma unroll
  for (int k = 0; k < 8; ++k) {
    const i32 i = (thread >> 3) + k * 16;
    const i32 i_2 = (thread & 7) * 8;
    tw::load_whole<8>(q_tile + k * 8, ((q_ptr + t_2) + t_4) + i * 64 + i_2, i < t_5, tw::f16_bits(0x0000));
  }
  #pragma unroll
  for (int k = 0; k < 8; ++k) {
    const i32 i_3 = ((thread & 7) * 8 ^ (thread >> 3 & 7) * 72) + (thread >> 6) * 512 + k * 1024;
    tw::store_shared<8>(q_shared + i_3, q_tile + k * 8);
  }
  tw::show_to_products();
  // attention.py:37: for start in range(0, end, BLOCK_N):
  if ((0ll < t)) {
    // attention.py:38: k = tl.load(k_block, boundary_check=(0,), padding_option="zero")
    f16* const k_buffer_slot = k_buffer;
    const i32 k_buffer_at = ((thread & 7) * 8 ^ (thread >> 3 & 7) * 72) + (thread >> 6) * 512;
    const i32 i_4 = thread >> 3;
    const i32 i_5 = (thread & 7) * 8;
    f16* const k_buffer_from = t_6 + i_4 * 64 + i_5;
    if (length >= 64) {
      #pragma unroll
      for (int k = 0; k < 4; ++k) {
        const i32 i_6 = k * 16;
        tw::copy_async<16>(k_buffer_slot + k_buffer_at + k * 1024, k_buffer_from + i_6 * 64);
      }
    } else {
      #pragma unroll
      for (int k = 0; k < 4; ++k) {
        const i32 i_7 = k * 16;
        const i32 i_8 = (thread >> 3) + k * 16;
        tw::copy_async<16>(k_buffer_slot + k_buffer_at + k * 1024, k_buffer_from + i_7 * 64, i_8 < length);
      }
    }
    // attention.py:39: v = tl.load(v_block, boundary_check=(0,), padding_option="zero")
    f16* const v_buffer_slot = v_buffer;
    const i32 v_buffer_at = ((thread & 7) * 8 ^ (thread >> 3 & 7) * 72) + (thread >> 6) * 512;
    const i32 i_9 = thread >> 3;
    const i32 i_10 = (thread & 7) * 8;
    f16* const v_buffer_from = t_7 + i_9 * 64 + i_10;
    if (length >= 64) {
      #pragma unroll
      for (int k = 0; k < 4; ++k) {
        const i32 i_11 = k * 16;
        tw::copy_async<16>(v_buffer_slot + v_buffer_at + k * 1024, v_buffer_from + i_11 * 64);
      }
    } else {
      #pragma unroll
      for (int k = 0; k < 4; ++k) {
        const i32 i_12 = k * 16;
        const i32 i_13 = (thread >> 3) + k * 16;
        tw::copy_async<16>(v_buffer_slot + v_buffer_at + k * 1024, v_buffer_from + i_12 * 64, i_13 < length);
      }
    }
  }
  // attention.py:37: for start in range(0, end, BLOCK_N):
  tw::commit_copies();
  if ((64ll < t)) {
    // attention.py:38: k = tl.load(k_block, boundary_check=(0,), padding_option="zero")
    f16* const k_buffer_slot_2 = k_buffer + 4096;
    const i32 k_buffer_at_2 = ((thread & 7) * 8 ^ (thread >> 3 & 7) * 72) + (thread >> 6) * 512;
    const i32 i_14 = thread >> 3;
    const i32 i_15 = (thread & 7) * 8;
    f16* const k_buffer_from_2 = (t_6 + 4096ll) + i_14 * 64 + i_15;
    if ((t - 64ll) >= 64) {
      #pragma unroll
      for (int k = 0; k < 4; ++k) {
        const i32 i_16 = k * 16;
        tw::copy_async<16>(k_buffer_slot_2 + k_buffer_at_2 + k * 1024, k_buffer_from_2 + i_16 * 64);
      }
    } else {
      #pragma unroll
      for (int k = 0; k < 4; ++k) {
        const i32 i_17 = k * 16;
        const i32 i_18 = (thread >> 3) + k * 16;
        tw::copy_async<16>(k_buffer_slot_2 + k_buffer_at_2 + k * 1024, k_buffer_from_2 + i_17 * 64, i_18 < (t - 64ll));
      }
    }
    // attention.py:39: v = tl.load(v_block, boundary_check=(0,), padding_option="zero")
    f16* const v_buffer_slot_2 = v_buffer + 4096;
    const i32 v_buffer_at_2 = ((thread & 7) * 8 ^ (thread >> 3 & 7) * 72) + (thread >> 6) * 512;
    const i32 i_19 = thread >> 3;
    const i32 i_20 = (thread & 7) * 8;
    f16* const v_buffer_from_2 = (t_7 + 4096ll) + i_19 * 64 + i_20;
    if ((t - 64ll) >= 64) {
      #pragma unroll
      for (int k = 0; k < 4; ++k) {
        const i32 i_21 = k * 16;
        tw::copy_async<16>(v_buffer_slot_2 + v_buffer_at_2 + k * 1024, v_buffer_from_2 + i_21 * 64);
      }
    } else {
      #pragma unroll
      for (int k = 0; k < 4; ++k) {
        const i32 i_22 = k * 16;
        const i32 i_23 = (thread >> 3) + k * 16;
        tw::copy_async<16>(v_buffer_slot_2 + v_buffer_at_2 + k * 1024, v_buffer_from_2 + i_22 * 64, i_23 < (t - 64ll));
      }
    }
  }
  // attention.py:37: for start in range(0, end, BLOCK_N):
  tw::commit_copies();
  f32 largest_tile[4];
  #pragma unroll
  for (int k = 0; k < 4; ++k) {
    largest_tile[k] = -tw::inf<f32>();
  }
  f32 out_tile[64];
  #pragma unroll
  for (int k = 0; k < 32; ++k) {
    #pragma unroll
    for (int v = 0; v < 2; ++v) {
      out_tile[k * 2 + v] = 0.0f;
    }
  }
  f32 total_tile[4];
  #pragma unroll
  for (int k = 0; k < 4; ++k) {
    total_tile[k] = 0.0f;
  }
  i32 carried = 128;
  i32 carried_2 = 128;
  i32 slot = 0;
  #pragma unroll 1
  for (i32 start = 0; start < length; start += 64) {
    tw::wait_copies<1>();
    tw::show_to_products();
    __syncthreads();
    const i32 free_slot = (slot == 0) ? 2 : (slot - 1);
    // attention.py:38: k = tl.load(k_block, boundary_check=(0,), padding_option="zero")
    const i64 t_8 = i64(carried);
    // attention.py:39: v = tl.load(v_block, boundary_check=(0,), padding_option="zero")
    const i64 t_9 = i64(carried_2);
    // attention.py:37: for start in range(0, end, BLOCK_N):
    const i32 t_10 = slot + 1;
    if (((i64(start) + 128ll) < t)) {
      // attention.py:38: k = tl.load(k_block, boundary_check=(0,), padding_option="zero")
      f16* const k_buffer_slot_3 = k_buffer + free_slot * 4096;
      const i32 k_buffer_at_3 = ((thread & 7) * 8 ^ (thread >> 3 & 7) * 72) + (thread >> 6) * 512;
      const i32 i_24 = thread >> 3;
      const i32 i_25 = (thread & 7) * 8;
      f16* const k_buffer_from_3 = (t_6 + (t_8 * 64ll)) + i_24 * 64 + i_25;
      if ((t - t_8) >= 64) {
        #pragma unroll
        for (int k = 0; k < 4; ++k) {
          const i32 i_26 = k * 16;
          tw::copy_async<16>(k_buffer_slot_3 + k_buffer_at_3 + k * 1024, k_buffer_from_3 + i_26 * 64);
        }
      } else {
        #pragma unroll
        for (int k = 0; k < 4; ++k) {
          const i32 i_27 = k * 16;
          const i32 i_28 = (thread >> 3) + k * 16;
          tw::copy_async<16>(k_buffer_slot_3 + k_buffer_at_3 + k * 1024, k_buffer_from_3 + i_27 * 64, i_28 < (t - t_8));
        }
      }
      // attention.py:39: v = tl.load(v_block, boundary_check=(0,), padding_option="zero")
      f16* const v_buffer_slot_3 = v_buffer + free_slot * 4096;
      const i32 v_buffer_at_3 = ((thread & 7) * 8 ^ (thread >> 3 & 7) * 72) + (thread >> 6) * 512;
      const i32 i_29 = thread >> 3;
      const i32 i_30 = (thread & 7) * 8;
      f16* const v_buffer_from_3 = (t_7 + (t_9 * 64ll)) + i_29 * 64 + i_30;
      if ((t - t_9) >= 64) {
        #pragma unroll
        for (int k = 0; k < 4; ++k) {
          const i32 i_31 = k * 16;
          tw::copy_async<16>(v_buffer_slot_3 + v_buffer_at_3 + k * 1024, v_buffer_from_3 + i_31 * 64);
        }
      } else {
        #pragma unroll
        for (int k = 0; k < 4; ++k) {
          const i32 i_32 = k * 16;
          const i32 i_33 = (thread >> 3) + k * 16;
          tw::copy_async<16>(v_buffer_slot_3 + v_buffer_at_3 + k * 1024, v_buffer_from_3 + i_32 * 64, i_33 < (t - t_9));
        }
      }
    }
    // attention.py:37: for start in range(0, end, BLOCK_N):
    tw::commit_copies();
    // attention.py:38: k = tl.load(k_block, boundary_check=(0,), padding_option="zero")
    f16* const k_2 = k_buffer + slot * 4096;
    // attention.py:39: v = tl.load(v_block, boundary_check=(0,), padding_option="zero")
    f16* const v_2 = v_buffer + slot * 4096;
    f32 kept_tile[64];
    // attention.py:16: s = tl.dot(q, tl.trans(k), input_precision="ieee") * (scale * 1.4426950408889634)
    const tw::Descriptor q_operand = tw::describe<128>(q_shared, 0, 1024);
    const tw::Descriptor operand = tw::describe<128>(k_2, 0, 1024);
    tw::begin_products();
    #pragma unroll
    for (int step = 0; step < 4; ++step) {
      #pragma unroll
      for (int row = 0; row < 2; ++row) {
        tw::wgmma_n64_f16(kept_tile + row * 32, tw::further(q_operand, row * 512 + step * 2), tw::further(operand, step * 2), step > 0);
      }
    }
    tw::commit_products();
    tw::wait_products<0>();
    tw::take_products(kept_tile);
    // attention.py:41: now = tl.maximum(largest, tl.max(s, axis=1))
    f32 maximum[4];
    #pragma unroll
    for (int k = 0; k < 32; ++k) {
      #pragma unroll
      for (int v = 0; v < 2; ++v) {
        const i32 i_34 = (thread & 3) * 2 + (k >> 1 & 7) * 8;
        // attention.py:17: seen = cols[None, :] < length
        const bool seen = (start + (i_34 + v)) < length;
        // attention.py:16: s = tl.dot(q, tl.trans(k), input_precision="ieee") * (scale * 1.4426950408889634)
        const f32 s_2 = kept_tile[k * 2 + v] * (scale * 1.442695f);
        // attention.py:20: return tl.where(seen, s, -float("inf"))
        const f32 s_3 = seen ? s_2 : (-tw::inf<f32>());
        // attention.py:41: now = tl.maximum(largest, tl.max(s, axis=1))
        if ((k >> 1 & 7) == 0 && v == 0) maximum[(k & 1) + (k >> 4) * 2] = s_3;
        else {
          maximum[(k & 1) + (k >> 4) * 2] = tw::max_number((maximum[(k & 1) + (k >> 4) * 2]), s_3);
        }
      }
    }
    const auto combine = [&](f32 a, f32 b) { return tw::max_number(a, b); };
    #pragma unroll
    for (int k = 0; k < 4; ++k) maximum[k] = tw::reduce_lanes<3>(maximum[k], combine);
    f32 shrink_tile[4];
    #pragma unroll
    for (int k = 0; k < 4; ++k) {
      const f32 now = tw::max_number(largest_tile[k], maximum[k]);
      // attention.py:42: shrink = tl.exp2(largest - now)
      const f32 shrink = tw::exp2(largest_tile[k] - now);
      largest_tile[k] = now;
      shrink_tile[k] = shrink;
    }
    f16 kept_tile_2[64];
    // attention.py:44: total = total * shrink + tl.sum(p, axis=1)
    f32 sum[4] = {};
    #pragma unroll
    for (int k = 0; k < 32; ++k) {
      #pragma unroll
      for (int v = 0; v < 2; ++v) {
        const i32 i_35 = (thread & 3) * 2 + (k >> 1 & 7) * 8;
        // attention.py:17: seen = cols[None, :] < length
        const bool seen_2 = (start + (i_35 + v)) < length;
        // attention.py:16: s = tl.dot(q, tl.trans(k), input_precision="ieee") * (scale * 1.4426950408889634)
        const f32 s_4 = kept_tile[k * 2 + v] * (scale * 1.442695f);
        // attention.py:20: return tl.where(seen, s, -float("inf"))
        const f32 s_5 = seen_2 ? s_4 : (-tw::inf<f32>());
        // attention.py:43: p = tl.exp2(s - now[:, None])
        const f32 p = tw::exp2(s_5 - (largest_tile[(k & 1) + (k >> 4) * 2]));
        const f16 t_11 = tw::to_f16(p);
        // attention.py:44: total = total * shrink + tl.sum(p, axis=1)
        sum[(k & 1) + (k >> 4) * 2] = (sum[(k & 1) + (k >> 4) * 2]) + p;
        kept_tile_2[k * 2 + v] = t_11;
      }
    }
    const auto combine_2 = [&](f32 a_2, f32 b_2) { return a_2 + b_2; };
    #pragma unroll
    for (int k = 0; k < 4; ++k) sum[k] = tw::reduce_lanes<3>(sum[k], combine_2);
    #pragma unroll
    for (int k = 0; k < 4; ++k) {
      const f32 total = (total_tile[k] * shrink_tile[k]) + sum[k];
      total_tile[k] = total;
    }
    #pragma unroll
    for (int k = 0; k < 32; ++k) {
      #pragma unroll
      for (int v = 0; v < 2; ++v) {
        const f32 t_12 = out_tile[k * 2 + v] * (shrink_tile[(k & 1) + (k >> 4) * 2]);
        out_tile[k * 2 + v] = t_12;
      }
    }
    // attention.py:45: out = tl.dot(p.to(v.dtype), v, out * shrink[:, None], input_precision="ieee")
    u32 words[4][8];
    #pragma unroll
    for (int step_2 = 0; step_2 < 4; ++step_2) {
      #pragma unroll
      for (int i_36 = 0; i_36 < 8; ++i_36) {
        words[step_2][i_36] = tw::word_of(kept_tile_2[step_2 * 8 + (i_36 & 3) * 2 + (i_36 >> 2) * 32], kept_tile_2[step_2 * 8 + (i_36 & 3) * 2 + (i_36 >> 2) * 32 + 1]);
      }
    }
    const tw::Descriptor v_operand = tw::describe<128>(v_2, 0, 1024);
    tw::begin_products();
    #pragma unroll
    for (int step_2 = 0; step_2 < 4; ++step_2) {
      #pragma unroll
      for (int row_2 = 0; row_2 < 2; ++row_2) {
        tw::wgmma_n64_f16_words_right_transposed(out_tile + row_2 * 32, words[step_2] + row_2 * 4, tw::further(v_operand, step_2 * 128), true);
      }
    }
    tw::commit_products();
    tw::wait_products<0>();
    tw::take_products(out_tile);
    const i32 next = carried + 64;
    const i32 next_2 = carried_2 + 64;
    const i32 next_3 = (t_10 == 3) ? 0 : t_10;
    carried = next;
    carried_2 = next_2;
    slot = next_3;
  }
  __syncthreads();
  #pragma unroll
  for (int k = 0; k < 32; ++k) {
    f16 out[2];
    #pragma unroll
    for (int v = 0; v < 2; ++v) {
      // attention.py:49: out = out / total[:, None]
      const f32 out_2 = tw::divide_fast(out_tile[k * 2 + v], (total_tile[(k & 1) + (k >> 4) * 2]));
      const f16 t_13 = tw::to_f16(out_2);
      out[v] = t_13;
    }
    const i32 i_37 = (thread & 3) * 2 + ((thread >> 2 & 7) * 72 ^ (k >> 1 & 7) * 8) + (thread >> 5) * 1024 + (k & 1) * 512 + (k >> 4) * 4096;
    tw::store_shared<2>(kept_shared + i_37, out);
  }
  #pragma unroll
  for (int k = 0; k < 4; ++k) {
    // attention.py:52: tl.store(log_sum_ptr + head + rows, largest + tl.log2(total), mask=rows < length)
    tw::store_if(is_owner && (((k & 1) * 8 + (k >> 1) * 64) < t_5 - ((thread >> 2 & 7) + (thread >> 5) * 16)), ((log_sum_ptr + head) + t_3) + ((thread >> 2 & 7) + (thread >> 5) * 16) + ((k & 1) * 8 + (k >> 1) * 64), largest_tile[k] + tw::log2(total_tile[k]));
  }
  __syncthreads();
  f16 tile[64];
  #pragma unroll
  for (int k = 0; k < 8; ++k) {
    const i32 i_38 = ((thread & 7) * 8 ^ (thread >> 3 & 7) * 72) + (thread >> 6) * 512 + k * 1024;
    tw::load<8>(tile + k * 8, kept_shared + i_38);
  }
  #pragma unroll
  for (int k = 0; k < 8; ++k) {
    // attention.py:50: tl.store(block_of(out_ptr + head * DIM, length, first, DIM, BLOCK_M),
    f16 out_3[8];
    #pragma unroll
    for (int v = 0; v < 8; ++v) {
      out_3[v] = tile[k * 8 + v];
    }
    const i32 i_39 = (thread >> 3) + k * 16;
    const i32 i_40 = (thread & 7) * 8;
    tw::store_whole<8, 8, tw::Cache::Together>(((out_ptr + t_2) + t_4) + i_39 * 64 + i_40, out_3, i_39 < t_5);
  }
}
