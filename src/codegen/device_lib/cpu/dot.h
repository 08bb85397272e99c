// SPDX-License-Identifier: Apache-2.0
// device_lib/cpu/dot.h — products of tiles: a block of the result stays in vector registers while k
// runs; operands are read where they are, or packed into short panels first.
#pragma once

namespace tw {

// Rows and vectors of a block: so many sums that each multiply-add is done before its register is
// needed again. All sizes are powers of two, so blocks leave no rest.
#if defined(__AVX512F__)
constexpr i32 dot_vector_bytes = 64, dot_rows = 8;
#elif defined(__AVX__)
constexpr i32 dot_vector_bytes = 32, dot_rows = 4;
#else
constexpr i32 dot_vector_bytes = 16, dot_rows = 4;
#endif

template <class T, i32 lanes>
struct VectorOf {
  typedef T type __attribute__((vector_size(sizeof(T) * lanes), aligned(sizeof(T)), may_alias));
};

template <class A, class B>
constexpr bool is_same_type = false;
template <class A>
constexpr bool is_same_type<A, A> = true;
template <class T>
constexpr bool is_small_float = false;
template <>
constexpr bool is_small_float<f16> = true;
template <>
constexpr bool is_small_float<bf16> = true;
template <>
constexpr bool is_small_float<f8e4m3> = true;
template <>
constexpr bool is_small_float<f8e5m2> = true;

template <class To, class From>
inline To widen(From x) {
  if constexpr (is_small_float<From>) return To(to_f32(x));
  else return To(x);
}
inline void narrow(f16& to, f32 x) { to = to_f16(x); }
inline void narrow(bf16& to, f32 x) { to = to_bf16(x); }
inline void narrow(f8e4m3& to, f32 x) { to = to_f8e4m3(x); }
inline void narrow(f8e5m2& to, f32 x) { to = to_f8e5m2(x); }

// ---- Kinds of products. An operand is made of words that hold `depth` elements along k.

template <class T>
struct PlainProducts {
  typedef T Sum;
  typedef T Word;
  static constexpr i32 depth = 1;
  template <class V>
  static V add(V sum, T left, V right) {
    return sum + left * right;
  }
  template <class X>
  static T word(const X* x, i64) {
    return widen<T>(*x);
  }
};

inline u32 pair_of(u16 low, u16 high) { return u32(low) | u32(high) << 16; }

#if defined(__AVX2__)
// Bytes as pairs of i16: two products and their sum in one instruction, exactly.
struct BytePairs {
  typedef i32 Sum;
  typedef i32 Word;
  static constexpr i32 depth = 2;
  template <class V>
  static V add(V sum, i32 left, V right) {
    const V wide = left - V{};
    // Vectors shorter than a register: both halves by hand.
    if constexpr (sizeof(V) < 16)
      return sum + (wide << 16 >> 16) * (right << 16 >> 16) + (wide >> 16) * (right >> 16);
    V products;
    asm("vpmaddwd %2, %1, %0" : "=v"(products) : "v"(wide), "v"(right));
    return sum + products;
  }
  template <class X>
  static i32 word(const X* x, i64 stride) {
    return i32(pair_of(u16(i16(x[0])), u16(i16(x[stride]))));
  }
};
#endif

#if defined(__AVX512BF16__)
struct Bf16Pairs {
  typedef f32 Sum;
  typedef u32 Word;
  static constexpr i32 depth = 2;
  template <class V, class W>
  static V add(V sum, u32 left, W right) {
    if constexpr (sizeof(V) < 8) {  // one column: no vector that a register would be taken for
      typedef typename VectorOf<f32, 4>::type Sums;
      typedef typename VectorOf<u32, 4>::type Words;
      return V{add(Sums{sum[0]}, left, Words{right[0]})[0]};
    } else {
      const W wide = left - W{};
      V out = sum;
      asm("vdpbf16ps %2, %1, %0" : "+v"(out) : "v"(wide), "v"(right));
      return out;
    }
  }
  static u32 word(const bf16* x, i64 stride) { return pair_of(x[0].bits, x[stride].bits); }
};
#endif

template <class C, bool is_small = is_small_float<C>>
struct SumOf {
  typedef C type;
};
template <class C>
struct SumOf<C, true> {
  typedef f32 type;
};

template <class C, class A, class B, bool has_pairs>
struct Products {
  typedef PlainProducts<typename SumOf<C>::type> type;
};
#if defined(__AVX2__)
template <>
struct Products<i32, i8, i8, true> {
  typedef BytePairs type;
};
template <>
struct Products<i32, u8, u8, true> {
  typedef BytePairs type;
};
#endif
#if defined(__AVX512BF16__)
template <>
struct Products<f32, bf16, bf16, true> {
  typedef Bf16Pairs type;
};
#endif

// ---- Packing

#define TW_SHUFFLE(x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)
template <class V>
inline void transpose_8x8(V (&x)[8]) {
  V y[8];
  for (i32 i = 0; i < 8; i += 2) {
    y[i] = TW_SHUFFLE(x[i], x[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
    y[i + 1] = TW_SHUFFLE(x[i], x[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
  }
  for (i32 i = 0; i < 8; i += 1 + (i & 1) * 2) {
    x[i] = TW_SHUFFLE(y[i], y[i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
    x[i + 2] = TW_SHUFFLE(y[i], y[i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
  }
  for (i32 i = 0; i < 4; ++i) {
    const V low = TW_SHUFFLE(x[i], x[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    x[i + 4] = TW_SHUFFLE(x[i], x[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    x[i] = low;
  }
}
#undef TW_SHUFFLE

// Eight words whose elements are neighbours.
template <class Kind, class X>
inline void load_line(typename Kind::Word* to, const X* from) {
#pragma omp simd
  for (i32 k = 0; k < 8; ++k) to[k] = Kind::word(from + k * Kind::depth, 1);
}
#if defined(__F16C__)
template <>
inline void load_line<PlainProducts<f32>, f16>(f32* to, const f16* from) {
  typedef VectorOf<f32, 8>::type V;
  struct Halves {
    f16 x[8];
  };
  V out;
  asm("vcvtph2ps %1, %0" : "=x"(out) : "m"(*(const Halves*)from));
  *(V*)to = out;
}
#endif

#if defined(__AVX2__)
template <>
inline void load_line<PlainProducts<f32>, bf16>(f32* to, const bf16* from) {
  typedef u16 Halves __attribute__((vector_size(16), aligned(2), may_alias));
  typedef u32 Words __attribute__((vector_size(32), aligned(4), may_alias));
  *(Words*)to = __builtin_convertvector(*(const Halves*)from, Words) << 16;
}
#endif

// `rows` x `columns` words, row-major. The words of a row lie `step` elements apart, of a column
// `down`; a word's own elements `inside`.
template <class Kind, i32 rows, i32 columns, class X>
inline void pack(typename Kind::Word* to, const X* x, i64 down, i64 step, i64 inside) {
  typedef typename Kind::Word Word;
  // Neighbours lie along columns: eight by eight, so that reads and writes are whole vectors.
  if constexpr (rows >= 8 && columns >= 8 && sizeof(Word) == 4) {
    if (step != 1 && down == Kind::depth && inside == 1) {
      typedef typename VectorOf<Word, 8>::type V;
      for (i32 r = 0; r < rows; r += 8)
        for (i32 c = 0; c < columns; c += 8) {
          V block[8];
          for (i32 i = 0; i < 8; ++i) {
            Word line[8];
            load_line<Kind>(line, x + (c + i) * step + r * Kind::depth);
            block[i] = *(const V*)line;
          }
          transpose_8x8(block);
          for (i32 i = 0; i < 8; ++i) *(V*)(to + (r + i) * columns + c) = block[i];
        }
      return;
    }
  }
  if (columns % 8 == 0 && is_same_type<X, f16> && is_same_type<Word, f32> && step == 1) {
    for (i32 r = 0; r < rows; ++r)
      for (i32 c = 0; c + 8 <= columns; c += 8)
        load_line<Kind>(to + r * columns + c, x + r * down + c);
  } else if (step == 1) {
    for (i32 r = 0; r < rows; ++r)
#pragma omp simd
      for (i32 c = 0; c < columns; ++c) to[r * columns + c] = Kind::word(x + r * down + c, inside);
  } else if (step == Kind::depth && inside == 1) {
    for (i32 r = 0; r < rows; ++r)
#pragma omp simd
      for (i32 c = 0; c < columns; ++c)
        to[r * columns + c] = Kind::word(x + r * down + c * Kind::depth, 1);
  } else {
    for (i32 r = 0; r < rows; ++r)
      for (i32 c = 0; c < columns; ++c)
        to[r * columns + c] = Kind::word(x + r * down + c * step, inside);
  }
}

// ---- Products

// A block of `rows` x `vectors` vectors of the result, over `words` words along k.
template <class Kind, i32 rows, i32 vectors, i32 lanes>
TW_ALWAYS inline void dot_block(typename Kind::Sum* c, i64 c_row, const typename Kind::Word* a,
                                i64 a_row, i64 a_column, const typename Kind::Word* b, i64 b_row,
                                i32 words) {
  typedef typename VectorOf<typename Kind::Sum, lanes>::type V;
  typedef typename VectorOf<typename Kind::Word, lanes>::type W;
  V sums[rows][vectors];
#pragma GCC unroll 16
  for (i32 i = 0; i < rows; ++i)
#pragma GCC unroll 16
    for (i32 j = 0; j < vectors; ++j) sums[i][j] = *(const V*)(c + i * c_row + j * lanes);
#pragma GCC unroll 1
  for (i32 k = 0; k < words; ++k) {
    W right[vectors];
#pragma GCC unroll 16
    for (i32 j = 0; j < vectors; ++j) right[j] = *(const W*)(b + k * b_row + j * lanes);
#pragma GCC unroll 16
    for (i32 i = 0; i < rows; ++i) {
      const typename Kind::Word left = a[i * a_row + k * a_column];
#pragma GCC unroll 16
      for (i32 j = 0; j < vectors; ++j) sums[i][j] = Kind::add(sums[i][j], left, right[j]);
    }
  }
#pragma GCC unroll 16
  for (i32 i = 0; i < rows; ++i)
#pragma GCC unroll 16
    for (i32 j = 0; j < vectors; ++j) *(V*)(c + i * c_row + j * lanes) = sums[i][j];
}

// The same as a call: inside a larger function the compiler may keep some of the sums in memory,
// and then takes half as long again.
template <class Kind, i32 rows, i32 vectors, i32 lanes>
__attribute__((noinline)) static void dot_long_block(typename Kind::Sum* c, i64 c_row,
                                                     const typename Kind::Word* a, i64 a_row,
                                                     i64 a_column, const typename Kind::Word* b,
                                                     i64 b_row, i32 words) {
  dot_block<Kind, rows, vectors, lanes>(c, c_row, a, a_row, a_column, b, b_row, words);
}

// ---- The matrix unit (AMX): tiles of 16 rows of 64 bytes.

#if defined(__AMX_BF16__)
inline void configure_tiles() {
  struct alignas(64) {
    u8 palette, start_row, reserved[14];
    u16 row_bytes[16];
    u8 rows[16];
  } config{};
  config.palette = 1;
  for (i32 i = 0; i < 8; ++i) {
    config.row_bytes[i] = 64;
    config.rows[i] = 16;
  }
  asm volatile("ldtilecfg %0" ::"m"(config));
}
inline void release_tiles() { asm volatile("tilerelease" ::: "memory"); }

#define TW_LOAD_TILE(tile, at, row) \
  asm volatile("tileloadd (%0,%1,4), %%tmm" #tile ::"r"(at), "r"(i64(row)) : "memory")
#define TW_STORE_TILE(tile, at, row) \
  asm volatile("tilestored %%tmm" #tile ", (%0,%1,4)" ::"r"(at), "r"(i64(row)) : "memory")
#define TW_MULTIPLY_TILES(c, a, b) asm volatile("tdpbf16ps %tmm" #b ", %tmm" #a ", %tmm" #c)

// 16 * `down` rows of the result and 16 * `across` columns; rows count words of four bytes.
template <i32 down, i32 across>
inline void dot_tiles(f32* c, i64 c_row, const u32* a, i64 a_row, const u32* b, i64 b_row,
                      i32 words) {
  TW_LOAD_TILE(0, c, c_row);
  if constexpr (across == 2) TW_LOAD_TILE(1, c + 16, c_row);
  if constexpr (down == 2) TW_LOAD_TILE(2, c + 16 * c_row, c_row);
  if constexpr (down == 2 && across == 2) TW_LOAD_TILE(3, c + 16 * c_row + 16, c_row);
  for (i32 k = 0; k < words; k += 16) {
    TW_LOAD_TILE(4, a + k, a_row);
    TW_LOAD_TILE(6, b + k * b_row, b_row);
    TW_MULTIPLY_TILES(0, 4, 6);
    if constexpr (across == 2) TW_LOAD_TILE(7, b + k * b_row + 16, b_row);
    if constexpr (across == 2) TW_MULTIPLY_TILES(1, 4, 7);
    if constexpr (down == 2) TW_LOAD_TILE(5, a + 16 * a_row + k, a_row);
    if constexpr (down == 2) TW_MULTIPLY_TILES(2, 5, 6);
    if constexpr (down == 2 && across == 2) TW_MULTIPLY_TILES(3, 5, 7);
  }
  TW_STORE_TILE(0, c, c_row);
  if constexpr (across == 2) TW_STORE_TILE(1, c + 16, c_row);
  if constexpr (down == 2) TW_STORE_TILE(2, c + 16 * c_row, c_row);
  if constexpr (down == 2 && across == 2) TW_STORE_TILE(3, c + 16 * c_row + 16, c_row);
}
#undef TW_LOAD_TILE
#undef TW_STORE_TILE
#undef TW_MULTIPLY_TILES
template <class Kind>
constexpr bool has_tiles = is_same_type<Kind, Bf16Pairs>;
#else
template <class Kind>
constexpr bool has_tiles = false;
template <i32 down, i32 across>
inline void dot_tiles(...) {}
inline void configure_tiles() {}
inline void release_tiles() {}
#endif

// c += a * b. c is row-major; element (m, k) of a is a[m * a_row + k * a_column], likewise b.
template <i32 M, i32 N, i32 K, class C, class A, class B>
inline void dot(C* c, const A* a, i64 a_row, i64 a_column, const B* b, i64 b_row, i64 b_column) {
  typedef typename Products<C, A, B, (K > 1)>::type Kind;
  typedef typename Kind::Sum Sum;
  typedef typename Kind::Word Word;
  constexpr i32 most_lanes = dot_vector_bytes / i32(sizeof(Sum));
  constexpr i32 lanes = min(N, most_lanes), vectors = N > lanes ? 2 : 1, width = vectors * lanes;
  constexpr i32 rows = min(M, dot_rows);
  // So many along k at a time that the packed panels stay in the nearest caches.
  constexpr i32 part = min(K, max((16 << 10) / max(M, width), 16)), words = part / Kind::depth;
  constexpr bool packs_a = !is_same_type<A, Word>, packs_b = !is_same_type<B, Word>;
  constexpr bool packs_c = !is_same_type<C, Sum>;
  constexpr bool uses_tiles = has_tiles<Kind> && M >= 16 && width >= 16 && words >= 16;
  if constexpr (uses_tiles) configure_tiles();
  alignas(64) Word a_panel[packs_a ? M * words : 1];
  alignas(64) Word b_panel[words * width];
  alignas(64) Sum c_panel[packs_c ? M * width : 1];
  for (i32 k = 0; k < K; k += part) {
    const Word* left = (const Word*)(a + k * a_column);
    i64 left_row = a_row, left_column = a_column;
    if constexpr (packs_a) {
      const A* const from = a + k * a_column;
      const bool is_tall = a_row == 1 && a_column != 1 && !uses_tiles;
      // Pairs along a row of small elements are words already.
      const bool is_ready = Kind::depth > 1 && sizeof(A) * Kind::depth == sizeof(Word) &&
                            a_column == 1 && a_row % Kind::depth == 0;
      if (is_ready) left_row = a_row / Kind::depth;
      else if (is_tall) pack<Kind, words, M>(a_panel, from, a_column * Kind::depth, 1, a_column);
      else pack<Kind, M, words>(a_panel, from, a_row, a_column * Kind::depth, a_column);
      if (!is_ready) {
        left = a_panel;
        left_row = is_tall ? 1 : words;
        left_column = is_tall ? M : 1;
      }
    }
    for (i32 n = 0; n < N; n += width) {
      const B* const from = b + k * b_row + n * b_column;
      const Word* right = (const Word*)from;
      const bool is_packed = packs_b || b_column != 1;
      if (is_packed) {
        pack<Kind, words, width>(b_panel, from, b_row * Kind::depth, b_column, b_row);
        right = b_panel;
      }
      Sum* sums = (Sum*)(c + n);
      if constexpr (packs_c) {
        for (i32 m = 0; m < M; ++m)
#pragma omp simd
          for (i32 j = 0; j < width; ++j) c_panel[m * width + j] = widen<Sum>(c[m * N + n + j]);
        sums = c_panel;
      }
      constexpr i64 sums_row = packs_c ? width : N;
      if constexpr (uses_tiles) {
        constexpr i32 down = M >= 32 ? 2 : 1, across = width >= 32 ? 2 : 1;
        for (i32 m = 0; m < M; m += 16 * down)
          dot_tiles<down, across>(sums + m * sums_row, sums_row, left + m * left_row, left_row,
                                  right, width, words);
      } else {
        constexpr bool is_long = words >= 32;
        constexpr auto block = is_long ? dot_long_block<Kind, rows, vectors, lanes>
                                       : dot_block<Kind, rows, vectors, lanes>;
        for (i32 m = 0; m < M; m += rows)
          block(sums + m * sums_row, sums_row, left + m * left_row, left_row, left_column, right,
                is_packed ? width : b_row, words);
      }
      if constexpr (packs_c)
        for (i32 m = 0; m < M; ++m)
#pragma omp simd
          for (i32 j = 0; j < width; ++j) narrow(c[m * N + n + j], c_panel[m * width + j]);
    }
  }
  if constexpr (uses_tiles) release_tiles();
}

}  // namespace tw
