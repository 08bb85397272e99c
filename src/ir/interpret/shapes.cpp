// SPDX-License-Identifier: Apache-2.0
// ir/interpret/shapes.cpp — index arithmetic of the ops that move elements.
#include "ir/interpret/shapes.h"

namespace tilewright::ir {
namespace {

// Row-major strides of a shape, in elements.
std::vector<std::int64_t> strides_of(const Type& type) {
  std::vector<std::int64_t> strides(type.rank, 1);
  for (int d = type.rank - 2; d >= 0; --d)
    strides[static_cast<std::size_t>(d)] =
        strides[static_cast<std::size_t>(d + 1)] * type.size(d + 1);
  return strides;
}

// Fills the result from `source`: result index (i0, i1, ..) reads element sum(i_d * steps[d]).
Tile strided(const Tile& source, const Type& result, const std::vector<std::int64_t>& steps) {
  Tile out{result, std::vector<Element>(static_cast<std::size_t>(result.numel()))};
  std::vector<std::int64_t> index(result.rank, 0);
  std::int64_t at = 0;
  for (Element& element : out.elements) {
    element = source.elements[static_cast<std::size_t>(at)];
    for (int d = result.rank - 1; d >= 0; --d) {
      const auto k = static_cast<std::size_t>(d);
      at += steps[k];
      if (++index[k] < result.size(d)) break;
      at -= index[k] * steps[k];
      index[k] = 0;
    }
  }
  return out;
}

// Calls `make(index)` for every element of a shape, in row-major order.
template <class Make>
Tile tile_of_index(const Type& result, const Make& make) {
  Tile out{result, std::vector<Element>(static_cast<std::size_t>(result.numel()))};
  std::vector<std::int64_t> index(result.rank, 0);
  for (Element& element : out.elements) {
    element = make(index);
    for (int d = result.rank - 1; d >= 0; --d) {
      const auto k = static_cast<std::size_t>(d);
      if (++index[k] < result.size(d)) break;
      index[k] = 0;
    }
  }
  return out;
}

}  // namespace

AxisView::AxisView(const Type& type, std::int64_t axis) {
  for (int d = 0; d < type.rank; ++d)
    (d < axis ? outer : d == axis ? length : inner) *= type.size(d);
}

Tile broadcast_tile(const Tile& tile, const Type& result) {
  std::vector<std::int64_t> steps = strides_of(tile.type);
  for (int d = 0; d < result.rank; ++d)
    if (tile.type.size(d) == 1) steps[static_cast<std::size_t>(d)] = 0;
  return strided(tile, result, steps);
}

Tile permute_tile(const Tile& tile, const std::vector<std::int64_t>& order, const Type& result) {
  const std::vector<std::int64_t> strides = strides_of(tile.type);
  std::vector<std::int64_t> steps;
  for (const std::int64_t dimension : order)
    steps.push_back(strides[static_cast<std::size_t>(dimension)]);
  return strided(tile, result, steps);
}

Tile join_tiles(const Tile& a, const Tile& b, const Type& result) {
  Tile out{result, {}};
  for (std::size_t i = 0; i < a.size(); ++i) {
    out.elements.push_back(a.elements[i]);
    out.elements.push_back(b.elements[i]);
  }
  return out;
}

Tile split_tile(const Tile& tile, int half, const Type& result) {
  Tile out{result, {}};
  for (std::size_t i = static_cast<std::size_t>(half); i < tile.size(); i += 2)
    out.elements.push_back(tile.elements[i]);
  return out;
}

Tile concatenate_tiles(const Tile& a, const Tile& b, std::int64_t axis, const Type& result) {
  const AxisView half(a.type, axis);
  const AxisView whole(result, axis);
  Tile out{result, std::vector<Element>(static_cast<std::size_t>(result.numel()))};
  for (std::int64_t o = 0; o < half.outer; ++o)
    for (std::int64_t k = 0; k < half.length; ++k)
      for (std::int64_t i = 0; i < half.inner; ++i) {
        out.elements[whole.index(o, k, i)] = a.elements[half.index(o, k, i)];
        out.elements[whole.index(o, k + half.length, i)] = b.elements[half.index(o, k, i)];
      }
  return out;
}

Tile gather_tile(const Tile& tile, const Tile& index, std::int64_t axis, const Type& result,
                 bool* is_outside) {
  const AxisView from(tile.type, axis);
  const AxisView to(result, axis);
  Tile out{result, std::vector<Element>(static_cast<std::size_t>(result.numel()))};
  for (std::int64_t o = 0; o < to.outer; ++o)
    for (std::int64_t k = 0; k < to.length; ++k)
      for (std::int64_t i = 0; i < to.inner; ++i) {
        const std::int64_t wanted = index.elements[to.index(o, k, i)].i;
        const bool is_inside = wanted >= 0 && wanted < from.length;
        if (!is_inside) *is_outside = true;
        out.elements[to.index(o, k, i)] =
            is_inside ? tile.elements[from.index(o, wanted, i)] : Element{.i = 0};
      }
  return out;
}

Tile sort_tile(Tile values, std::int64_t first, std::int64_t last, std::string_view order) {
  const Type& type = values.type;
  const auto is_less = [&](const Element& a, const Element& b) {
    if (type.is_float()) return a.f < b.f;
    return !is_signed(type.dtype)
               ? static_cast<std::uint64_t>(a.i) < static_cast<std::uint64_t>(b.i)
               : a.i < b.i;
  };
  for (std::int64_t stage = first; stage <= last; ++stage)
    for (std::int64_t bit = stage - 1; bit >= 0; --bit)
      for (std::size_t low = 0; low < values.size(); ++low) {
        if ((low >> bit & 1) != 0) continue;
        Element& a = values.elements[low];
        Element& b = values.elements[low + (std::size_t{1} << bit)];
        const bool alternates = stage < last || order == "alternating";
        const bool falls = alternates ? (low >> stage & 1) != 0 : order == "descending";
        if (falls ? is_less(a, b) : is_less(b, a)) std::swap(a, b);
      }
  return values;
}

Tile histogram_tile(const Tile& values, const Tile* mask, const Type& result) {
  Tile out{result, std::vector<Element>(static_cast<std::size_t>(result.numel()), Element{.i = 0})};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int64_t bin = values.elements[i].i;
    if (mask && !mask->elements[i].i) continue;
    if (bin >= 0 && bin < result.numel()) ++out.elements[static_cast<std::size_t>(bin)].i;
  }
  return out;
}

Tile affine_tile(std::span<const Element> base_and_strides, const Type& result) {
  const std::int64_t base = base_and_strides[0].i;
  return tile_of_index(result, [&](const std::vector<std::int64_t>& index) -> Element {
    // Unsigned: sums wrap as those of `add` and `offset` do.
    std::uint64_t sum = 0;
    for (std::size_t d = 0; d < index.size(); ++d)
      sum += static_cast<std::uint64_t>(base_and_strides[d + 1].i) *
             static_cast<std::uint64_t>(index[d]);
    if (!result.is_pointer)
      return {.i = wrap(result.dtype,
                        static_cast<std::int64_t>(static_cast<std::uint64_t>(base) + sum))};
    return {.i = TaggedPointer::make(TaggedPointer::buffer(base),
                                     TaggedPointer::address(base) + sum * size_of(result.dtype))};
  });
}

Tile bounds_tile(std::span<const Element> lows_and_highs, const Type& result) {
  return tile_of_index(result, [&](const std::vector<std::int64_t>& index) -> Element {
    bool is_inside = true;
    for (std::size_t d = 0; d < index.size(); ++d)
      is_inside &= lows_and_highs[2 * d].i <= index[d] && index[d] < lows_and_highs[2 * d + 1].i;
    return {.i = is_inside};
  });
}

Tile dot_tiles(const Tile& a, const Tile& b, const Tile& accumulator, const Type& result,
               bool float64) {
  const int m_axis = a.type.rank - 2;
  const std::int64_t rows = a.type.size(m_axis), depth = a.type.size(m_axis + 1),
                     columns = b.type.size(m_axis + 1);
  const std::int64_t batches = a.type.numel() / (rows * depth);
  Tile out{result, std::vector<Element>(static_cast<std::size_t>(result.numel()))};
  for (std::int64_t batch = 0; batch < batches; ++batch)
    for (std::int64_t m = 0; m < rows; ++m)
      for (std::int64_t n = 0; n < columns; ++n) {
        const auto at = static_cast<std::size_t>((batch * rows + m) * columns + n);
        double sum = result.is_float() ? accumulator.elements[at].f : 0;
        // Unsigned, because integers wrap.
        std::uint64_t total =
            result.is_float() ? 0 : static_cast<std::uint64_t>(accumulator.elements[at].i);
        for (std::int64_t k = 0; k < depth; ++k) {
          const Element x = a.elements[static_cast<std::size_t>((batch * rows + m) * depth + k)];
          const Element y = b.elements[static_cast<std::size_t>((batch * depth + k) * columns + n)];
          if (result.is_float()) sum += x.f * y.f;
          else total += static_cast<std::uint64_t>(x.i) * static_cast<std::uint64_t>(y.i);
        }
        if (result.is_float()) out.elements[at].f = float64 ? sum : round_to(result.dtype, sum);
        else out.elements[at].i = wrap(result.dtype, static_cast<std::int64_t>(total));
      }
  return out;
}

}  // namespace tilewright::ir
