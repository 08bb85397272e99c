// SPDX-License-Identifier: Apache-2.0
// fuzz/kernels/patterns.cpp — a few statements that mean something only together: sums of products
// and rows, states, values of two rounds, conditions that depend on the order of elements.
#include <fmt/format.h>

#include "statement_parts.h"

namespace tilewright::fuzz {
namespace {

std::vector<PointerVariable> arguments_of(const Draft& draft) {
  std::vector<PointerVariable> found;
  for (const PointerVariable& pointer : draft.scope.pointers)
    if (pointer.memory >= 0) found.push_back(pointer);
  return found;
}

}  // namespace

void store_result(Draft& draft, Block& block, Form form, const Expression& value) {
  std::string round;
  for (const LoopCounter& counter : draft.scope.counters)
    round = round.empty() ? counter.name
                          : fmt::format("({} * {} + {})", round, counter.last + 1, counter.name);
  const std::string part = round.empty() ? "" : fmt::format(" + {} * {}", round, draft.size);
  const int begin = draft.slots * draft.size;
  draft.slots += draft.scope.rounds;
  block.push_back({{fmt::format("tl.store(out + {}{} + {}, {})", begin, part,
                                index(draft, form, true), convert(value, i32).text)}});
}

void add_recurrence(Draft& draft, Block& block) {
  if (draft.scope.tiles.empty()) return;
  const TileVariable next = draft.any(draft.scope.tiles);
  const std::string last = draft.fresh("x");
  block.push_back({{fmt::format("{} = {}", last, next.name)}});
  const Expression value = draft.chance(60) ? load(draft, next.form, next.dtype)
                                            : operation(draft, next.form, next.dtype);
  block.push_back({{fmt::format("{} = {}", next.name, value.text)}});
  if (draft.chance(40)) add_statements(draft, block, 1);
  const Expression a = convert({next.name, next.dtype}, i32);
  const Expression b = convert({last, next.dtype}, i32);
  store_result(draft, block, next.form, {fmt::format("{} * 3 - {}", a.text, b.text)});
}

bool add_row_loop(Draft& draft, Block& block) {
  if (!draft.has(Kind::Loops)) return false;
  const std::string sum = draft.fresh("x");
  const std::string total = draft.fresh("s");
  block.push_back({{fmt::format("{} = tl.zeros([{}], tl.int32)", sum, draft.size)}});
  block.push_back({{fmt::format("{} = 0", total)}});
  Statement loop;
  {
    const InnerScope inner(draft);
    const int rounds = 2 + draft.pick(3);
    loop.branches.push_back({for_header(draft, rounds), {}});
    draft.scope.rounds *= rounds;
    Block& body = loop.branches[0].body;
    for (int k = draft.pick(2); k >= 0; --k) {
      const PointerVariable pointer = draft.any(arguments_of(draft));
      const std::string row = draft.fresh("x");
      body.push_back({{fmt::format("{} = tl.load({} + {} * {} + i{})", row, pointer.name,
                                   draft.scope.counters.back().name, draft.size,
                                   draft.chance(30) ? ", mask=i < n - 3, other=0" : "")}});
      draft.scope.tiles.push_back({row, pointer.dtype, Form::Flat});
      const Expression whole = convert({row, pointer.dtype}, i32);
      if (draft.chance(50)) body.push_back({{fmt::format("{0} = {0} + {1}", sum, whole.text)}});
      if (draft.has(Kind::Reductions) && draft.chance(50))
        body.push_back({{fmt::format("{0} += tl.sum({1}, axis=0)", total, whole.text)}});
      if (draft.chance(50)) store_result(draft, body, Form::Flat, {whole.text + " * 2"});
    }
    if (draft.chance(30)) add_statements(draft, body, 1);
  }
  block.push_back(std::move(loop));
  draft.scope.tiles.push_back({sum, i32, Form::Flat});
  draft.scope.scalars.push_back(total);
  return true;
}

bool add_state_loop(Draft& draft, Block& block) {
  if (!draft.has(Kind::Loops) || !draft.has(Kind::Matrices) || !draft.has(Kind::Reductions))
    return false;
  const std::string state = draft.fresh("x");
  block.push_back({{fmt::format("{} = {}", state, operand(draft, Form::Matrix, i32).text)}});
  draft.scope.tiles.push_back({state, i32, Form::Matrix});
  Statement loop;
  {
    const InnerScope inner(draft);
    const int rounds = 2 + draft.pick(3);
    loop.branches.push_back({for_header(draft, rounds), {}});
    draft.scope.rounds *= rounds;
    Block& body = loop.branches[0].body;
    const bool by_rows = draft.chance(50);
    const char* down = by_rows ? "[:, None]" : "[None, :]";
    const char* across = by_rows ? "[None, :]" : "[:, None]";
    const Form in = by_rows ? Form::Rows : Form::Columns;
    const Form out = by_rows ? Form::Columns : Form::Rows;
    const std::string x = draft.fresh("x");
    const std::string sum = draft.fresh("x");
    body.push_back({{fmt::format("{} = {}", x, load(draft, in, i32).text)}});
    body.push_back(
        {{fmt::format("{} = tl.sum({} * {}{}, axis={})", sum, state, x, down, by_rows ? 0 : 1)}});
    body.push_back(
        {{fmt::format("{0} = {0} + {1}{2} * (3 - {3}){4}", state, x, down, sum, across)}});
    store_result(draft, body, out,
                 {fmt::format("tl.sum({} * ({}){}, axis={})", state, operand(draft, in, i32).text,
                              down, by_rows ? 0 : 1)});
    if (draft.chance(30)) add_statements(draft, body, 1);
  }
  block.push_back(std::move(loop));
  return true;
}

namespace {

// A tile of the same shape whose elements come from other elements of `x`.
std::string seen_from_elsewhere(Draft& draft, Form form, const std::string& x) {
  std::vector<std::string> texts = {x + " * 3"};
  const bool is_flat = form == Form::Flat;
  const bool is_matrix = form == Form::Matrix;
  const int last = draft.size - 1;
  const auto add = [&](bool is_possible, const std::string& text) {
    if (is_possible) texts.insert(texts.end(), 2, text);
  };
  add(is_flat && draft.has(Kind::Gathers), fmt::format("tl.gather({}, {} - i, 0)", x, last));
  add(is_flat && draft.has(Kind::Sorts), fmt::format("tl.flip({}, 0)", x));
  add(draft.has(Kind::Scans), fmt::format("tl.cumsum({}, axis=0)", x));
  add(!is_matrix && draft.has(Kind::Reductions), fmt::format("tl.sum({}, axis=0)", x));
  add(is_matrix && draft.has(Kind::Reductions), fmt::format("tl.sum({}, axis=1)[:, None]", x));
  add(is_matrix && draft.has(Kind::Moves) && draft.rows == draft.columns,
      fmt::format("tl.trans({})", x));
  return draft.any(texts);
}

}  // namespace

void add_update(Draft& draft, Block& block) {
  constexpr Form forms[] = {Form::Flat, Form::Matrix, Form::Matrix, Form::Rows, Form::Columns};
  const Form form = draft.has(Kind::Matrices) ? forms[draft.pick(5)] : Form::Flat;
  const std::string at = draft.fresh("q");
  const std::string old = draft.fresh("x");
  block.push_back({{fmt::format("{} = {}", at, access(draft, form, i32, true).pointers)}});
  block.push_back({{fmt::format("{} = tl.load({})", old, at)}});
  draft.scope.tiles.push_back({old, i32, form});
  if (draft.has(Kind::Reductions) && draft.chance(40)) {
    const std::string sum = draft.fresh("s");
    block.push_back({{fmt::format("{} = tl.sum({}, axis=0)", sum,
                                  convert(load(draft, Form::Flat, i32), i32).text)}});
    draft.scope.scalars.push_back(sum);
    store_result(draft, block, form, {fmt::format("{} * {}", old, sum)});
    block.push_back({{fmt::format("tl.store({}, {})", at, draft.pick(9))}});
    return;
  }
  if (draft.chance(30)) add_statements(draft, block, 1);
  block.push_back({{fmt::format("tl.store({0}, {1} + 2 * ({2}))", at, old,
                                seen_from_elsewhere(draft, form, old))}});
}

void add_relay(Draft& draft, Block& block) {
  const PointerVariable pointer = any_pointer(draft, i32);
  const LoopCounter counter = draft.scope.counters.back();
  const std::string x = draft.fresh("x");
  std::string from;
  std::string to;
  if (pointer.room >= (counter.last + 2) * draft.size && draft.chance(50)) {
    from = fmt::format(" + {} * {}", counter.name, draft.size);
    to = fmt::format(" + ({} + 1) * {}", counter.name, draft.size);
  }
  const std::string moved = draft.one_of({fmt::format("({} - i)", draft.size - 1),
                                          fmt::format("(i ^ {})", draft.size / 2),
                                          fmt::format("((i + 1) % {})", draft.size)});
  block.push_back({{fmt::format("{} = tl.load({}{} + {})", x, pointer.name, from, moved)}});
  draft.scope.tiles.push_back({x, i32, Form::Flat});
  if (draft.chance(30)) add_statements(draft, block, 1);
  const std::string stored = fmt::format("tl.store({}{} + i, {} + 1)", pointer.name, to, x);
  if (draft.has(Kind::Branches) && draft.chance(30))
    block.push_back({{fmt::format("if {}:", condition(draft)), "    " + stored}});
  else block.push_back({{stored}});
}

void add_shared_places(Draft& draft, Block& block) {
  const PointerVariable pointer = any_pointer(draft, i32);
  const std::string name = draft.fresh("q");
  const bool is_matrix = draft.has(Kind::Matrices) && draft.chance(40);
  const std::string at =
      is_matrix ? fmt::format("tl.broadcast_to({}, {})", draft.one_of({"r[:, None]", "c[None, :]"}),
                              shape_text(draft, Form::Matrix))
                : draft.one_of({"i // 4", "(i & 15)", "(i ^ 1) // 2"});
  block.push_back({{fmt::format("{} = {} + {}", name, pointer.name, at),
                    fmt::format("tl.store({0}, tl.load({0}) * 3 + 1)", name)}});
}

void add_handed_on(Draft& draft, Block& block) {
  const std::string first = draft.fresh("x");
  const std::string now = draft.fresh("x");
  const std::string kept = draft.fresh("x");
  block.push_back({{fmt::format("{} = {}", first, load(draft, Form::Flat, i32).text),
                    fmt::format("{} = {}", now, first), fmt::format("{} = i", kept)}});
  Statement loop;
  {
    const InnerScope inner(draft);
    const int rounds = 2 + draft.pick(2);
    loop.branches.push_back({for_header(draft, rounds), {}});
    draft.scope.rounds *= rounds;
    Block& body = loop.branches[0].body;
    const std::string next = draft.fresh("x");
    body.push_back({{fmt::format("{} = {}", next, load(draft, Form::Flat, i32).text)}});
    store_result(draft, body, Form::Flat, {fmt::format("{} * 3 - {}", next, now), i32});
    if (draft.chance(50)) {  // the loop hands on what it began with
      body.push_back({{fmt::format("{} = {}", kept, first)}});
    } else {  // a branch hands on what the loop carries
      body.push_back(
          {{fmt::format("if {}:", condition(draft)), fmt::format("    {} = {}", kept, now),
            "else:", fmt::format("    {} = i * 5", kept)}});
      store_result(draft, body, Form::Flat, {kept, i32});
    }
    body.push_back({{fmt::format("{} = {}", now, next)}});
  }
  block.push_back(std::move(loop));
  for (const std::string& name : {first, now, kept})
    draft.scope.tiles.push_back({name, i32, Form::Flat});
}

void add_tie(Draft& draft, Block& block) {
  const std::string index = draft.fresh("k");
  const std::string value = draft.fresh("s");
  const std::string x = operand(draft, Form::Flat, i32).text;
  const bool is_nan = draft.chance(40);
  const std::string tied =
      is_nan ? fmt::format(
                   "tl.where((i * i * 5 + i * 3) % 11 == {}, float(\"nan\"), ({}).to(tl.float32))",
                   draft.pick(5), x)
             : fmt::format("({}) % {}", x, 2 + draft.pick(4));
  const std::string same[] = {
      fmt::format("tl.sum({}, axis=0)", x), fmt::format("tl.sum(tl.sort({}), axis=0)", x),
      fmt::format("tl.sum(tl.where(i == {}, tl.cumsum({}, axis=0), 0), axis=0)", draft.size - 1, x),
      fmt::format("tl.sum(tl.gather({}, {} - i, 0), axis=0)", x, draft.size - 1)};
  const int one = draft.pick(4);
  const int slot = draft.slots++ * draft.size;
  const std::string spread = draft.fresh("d");
  // Every thread must hold the same index: stored and read by others it has one value.
  block.push_back(
      {{fmt::format("{} = tl.{}({}, axis=0{})", index, draft.one_of({"argmax", "argmin"}), tied,
                    is_nan ? "" : ", tie_break_left=False"),
        fmt::format("if {} % 2 == 0:", index), fmt::format("    {} = {}", value, same[one]),
        "else:", fmt::format("    {} = {}", value, same[(one + 1 + draft.pick(3)) % 4]),
        fmt::format("tl.store(out + {} + i, {})", slot, index),
        fmt::format("{} = tl.load(out + {} + ({} - i))", spread, slot, draft.size - 1),
        fmt::format("tl.store(out + {0} + i, tl.max({1}, axis=0) - tl.min({1}, axis=0))", slot,
                    spread)}});
  draft.scope.scalars.push_back(value);
}

}  // namespace tilewright::fuzz
