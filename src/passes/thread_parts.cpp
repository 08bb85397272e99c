// SPDX-License-Identifier: Apache-2.0
// passes/thread_parts.cpp — bits of an index above those of vectors and threads.
#include "passes/thread_parts.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "ir/constant.h"

namespace tilewright {
namespace {

using ir::Op;
using ir::OpKind;

int log2_of(std::int64_t power) { return std::countr_zero(static_cast<std::uint64_t>(power)); }

// The dimension along which neighbours are neighbours in memory.
int contiguous_dimension(const ir::Kernel& kernel, const Op& access) {
  const Op* pointers = kernel.maker(access.operands[0]);
  if (!pointers || pointers->kind != OpKind::Affine) return -1;
  for (std::size_t d = 1; d < pointers->operands.size(); ++d)
    if (ir::integer_constant(kernel, pointers->operands[d]) == 1) return static_cast<int>(d) - 1;
  return -1;
}

struct Accesses {
  int contiguous = -1;        // of all of them
  int element_bytes = 16;     // of the smallest
  bool are_known = true;
};

// Of tiles of this shape in the loop.
Accesses accesses_of(const ir::Kernel& kernel, const Op& loop, const ir::Type& tile) {
  Accesses out;
  ir::walk(loop.regions[0], [&](const Op& op) {
    if (op.kind != OpKind::Load && op.kind != OpKind::Store) return;
    const ir::Type& type = kernel.type(op.operands[0]);
    if (!same_shape(type, tile)) return;
    const int dimension = contiguous_dimension(kernel, op);
    out.are_known &= dimension >= 0 && (out.contiguous < 0 || out.contiguous == dimension);
    out.contiguous = dimension;
    out.element_bytes = std::min(out.element_bytes, static_cast<int>(size_of(type.dtype)));
  });
  return out;
}

// Warps are added where threads would hold too many elements; they hold 16 at least then.
std::int64_t most_threads(const ir::Type& tile, std::int64_t threads) {
  constexpr std::int64_t most_held = 64, least_held = 16, most = 1024;
  if (tile.numel() <= most_held * threads) return threads;
  return std::clamp(tile.numel() / least_held, threads, most);
}

}  // namespace

std::int64_t thread_parts(const ir::Kernel& kernel, const Op& loop, const ir::Type& tile, int axis,
                          std::int64_t threads) {
  const std::int64_t length = tile.size(axis);
  const Accesses accesses = accesses_of(kernel, loop, tile);
  if (!accesses.are_known || accesses.contiguous < 0) return length;
  int bits = log2_of(16 / accesses.element_bytes) + log2_of(most_threads(tile, threads));
  if (axis == accesses.contiguous) return std::min(length, std::int64_t{1} << bits);
  bits -= tile.log_sizes[static_cast<std::size_t>(accesses.contiguous)];
  for (int d = tile.rank - 1; d > axis; --d)
    if (d != accesses.contiguous) bits -= tile.log_sizes[static_cast<std::size_t>(d)];
  return std::min(length, std::int64_t{1} << std::max(bits, 0));
}

}  // namespace tilewright
