// SPDX-License-Identifier: Apache-2.0
// graph/eager/eager.h — what all eager operations share: checks of operands, shapes of results, and
// the formulas that were made for earlier calls.
#pragma once

#include <optional>
#include <string_view>

#include "graph/launch.h"

namespace tilewright::graph {

// Formulas by the operation and what else they depend on (dtypes, which operands there are). The
// first call makes one; later ones find it without a lock.
inline constexpr int first_expanded = 128;  // numbers below are those of Op
enum class Expanded : std::uint8_t {
  Mean = first_expanded,
  Var,
  LogSumExp,
  Softmax,
  LogSoftmax,
  LayerNorm,
  RmsNorm,
  GroupNorm,
  CrossEntropy,
  MeanLoss,
  SumLoss,
  MaskedSoftmax,
};
using MakeFormula = void (*)(Formula& formula, const void* context);
const Formula& eager_formula(int operation, std::uint64_t key, MakeFormula make,
                             const void* context);
template <class Make>
const Formula& eager_formula(int operation, std::uint64_t key, const Make& make) {
  return eager_formula(
      operation, key,
      [](Formula& formula, const void* context) { (*static_cast<const Make*>(context))(formula); },
      &make);
}

// ---- Checks. `call` is the operation's name in messages.
void check_one_device(std::string_view call, const Tensor& a, const Tensor& b);
void check_rank(std::string_view call, const Tensor& x);
void check_floating(std::string_view call, const Tensor& x);
// Does an integer dtype have the number, if that is a whole one?
bool is_number_of(DType dtype, const Scalar& number);
// "float32[2, 3]"
std::string tensor_text(const Tensor& x);

// The shape that both are broadcast to.
Shape broadcast_shape(std::string_view call, const Tensor& a, const Tensor& b);
Shape broadcast_shapes(std::string_view call, const Shape& a, const Shape& b);

// ---- Reductions.

// Bits of the dimensions; throws for one that is not there or is named twice.
std::uint32_t axes_mask(std::string_view call, const Tensor& x, const Axes& axes);
std::int64_t reduced_count(const Tensor& x, std::uint32_t mask);
Shape kept_shape(const Shape& shape, std::uint32_t mask, bool keepdim);

// A row operation on x. Leaves are x, then `others`, each broadcast to x's shape (per-row ones have
// its kept dimensions). The result has x's shape, or one element a row where the formula's output
// does.
struct RowCall {
  std::string_view name;
  const Formula& formula;
  const Tensor& x;
  std::uint32_t reduced = 0;
  bool keepdim = false;
  std::span<const Tensor* const> others = {};
  std::span<const Argument> numbers = {};
};
Tensor run_rows(const RowCall& call);

// Sums, products and extremes of many elements to few, as two kernels with more programs; nothing
// where one kernel does. Sums of small floats are f32 until they are rounded to `result`. The
// dimensions of the result that were before the reduced ones are one, and so are those behind them.
std::optional<Tensor> reduce_in_parts(Op op, const Tensor& x, std::uint32_t mask, DType result);

// A copy whose reduced dimensions lie side by side in memory, so that they can be walked as one.
Tensor with_rows_together(const Tensor& x, std::uint32_t reduced);

// As `pad`; x or a view of it where nothing is added.
Tensor padded_or_view(const Tensor& x, std::span<const std::int64_t> edges, double value = 0);

// The dimension of x that an axis names, negative ones from the end; throws for one that is not
// there.
int dimension_of(std::string_view call, const Tensor& x, int axis);

// How many windows there are along a dimension of `size` elements; throws where not one fits, with
// the operands of the call.
struct Windows {
  std::int64_t window, stride, padding, dilation;
};
std::int64_t count_windows(std::string_view call, std::initializer_list<const Tensor*> operands,
                           std::int64_t size, const Windows& windows);

// Along the last dimension; 0 where all of a row are -inf.
Tensor masked_softmax(const Tensor& x);

bool is_tf32_allowed();
Tensor multiply_matrices(std::string_view call, const Tensor& a, const Tensor& b,
                         const Tensor& bias);

// On the CPU: throws ArgumentError for an index that is neither below `count` nor `allowed`.
void check_index_range(std::string_view call, const Tensor& index, std::int64_t count,
                       std::optional<std::int64_t> allowed = {});

}  // namespace tilewright::graph
