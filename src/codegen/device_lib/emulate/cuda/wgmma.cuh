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

// The element at a place of an operand.
template <int Bytes>
TW_DEVICE unsigned operand_element(const Descriptor& from, bool is_transposed, int across, int depth) {
  const int per_line = from.line_bytes / Bytes;
  const unsigned long offset =
      is_transposed ? (unsigned long)(across % per_line) * Bytes + across / per_line * from.leading +
                          depth % 8 * from.line_bytes + depth / 8 * from.stride
                    : (unsigned long)depth * Bytes + across % 8 * from.line_bytes + across / 8 * from.stride;
  unsigned long address = (unsigned long)from.at + offset;
  address ^= (address >> 7 & (from.line_bytes / 16 - 1)) << 4;
  unsigned element = 0;
  __builtin_memcpy(&element, (const void*)address, Bytes);
  return element;
}

template <int Columns, int Bytes, class Sum, class DecodeA, class DecodeB>
struct Product {
  Descriptor left, right;
  Words words;  // of the left operand, where it is in registers
  bool has_words, transposes_left, transposes_right, keeps;
  int group_row, lane;  // of the thread

  static void run(const void* closure, void* sums_at) {
    const Product& self = *(const Product*)closure;
    Sum* sums = (Sum*)sums_at;
    const DecodeA decode_a{};
    const DecodeB decode_b{};
    for (int high = 0; high < 2; ++high) {
      const int row = self.group_row + self.lane / 4 + 8 * high;
      Sum left[32 / Bytes];
      for (int depth = 0; depth < 32 / Bytes; ++depth)
        left[depth] = decode_a(self.has_words ? element<4 / Bytes>(self.words, self.lane / 4, high, 2, depth)
                                              : operand_element<Bytes>(self.left, self.transposes_left, row, depth));
      for (int column = self.lane % 4 * 2; column < Columns; column += column % 2 == 0 ? 1 : 7) {
        Sum& sum = sums[column / 8 * 4 + high * 2 + column % 2];
        if (!self.keeps) sum = 0;
        for (int depth = 0; depth < 32 / Bytes; ++depth)
          sum += left[depth] * decode_b(operand_element<Bytes>(self.right, self.transposes_right, column, depth));
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
    result operator()(unsigned bits) const { return from_##type(bits); } \
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
