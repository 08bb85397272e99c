// SPDX-License-Identifier: Apache-2.0
// device_lib/emulate/cuda/mma.cuh — the functions of device_lib/cuda/mma.cuh on a CPU: the lanes of
// a warp show each other what they hold, and each computes its own elements.

namespace tw {
namespace emulated {

// What every lane of the warp gave.
TW_DEVICE void gather(const char* name, int line, unsigned long value, unsigned long* all) {
  tw_emulate::meet(name, line, tw_emulate::WaitGather, 0xffffffffu, value, 0, all);
}
TW_DEVICE unsigned lane_number() { return tw_emulate::lane(); }

struct Words {
  unsigned of[32][4];
};
template <int Count>
TW_DEVICE void gather_words(const char* name, int line, const unsigned* words, Words& all) {
  for (int i = 0; i < Count; i += 2) {
    unsigned long pairs[32];
    gather(name, line, words[i] | (unsigned long)words[i + 1] << 32, pairs);
    for (int lane = 0; lane < 32; ++lane) {
      all.of[lane][i] = unsigned(pairs[lane]);
      all.of[lane][i + 1] = unsigned(pairs[lane] >> 32);
    }
  }
}

// Element number `depth` of a line that four lanes hold in words of `PerWord` elements; `word` is
// the first of the words in question and `step` the distance to those further along the depth.
template <int PerWord>
TW_DEVICE unsigned element(const Words& words, int group, int word, int step, int depth) {
  const int number = depth / PerWord;
  const unsigned bits = words.of[group * 4 + number % 4][word + number / 4 * step];
  return PerWord == 1 ? bits : bits >> (depth % PerWord * (32 / PerWord)) & ((1ull << 32 / PerWord) - 1);
}

template <int PerWord, class Sum, class DecodeA, class DecodeB>
TW_DEVICE void multiply(const char* name, int line, Sum* c, const unsigned* a, const unsigned* b,
                        DecodeA decode_a, DecodeB decode_b) {
  Words left, right;
  gather_words<4>(name, line, a, left);
  gather_words<2>(name, line, b, right);
  const int group = int(lane_number() / 4), column = int(lane_number() % 4 * 2);
  for (int i = 0; i < 4; ++i)
    for (int depth = 0; depth < 8 * PerWord; ++depth)
      c[i] += decode_a(element<PerWord>(left, group, i / 2, 2, depth)) *
              decode_b(element<PerWord>(right, column + i % 2, 0, 1, depth));
}

TW_DEVICE float from_f16(unsigned bits) { return ptx::f16_to_f32((unsigned short)bits); }
TW_DEVICE float from_bits(unsigned bits) {
  float x;
  __builtin_memcpy(&x, &bits, 4);
  return x;
}
TW_DEVICE float from_bf16(unsigned bits) { return from_bits(bits << 16); }
TW_DEVICE float from_tf32(unsigned bits) { return from_bits(bits & 0xffffe000u); }
TW_DEVICE int from_i8(unsigned bits) { return (signed char)bits; }
TW_DEVICE float from_e5m2(unsigned bits) { return ptx::f16_to_f32((unsigned short)(bits << 8)); }
TW_DEVICE float from_e4m3(unsigned bits) {
  const float sign = bits & 0x80 ? -1.0f : 1.0f;
  const int exponent = int(bits >> 3 & 15), fraction = int(bits & 7);
  if ((bits & 0x7f) == 0x7f) return __builtin_nanf("");
  if (exponent == 0) return sign * float(fraction) * 0x1p-9f;
  return sign * __builtin_ldexpf(float(8 + fraction), exponent - 10);
}

}  // namespace emulated

template <int Count>
TW_DEVICE void load_matrices(unsigned* out, const void* row, int line = __builtin_LINE()) {
  unsigned long rows[32];
  emulated::gather("ldmatrix", line, (unsigned long)row, rows);
  const unsigned lane = emulated::lane_number();
  for (int i = 0; i < Count; ++i)
    __builtin_memcpy(&out[i], (const char*)rows[8 * i + lane / 4] + lane % 4 * 4, 4);
}
template <int Count>
TW_DEVICE void load_matrices_transposed(unsigned* out, const void* row, int line = __builtin_LINE()) {
  unsigned long rows[32];
  emulated::gather("ldmatrix", line, (unsigned long)row, rows);
  const unsigned lane = emulated::lane_number();
  for (int i = 0; i < Count; ++i) {
    unsigned short pair[2];
    for (unsigned j = 0; j < 2; ++j)
      __builtin_memcpy(&pair[j], (const char*)rows[8 * i + lane % 4 * 2 + j] + lane / 4 * 2, 2);
    out[i] = unsigned(pair[1]) << 16 | pair[0];
  }
}

template <int Next>
TW_DEVICE void load_bytes_transposed(unsigned* out, const void* row, int line = __builtin_LINE()) {
  unsigned pairs[4];
  load_matrices_transposed<4>(pairs, row, line);
  const auto bytes = [&](int i, int odd) {
    const unsigned a = pairs[i] >> 8 * odd, b = pairs[i + 1] >> 8 * odd;
    return (a & 0xff) | (a >> 8 & 0xff00) | (b & 0xff) << 16 | (b & 0xff0000) << 8;
  };
  out[0] = bytes(0, 0);
  out[Next] = bytes(0, 1);
  out[3 - Next] = bytes(2, 0);
  out[3] = bytes(2, 1);
}

template <class T, class... More>
TW_DEVICE unsigned word_of(T x0, More... more) {
  static_assert(sizeof(T) * (1 + sizeof...(More)) == 4, "elements fill the word");
  const T all[] = {x0, more...};
  unsigned word;
  __builtin_memcpy(&word, all, 4);
  return word;
}

template <class T>
TW_DEVICE unsigned word_at(const T* elements) {
  static_assert(sizeof(T) == 2, "two elements fill the word");
  unsigned word;
  __builtin_memcpy(&word, elements, 4);
  return word;
}

#define TW_MMA(name, accumulator, per_word, a_type, b_type)                                     \
  TW_DEVICE void name(accumulator* c, const unsigned* a, const unsigned* b,       \
                      int line = __builtin_LINE()) {                   \
    emulated::multiply<per_word>(#name, line, c, a, b, emulated::from_##a_type,                       \
                                 emulated::from_##b_type);                                      \
  }
TW_MMA(mma_f16, float, 2, f16, f16)
TW_MMA(mma_bf16, float, 2, bf16, bf16)
TW_MMA(mma_tf32, float, 1, tf32, tf32)
TW_MMA(mma_tf32x3, float, 1, bits, bits)
TW_MMA(mma_i8, int, 4, i8, i8)
TW_MMA(mma_e4m3_e4m3, float, 4, e4m3, e4m3)
TW_MMA(mma_e4m3_e5m2, float, 4, e4m3, e5m2)
TW_MMA(mma_e5m2_e4m3, float, 4, e5m2, e4m3)
TW_MMA(mma_e5m2_e5m2, float, 4, e5m2, e5m2)
#undef TW_MMA

TW_DEVICE void mma_f64(double* c, const double* a, const double* b, int line = __builtin_LINE()) {
  unsigned long left[32], right[32];
  unsigned long bits;
  __builtin_memcpy(&bits, a, 8);
  emulated::gather("mma_f64", line, bits, left);
  __builtin_memcpy(&bits, b, 8);
  emulated::gather("mma_f64", line, bits, right);
  const unsigned group = emulated::lane_number() / 4, column = emulated::lane_number() % 4 * 2;
  for (unsigned i = 0; i < 2; ++i)
    for (unsigned depth = 0; depth < 4; ++depth) {
      double x, y;
      __builtin_memcpy(&x, &left[group * 4 + depth], 8);
      __builtin_memcpy(&y, &right[(column + i) * 4 + depth], 8);
      c[i] += x * y;
    }
}

}  // namespace tw
