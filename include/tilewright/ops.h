// SPDX-License-Identifier: Apache-2.0
// tilewright/ops.h — operations on tensors, with PyTorch's names and meaning.
//
//   tw::Tensor y = tw::gelu(tw::matmul(x, w) + b);
//
// Each operation runs at once (one kernel, asynchronous on CUDA) and gives a new contiguous tensor.
// Operands may have any strides and any sizes, 0 and 1 included, and are broadcast as in NumPy.
// Dtypes are promoted as in PyTorch: bool < integers < floats; numbers, and tensors without
// dimensions beside others, count only where they are of a higher kind. Small floats are computed
// in float32 and rounded once. All operands are on one device. Kernels are compiled once for a
// class of layouts, not for sizes.
//
// What is wrong (shapes that do not fit, dtypes without such an operation, two devices) throws
// ArgumentError, which names the call and both operands.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "tilewright/tensor.h"

namespace tilewright {

// A number beside tensors.
class Scalar {
 public:
  template <class T>
  requires std::is_arithmetic_v<T> Scalar(T value) {
    if constexpr (std::is_same_v<T, bool>) dtype_ = DType::Bool;
    else if constexpr (std::is_floating_point_v<T>) dtype_ = DType::Float32;
    else dtype_ = DType::Int64;
    if constexpr (std::is_floating_point_v<T>) {
      real_ = static_cast<double>(value);
      integer_ = 0;
    } else {
      integer_ = static_cast<std::int64_t>(value);
      real_ = static_cast<double>(value);
    }
  }
  DType dtype() const { return dtype_; }  // Bool, Int64 or Float32, by the kind alone
  double real() const { return real_; }
  std::int64_t integer() const { return integer_; }

 private:
  DType dtype_;
  double real_;
  std::int64_t integer_;
};

// A tensor or a number, for the length of a call.
class Operand {
 public:
  Operand(const Tensor& tensor) : tensor_(&tensor) {}
  Operand(Scalar number) : number_(number) {}
  template <class T>
  requires std::is_arithmetic_v<T> Operand(T value) : number_(value) {}
  const Tensor* tensor() const { return tensor_; }  // null for a number
  const Scalar& number() const { return number_; }

 private:
  const Tensor* tensor_ = nullptr;
  Scalar number_ = 0;
};

// Dimensions to reduce over, negative ones from the end; none given: all.
class Axes {
 public:
  Axes() = default;
  Axes(int axis) : axes_{axis} {}
  Axes(std::initializer_list<int> axes) : axes_(axes) {}
  Axes(std::vector<int> axes) : axes_(std::move(axes)) {}
  std::span<const int> list() const { return axes_; }

 private:
  std::vector<int> axes_;
};

// ---- Arithmetic. `div` divides integers as floats; `floor_divide` and `remainder` are Python's
// (0 for integers divided by 0). Integers are modulo 2^bits, as is a number that is added or
// multiplied; one that is compared, chosen, divided by, an exponent or a bound must be one of the
// dtype.
Tensor add(const Operand& a, const Operand& b);
Tensor sub(const Operand& a, const Operand& b);
Tensor mul(const Operand& a, const Operand& b);
Tensor div(const Operand& a, const Operand& b);
Tensor floor_divide(const Operand& a, const Operand& b);
Tensor remainder(const Operand& a, const Operand& b);
Tensor pow(const Operand& a, const Operand& b);
Tensor minimum(const Operand& a, const Operand& b);  // a NaN wins
Tensor maximum(const Operand& a, const Operand& b);  // a NaN wins

inline Tensor operator+(const Tensor& a, const Operand& b) { return add(a, b); }
inline Tensor operator+(const Scalar& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Operand& b) { return sub(a, b); }
inline Tensor operator-(const Scalar& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, const Operand& b) { return mul(a, b); }
inline Tensor operator*(const Scalar& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator/(const Tensor& a, const Operand& b) { return div(a, b); }
inline Tensor operator/(const Scalar& a, const Tensor& b) { return div(a, b); }

// ---- Comparisons: bool tensors.
Tensor eq(const Operand& a, const Operand& b);
Tensor ne(const Operand& a, const Operand& b);
Tensor lt(const Operand& a, const Operand& b);
Tensor le(const Operand& a, const Operand& b);
Tensor gt(const Operand& a, const Operand& b);
Tensor ge(const Operand& a, const Operand& b);
inline Tensor operator<(const Tensor& a, const Operand& b) { return lt(a, b); }
inline Tensor operator<=(const Tensor& a, const Operand& b) { return le(a, b); }
inline Tensor operator>(const Tensor& a, const Operand& b) { return gt(a, b); }
inline Tensor operator>=(const Tensor& a, const Operand& b) { return ge(a, b); }
Tensor logical_and(const Operand& a, const Operand& b);
Tensor logical_or(const Operand& a, const Operand& b);
Tensor logical_not(const Tensor& x);
Tensor isnan(const Tensor& x);
Tensor isinf(const Tensor& x);

// ---- Functions of one element.
Tensor neg(const Tensor& x);
inline Tensor operator-(const Tensor& x) { return neg(x); }
Tensor abs(const Tensor& x);
Tensor sign(const Tensor& x);
Tensor square(const Tensor& x);
Tensor reciprocal(const Tensor& x);
Tensor floor(const Tensor& x);
Tensor ceil(const Tensor& x);
Tensor round(const Tensor& x);  // halves to even
Tensor trunc(const Tensor& x);
Tensor exp(const Tensor& x);
Tensor expm1(const Tensor& x);
Tensor log(const Tensor& x);
Tensor log2(const Tensor& x);
Tensor log1p(const Tensor& x);
Tensor sqrt(const Tensor& x);
Tensor rsqrt(const Tensor& x);
Tensor sin(const Tensor& x);
Tensor cos(const Tensor& x);
Tensor tan(const Tensor& x);
Tensor tanh(const Tensor& x);
Tensor erf(const Tensor& x);
Tensor sigmoid(const Tensor& x);
Tensor relu(const Tensor& x);
Tensor silu(const Tensor& x);
enum class Gelu { Erf, Tanh };
Tensor gelu(const Tensor& x, Gelu form = Gelu::Erf);
Tensor clamp(const Tensor& x, std::optional<Scalar> low, std::optional<Scalar> high);
Tensor where(const Tensor& condition, const Operand& a, const Operand& b);  // condition is bool
Tensor to(const Tensor& x, DType dtype);  // itself when it has the dtype

// ---- Reductions. Sums of integers are int64; small floats are summed in float32. The largest of
// values with a NaN is NaN; of equal ones `argmax` gives the first.
Tensor sum(const Tensor& x, const Axes& axes = {}, bool keepdim = false);
Tensor prod(const Tensor& x, const Axes& axes = {}, bool keepdim = false);
Tensor mean(const Tensor& x, const Axes& axes = {}, bool keepdim = false);
Tensor max(const Tensor& x, const Axes& axes = {}, bool keepdim = false);
Tensor min(const Tensor& x, const Axes& axes = {}, bool keepdim = false);
Tensor argmax(const Tensor& x, std::optional<int> axis = {}, bool keepdim = false);
Tensor argmin(const Tensor& x, std::optional<int> axis = {}, bool keepdim = false);
Tensor var(const Tensor& x, const Axes& axes = {}, int correction = 1, bool keepdim = false);
Tensor logsumexp(const Tensor& x, const Axes& axes = {}, bool keepdim = false);

// ---- Rows: one kernel each.
Tensor softmax(const Tensor& x, int axis = -1);
Tensor log_softmax(const Tensor& x, int axis = -1);
// Over the last dimensions, as many as `weight` has (the last one without it).
Tensor layer_norm(const Tensor& x, const Tensor& weight = {}, const Tensor& bias = {},
                  double eps = 1e-5);
Tensor rms_norm(const Tensor& x, const Tensor& weight = {}, double eps = 1e-6);
// Over groups of the channels, dimension 1; weight and bias have one element for each channel.
Tensor group_norm(const Tensor& x, std::int64_t groups, const Tensor& weight = {},
                  const Tensor& bias = {}, double eps = 1e-5);
enum class Reduction { None, Mean, Sum };
// `logits` of shape [rows, classes], `target` int64 of shape [rows]. A target out of range throws
// on the CPU and gives NaN on CUDA.
Tensor cross_entropy(const Tensor& logits, const Tensor& target,
                     Reduction reduction = Reduction::Mean, std::int64_t ignore_index = -100);

// ---- Products, as PyTorch's matmul: vectors, matrices, stacks of them with broadcasting. Small
// floats are summed in float32. By cuBLASLt on CUDA and a oneDNN plug-in on the CPU where they are,
// else by our kernels.
Tensor matmul(const Tensor& a, const Tensor& b);
Tensor linear(const Tensor& x, const Tensor& weight,
              const Tensor& bias = {});        // x @ weight^T + bias
Tensor bmm(const Tensor& a, const Tensor& b);  // stacks of as many matrices
// Products of float32 are IEEE's everywhere unless this (or TILEWRIGHT_ALLOW_TF32) lets those on
// CUDA use TF32, with 10 bits of the mantissa.
void allow_tf32(bool is_allowed);

struct AttentionOptions {
  bool is_causal = false;       // row i sees columns 0 to i
  std::optional<double> scale;  // else 1 / sqrt(features)
  double dropout = 0;
  std::optional<std::uint64_t> seed;  // of dropout
};
// softmax(q @ k^T * scale + mask) @ v. A mask of bools keeps what is true; one of floats is added.
// A row of which a mask leaves nothing (all -inf) gives zeros.
Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const Tensor& mask = {}, const AttentionOptions& options = {});

// ---- Planes: [batch, channels, height, width], or without the batch.

struct Pair2d {
  std::int64_t height, width;
  Pair2d(std::int64_t both) : height(both), width(both) {}
  Pair2d(std::int64_t h, std::int64_t w) : height(h), width(w) {}
};
struct ConvOptions {
  Pair2d stride = 1, padding = 0, dilation = 1;
  std::int64_t groups = 1;
};
// Weights are [out, in / groups, height, width].
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              const ConvOptions& options = {});
struct PoolOptions {
  Pair2d stride = 0;  // 0: the window
  Pair2d padding = 0;
  Pair2d dilation = 1;            // of max_pool2d
  bool count_include_pad = true;  // of avg_pool2d: padding counts as zeros
};
Tensor max_pool2d(const Tensor& x, const Pair2d& window, const PoolOptions& options = {});
Tensor avg_pool2d(const Tensor& x, const Pair2d& window, const PoolOptions& options = {});

// ---- Tables and lists. An index out of range throws on the CPU; on CUDA, where nobody waits for
// it, what is read by it is NaN (0 for integers), and what is written by it makes the first place
// along the dimension NaN (and is left out for integers). Indices are int64 or int32.
Tensor embedding(const Tensor& weight, const Tensor& index);
// x[.., index[.., i, ..], ..]: as many dimensions as x; the others may be shorter.
Tensor gather(const Tensor& x, int axis, const Tensor& index);
Tensor index_select(const Tensor& x, int axis, const Tensor& index);
// Copies of x with values written or added at the places of the index. Sums are made in one order,
// so that results are the same every time; of equal indices the last value is the one written.
Tensor scatter(const Tensor& x, int axis, const Tensor& index, const Operand& values);
Tensor scatter_add(const Tensor& x, int axis, const Tensor& index, const Tensor& values);
Tensor index_add(const Tensor& x, int axis, const Tensor& index, const Tensor& values);
// Two numbers for each dimension, the last dimension first: how many are added before and behind.
// Negative ones cut.
Tensor pad(const Tensor& x, std::vector<std::int64_t> edges, double value = 0);
Tensor cat(std::span<const Tensor> tensors, int axis = 0);
inline Tensor cat(std::initializer_list<Tensor> tensors, int axis = 0) {
  return cat(std::span<const Tensor>(tensors.begin(), tensors.size()), axis);
}
Tensor stack(std::span<const Tensor> tensors, int axis = 0);
inline Tensor stack(std::initializer_list<Tensor> tensors, int axis = 0) {
  return stack(std::span<const Tensor>(tensors.begin(), tensors.size()), axis);
}

// ---- Random numbers (rand and randn are in tensor.h). In a compiled function they are drawn anew
// at every call, unless there is a seed.

// A share `p` of the elements becomes 0, the others are scaled by 1 / (1 - p).
Tensor dropout(const Tensor& x, double p = 0.5, std::optional<std::uint64_t> seed = {});

}  // namespace tilewright
