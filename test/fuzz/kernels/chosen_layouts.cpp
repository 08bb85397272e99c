// SPDX-License-Identifier: Apache-2.0
// fuzz/kernels/chosen_layouts.cpp — what decides how a kernel is laid out or how far ahead it
// loads, behind all other statements and by dice of its own, so that the rest of a kernel is the
// same with and without it: totals that atomics add to memory, many short rounds, divisions by one
// number, masks and stores with steps that are no powers of two. And kernels of few elements and
// many programs, which share blocks.
#include <algorithm>

#include <fmt/format.h>

#include "statement_parts.h"

namespace tilewright::fuzz {
namespace {

Draft dice_for(const Draft& draft, unsigned number) {
  Draft dice;
  dice.random.seed(draft.program.seed * 2654435761u + number);
  return dice;
}

void put(Block& body, std::string text) { body.push_back({{std::move(text)}}); }

std::string own_memory(Draft& draft, const std::string& name, DType dtype, std::int64_t count,
                       Memory::Fill fill) {
  Program& program = draft.program;
  program.pointers.push_back({name, program.memory.size(), 0});
  program.memory.push_back({dtype, count * program.grid, fill});
  return program.grid > 1 ? fmt::format("({} + pid * {})", name, count) : name;
}

// Sums of rows or of columns, of as many shapes as there are. Small enough for a bfloat16 to hold.
void add_added_totals(Draft& draft, Block& body) {
  Draft dice = dice_for(draft, 7919u);
  if (!dice.chance(15)) return;
  constexpr DType dtypes[] = {f32, f32, f16, bf16, i32};
  const DType dtype = dtypes[dice.pick(5)];
  const int rows = 1 << dice.pick(7), columns = 1 << dice.pick(rows > 8 ? 6 : 8);
  const int stride = columns + (dice.chance(30) ? dice.pick(9) : 0);
  const std::string from =
      own_memory(draft, "parts", dtype, std::int64_t{2} * rows * stride, Memory::Fill::Values);
  const std::string to = own_memory(draft, "totals", dtype, 512, Memory::Fill::Zero);
  put(body, fmt::format("tr = tl.arange(0, {})", rows));
  put(body, fmt::format("tc = tl.arange(0, {})", columns));
  const auto part = [&](const std::string& first) {
    const std::string mask = dice.chance(40)
                                 ? fmt::format(", mask=tc[None, :] < {}, other=0", columns - 1)
                                 : std::string();
    return fmt::format("tl.where(tl.load({} + {}tr[:, None] * {} + tc[None, :]{}) > 3, 1, -1)",
                       from, first, stride, mask);
  };
  const int axis = dice.pick(2);
  const int length = axis == 0 ? columns : rows;
  const std::string sum = fmt::format("tl.sum(part.to({}), axis={})", type_text(dtype), axis);
  if (dice.chance(40)) {
    put(body, fmt::format("adds = tl.zeros([{}], {})", length, type_text(dtype)));
    Statement loop;
    loop.branches.push_back({"for lap in range(2):", {}});
    Block& inside = loop.branches[0].body;
    put(inside, "part = " + part(fmt::format("lap * {} + ", rows * stride)));
    put(inside, fmt::format("adds += {}", sum));
    body.push_back(std::move(loop));
  } else {
    put(body, "part = " + part(""));
    put(body, "adds = " + sum);
  }
  const std::string index = axis == 0 ? "tc" : "tr";
  const std::string mask = dice.chance(40) ? fmt::format(", mask={} < {}", index,
                                                         length - dice.pick(std::min(length, 5)))
                                           : std::string();
  put(body, fmt::format("tl.atomic_add({} + {} + {}, adds{})", to,
                        dice.one_of({"0", "0", "8", "1", "2"}), index, mask));
  if (dice.chance(30)) put(body, fmt::format("tl.atomic_add({} + 256 + {} // 2, adds)", to, index));
}

// Sixteen rounds and more of a few hundred bytes, some stored to where later rounds load.
void add_short_rounds(Draft& draft, Block& body) {
  Draft dice = dice_for(draft, 104729u);
  if (!dice.chance(15)) return;
  const int length = std::min(1 << dice.pick(8), draft.size);
  const bool stores = dice.chance(40);
  const DType dtype = stores || dice.chance(50) ? i32 : f32;
  constexpr int counts[] = {15, 16, 17, 18, 21, 34};
  const int rounds = counts[dice.pick(6)], first = dice.pick(3), step = 1 + dice.pick(2);
  const int end = first + rounds * step - dice.pick(step), ahead = dice.pick(6);
  const std::string ring = own_memory(draft, "ring", dtype, std::int64_t{end + ahead + 1} * length,
                                      Memory::Fill::Values);
  put(body, fmt::format("rc = tl.arange(0, {})", length));
  put(body, fmt::format("kept = tl.zeros([{}], tl.int32)", length));
  put(body, "whole = 0");
  Statement loop;
  loop.branches.push_back({fmt::format("for lap in range({}, {}, {}):", first, end, step), {}});
  Block& inside = loop.branches[0].body;
  const std::string mask = dice.chance(40)
                               ? fmt::format(", mask=rc < {}, other=2", length - dice.pick(length))
                               : std::string();
  put(inside, fmt::format("near = tl.load({} + lap * {} + rc{}).to(tl.int32)", ring, length, mask));
  const bool has_sums = draft.has(Kind::Reductions) && dice.chance(70);
  if (has_sums) put(inside, "whole = whole * 3 + tl.sum(near, axis=0)");
  if (!has_sums || dice.chance(50)) put(inside, "kept = kept * 5 + near");
  if (stores)
    put(inside,
        fmt::format("tl.store({} + (lap + {}) * {} + rc, near * 3 + whole)", ring, ahead, length));
  body.push_back(std::move(loop));
  put(body, fmt::format("tl.store(out + {} + rc, kept + whole)", draft.slots++ * draft.size));
}

// By a power of two, so that quotients are exact.
void add_shared_divisor(Draft& draft, Block& body) {
  Draft dice = dice_for(draft, 15485863u);
  if (!dice.chance(15)) return;
  const std::string from = own_memory(draft, "dividends", f32, draft.size, Memory::Fill::Values);
  put(body, fmt::format("by = {}", dice.one_of({"(m - 1).to(tl.float32)", "(1 - s).to(tl.float32)",
                                                "(s - 1) * 0.125", "(m + s).to(tl.float32)"})));
  const bool is_matrix = dice.chance(40);
  const std::string index =
      is_matrix ? fmt::format("(r[:, None] * {} + c[None, :])", draft.columns) : "i";
  const std::string mask =
      dice.chance(40) ? fmt::format(", mask={} < n - 3, other=6.0", index) : "";
  put(body, fmt::format("parted = tl.load({} + {}{}) / by", from, index, mask));
  if (dice.chance(30))
    put(body, fmt::format("parted = tl.where({} % 3 == 0, parted, parted / by)", index));
  if (draft.has(Kind::Reductions) && dice.chance(50))
    put(body, is_matrix ? "parted = tl.max(parted, axis=1)[:, None] - parted"
                        : "parted = tl.max(parted, axis=0) - parted");
  put(body, fmt::format("tl.store(out + {} + {}, (parted * 64).to(tl.int32))",
                        draft.slots++ * draft.size, index));
}

// Bounds that are quotients, positive and negative, of what is and of what is not known.
void add_stepped_masks(Draft& draft, Block& body) {
  Draft dice = dice_for(draft, 32452843u);
  if (!dice.chance(15)) return;
  const int step = 3 + 2 * dice.pick(3);
  const std::string index = dice.chance(30) ? fmt::format("(i // {0} * {0})", draft.columns) : "i";
  const std::string limit =
      dice.one_of({"n", "n + m", "m * 11", "-m", fmt::format("{}", draft.size)});
  const std::string mask =
      dice.one_of({fmt::format("{} * {} < {}", index, step, limit),
                   fmt::format("{} * {} - m <= {}", index, step, limit),
                   fmt::format("{} > {} * {} + 1", limit, index, step),
                   fmt::format("{} * -{} + n > m - {}", index, step, limit),
                   fmt::format("({} * {} >= m) & ({} * 6 < {})", index, step, index, limit),
                   fmt::format("{} * {} == {}", index, step, limit)});
  put(body, fmt::format("stepped = tl.load({} + i, mask={}, other=-4).to(tl.int32)",
                        draft.scope.pointers.front().name, mask));
  put(body, fmt::format("tl.store(out + {} + i, stepped)", draft.slots++ * draft.size));
  const std::string strides =
      own_memory(draft, "strides", i32, std::int64_t{step} * draft.size + 8, Memory::Fill::Zero);
  put(body, fmt::format("tl.store({} + {} + i * {}, stepped + i, mask={})", strides, dice.pick(4),
                        step, mask));
}

}  // namespace

void add_chosen_layouts(Draft& draft, Block& body) {
  if (draft.has(Kind::Reductions) && draft.has(Kind::Stores)) add_added_totals(draft, body);
  if (draft.has(Kind::Loops)) add_short_rounds(draft, body);
  if (draft.has(Kind::Floats)) add_shared_divisor(draft, body);
  add_stepped_masks(draft, body);
}

void add_plain_elements(Draft& draft, Block& body) {
  Draft dice = dice_for(draft, 122949823u);
  const std::string mask = dice.one_of({"", "i < n - 3", "i < pid * 5", "i * 3 < n"});
  const std::string behind = mask.empty() ? "" : ", mask=" + mask;
  put(body, fmt::format("plain = tl.load({} + i{}).to(tl.int32)", draft.scope.pointers.front().name,
                        mask.empty() ? "" : behind + ", other=3"));
  if (dice.chance(50))
    put(body, fmt::format("plain = plain * 3 + tl.load({} + {} + i).to(tl.int32)",
                          draft.scope.pointers.back().name, draft.size));
  put(body, "plain += pid * 7 + tl.num_programs(0)");
  const std::string stored =
      fmt::format("tl.store(out + {} + i, plain{})", draft.slots++ * draft.size, behind);
  if (dice.chance(30)) body.push_back({{"if pid % 3 == 1:", "    " + stored}});
  else put(body, stored);
}

void choose_few_elements(Draft& draft) {
  Draft dice = dice_for(draft, 86028121u);
  if (!draft.has(Kind::Programs) || !dice.chance(40)) return;
  draft.is_elementwise = true;
  for (const Kind kind :
       {Kind::CarriedPointers, Kind::Loops, Kind::Whiles, Kind::Ties, Kind::Reductions, Kind::Scans,
        Kind::Sorts, Kind::Gathers, Kind::Products, Kind::Histograms, Kind::Moves, Kind::LongRows})
    draft.kinds.set(kind, false);
  // Most places that are stored to need barriers, with which programs do not share a block.
  if (dice.chance(60)) draft.kinds.set(Kind::Stores, false);
  draft.rows = 4 << dice.pick(2);
  draft.columns = 8 << dice.pick(3);
  draft.size = draft.rows * draft.columns;
  draft.room = 4 * draft.size;
  draft.program.warps = std::max(draft.size / 32, 2) << dice.pick(2);
  draft.program.grid = 8 + dice.pick(12);
}

}  // namespace tilewright::fuzz
