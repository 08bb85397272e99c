// SPDX-License-Identifier: Apache-2.0
// graph/eager/parts.cpp — long sums with few results: parts of them by programs of their own, then
// the parts. The order is fixed, so that results are the same every time.
#include <algorithm>
#include <bit>

#include "graph/eager/eager.h"
#include "tilewright/ops.h"

namespace tilewright::graph {
namespace {

constexpr std::int64_t large = 1 << 15;  // elements; below, one kernel is quicker
constexpr std::int64_t large_on_cpu = 1 << 18;
constexpr std::int64_t columns = 128;  // that one program takes

struct Wanted {
  std::int64_t programs;
  std::int64_t enough;    // programs; more of them need no parts
  std::int64_t shortest;  // elements of a part along the reduced dimension
};
constexpr Wanted on_cpu{256, 64, 64};
constexpr Wanted rows_on_gpu{256, 64, 256};
// A turn of the loop over columns takes 16 rows (layout.cpp).
constexpr Wanted columns_on_gpu{1024, 256, 16};
// Rows that one program each reduces at once: parts would keep a norm from being one kernel.
constexpr std::int64_t whole_row = 1 << 15;
constexpr std::int64_t few_rows = 4;

Tensor reduced(Op op, const Tensor& x, int axis) {
  switch (op) {
    case Op::Max:
      return max(x, axis);
    case Op::Min:
      return min(x, axis);
    case Op::Product:
      return prod(x, axis);
    default:
      return sum(x, axis);
  }
}

Tensor combined(Op op, const Tensor& a, const Tensor& b) {
  switch (op) {
    case Op::Max:
      return maximum(a, b);
    case Op::Min:
      return minimum(a, b);
    case Op::Product:
      return a * b;
    default:
      return a + b;
  }
}

// A number of parts that divides the length, near the one that is asked for; else that one.
std::int64_t parts_of(std::int64_t length, std::int64_t asked) {
  for (std::int64_t parts = asked; parts > asked / 2; --parts)
    if (length % parts == 0) return parts;
  return asked;
}

// The sum as another type, which is not rounded in between.
Tensor sum_as(DType dtype, const Tensor& x, int axis) {
  constexpr std::uint64_t wide_sum =
      2;  // the key's other meanings: dtypes alone, products (contract.cpp)
  const std::uint64_t key = wide_sum << 32 | static_cast<std::uint64_t>(x.dtype()) << 8 |
                            static_cast<std::uint64_t>(dtype);
  const Formula& formula = eager_formula(static_cast<int>(Op::Sum), key, [&](Formula& f) {
    f.name = "tw_sum";
    const int wide = f.cast(f.leaf(x.dtype()), DType::Float32);
    f.output(f.cast(f.step(Op::Sum, {wide}), dtype), dtype, true);
  });
  return run_rows({.name = "sum", .formula = formula, .x = x, .reduced = 1u << axis});
}

bool is_small_float(DType dtype) { return is_floating(dtype) && size_of(dtype) < 4; }

// The reduced dimensions lie side by side: [outer, length, inner].
struct Sides {
  std::int64_t outer = 1, length = 1, inner = 1;
};
Sides sides_of(const Tensor& x, std::uint32_t mask) {
  Sides sides;
  for (int d = 0; d < x.rank(); ++d) {
    const bool is_before = d < std::countr_zero(mask);
    std::int64_t& side = (mask >> d & 1) != 0 ? sides.length
                         : is_before          ? sides.outer
                                              : sides.inner;
    side *= x.shape()[static_cast<std::size_t>(d)];
  }
  return sides;
}

bool can_have_parts(Op op, const Tensor& x, std::uint32_t mask, bool is_host) {
  // Parts of small floats would be rounded: they are sums of f32.
  const bool is_exact = x.dtype() == DType::Float32 || x.dtype() == DType::Float64 ||
                        is_integer(x.dtype()) ||
                        (is_small_float(x.dtype()) && op == Op::Sum && !is_host);
  const bool is_known = op == Op::Sum || op == Op::Max || op == Op::Min || op == Op::Product;
  if (x.numel() < (is_host ? large_on_cpu : large) || mask == 0) return false;
  const std::uint32_t run = mask >> std::countr_zero(mask);
  return is_exact && is_known && x.is_contiguous() && (run & (run + 1)) == 0;
}

}  // namespace

std::optional<Tensor> reduce_in_parts(Op op, const Tensor& x, std::uint32_t mask, DType result) {
  const bool is_host = x.device().is_cpu() && emulated_target() == nullptr;
  if (!can_have_parts(op, x, mask, is_host)) return {};
  const auto [outer, length, inner] = sides_of(x, mask);
  const bool is_rows = inner == 1;
  if (!is_host && is_rows && outer >= few_rows && length <= whole_row) return {};
  const Wanted& wanted = is_host ? on_cpu : is_rows ? rows_on_gpu : columns_on_gpu;
  const std::int64_t programs = outer * cdiv(inner, columns);
  const std::int64_t asked = std::min(cdiv(wanted.programs, programs), length / wanted.shortest);
  if (programs >= wanted.enough || asked < 2) return {};
  const std::int64_t parts = parts_of(length, asked), part = length / parts;
  const Tensor whole = x.view({outer, length, inner});
  const Tensor main = whole.slice(1, 0, parts * part).view({outer, parts, part, inner});
  const bool is_wide = op == Op::Sum && is_small_float(x.dtype());
  const auto first = [&](const Tensor& from, int axis) {
    return is_wide ? sum_as(DType::Float32, from, axis) : reduced(op, from, axis);
  };
  const bool has_rest = parts * part < length;
  const Tensor partial = first(main, 2);
  if (!has_rest && is_wide) return sum_as(result, partial, 1);
  const Tensor total = reduced(op, partial, 1);
  if (!has_rest) return total;
  const Tensor both = combined(op, total, first(whole.slice(1, parts * part, length), 1));
  return is_floating(x.dtype()) ? to(both, result) : both;  // integers have the dtype of their sum
}

}  // namespace tilewright::graph
