// SPDX-License-Identifier: Apache-2.0
// fuzz/kernels/compounds.cpp — loops, branches, and pointers that they change.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "statement_parts.h"

namespace tilewright::fuzz {
namespace {

std::vector<std::size_t> pointer_variables(const Draft& draft, DType dtype) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < draft.scope.pointers.size(); ++i)
    if (draft.scope.pointers[i].memory < 0 && draft.scope.pointers[i].dtype == dtype)
      found.push_back(i);
  return found;
}

// Advances a pointer in a loop inside of another one. Accesses that stand before it in the outer
// loop, and pointers made from it there, are of later rounds too: their room must not become less.
void advance_by_reserve(Draft& draft, PointerVariable& pointer, Block& body) {
  const int step = 1 + draft.pick(3);
  const int needed = step * draft.scope.rounds;
  if (pointer.reserve < needed) return;
  pointer.reserve -= needed;
  body.push_back({{fmt::format("{} += {}", pointer.name, step)}});
}

// What the rounds of a loop do to pointers. Their room is that of the last round from the start, so
// that any access in the loop is inside.
void advance_pointers(Draft& draft, Block& body) {
  if (!draft.has(Kind::CarriedPointers)) return;
  bool exchanged = false;
  for (const DType dtype : draft.dtypes) {
    const std::vector<std::size_t> found = pointer_variables(draft, dtype);
    auto& pointers = draft.scope.pointers;
    if (draft.scope.exchanges) continue;  // a step would be another pointer's too
    if (found.size() >= 2 && draft.scope.depth == 1 && draft.chance(60)) {
      exchanged = true;
      PointerVariable& p = pointers[found[0]];
      PointerVariable& q = pointers[found[1]];
      p.room = q.room = std::min(p.room, q.room);
      body.push_back({{fmt::format("{0}, {1} = {1}, {0}", p.name, q.name)}});
      continue;
    }
    for (const std::size_t at : found) {
      if (draft.scope.counters.size() > 1) {
        advance_by_reserve(draft, pointers[at], body);
        continue;
      }
      if (pointers[at].room >= 3 * draft.size && draft.chance(40)) {
        pointers[at].reserve += draft.size;
        pointers[at].room -= draft.size;
      }
      const int step = draft.chance(70) ? draft.size : 1 + draft.pick(3);
      const int needed = step * draft.scope.rounds;
      if (pointers[at].room - needed < draft.size || draft.chance(30)) continue;
      pointers[at].room -= needed;
      body.push_back({{fmt::format("{} += {}", pointers[at].name, step)}});
    }
  }
  draft.scope.exchanges |= exchanged;
}

void fill_loop(Draft& draft, Block& body, int rounds) {
  draft.scope.rounds *= rounds;
  Block pointers;
  advance_pointers(draft, pointers);
  add_statements(draft, body, 1 + draft.pick(4));
  if (draft.chance(35)) add_recurrence(draft, body);
  if (draft.has(Kind::Stores) && draft.chance(30)) add_relay(draft, body);
  for (Statement& statement : pointers) {
    const bool in_front = draft.chance(20);
    body.insert(in_front ? body.begin() : body.end(), statement);
  }
}

// Loops carry pointers that were there before.
void define_before_loop(Draft& draft, Block& block) {
  if (draft.has(Kind::CarriedPointers) && draft.scope.depth == 0)
    for (int k = draft.pick(3); k > 0; --k) add_pointers(draft, block);
}

void add_for(Draft& draft, Block& block) {
  define_before_loop(draft, block);
  const InnerScope inner(draft);
  const int rounds = 2 + draft.pick(3);
  Statement loop;
  loop.branches.push_back({for_header(draft, rounds), {}});
  fill_loop(draft, loop.branches[0].body, rounds);
  block.push_back(std::move(loop));
}

void add_while(Draft& draft, Block& block) {
  define_before_loop(draft, block);
  const InnerScope inner(draft);
  const int rounds = 2 + draft.pick(2);
  const std::string counter = draft.fresh("w");
  draft.scope.counters.push_back({counter, rounds - 1});
  block.push_back({{counter + " = 0"}});
  Statement loop;
  // What a condition reads is read once more than the body runs.
  const std::string asked = draft.chance(40) ? fmt::format(" and tl.load({}) % 7 != 3",
                                                           scalar_access(draft, i32).pointers)
                                             : "";
  loop.branches.push_back({fmt::format("while {} < {}{}:", counter, rounds, asked), {}});
  fill_loop(draft, loop.branches[0].body, rounds);
  loop.branches[0].body.push_back({.text = {counter + " += 1"}, .is_kept = true});
  block.push_back(std::move(loop));
}

void add_branch(Draft& draft, Block& block) {
  Statement branch;
  branch.branches.push_back({fmt::format("if {}:", condition(draft)), {}});
  {
    const InnerScope inner(draft);
    add_statements(draft, branch.branches[0].body, 1 + draft.pick(3));
  }
  if (draft.chance(60)) {
    branch.branches.push_back({"else:", {}});
    const InnerScope inner(draft);
    add_statements(draft, branch.branches[1].body, 1 + draft.pick(3));
  }
  block.push_back(std::move(branch));
}

// Halves of the elements of a memory, written and read through a pointer of another type.
void add_halves(Draft& draft, Block& block) {
  const PointerVariable pointer = any_pointer(draft, i32);
  const std::string halves = draft.fresh("p");
  const std::string name = draft.fresh("x");
  block.push_back({{fmt::format("{} = {}.to(tl.pointer_type(tl.int16))", halves, pointer.name)}});
  const auto at = [&] { return fmt::format("{} + {}", halves, index(draft, Form::Flat, true)); };
  if (draft.has(Kind::Stores) && draft.chance(60))
    block.push_back({{fmt::format("tl.store({}, ({}).to(tl.int16))", at(),
                                  operand(draft, Form::Flat, i32).text)}});
  block.push_back({{fmt::format("{} = tl.load({}).to(tl.int32)", name, at())}});
  draft.scope.tiles.push_back({name, i32, Form::Flat});
}

// p = a, or what is near it.
void define_pointer(Draft& draft, Block& block) {
  const PointerVariable base = any_pointer(draft, draft.any(draft.dtypes));
  const std::string name = draft.fresh("p");
  const std::string type = fmt::format("tl.pointer_type({})", type_text(base.dtype));
  const int step = base.room >= 3 * draft.size ? draft.pick(2) * draft.size : 0;
  PointerVariable made{name, base.dtype, base.room - step};
  Statement statement;
  const PointerVariable other = any_pointer(draft, base.dtype);
  if (draft.has(Kind::SelectedPointers) && other.name != base.name && draft.chance(60)) {
    made.room = std::min(base.room, other.room);
    statement.text = {fmt::format("if {}:", condition(draft)),
                      fmt::format("    {} = {}", name, base.name),
                      "else:", fmt::format("    {} = {}", name, other.name)};
  } else if (draft.has(Kind::CastPointers) && draft.chance(50)) {
    statement.text = {fmt::format("{} = ({}.to(tl.int64) + {}).to({})", name, base.name,
                                  step * static_cast<int>(size_of(base.dtype)), type)};
  } else {
    statement.text = {fmt::format("{} = {} + {}", name, base.name, step)};
  }
  block.push_back(std::move(statement));
  draft.scope.pointers.push_back(made);
}

void define_pointer_tile(Draft& draft, Block& block) {
  const DType dtype = draft.any(draft.dtypes);
  const std::vector<PointerTile> known = std::exchange(draft.scope.pointer_tiles, {});
  const Access made = access(draft, Form::Flat, dtype, true);
  draft.scope.pointer_tiles = known;
  for (const PointerTile& tile : known)
    if (tile.dtype == dtype && draft.chance(70)) {
      block.push_back({{tile.name + " = " + made.pointers}});
      return;
    }
  const std::string name = draft.fresh("q");
  block.push_back({{name + " = " + made.pointers}});
  draft.scope.pointer_tiles.push_back({name, dtype});
}

}  // namespace

std::string for_header(Draft& draft, int rounds) {
  const std::string counter = draft.fresh("t");
  draft.scope.counters.push_back({counter, rounds - 1});
  std::string range;
  if (draft.has(Kind::Stages) && draft.chance(60))
    range = fmt::format("tl.range({}{}, num_stages={})", draft.chance(20) ? "m - 3, " : "", rounds,
                        2 + draft.pick(3));
  else if (rounds == 3 && draft.chance(50)) range = "range(m)";  // a number that is not known
  else if (draft.chance(6)) range = "range(m - 3)";              // no round at all
  else if (draft.chance(10)) range = fmt::format("range({}, -1, -1)", rounds - 1);
  else if (draft.chance(10)) range = fmt::format("tl.static_range({})", rounds);
  else if (draft.chance(8)) range = fmt::format("range(m - 3, {})", rounds);     // a begin and
  else if (draft.chance(8)) range = fmt::format("range(0, {}, m - 2)", rounds);  // a step like that
  else range = fmt::format("range({})", rounds);
  return fmt::format("for {} in {}:", counter, range);
}

bool add_compound(Draft& draft, Block& block) {
  if (draft.scope.depth == 0) {
    if (draft.chance(30) && add_product_loop(draft, block)) return true;
    if (draft.chance(30) && add_chained_products(draft, block)) return true;
    if (draft.chance(draft.has(Kind::Stages) ? 40 : 10) && add_row_loop(draft, block)) return true;
    if (draft.chance(30) && add_state_loop(draft, block)) return true;
    if (draft.chance(20) && add_narrow_walk(draft, block)) return true;
  }
  switch (draft.pick(4)) {
    case 0:
      if (!draft.has(Kind::Branches)) return false;
      add_branch(draft, block);
      return true;
    case 1:
      if (!draft.has(Kind::Whiles)) return false;
      add_while(draft, block);
      return true;
    default:
      if (!draft.has(Kind::Loops)) return false;
      add_for(draft, block);
      return true;
  }
}

bool add_pointers(Draft& draft, Block& block) {
  const bool scalars = draft.has(Kind::CarriedPointers) || draft.has(Kind::CastPointers) ||
                       draft.has(Kind::SelectedPointers);
  if (draft.has(Kind::GatheredPointers) && (!scalars || draft.chance(40))) {
    define_pointer_tile(draft, block);
    return true;
  }
  if (!scalars) return false;
  if (draft.has(Kind::CastPointers) && draft.chance(20)) add_halves(draft, block);
  else define_pointer(draft, block);
  return true;
}

}  // namespace tilewright::fuzz
