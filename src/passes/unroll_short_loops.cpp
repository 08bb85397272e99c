// SPDX-License-Identifier: Apache-2.0
// passes/unroll_short_loops.cpp — how many rounds a loop has at most, and what they load.
#include "passes/unroll_short_loops.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "ir/constant.h"

namespace tilewright {
namespace {

using ir::Kernel;
using ir::Op;
using ir::OpKind;
using ir::Value;

constexpr std::int64_t most_rounds = 8;
constexpr std::int64_t most_bytes = std::int64_t{16} * 128 * 4;  // of the loads of all rounds
constexpr std::int64_t most_bytes_added = 4 * most_bytes;        // of a round that is only added up

// How far `value` lies behind `from`, when that is a constant.
std::optional<std::int64_t> distance(const Kernel& kernel, Value from, Value value) {
  const Op* sum = kernel.maker(value);
  if (!sum || sum->kind != OpKind::Add) return std::nullopt;
  for (const int k : {0, 1})
    if (sum->operands[static_cast<std::size_t>(k)] == from)
      return ir::integer_constant(kernel, sum->operands[static_cast<std::size_t>(1 - k)]);
  return std::nullopt;
}

std::optional<std::int64_t> rounds_at_most(const Kernel& kernel, const Op& loop) {
  const auto step = ir::integer_constant(kernel, loop.operands[2]);
  const Op* end = kernel.maker(loop.operands[1]);
  if (!step || *step <= 0 || !end || end->kind != OpKind::Minimum) return std::nullopt;
  for (const Value operand : end->operands)
    if (const auto length = distance(kernel, loop.operands[0], operand); length && *length > 0)
      return (*length + *step - 1) / *step;
  return std::nullopt;
}

// Bytes of the tiles that a round loads; none when it does more than load, compute and store.
std::optional<std::int64_t> bytes_of_round(const Kernel& kernel, const Op& loop) {
  std::int64_t bytes = 0;
  for (const Op* op : loop.regions[0].ops) {
    const bool is_load = op->kind == OpKind::Load && op->integer("volatile") == 0;
    if (!is_load && op->kind != OpKind::Store && op->kind != OpKind::Yield &&
        (!op->facts().has(ir::Pure) || op->facts().is(ir::Family::Across) || !op->regions.empty()))
      return std::nullopt;
    if (!is_load || !kernel.type(op->result()).is_tile()) continue;
    const ir::Type& type = kernel.type(op->result());
    bytes += type.numel() * static_cast<std::int64_t>(type.element_bytes());
  }
  return bytes > 0 ? std::optional(bytes) : std::nullopt;
}

// Whether a loop adds to tiles and stores nothing.
bool adds_to_tiles(const Kernel& kernel, const Op& loop) {
  const auto& ops = loop.regions[0].ops;
  return std::any_of(loop.results.begin(), loop.results.end(),
                     [&](Value value) { return kernel.type(value).is_tile(); }) &&
         std::none_of(ops.begin(), ops.end(),
                      [](const Op* op) { return op->kind == OpKind::Store; });
}

}  // namespace

void unroll_short_loops(ir::Kernel& kernel, const Target&) {
  ir::walk(kernel.body, [&](Op& op) {
    if (op.kind != OpKind::For || op.integer("unroll") != 0 || op.integer("stages") != 0) return;
    const auto bytes = bytes_of_round(kernel, op);
    if (!bytes) return;
    const auto rounds = rounds_at_most(kernel, op);
    if (rounds && *rounds >= 2 && *rounds <= most_rounds && *bytes * *rounds <= most_bytes)
      op.set("unroll", *rounds);
    else if (*bytes > most_bytes && *bytes <= most_bytes_added && adds_to_tiles(kernel, op))
      op.set("unroll", std::int64_t{2});
  });
}

}  // namespace tilewright
