// SPDX-License-Identifier: Apache-2.0
// device_lib/cuda/mma.cuh — tensor cores: matrices from shared memory, and products within a warp.
// All 32 lanes call each function together. device_lib/emulate/cuda/mma.cuh is the same for a CPU.

namespace tw {

// Count matrices of 8 rows of 16 bytes, in which lane 8 i + j names row j of matrix i. The lane
// gets word lane % 4 of row lane / 4 of each.
template <int Count>
TW_DEVICE void load_matrices(unsigned* out, const void* row) {
  const unsigned address = unsigned(__cvta_generic_to_shared(row));
  if constexpr (Count == 4)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
                 : "r"(address)
                 : "memory");
  else if constexpr (Count == 2)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(out[0]), "=r"(out[1])
                 : "r"(address)
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 %0, [%1];"
                 : "=r"(out[0])
                 : "r"(address)
                 : "memory");
}

// The same for elements of 16 bits with rows and columns exchanged: the lane gets element lane / 4
// of rows 2 (lane % 4) and 2 (lane % 4) + 1.
template <int Count>
TW_DEVICE void load_matrices_transposed(unsigned* out, const void* row) {
  const unsigned address = unsigned(__cvta_generic_to_shared(row));
  if constexpr (Count == 4)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
                 : "r"(address)
                 : "memory");
  else if constexpr (Count == 2)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(out[0]), "=r"(out[1])
                 : "r"(address)
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 %0, [%1];"
                 : "=r"(out[0])
                 : "r"(address)
                 : "memory");
}

// Four matrices of bytes with rows and columns exchanged, two neighbouring columns at a time: rows
// are those of matrices 0 and 1 in turn by pairs (2, 3 alike). The lane gets a word of four rows of
// each of columns 2 (lane / 4) and 2 (lane / 4) + 1; `Next` is how many words further on the
// latter's go.
template <int Next>
TW_DEVICE void load_bytes_transposed(unsigned* out, const void* row) {
  unsigned pairs[4];
  load_matrices_transposed<4>(pairs, row);
  out[0] = __byte_perm(pairs[0], pairs[1], 0x6420);
  out[Next] = __byte_perm(pairs[0], pairs[1], 0x7531);
  out[3 - Next] = __byte_perm(pairs[2], pairs[3], 0x6420);
  out[3] = __byte_perm(pairs[2], pairs[3], 0x7531);
}

// One word of an operand from its elements.
template <class T>
TW_DEVICE unsigned word_of(T x0) {
  static_assert(sizeof(T) == 4, "one element fills the word");
  unsigned word;
  memcpy(&word, &x0, 4);
  return word;
}
template <class T>
TW_DEVICE unsigned word_of(T x0, T x1) {
  static_assert(sizeof(T) == 2, "two elements fill the word");
  unsigned short low, high;
  memcpy(&low, &x0, 2);
  memcpy(&high, &x1, 2);
  return unsigned(high) << 16 | low;
}
// Of two elements that are neighbours.
template <class T>
TW_DEVICE unsigned word_at(const T* elements) {
  static_assert(sizeof(T) == 2, "two elements fill the word");
  unsigned word;
  memcpy(&word, elements, 4);
  return word;
}
template <class T>
TW_DEVICE unsigned word_of(T x0, T x1, T x2, T x3) {
  static_assert(sizeof(T) == 1, "four elements fill the word");
  unsigned char bytes[4];
  memcpy(bytes, &x0, 1);
  memcpy(bytes + 1, &x1, 1);
  memcpy(bytes + 2, &x2, 1);
  memcpy(bytes + 3, &x3, 1);
  return unsigned(bytes[3]) << 24 | unsigned(bytes[2]) << 16 | unsigned(bytes[1]) << 8 | bytes[0];
}

// c += a * b: 16 rows, 8 columns and a depth of 32 bytes.
#define TW_MMA(name, accumulator, constraint, instruction)                                         \
  TW_DEVICE void name(accumulator* c, const unsigned* a, const unsigned* b) {                      \
    asm("mma.sync.aligned." instruction " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "         \
        "{%0, %1, %2, %3};"                                                                        \
        : "+" constraint(c[0]), "+" constraint(c[1]), "+" constraint(c[2]), "+" constraint(c[3])   \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                       \
  }
TW_MMA(mma_f16, float, "f", "m16n8k16.row.col.f32.f16.f16.f32")
TW_MMA(mma_bf16, float, "f", "m16n8k16.row.col.f32.bf16.bf16.f32")
TW_MMA(mma_tf32, float, "f", "m16n8k8.row.col.f32.tf32.tf32.f32")
TW_MMA(mma_i8, int, "r", "m16n8k32.row.col.s32.s8.s8.s32")
#if __CUDA_ARCH__ == 900
// Hopper has these only in wgmma. Two products of f16 are made from the lower and from the upper
// depth; each takes the first and the last two of four neighbours, in whichever order: a and b
// agree.
#define TW_WIDEN(type)                                                                             \
  TW_DEVICE void widen_##type(unsigned* two, unsigned four) {                                      \
    asm("{ .reg .b16 low, high; mov.b32 {low, high}, %2; cvt.rn.f16x2." #type "x2 %0, low;"        \
        " cvt.rn.f16x2." #type "x2 %1, high; }"                                                   \
        : "=r"(two[0]), "=r"(two[1])                                                               \
        : "r"(four));                                                                              \
  }
TW_WIDEN(e4m3)
TW_WIDEN(e5m2)
#undef TW_WIDEN
#define TW_MMA_WIDENED(left, right)                                                                \
  TW_DEVICE void mma_##left##_##right(float* c, const unsigned* a, const unsigned* b) {            \
    _Pragma("unroll") for (int i = 0; i < 2; ++i) {                                                \
      unsigned top[2], bottom[2], columns[2];                                                      \
      widen_##left(top, a[2 * i]);                                                                 \
      widen_##left(bottom, a[2 * i + 1]);                                                          \
      widen_##right(columns, b[i]);                                                                \
      const unsigned rows[4] = {top[0], bottom[0], top[1], bottom[1]};                             \
      mma_f16(c, rows, columns);                                                                   \
    }                                                                                              \
  }
TW_MMA_WIDENED(e4m3, e4m3)
TW_MMA_WIDENED(e4m3, e5m2)
TW_MMA_WIDENED(e5m2, e4m3)
TW_MMA_WIDENED(e5m2, e5m2)
#undef TW_MMA_WIDENED
#elif __CUDA_ARCH__ >= 890
TW_MMA(mma_e4m3_e4m3, float, "f", "m16n8k32.row.col.f32.e4m3.e4m3.f32")
TW_MMA(mma_e4m3_e5m2, float, "f", "m16n8k32.row.col.f32.e4m3.e5m2.f32")
TW_MMA(mma_e5m2_e4m3, float, "f", "m16n8k32.row.col.f32.e5m2.e4m3.f32")
TW_MMA(mma_e5m2_e5m2, float, "f", "m16n8k32.row.col.f32.e5m2.e5m2.f32")
#endif
#undef TW_MMA

// 8 rows, 8 columns and a depth of 4.
TW_DEVICE void mma_f64(double* c, const double* a, const double* b) {
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(c[0]), "+d"(c[1])
      : "d"(a[0]), "d"(b[0]));
}

// f32 by three products: the part that tf32 keeps, and what is left of it.
TW_DEVICE void mma_tf32x3(float* c, const unsigned* a, const unsigned* b) {
  constexpr unsigned kept = 0xffffe000u;
  unsigned a_big[4], a_small[4], b_big[2], b_small[2];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    a_big[i] = a[i] & kept;
    a_small[i] = __float_as_uint(__uint_as_float(a[i]) - __uint_as_float(a_big[i]));
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    b_big[i] = b[i] & kept;
    b_small[i] = __float_as_uint(__uint_as_float(b[i]) - __uint_as_float(b_big[i]));
  }
  mma_tf32(c, a_small, b_big);
  mma_tf32(c, a_big, b_small);
  mma_tf32(c, a_big, b_big);
}

}  // namespace tw
