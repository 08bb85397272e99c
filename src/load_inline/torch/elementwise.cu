// SPDX-License-Identifier: Apache-2.0
// load_inline/torch/elementwise.cu — elementwise operations on a GPU; the numbers are those of load_inline/torch_ops.h.

template <class T> struct Wide { using type = float; };
template <> struct Wide<double> { using type = double; };
#define TW_WIDE_INTEGER(T) \
  template <> struct Wide<T> { using type = long; };
TW_WIDE_INTEGER(signed char) TW_WIDE_INTEGER(short) TW_WIDE_INTEGER(int) TW_WIDE_INTEGER(long)
TW_WIDE_INTEGER(unsigned char) TW_WIDE_INTEGER(unsigned short) TW_WIDE_INTEGER(unsigned) TW_WIDE_INTEGER(unsigned long)
TW_WIDE_INTEGER(bool)

// A negative count means that the second operand is the number `scalar`.
template <class T, int op>
__global__ void binary(const T* a, const T* b, double scalar, T* out, long count) {
  using W = typename Wide<T>::type;
  const long n = count < 0 ? -count : count;
  const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  const W x = static_cast<W>(a[i]);
  const W y = count < 0 ? static_cast<W>(scalar) : static_cast<W>(b[i]);
  W z = x;
  if constexpr (op == 0) z = x + y;
  if constexpr (op == 1) z = x - y;
  if constexpr (op == 2) z = x * y;
  if constexpr (op == 3) z = x / y;
  if constexpr (op == 4) z = y - x;
  if constexpr (op == 5) z = y / x;
  out[i] = static_cast<T>(z);
}

template <class T, int op>
__global__ void unary(const T* a, T* out, long n) {
  using W = typename Wide<T>::type;
  const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  const W x = static_cast<W>(a[i]);
  W z = x;
  if constexpr (op == 0) z = -x;
  if constexpr (op == 1) z = x < 0 ? -x : x;
  if constexpr (op == 2) z = exp(x);
  if constexpr (op == 3) z = log(x);
  if constexpr (op == 4) z = sqrt(x);
  if constexpr (op == 5) z = 1 / sqrt(x);
  if constexpr (op == 6) z = tanh(x);
  if constexpr (op == 7) z = 1 / (1 + exp(-x));
  if constexpr (op == 8) z = x > 0 || x != x ? x : W(0);
  if constexpr (op == 9) z = sin(x);
  if constexpr (op == 10) z = cos(x);
  out[i] = static_cast<T>(z);
}
