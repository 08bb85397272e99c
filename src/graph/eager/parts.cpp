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
constexpr std::int64_t enough = 64;      // programs; more of them need no parts
constexpr std::int64_t wanted = 256;
constexpr std::int64_t shortest = 64;  // elements of a part along the reduced dimension
constexpr std::int64_t columns = 128;  // that one program takes

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

}  // namespace

std::optional<Tensor> reduce_in_parts(Op op, const Tensor& x, std::uint32_t mask, bool keepdim) {
  const std::optional<Tensor> made = reduce_in_wide_parts(op, x, mask, keepdim);
  const bool is_small = is_floating(x.dtype()) && size_of(x.dtype()) < 4;
  return made && is_small ? to(*made, x.dtype()) : made;
}

std::optional<Tensor> reduce_in_wide_parts(Op op, const Tensor& x, std::uint32_t mask, bool keepdim) {
  const bool is_host = x.device().is_cpu() && emulated_target() == nullptr;
  // Parts of small floats would be rounded: they are sums of f32, for which a host would make a copy.
  const bool is_small = is_floating(x.dtype()) && size_of(x.dtype()) < 4;
  const bool is_exact = x.dtype() == DType::Float32 || x.dtype() == DType::Float64 ||
                        is_integer(x.dtype()) || (is_small && op == Op::Sum && !is_host);
  const bool is_known = op == Op::Sum || op == Op::Max || op == Op::Min || op == Op::Product;
  if (x.numel() < large || mask == 0 || !is_exact || !is_known || !x.is_contiguous()) return {};
  if (is_host && x.numel() < large_on_cpu) return {};
  const std::uint32_t run = mask >> std::countr_zero(mask);
  if ((run & (run + 1)) != 0) return {};  // reduced dimensions do not lie side by side
  std::int64_t outer = 1, length = 1, inner = 1;
  for (int d = 0; d < x.rank(); ++d) {
    std::int64_t& side = (mask >> d & 1) != 0 ? length : d < std::countr_zero(mask) ? outer : inner;
    side *= x.shape()[static_cast<std::size_t>(d)];
  }
  const std::int64_t programs = outer * cdiv(inner, columns);
  const std::int64_t asked = std::min(cdiv(wanted, programs), length / shortest);
  if (programs >= enough || asked < 2) return {};
  const std::int64_t parts = parts_of(length, asked), part = length / parts;
  const Tensor whole = (is_small ? to(x, DType::Float32) : x).view({outer, length, inner});
  const Tensor main = whole.slice(1, 0, parts * part).view({outer, parts, part, inner});
  Tensor result = reduced(op, reduced(op, main, 2), 1);
  if (parts * part < length)
    result = combined(op, result, reduced(op, whole.slice(1, parts * part, length), 1));
  return result.view(kept_shape(x.shape(), mask, keepdim));
}

}  // namespace tilewright::graph
