// SPDX-License-Identifier: Apache-2.0
// fuzz/kernels/narrow_walk.cpp — integers of 8 bits, which wrap: a place that moves by their sums,
// so that rounds of a loop come back to where others were and places that look far apart are near;
// a mask of quotients of them, which are negative for some elements.
#include <fmt/format.h>

#include "statement_parts.h"

namespace tilewright::fuzz {
namespace {

constexpr int reach = 256;  // elements behind a pointer that a number of 8 bits can name

// One element, or a tile of them.
std::string place_of(Draft& draft, const PointerVariable& pointer, const std::string& place,
                     bool is_tile) {
  if (!is_tile) return fmt::format("{} + {}", pointer.name, place);
  return fmt::format("{} + {} + {}", pointer.name, place,
                     draft.chance(75) ? "i" : index(draft, Form::Flat, true));
}

void load_and_store_result(Draft& draft, Block& body, const std::string& from) {
  const std::string value = draft.fresh("x");
  body.push_back({{fmt::format("{} = tl.load({}) + i", value, from)}});
  draft.scope.tiles.push_back({value, i32, Form::Flat});
  store_result(draft, body, Form::Flat, {value});
}

// In some rounds only: a barrier before it is not there in the others.
void store_now_and_then(Draft& draft, Block& body, const std::string& to, bool is_tile) {
  const std::string stored =
      fmt::format("tl.store({}, {})", to,
                  is_tile ? operand(draft, Form::Flat, i32).text : scalar(draft) + " * 7");
  const std::string counter = draft.scope.counters.back().name;
  const std::string asked =
      draft.chance(25) ? condition(draft) : counter + draft.one_of({" % 2 == 0", " == 0"});
  if (draft.chance(15)) body.push_back({{stored}});
  else body.push_back({{fmt::format("if {}:", asked), "    " + stored}});
}

}  // namespace

bool add_narrow_walk(Draft& draft, Block& block) {
  const PointerVariable pointer = any_pointer(draft, i32);
  if (!draft.has(Kind::SmallTypes) || !draft.has(Kind::Loops) || !draft.has(Kind::Stores) ||
      pointer.room < draft.size + reach)
    return false;
  const std::string k = draft.fresh("k");
  const std::string here = fmt::format("{}.to(tl.int32)", k);
  const std::string near =
      fmt::format("({} + {}).to(tl.int32)", k, draft.one_of({"5", "128", "250", "253"}));
  block.push_back({{fmt::format("{} = {}.to(tl.uint8)", k, scalar(draft))}});
  Statement loop;
  {
    const InnerScope inner(draft);
    const int rounds = 3 + draft.pick(3);
    loop.branches.push_back({for_header(draft, rounds), {}});
    draft.scope.rounds *= rounds;
    Block& body = loop.branches[0].body;
    const bool is_tile = draft.chance(30);
    load_and_store_result(draft, body, place_of(draft, pointer, here, is_tile));
    store_now_and_then(draft, body,
                       place_of(draft, pointer, draft.chance(85) ? here : near, is_tile), is_tile);
    if (draft.chance(is_tile ? 80 : 20))
      load_and_store_result(draft, body, place_of(draft, pointer, near, is_tile));
    const std::string step = draft.one_of({"128", "128", "128", "64"});
    body.push_back({{fmt::format("{0} = {0} + {1}", k, step)}});
  }
  block.push_back(std::move(loop));
  return true;
}

void add_narrow_mask(Draft& draft, Block& body) {
  Draft dice;
  dice.random.seed(draft.program.seed * 2654435761u + 271u);
  if (!draft.has(Kind::SmallTypes) || !dice.chance(40)) return;
  const PointerVariable& pointer = draft.scope.pointers.front();
  const std::string first = dice.one_of({"i", "i", "(i + 4)", "(i + 16)", "(i + 120)"});
  const std::string narrow = fmt::format("{}.to({})", first, dice.one_of({"tl.int8", "tl.int16"}));
  const std::string index = dice.chance(50) ? fmt::format("({0} + {0})", narrow) : narrow;
  body.push_back(
      {{fmt::format("by = {}.to(tl.int32) // {}", index, dice.one_of({"8", "16", "32", "64"}))}});
  const std::string mask = fmt::format("by {} m - 3", dice.one_of({"<", ">=", "=="}));
  body.push_back(
      {{fmt::format("tl.store(out + {} + i, tl.load({} + i, mask={}, other=7).to(tl.int32))",
                    draft.slots++ * draft.size, pointer.name, mask)}});
  // Remainders of what is negative are no run of places.
  const int count = draft.size / 8 * 3;
  body.push_back({{fmt::format("rest = {}.to(tl.int32) % {}", narrow, count)}});
  body.push_back({{fmt::format("tl.store(out + {} + i, tl.load({} + {} + rest).to(tl.int32))",
                               draft.slots++ * draft.size, pointer.name, count)}});
}

}  // namespace tilewright::fuzz
