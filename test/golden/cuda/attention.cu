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
  f16* const k_buffer_1 = reinterpret_cast<f16*>(shared + 16384);
  f16* const v_buffer_1 = reinterpret_cast<f16*>(shared + 40960);
  f16* const kept_shared = reinterpret_cast<f16*>(shared + 0);
  // attention.py:43: head = tl.program_id(1).to(tl.int64) * length
  const i64 t = i64(length);
  const i64 head = i64(i32(blockIdx.y)) * t;
  // attention.py:44: first = tl.program_id(0) * BLOCK_M
  const i32 first_v = i32(blockIdx.x) * 128;
  // attention.py:46: q = tl.load(block_of(q_ptr + head * DIM, length, first, DIM, BLOCK_M), boundary_check=(...
  const i64 t_2 = head * 64ll;
  const i64 t_3 = i64(first_v);
  const i64 t_4 = t_3 * 64ll;
  const i64 t_5 = t - t_3;
  // attention.py:51: k_block = block_of(k_ptr + head * DIM, length, 0, DIM, BLOCK_N)
  f16* const t_6 = k_ptr + t_2;
  // attention.py:52: v_block = block_of(v_ptr + head * DIM, length, 0, DIM, BLOCK_N)
  f16* const t_7 = v_ptr + t_2;
  // attention.py:55: whole = (first if CAUSAL else length) // BLOCK_N * BLOCK_N
  const i32 whole = (length / 64) * 64;
  // attention.py:18: factor = scale * 1.4426950408889634  # log2(e), so that exp2 serves
  const f32 factor = scale * 1.442695f;
  // attention.py:19: for start in range(begin, end, BLOCK_N):
  const i64 t_8 = i64(whole);
  // attention.py:46: q = tl.load(block_of(q_ptr + head * DIM, length, first, DIM, BLOCK_M), boundary_check=(...
  f16 q_tile[64];
  #pragma unroll
  for (int k = 0; k < 8; ++k) {
    const i32 i = (thread >> 3) + k * 16;
    const i32 i_2 = (thread & 7) * 8;
    tw::load_whole<8>(q_tile + k * 8, q_ptr + t_2 + t_4 + i * 64 + i_2, i < t_5, tw::f16_bits(0x0000));
  }
  #pragma unroll
  for (int k = 0; k < 8; ++k) {
    const i32 i_3 = (((thread & 7) * 8) ^ ((thread >> 3 & 7) * 72)) + (thread >> 6) * 512 + k * 1024;
    tw::store_shared<8>(q_shared + i_3, q_tile + k * 8);
  }
  tw::show_to_products();
  // attention.py:19: for start in range(begin, end, BLOCK_N):
  if (0ll < t_8) {
    // attention.py:20: k = tl.load(k_block, boundary_check=(0,), padding_option="zero")
    f16* const k_buffer_slot = k_buffer;
    const i32 k_buffer_at = (((thread & 7) * 8) ^ ((thread >> 3 & 7) * 72)) + (thread >> 6) * 512;
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
    // attention.py:21: v = tl.load(v_block, boundary_check=(0,), padding_option="zero")
    f16* const v_buffer_slot = v_buffer;
    const i32 v_buffer_at = (((thread & 7) * 8) ^ ((thread >> 3 & 7) * 72)) + (thread >> 6) * 512;
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
  // attention.py:19: for start in range(begin, end, BLOCK_N):
  tw::commit_copies();
  if (64ll < t_8) {
    // attention.py:20: k = tl.load(k_block, boundary_check=(0,), padding_option="zero")
    f16* const k_buffer_slot_2 = k_buffer + 4096;
    const i32 k_buffer_at_2 = (((thread & 7) * 8) ^ ((thread >> 3 & 7) * 72)) + (thread >> 6) * 512;
    const i32 i_14 = thread >> 3;
    const i32 i_15 = (thread & 7) * 8;
    f16* const k_buffer_from_2 = t_6 + 4096ll + i_14 * 64 + i_15;
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
    // attention.py:21: v = tl.load(v_block, boundary_check=(0,), padding_option="zero")
    f16* const v_buffer_slot_2 = v_buffer + 4096;
    const i32 v_buffer_at_2 = (((thread & 7) * 8) ^ ((thread >> 3 & 7) * 72)) + (thread >> 6) * 512;
    const i32 i_19 = thread >> 3;
    const i32 i_20 = (thread & 7) * 8;
    f16* const v_buffer_from_2 = t_7 + 4096ll + i_19 * 64 + i_20;
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
  // attention.py:19: for start in range(begin, end, BLOCK_N):
  tw::commit_copies();
  f32 largest_tile[4];
  f32 out_tile[64];
  f32 total_tile[4];
  #pragma unroll
  for (int k = 0; k < 4; ++k) {
    largest_tile[k] = -tw::inf<f32>();
  }
  #pragma unroll
  for (int k = 0; k < 32; ++k) {
    #pragma unroll
    for (int v = 0; v < 2; ++v) {
      out_tile[k * 2 + v] = 0.0f;
    }
  }
  #pragma unroll
  for (int k = 0; k < 4; ++k) {
    total_tile[k] = 0.0f;
  }
  i32 carried = 0;
  i32 carried_2 = 0;
  i32 slot = 0;
  #pragma unroll 1
  for (i32 start = 0; start < whole; start += 64) {
    tw::wait_copies<1>();
    tw::show_to_products();
    __syncthreads();
    const i32 free_slot = (slot == 0) ? 2 : (slot - 1);
    // attention.py:20: k = tl.load(k_block, boundary_check=(0,), padding_option="zero")
    const i64 t_9 = i64(start + 128);
    const i64 t_10 = t_9 * 64ll;
    // attention.py:19: for start in range(begin, end, BLOCK_N):
    const i32 t_11 = slot + 1;
    if ((i64(start) + 128ll) < t_8) {
      // attention.py:20: k = tl.load(k_block, boundary_check=(0,), padding_option="zero")
      f16* const k_buffer_slot_3 = k_buffer + free_slot * 4096;
      const i32 k_buffer_at_3 = (((thread & 7) * 8) ^ ((thread >> 3 & 7) * 72)) + (thread >> 6) * 512;
      const i32 i_24 = thread >> 3;
      const i32 i_25 = (thread & 7) * 8;
      f16* const k_buffer_from_3 = t_6 + t_10 + i_24 * 64 + i_25;
      if ((t - t_9) >= 64) {
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
          tw::copy_async<16>(k_buffer_slot_3 + k_buffer_at_3 + k * 1024, k_buffer_from_3 + i_27 * 64, i_28 < (t - t_9));
        }
      }
      // attention.py:21: v = tl.load(v_block, boundary_check=(0,), padding_option="zero")
      f16* const v_buffer_slot_3 = v_buffer + free_slot * 4096;
      const i32 v_buffer_at_3 = (((thread & 7) * 8) ^ ((thread >> 3 & 7) * 72)) + (thread >> 6) * 512;
      const i32 i_29 = thread >> 3;
      const i32 i_30 = (thread & 7) * 8;
      f16* const v_buffer_from_3 = t_7 + t_10 + i_29 * 64 + i_30;
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
    // attention.py:19: for start in range(begin, end, BLOCK_N):
    tw::commit_copies();
    // attention.py:20: k = tl.load(k_block, boundary_check=(0,), padding_option="zero")
    f16* const k_2 = k_buffer + slot * 4096;
    // attention.py:21: v = tl.load(v_block, boundary_check=(0,), padding_option="zero")
    f16* const v_2 = v_buffer + slot * 4096;
    f32 s_tile[64];
    const tw::Descriptor q_operand = tw::describe<128>(q_shared, 0, 1024);
    const tw::Descriptor operand = tw::describe<128>(k_2, 0, 1024);
    // attention.py:22: s = tl.dot(q, tl.trans(k), input_precision="ieee")
    tw::begin_products();
    #pragma unroll
    for (int step = 0; step < 4; ++step) {
      #pragma unroll
      for (int row = 0; row < 2; ++row) {
        tw::wgmma_n64_f16(s_tile + row * 32, tw::further(q_operand, row * 512 + step * 2), tw::further(operand, step * 2), step > 0);
      }
    }
    tw::commit_products();
    tw::wait_products<0>();
    tw::take_products(s_tile);
    // attention.py:29: now = tl.maximum(largest, tl.max(s, axis=1) * factor)
    f32 maximum[4];
    #pragma unroll
    for (int k = 0; k < 32; ++k) {
      #pragma unroll
      for (int v = 0; v < 2; ++v) {
        if ((k >> 1 & 7) == 0 && v == 0) maximum[(k & 1) + (k >> 4) * 2] = s_tile[k * 2 + v];
        else {
          const f32 t_12 = tw::max_number((maximum[(k & 1) + (k >> 4) * 2]), s_tile[k * 2 + v]);
          maximum[(k & 1) + (k >> 4) * 2] = t_12;
        }
      }
    }
    const auto combine = [&](f32 a, f32 b) { return tw::max_number(a, b); };
    #pragma unroll
    for (int k = 0; k < 4; ++k) maximum[k] = tw::reduce_lanes<3>(maximum[k], combine);
    f32 shrink_tile[4];
    #pragma unroll
    for (int k = 0; k < 4; ++k) {
      const f32 now = tw::max_number(largest_tile[k], (maximum[k] * factor));
      // attention.py:30: shrink = tl.exp2(largest - now)
      const f32 shrink = tw::exp2(largest_tile[k] - now);
      largest_tile[k] = now;
      shrink_tile[k] = shrink;
    }
    f16 kept_tile[64];
    // attention.py:32: total = total * shrink + tl.sum(p, axis=1)
    f32 sum[4] = {-0.0f, -0.0f, -0.0f, -0.0f};
    #pragma unroll
    for (int k = 0; k < 32; ++k) {
      #pragma unroll
      for (int v = 0; v < 2; ++v) {
        // attention.py:31: p = tl.exp2(s * factor - now[:, None])
        const f32 t_13 = (s_tile[k * 2 + v] * factor) - (largest_tile[(k & 1) + (k >> 4) * 2]);
        const f32 p = tw::exp2(t_13);
        const f16 t_14 = tw::to_f16(p);
        // attention.py:32: total = total * shrink + tl.sum(p, axis=1)
        sum[(k & 1) + (k >> 4) * 2] = (sum[(k & 1) + (k >> 4) * 2]) + p;
        kept_tile[k * 2 + v] = t_14;
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
        const f32 t_15 = out_tile[k * 2 + v] * (shrink_tile[(k & 1) + (k >> 4) * 2]);
        out_tile[k * 2 + v] = t_15;
      }
    }
    u32 words[32];
    #pragma unroll
    for (int step_2 = 0; step_2 < 4; ++step_2) {
      #pragma unroll
      for (int i_34 = 0; i_34 < 8; ++i_34) {
        (words + step_2 * 8)[i_34] = tw::word_of((kept_tile[step_2 * 8 + (i_34 & 3) * 2 + (i_34 >> 2) * 32]), (kept_tile[step_2 * 8 + (i_34 & 3) * 2 + (i_34 >> 2) * 32 + 1]));
      }
    }
    const tw::Descriptor v_operand = tw::describe<128>(v_2, 0, 1024);
    // attention.py:33: out = tl.dot(p.to(v.dtype), v, out * shrink[:, None], input_precision="ieee")
    tw::begin_products();
    #pragma unroll
    for (int step_2 = 0; step_2 < 4; ++step_2) {
      #pragma unroll
      for (int row_2 = 0; row_2 < 2; ++row_2) {
        tw::wgmma_n64_f16_words_right_transposed(out_tile + row_2 * 32, words + step_2 * 8 + row_2 * 4, tw::further(v_operand, step_2 * 128), true);
      }
    }
    tw::commit_products();
    tw::wait_products<0>();
    tw::take_products(out_tile);
    carried = (carried + 64);
    carried_2 = (carried_2 + 64);
    slot = ((t_11 == 3) ? 0 : t_11);
  }
  // attention.py:20: k = tl.load(k_block, boundary_check=(0,), padding_option="zero")
  const i64 t_16 = i64(carried);
  // attention.py:21: v = tl.load(v_block, boundary_check=(0,), padding_option="zero")
  const i64 t_17 = i64(carried_2);
  // attention.py:35: k_block = tl.advance(k_block, (BLOCK_N, 0))
  const i32 t_18 = carried + 64;
  // attention.py:36: v_block = tl.advance(v_block, (BLOCK_N, 0))
  const i32 t_19 = carried_2 + 64;
  // attention.py:20: k = tl.load(k_block, boundary_check=(0,), padding_option="zero")
  const i64 t_20 = i64(t_18);
  // attention.py:21: v = tl.load(v_block, boundary_check=(0,), padding_option="zero")
  const i64 t_21 = i64(t_19);
  // attention.py:19: for start in range(begin, end, BLOCK_N):
  if (t_8 < t) {
    // attention.py:20: k = tl.load(k_block, boundary_check=(0,), padding_option="zero")
    f16* const k_buffer_1_slot = k_buffer_1;
    const i32 k_buffer_1_at = (((thread & 7) * 8) ^ ((thread >> 3 & 7) * 72)) + (thread >> 6) * 512;
    const i32 i_35 = thread >> 3;
    const i32 i_36 = (thread & 7) * 8;
    f16* const k_buffer_1_from = t_6 + (t_16 * 64ll) + i_35 * 64 + i_36;
    __syncthreads();
    if ((t - t_16) >= 64) {
      #pragma unroll
      for (int k = 0; k < 4; ++k) {
        const i32 i_37 = k * 16;
        tw::copy_async<16>(k_buffer_1_slot + k_buffer_1_at + k * 1024, k_buffer_1_from + i_37 * 64);
      }
    } else {
      #pragma unroll
      for (int k = 0; k < 4; ++k) {
        const i32 i_38 = k * 16;
        const i32 i_39 = (thread >> 3) + k * 16;
        tw::copy_async<16>(k_buffer_1_slot + k_buffer_1_at + k * 1024, k_buffer_1_from + i_38 * 64, i_39 < (t - t_16));
      }
    }
    // attention.py:21: v = tl.load(v_block, boundary_check=(0,), padding_option="zero")
    f16* const v_buffer_1_slot = v_buffer_1;
    const i32 v_buffer_1_at = (((thread & 7) * 8) ^ ((thread >> 3 & 7) * 72)) + (thread >> 6) * 512;
    const i32 i_40 = thread >> 3;
    const i32 i_41 = (thread & 7) * 8;
    f16* const v_buffer_1_from = t_7 + (t_17 * 64ll) + i_40 * 64 + i_41;
    if ((t - t_17) >= 64) {
      #pragma unroll
      for (int k = 0; k < 4; ++k) {
        const i32 i_42 = k * 16;
        tw::copy_async<16>(v_buffer_1_slot + v_buffer_1_at + k * 1024, v_buffer_1_from + i_42 * 64);
      }
    } else {
      #pragma unroll
      for (int k = 0; k < 4; ++k) {
        const i32 i_43 = k * 16;
        const i32 i_44 = (thread >> 3) + k * 16;
        tw::copy_async<16>(v_buffer_1_slot + v_buffer_1_at + k * 1024, v_buffer_1_from + i_43 * 64, i_44 < (t - t_17));
      }
    }
  }
  // attention.py:19: for start in range(begin, end, BLOCK_N):
  tw::commit_copies();
  if ((t_8 + 64ll) < t) {
    // attention.py:20: k = tl.load(k_block, boundary_check=(0,), padding_option="zero")
    f16* const k_buffer_1_slot_2 = k_buffer_1 + 4096;
    const i32 k_buffer_1_at_2 = (((thread & 7) * 8) ^ ((thread >> 3 & 7) * 72)) + (thread >> 6) * 512;
    const i32 i_45 = thread >> 3;
    const i32 i_46 = (thread & 7) * 8;
    f16* const k_buffer_1_from_2 = t_6 + (t_20 * 64ll) + i_45 * 64 + i_46;
    __syncthreads();
    if ((t - t_20) >= 64) {
      #pragma unroll
      for (int k = 0; k < 4; ++k) {
        const i32 i_47 = k * 16;
        tw::copy_async<16>(k_buffer_1_slot_2 + k_buffer_1_at_2 + k * 1024, k_buffer_1_from_2 + i_47 * 64);
      }
    } else {
      #pragma unroll
      for (int k = 0; k < 4; ++k) {
        const i32 i_48 = k * 16;
        const i32 i_49 = (thread >> 3) + k * 16;
        tw::copy_async<16>(k_buffer_1_slot_2 + k_buffer_1_at_2 + k * 1024, k_buffer_1_from_2 + i_48 * 64, i_49 < (t - t_20));
      }
    }
    // attention.py:21: v = tl.load(v_block, boundary_check=(0,), padding_option="zero")
    f16* const v_buffer_1_slot_2 = v_buffer_1 + 4096;
    const i32 v_buffer_1_at_2 = (((thread & 7) * 8) ^ ((thread >> 3 & 7) * 72)) + (thread >> 6) * 512;
    const i32 i_50 = thread >> 3;
    const i32 i_51 = (thread & 7) * 8;
    f16* const v_buffer_1_from_2 = t_7 + (t_21 * 64ll) + i_50 * 64 + i_51;
    if ((t - t_21) >= 64) {
      #pragma unroll
      for (int k = 0; k < 4; ++k) {
        const i32 i_52 = k * 16;
        tw::copy_async<16>(v_buffer_1_slot_2 + v_buffer_1_at_2 + k * 1024, v_buffer_1_from_2 + i_52 * 64);
      }
    } else {
      #pragma unroll
      for (int k = 0; k < 4; ++k) {
        const i32 i_53 = k * 16;
        const i32 i_54 = (thread >> 3) + k * 16;
        tw::copy_async<16>(v_buffer_1_slot_2 + v_buffer_1_at_2 + k * 1024, v_buffer_1_from_2 + i_53 * 64, i_54 < (t - t_21));
      }
    }
  }
  // attention.py:19: for start in range(begin, end, BLOCK_N):
  tw::commit_copies();
  f32 largest_tile_2[4];
  f32 out_tile_2[64];
  f32 total_tile_2[4];
  #pragma unroll
  for (int k = 0; k < 4; ++k) {
    largest_tile_2[k] = largest_tile[k];
  }
  #pragma unroll
  for (int k = 0; k < 32; ++k) {
    #pragma unroll
    for (int v = 0; v < 2; ++v) {
      out_tile_2[k * 2 + v] = out_tile[k * 2 + v];
    }
  }
  #pragma unroll
  for (int k = 0; k < 4; ++k) {
    total_tile_2[k] = total_tile[k];
  }
  i32 carried_3 = (t_18 + 64);
  i32 carried_4 = (t_19 + 64);
  i32 slot_2 = 0;
  #pragma unroll 1
  for (i32 start_2 = whole; start_2 < length; start_2 += 64) {
    tw::wait_copies<1>();
    tw::show_to_products();
    __syncthreads();
    const i32 free_slot_2 = (slot_2 == 0) ? 2 : (slot_2 - 1);
    // attention.py:20: k = tl.load(k_block, boundary_check=(0,), padding_option="zero")
    const i64 t_22 = i64(carried_3);
    // attention.py:21: v = tl.load(v_block, boundary_check=(0,), padding_option="zero")
    const i64 t_23 = i64(carried_4);
    // attention.py:19: for start in range(begin, end, BLOCK_N):
    const i32 t_24 = slot_2 + 1;
    if ((i64(start_2) + 128ll) < t) {
      // attention.py:20: k = tl.load(k_block, boundary_check=(0,), padding_option="zero")
      f16* const k_buffer_1_slot_3 = k_buffer_1 + free_slot_2 * 4096;
      const i32 k_buffer_1_at_3 = (((thread & 7) * 8) ^ ((thread >> 3 & 7) * 72)) + (thread >> 6) * 512;
      const i32 i_55 = thread >> 3;
      const i32 i_56 = (thread & 7) * 8;
      f16* const k_buffer_1_from_3 = t_6 + (t_22 * 64ll) + i_55 * 64 + i_56;
      if ((t - t_22) >= 64) {
        #pragma unroll
        for (int k = 0; k < 4; ++k) {
          const i32 i_57 = k * 16;
          tw::copy_async<16>(k_buffer_1_slot_3 + k_buffer_1_at_3 + k * 1024, k_buffer_1_from_3 + i_57 * 64);
        }
      } else {
        #pragma unroll
        for (int k = 0; k < 4; ++k) {
          const i32 i_58 = k * 16;
          const i32 i_59 = (thread >> 3) + k * 16;
          tw::copy_async<16>(k_buffer_1_slot_3 + k_buffer_1_at_3 + k * 1024, k_buffer_1_from_3 + i_58 * 64, i_59 < (t - t_22));
        }
      }
      // attention.py:21: v = tl.load(v_block, boundary_check=(0,), padding_option="zero")
      f16* const v_buffer_1_slot_3 = v_buffer_1 + free_slot_2 * 4096;
      const i32 v_buffer_1_at_3 = (((thread & 7) * 8) ^ ((thread >> 3 & 7) * 72)) + (thread >> 6) * 512;
      const i32 i_60 = thread >> 3;
      const i32 i_61 = (thread & 7) * 8;
      f16* const v_buffer_1_from_3 = t_7 + (t_23 * 64ll) + i_60 * 64 + i_61;
      if ((t - t_23) >= 64) {
        #pragma unroll
        for (int k = 0; k < 4; ++k) {
          const i32 i_62 = k * 16;
          tw::copy_async<16>(v_buffer_1_slot_3 + v_buffer_1_at_3 + k * 1024, v_buffer_1_from_3 + i_62 * 64);
        }
      } else {
        #pragma unroll
        for (int k = 0; k < 4; ++k) {
          const i32 i_63 = k * 16;
          const i32 i_64 = (thread >> 3) + k * 16;
          tw::copy_async<16>(v_buffer_1_slot_3 + v_buffer_1_at_3 + k * 1024, v_buffer_1_from_3 + i_63 * 64, i_64 < (t - t_23));
        }
      }
    }
    // attention.py:19: for start in range(begin, end, BLOCK_N):
    tw::commit_copies();
    // attention.py:20: k = tl.load(k_block, boundary_check=(0,), padding_option="zero")
    f16* const k_3 = k_buffer_1 + slot_2 * 4096;
    // attention.py:21: v = tl.load(v_block, boundary_check=(0,), padding_option="zero")
    f16* const v_3 = v_buffer_1 + slot_2 * 4096;
    f32 s_tile_2[64];
    const tw::Descriptor q_operand_2 = tw::describe<128>(q_shared, 0, 1024);
    const tw::Descriptor operand_2 = tw::describe<128>(k_3, 0, 1024);
    // attention.py:22: s = tl.dot(q, tl.trans(k), input_precision="ieee")
    tw::begin_products();
    #pragma unroll
    for (int step_3 = 0; step_3 < 4; ++step_3) {
      #pragma unroll
      for (int row_3 = 0; row_3 < 2; ++row_3) {
        tw::wgmma_n64_f16(s_tile_2 + row_3 * 32, tw::further(q_operand_2, row_3 * 512 + step_3 * 2), tw::further(operand_2, step_3 * 2), step_3 > 0);
      }
    }
    tw::commit_products();
    tw::wait_products<0>();
    tw::take_products(s_tile_2);
    // attention.py:29: now = tl.maximum(largest, tl.max(s, axis=1) * factor)
    f32 maximum_2[4];
    #pragma unroll
    for (int k = 0; k < 32; ++k) {
      #pragma unroll
      for (int v = 0; v < 2; ++v) {
        const i32 i_65 = (thread & 3) * 2 + (k >> 1 & 7) * 8;
        // attention.py:24: cols = start + tl.arange(0, BLOCK_N)
        const i32 cols = start_2 + (i_65 + v);
        // attention.py:25: seen = cols[None, :] < length
        const bool seen = cols < length;
        // attention.py:28: s = tl.where(seen, s, -float("inf"))
        const f32 s_2 = seen ? s_tile_2[k * 2 + v] : -tw::inf<f32>();
        // attention.py:29: now = tl.maximum(largest, tl.max(s, axis=1) * factor)
        if ((k >> 1 & 7) == 0 && v == 0) maximum_2[(k & 1) + (k >> 4) * 2] = s_2;
        else {
          maximum_2[(k & 1) + (k >> 4) * 2] = tw::max_number((maximum_2[(k & 1) + (k >> 4) * 2]), s_2);
        }
      }
    }
    const auto combine_3 = [&](f32 a_3, f32 b_3) { return tw::max_number(a_3, b_3); };
    #pragma unroll
    for (int k = 0; k < 4; ++k) maximum_2[k] = tw::reduce_lanes<3>(maximum_2[k], combine_3);
    f32 shrink_tile_2[4];
    #pragma unroll
    for (int k = 0; k < 4; ++k) {
      const f32 now_2 = tw::max_number(largest_tile_2[k], (maximum_2[k] * factor));
      // attention.py:30: shrink = tl.exp2(largest - now)
      const f32 shrink_2 = tw::exp2(largest_tile_2[k] - now_2);
      largest_tile_2[k] = now_2;
      shrink_tile_2[k] = shrink_2;
    }
    f16 kept_tile_2[64];
    // attention.py:32: total = total * shrink + tl.sum(p, axis=1)
    f32 sum_2[4] = {-0.0f, -0.0f, -0.0f, -0.0f};
    #pragma unroll
    for (int k = 0; k < 32; ++k) {
      #pragma unroll
      for (int v = 0; v < 2; ++v) {
        const i32 i_66 = (thread & 3) * 2 + (k >> 1 & 7) * 8;
        // attention.py:24: cols = start + tl.arange(0, BLOCK_N)
        const i32 cols_2 = start_2 + (i_66 + v);
        // attention.py:25: seen = cols[None, :] < length
        const bool seen_2 = cols_2 < length;
        // attention.py:28: s = tl.where(seen, s, -float("inf"))
        const f32 s_3 = seen_2 ? s_tile_2[k * 2 + v] : -tw::inf<f32>();
        // attention.py:31: p = tl.exp2(s * factor - now[:, None])
        const f32 p_2 = tw::exp2((s_3 * factor) - (largest_tile_2[(k & 1) + (k >> 4) * 2]));
        const f16 t_25 = tw::to_f16(p_2);
        // attention.py:32: total = total * shrink + tl.sum(p, axis=1)
        sum_2[(k & 1) + (k >> 4) * 2] = (sum_2[(k & 1) + (k >> 4) * 2]) + p_2;
        kept_tile_2[k * 2 + v] = t_25;
      }
    }
    const auto combine_4 = [&](f32 a_4, f32 b_4) { return a_4 + b_4; };
    #pragma unroll
    for (int k = 0; k < 4; ++k) sum_2[k] = tw::reduce_lanes<3>(sum_2[k], combine_4);
    #pragma unroll
    for (int k = 0; k < 4; ++k) {
      const f32 total_2 = (total_tile_2[k] * shrink_tile_2[k]) + sum_2[k];
      total_tile_2[k] = total_2;
    }
    #pragma unroll
    for (int k = 0; k < 32; ++k) {
      #pragma unroll
      for (int v = 0; v < 2; ++v) {
        // attention.py:33: out = tl.dot(p.to(v.dtype), v, out * shrink[:, None], input_precision="ieee")
        const f32 t_26 = out_tile_2[k * 2 + v] * (shrink_tile_2[(k & 1) + (k >> 4) * 2]);
        out_tile_2[k * 2 + v] = t_26;
      }
    }
    u32 words_2[32];
    #pragma unroll
    for (int step_4 = 0; step_4 < 4; ++step_4) {
      #pragma unroll
      for (int i_67 = 0; i_67 < 8; ++i_67) {
        (words_2 + step_4 * 8)[i_67] = tw::word_of((kept_tile_2[step_4 * 8 + (i_67 & 3) * 2 + (i_67 >> 2) * 32]), (kept_tile_2[step_4 * 8 + (i_67 & 3) * 2 + (i_67 >> 2) * 32 + 1]));
      }
    }
    const tw::Descriptor v_operand_2 = tw::describe<128>(v_3, 0, 1024);
    tw::begin_products();
    #pragma unroll
    for (int step_4 = 0; step_4 < 4; ++step_4) {
      #pragma unroll
      for (int row_4 = 0; row_4 < 2; ++row_4) {
        tw::wgmma_n64_f16_words_right_transposed(out_tile_2 + row_4 * 32, words_2 + step_4 * 8 + row_4 * 4, tw::further(v_operand_2, step_4 * 128), true);
      }
    }
    tw::commit_products();
    tw::wait_products<0>();
    tw::take_products(out_tile_2);
    carried_3 = (carried_3 + 64);
    carried_4 = (carried_4 + 64);
    slot_2 = ((t_24 == 3) ? 0 : t_24);
  }
  __syncthreads();
  #pragma unroll
  for (int k = 0; k < 32; ++k) {
    f16 out[2];
    #pragma unroll
    for (int v = 0; v < 2; ++v) {
      // attention.py:60: out = out / total[:, None]
      const f32 out_2 = tw::divide_fast(out_tile_2[k * 2 + v], (total_tile_2[(k & 1) + (k >> 4) * 2]));
      const f16 t_27 = tw::to_f16(out_2);
      out[v] = t_27;
    }
    const i32 i_68 = (thread & 3) * 2 + (((thread >> 2 & 7) * 72) ^ ((k >> 1 & 7) * 8)) + (thread >> 5) * 1024 + (k & 1) * 512 + (k >> 4) * 4096;
    tw::store_shared<2>(kept_shared + i_68, out);
  }
  #pragma unroll
  for (int k = 0; k < 4; ++k) {
    // attention.py:63: tl.store(log_sum_ptr + head + rows, largest + tl.log2(total), mask=rows < length)
    tw::store_if(is_owner && ((k & 1) * 8 + (k >> 1) * 64) < (t_5 - ((thread >> 2 & 7) + (thread >> 5) * 16)), log_sum_ptr + head + t_3 + ((thread >> 2 & 7) + (thread >> 5) * 16) + ((k & 1) * 8 + (k >> 1) * 64), largest_tile_2[k] + tw::log2(total_tile_2[k]));
  }
  __syncthreads();
  f16 tile[64];
  #pragma unroll
  for (int k = 0; k < 8; ++k) {
    const i32 i_69 = (((thread & 7) * 8) ^ ((thread >> 3 & 7) * 72)) + (thread >> 6) * 512 + k * 1024;
    tw::load<8>(tile + k * 8, kept_shared + i_69);
  }
  #pragma unroll
  for (int k = 0; k < 8; ++k) {
    // attention.py:61: tl.store(block_of(out_ptr + head * DIM, length, first, DIM, BLOCK_M),
    f16 out_3[8];
    #pragma unroll
    for (int v = 0; v < 8; ++v) {
      out_3[v] = tile[k * 8 + v];
    }
    const i32 i_70 = (thread >> 3) + k * 16;
    const i32 i_71 = (thread & 7) * 8;
    tw::store_whole<8, 8, tw::Cache::Together>(out_ptr + t_2 + t_4 + i_70 * 64 + i_71, out_3, i_70 < t_5);
  }
}
