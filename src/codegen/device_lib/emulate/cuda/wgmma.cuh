// SPDX-License-Identifier: Apache-2.0
// device_lib/emulate/cuda/wgmma.cuh — the functions of device_lib/cuda/wgmma.cuh on a CPU. A product takes effect when it is
// waited for (or, by the seed, at once); until then its sums are NaN. Operands are read by what the descriptor says, so that a
// wrong one computes wrongly.

namespace tw {

struct Descriptor {
  const unsigned char* at;
  unsigned leading, stride;
  int line_bytes;
};

template <int LineBytes>
TW_DEVICE Descriptor describe(const void* shared, unsigned leading, unsigned stride) {
  static_assert(LineBytes == 32 || LineBytes == 64 || LineBytes == 128, "a line has 32, 64 or 128 bytes");
  return {(const unsigned char*)shared, leading, stride, LineBytes};
}
TW_DEVICE Descriptor further(Descriptor descriptor, int chunks) {
  descriptor.at += 16 * chunks;
  return descriptor;
}
TW_DEVICE int uniform(int x) { return x; }

TW_DEVICE void show_to_products() { tw_emulate::emulation->show_to_products(); }
TW_DEVICE void begin_products(int line = __builtin_LINE()) { tw_emulate::meet("wgmma.fence", line, tw_emulate::WaitWarp, 0xffffffffu); }
TW_DEVICE void commit_products() { tw_emulate::emulation->commit_products(); }
template <int Pending>
TW_DEVICE void wait_products() {
  tw_emulate::emulation->wait_products(Pending);
}
template <class Sum, int Count>
TW_DEVICE void take_products(Sum (&)[Count]) {}

template <class Word, int Count>
TW_DEVICE void compute_before_waiting(const Word (&)[Count]) {}

namespace emulated {

// What is read at once is shown to the checks at once, and not instrumented: that was most of a product's time.
template <int Count>
TW_UNSEEN static void read_operand(const Descriptor& from, unsigned long offset, unsigned char* out) {
  unsigned long address = (unsigned long)from.at + offset;
  address ^= (address >> 7 & (from.line_bytes / 16 - 1)) << 4;
#ifdef TW_EMULATE_CHECK
  tw_emulate::touch_read((const void*)address, Count);
#endif
  __builtin_memcpy(out, (const void*)address, Count);
}
template <int Bytes>
TW_DEVICE unsigned element_of(const unsigned char* bytes) {
  unsigned element = 0;
  __builtin_memcpy(&element, bytes, Bytes);
  return element;
}

// 32 bytes along the depth of `Lines` neighbouring lines of an operand, of which `first` is the first.
template <int Bytes, int Lines, class Sum, class Decode>
TW_UNSEEN static void read_lines(const Descriptor& from, bool is_transposed, int first, Decode decode, Sum (*out)[32 / Bytes]) {
  if (is_transposed) {
    const int per_line = from.line_bytes / Bytes;
    const unsigned long start = (unsigned long)(first % per_line) * Bytes + first / per_line * from.leading;
    for (int depth = 0; depth < 32 / Bytes; ++depth) {
      unsigned char read[Lines * Bytes];
      read_operand<Lines * Bytes>(from, start + depth % 8 * from.line_bytes + depth / 8 * from.stride, read);
      for (int i = 0; i < Lines; ++i) out[i][depth] = decode(element_of<Bytes>(read + i * Bytes));
    }
    return;
  }
  constexpr int chunk = 16;
  for (int i = 0; i < Lines; ++i)
    for (int at = 0; at < 32; at += chunk) {
      unsigned char read[chunk];
      const int line = first + i;
      read_operand<chunk>(from, at + line % 8 * from.line_bytes + line / 8 * from.stride, read);
      for (int byte = 0; byte < chunk; byte += Bytes) out[i][(at + byte) / Bytes] = decode(element_of<Bytes>(read + byte));
    }
}

template <int Columns, int Bytes, class Sum, class DecodeA, class DecodeB>
struct Product {
  static constexpr int depths = 32 / Bytes;

  Descriptor left, right;
  Words words;  // of the left operand, where it is in registers
  bool has_words, transposes_left, transposes_right, keeps;
  int group_row, lane;  // of the thread

  TW_UNSEEN static void run(const void* closure, void* sums_at) {
    const Product& self = *(const Product*)closure;
    Sum* sums = (Sum*)sums_at;
    const DecodeA decode_a{};
    Sum rows[2][depths], columns[2][depths];
    for (int high = 0; high < 2; ++high) {
      if (!self.has_words)
        read_lines<Bytes, 1>(self.left, self.transposes_left, self.group_row + self.lane / 4 + 8 * high, decode_a, rows + high);
      else
        for (int depth = 0; depth < depths; ++depth)
          rows[high][depth] = decode_a(element<4 / Bytes>(self.words, self.lane / 4, high, 2, depth));
    }
    for (int column = self.lane % 4 * 2; column < Columns; column += 8) {
      read_lines<Bytes, 2>(self.right, self.transposes_right, column, DecodeB{}, columns);
      for (int high = 0; high < 2; ++high)
        for (int odd = 0; odd < 2; ++odd) {
          Sum& at = sums[column / 8 * 4 + high * 2 + odd];
          Sum sum = self.keeps ? at : 0;
          for (int depth = 0; depth < depths; ++depth) sum += rows[high][depth] * columns[odd][depth];
          at = sum;
        }
    }
  }
  void start(Sum* sums) {
    group_row = int(threadIdx.x / 32 % 4 * 16);
    lane = int(lane_number());
    tw_emulate::emulation->start_product(run, this, sizeof(*this), sums, Columns / 2 * sizeof(Sum));
  }
};

#define TW_DECODE(type, result) \
  struct decode_##type {        \
    __forceinline__ result operator()(unsigned bits) const { return from_##type(bits); } \
  };
TW_DECODE(f16, float)
TW_DECODE(bf16, float)
TW_DECODE(tf32, float)
TW_DECODE(i8, int)
TW_DECODE(e4m3, float)
TW_DECODE(e5m2, float)
#undef TW_DECODE

template <int Columns, int Bytes, class DecodeA, class DecodeB, class Sum>
TW_DEVICE void start_product(Sum* sums, const Descriptor& left, const Descriptor& right, bool keeps, bool transposes_left,
                             bool transposes_right) {
  Product<Columns, Bytes, Sum, DecodeA, DecodeB> product;
  product.left = left;
  product.right = right;
  product.has_words = false;
  product.transposes_left = transposes_left;
  product.transposes_right = transposes_right;
  product.keeps = keeps;
  product.start(sums);
}
template <int Columns, int Bytes, class DecodeA, class DecodeB, class Sum>
TW_DEVICE void start_product(Sum* sums, const unsigned* words, const Descriptor& right, bool keeps, bool transposes_right,
                             int line = __builtin_LINE()) {
  Product<Columns, Bytes, Sum, DecodeA, DecodeB> product;
  gather_words<4>("wgmma", line, words, product.words);
  product.left = right;  // not read
  product.right = right;
  product.has_words = true;
  product.transposes_left = false;
  product.transposes_right = transposes_right;
  product.keeps = keeps;
  product.start(sums);
}

}  // namespace emulated
}  // namespace tw
