// SPDX-License-Identifier: Apache-2.0
// frontend/triton/builtins_sort.cpp — sorting networks, reversal, counting.
//
// Sorting is a few ops `sort`: each is some stages of a network. In between, the best k of 2k
// elements stay: the tile is seen as [before, 2, after] with one bit of the index in the middle.
#include <bit>

#include <fmt/format.h>

#include "frontend/triton/builtin_ops.h"
#include "frontend/triton/builtin_tables.h"
#include "frontend/triton/memory_access.h"

namespace tilewright::triton {
namespace {

using ir::OpKind;

int log2_of(std::int64_t size) { return std::bit_width(static_cast<std::uint64_t>(size)) - 1; }

// [before, 2, after] -> the two [before, after]
std::pair<ir::Value, ir::Value> split_bit(Semantic& s, ir::Value flat, int bit) {
  const std::int64_t after = std::int64_t{1} << bit;
  const std::int64_t before = s.type(flat).numel() / (2 * after);
  ir::Builder& builder = s.builder();
  const ir::Value middle = builder.permute(reshape(s, flat, {before, 2, after}), {0, 2, 1});
  const ir::Type half = s.type(flat).with_shape({before, after});
  const ir::Op* op = builder.create(OpKind::Split, {middle}, {half, half});
  return {op->results[0], op->results[1]};
}

// Stages of the network over the tile, as it lies.
ir::Value merge(Semantic& s, ir::Value tile, int first, int last, const char* order) {
  if (last < first) return tile;
  return s.builder().create_one(OpKind::Sort, {tile}, s.type(tile),
                                {{"first", std::int64_t{first}},
                                 {"last", std::int64_t{last}},
                                 {"order", std::string(order)}});
}

void require_last(Call& call, ir::Value x) {
  const int last = call.type(x).rank - 1;
  if (call.has("dim") && call.axis("dim", call.type(x).rank) != last)
    call.fail(fmt::format("works along the last dimension, {}, only", last),
              "use tl.permute before and after");
}

ir::Value widened(Semantic& s, ir::Value value) {
  const ir::Type& type = s.type(value);
  if (bits_of(type) >= 32) return value;
  return s.cast(value, ir::Type::scalar(type.is_float() ? f32 : i32));
}

// The larger (or smaller) of each pair whose index differs in this bit; half the elements stay.
ir::Value best_of_bit(Semantic& s, ir::Value flat, int bit, bool descending) {
  const ir::Value wide = widened(s, flat);
  const auto [low, high] = split_bit(s, wide, bit);
  const ir::Value best = s.arithmetic(descending ? OpKind::Maximum : OpKind::Minimum, low, high);
  return reshape(s, best, {s.type(best).numel()});
}

Value sorted(Call& call, int log_k, bool descending) {
  Semantic& s = call.semantic;
  const ir::Value x = call.tile("x");
  require_last(call, x);
  const ir::Type type = call.type(x);
  const int log_n = log2_of(type.size(type.rank - 1));
  const char* const last = descending ? "descending" : "ascending";
  if (log_k < 0) log_k = log_n;
  if (log_k == 0) {
    const Reduction along_last{.axis = type.rank - 1, .keep_dims = true};
    return reduce(s, widened(s, x), along_last, descending ? OpKind::Maximum : OpKind::Minimum);
  }
  ir::Value flat = reshape(s, x, {type.numel()});
  flat = merge(s, flat, 1, log_k, log_k < log_n ? "alternating" : last);
  for (int stage = log_k + 1; stage <= log_n; ++stage) {
    flat = best_of_bit(s, flat, log_k, descending);
    flat = merge(s, flat, log_k, log_k, stage < log_n ? "alternating" : last);
  }
  std::vector<std::int64_t> shape = type.shape();
  shape.back() = std::int64_t{1} << log_k;
  return reshape(s, flat, shape);
}

Value sort(Call& call) { return sorted(call, -1, call.flag("descending")); }

Value topk(Call& call) {
  const std::int64_t k = call.integer("k");
  const ir::Type& type = call.type(call.tile("x"));
  if (k <= 0 || (k & (k - 1)) != 0) call.fail(fmt::format("needs a power of two as k, not {}", k));
  if (k > type.size(type.rank - 1))
    call.fail(fmt::format("has k {}, above the size {} of the last dimension", k,
                          type.size(type.rank - 1)));
  return sorted(call, log2_of(k), call.flag("descending"));
}

Value bitonic_merge(Call& call) {
  Semantic& s = call.semantic;
  const ir::Value x = call.tile("x");
  require_last(call, x);
  const ir::Type type = call.type(x);
  const int stage = log2_of(type.size(type.rank - 1));
  return merge(s, x, std::max(stage, 1), stage,
               call.flag("descending") ? "descending" : "ascending");
}

Value flip(Call& call) {
  Semantic& s = call.semantic;
  ir::Builder& builder = call.builder();
  const ir::Value x = call.tile("x");
  const ir::Type type = call.type(x);
  const int axis = call.has("dim") ? call.axis("dim", type.rank) : type.rank - 1;
  const std::int64_t size = type.size(axis);
  const ir::Value range = builder.arange(0, size);
  const ir::Value last = s.like(builder.constant(ir::Type::scalar(i32), size - 1), s.type(range));
  std::vector<std::int64_t> spread(type.rank, 1);
  spread[static_cast<std::size_t>(axis)] = size;
  const ir::Value index =
      s.like(reshape(s, builder.binary(OpKind::Subtract, last, range), spread), type);
  return builder.create_one(OpKind::Gather, {x, index}, type, {{"axis", std::int64_t{axis}}});
}

Value histogram(Call& call) {
  const ir::Value input = call.tile("input");
  const ir::Type type = call.type(input);
  if (type.rank != 1) call.fail(fmt::format("takes one dimension, not {}", text_of(type)));
  if (!type.is_int() || bits_of(type) != 32)
    call.fail(fmt::format("takes 32-bit integers, not {}", text_of(type)));
  std::vector<ir::Value> operands = {input};
  if (const ir::Value mask = mask_of(call)) operands.push_back(call.semantic.like(mask, type));
  return call.builder().create_one(OpKind::Histogram, operands,
                                   ir::Type::tile(i32, call.shape("num_bins")));
}

constexpr BuiltinRow sort_rows[] = {
    {"sort", "x, dim=None, descending=False", sort},
    {"topk", "x, k, dim=None, descending=True", topk},
    {"bitonic_merge", "x, dim=None, descending=False", bitonic_merge},
    {"flip", "x, dim=None", flip, true},
    {"histogram", "input, num_bins, mask=None", histogram, true},
};

}  // namespace

std::span<const BuiltinRow> sort_builtins() { return sort_rows; }

}  // namespace tilewright::triton
