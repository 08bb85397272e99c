// SPDX-License-Identifier: Apache-2.0
// fuzz/kernels/statements.cpp — assignments, stores and atomics.
#include <algorithm>

#include <fmt/format.h>

#include "draft.h"
#include "statement_parts.h"

namespace tilewright::fuzz {
namespace {

Form any_form(Draft& draft) {
  if (!draft.has(Kind::Matrices)) return Form::Flat;
  constexpr Form forms[] = {Form::Flat, Form::Matrix, Form::Matrix, Form::Rows, Form::Columns};
  return forms[draft.pick(5)];
}

void define_tile(Draft& draft, Block& block) {
  const Form form = any_form(draft);
  const DType dtype = draft.any(draft.dtypes);
  const Expression value =
      draft.chance(45) ? load(draft, form, dtype) : operation(draft, form, dtype);
  const std::string name = draft.fresh("x");
  block.push_back({{name + " = " + value.text}});
  draft.scope.tiles.push_back({name, dtype, form});
}

void assign_tile(Draft& draft, Block& block) {
  if (draft.scope.tiles.empty()) return define_tile(draft, block);
  const TileVariable tile = draft.any(draft.scope.tiles);
  const Expression value = draft.chance(30) ? load(draft, tile.form, tile.dtype)
                                            : operation(draft, tile.form, tile.dtype);
  block.push_back({{tile.name + " = " + value.text}});
}

// `prev` and `curr`, and exchanges: values that live on under another name.
void rename_tiles(Draft& draft, Block& block) {
  std::vector<std::pair<TileVariable, TileVariable>> pairs;
  for (const TileVariable& a : draft.scope.tiles)
    for (const TileVariable& b : draft.scope.tiles)
      if (a.name != b.name && a.dtype == b.dtype && a.form == b.form) pairs.emplace_back(a, b);
  if (pairs.empty() || draft.chance(30)) {
    if (draft.scope.tiles.empty()) return;
    const TileVariable old = draft.any(draft.scope.tiles);
    const std::string name = draft.fresh("x");
    block.push_back({{name + " = " + old.name}});
    draft.scope.tiles.push_back({name, old.dtype, old.form});
    if (draft.chance(70))
      block.push_back(
          {{fmt::format("{} = {}", old.name,
                        draft.chance(50) ? load(draft, old.form, old.dtype).text
                                         : operation(draft, old.form, old.dtype).text)}});
    return;
  }
  const auto& [a, b] = draft.any(pairs);
  if (draft.has(Kind::Exchanges))
    block.push_back({{fmt::format("{0}, {1} = {1}, {0}", a.name, b.name)}});
  else block.push_back({{fmt::format("{} = {}", a.name, b.name)}});
}

void store_tile(Draft& draft, Block& block) {
  std::vector<DType> stored;  // types that both a tile and a pointer have
  for (const PointerVariable& pointer : draft.scope.pointers) stored.push_back(pointer.dtype);
  const DType dtype = draft.any(stored);
  std::vector<Form> forms;
  for (const TileVariable& tile : draft.scope.tiles) forms.push_back(tile.form);
  const Form form = forms.empty() ? any_form(draft) : draft.any(forms);
  const Access to = access(draft, form, dtype, true);
  const std::string masked = mask(draft, form);
  const Expression value =
      draft.chance(60) ? operand(draft, form, dtype) : operation(draft, form, dtype);
  // A tile of pointers decides the shape; an operand may be a scalar's tile of another one.
  block.push_back({{fmt::format("tl.store({}, {}{})", to.pointers, value.text,
                                masked.empty() ? "" : ", mask=" + masked)}});
}

void store_some_result(Draft& draft, Block& block) {
  if (draft.scope.tiles.empty()) return;
  const TileVariable tile = draft.any(draft.scope.tiles);
  store_result(draft, block, tile.form,
               draft.chance(50) ? Expression{tile.name, tile.dtype}
                                : operation(draft, tile.form, tile.dtype));
}

void define_scalar(Draft& draft, Block& block) {
  std::string value;
  switch (draft.pick(4)) {
    case 0:
      value = fmt::format("({} * 3 + {}) % 97", scalar(draft), scalar(draft));
      break;
    case 1:
      value = fmt::format("tl.load({})", scalar_access(draft, i32).pointers);
      break;
    default:
      value = draft.has(Kind::Reductions) ? reduction(draft)
                                          : fmt::format("({} + {})", scalar(draft), draft.pick(9));
  }
  const bool assigns = !draft.scope.scalars.empty() && draft.chance(50);
  const std::string name = assigns ? draft.any(draft.scope.scalars) : draft.fresh("s");
  block.push_back({{name + " = " + value}});
  if (!assigns) draft.scope.scalars.push_back(name);
}

void store_scalar(Draft& draft, Block& block) {
  block.push_back(
      {{fmt::format("tl.store({}, {})", scalar_access(draft, i32).pointers, scalar(draft))}});
}

// By one thread; what all threads load afterwards.
void scalar_atomic(Draft& draft, Block& block) {
  const PointerVariable pointer = any_pointer(draft, i32);
  const std::string name = draft.fresh("x");
  block.push_back({{fmt::format("tl.atomic_{}({} + {}, {})", draft.one_of({"add", "max", "xor"}),
                                pointer.name, draft.pick(draft.size), scalar(draft))}});
  block.push_back({{fmt::format("{} = tl.load({} + {})", name, pointer.name,
                                index(draft, Form::Flat, false))}});
  draft.scope.tiles.push_back({name, i32, Form::Flat});
}

// What an atomic returns is defined where no element meets another.
void atomic(Draft& draft, Block& block) {
  if (draft.chance(30)) return scalar_atomic(draft, block);
  const Form form = draft.has(Kind::Matrices) && draft.chance(30) ? Form::Matrix : Form::Flat;
  const std::string name = draft.one_of({"add", "add", "max", "min", "xor", "xchg"});
  const bool is_apart = name == "xchg" || draft.chance(50);
  const Access to = access(draft, form, i32, is_apart);
  const std::string value = operand(draft, form, i32).text;
  const std::string masked = mask(draft, form);
  const std::string call = fmt::format("tl.atomic_{}({}, {}{})", name, to.pointers, value,
                                       masked.empty() ? "" : ", mask=" + masked);
  // What it returns behind a mask is not defined either.
  if (!is_apart || !masked.empty() || draft.chance(50)) {
    block.push_back({{call}});
    return;
  }
  const std::string result = draft.fresh("x");
  block.push_back({{result + " = " + call}});
  draft.scope.tiles.push_back({result, i32, form});
}

// Even and odd elements taken apart and put together otherwise.
void split_and_join(Draft& draft, Block& block) {
  const DType dtype = draft.any(draft.dtypes);
  const Expression x = operand(draft, Form::Flat, dtype);
  const std::string even = draft.fresh("h");
  const std::string odd = draft.fresh("h");
  const std::string name = draft.fresh("x");
  const std::string joined = draft.one_of(
      {fmt::format("tl.reshape(tl.join({}, {}), [{}])", odd, even, draft.size),
       fmt::format("tl.interleave({}, {})", odd, even),
       fmt::format("tl.reshape(tl.trans(tl.join({}, {})), [{}])", even, odd, draft.size)});
  block.push_back({{fmt::format("{}, {} = tl.split(tl.reshape({}, [{}, 2]))", even, odd, x.text,
                                draft.size / 2),
                    fmt::format("{} = {}", name, joined)}});
  draft.scope.tiles.push_back({name, dtype, Form::Flat});
}

void add_simple(Draft& draft, Block& block) {
  const int choice = draft.pick(100);
  const bool stores = draft.has(Kind::Stores);
  if (choice < 20) define_tile(draft, block);
  else if (choice < 23 && stores) add_update(draft, block);
  else if (choice < 27 && stores && draft.has(Kind::Moves)) add_reload(draft, block);
  else if (choice < 38) assign_tile(draft, block);
  else if (choice < 50) rename_tiles(draft, block);
  else if (choice < 68 && stores) store_tile(draft, block);
  else if (choice < 72 && stores) store_scalar(draft, block);
  else if (choice < 78 && draft.scope.depth > 0) store_some_result(draft, block);
  else if (choice < 84) define_scalar(draft, block);
  else if (choice < 89 && draft.has(Kind::Atomics) && stores) atomic(draft, block);
  else if (choice < 93 && draft.has(Kind::Moves)) split_and_join(draft, block);
  else if (choice < 96 && draft.has(Kind::Ties)) add_tie(draft, block);
  else if (choice < 97) block.push_back({{"tl.debug_barrier()"}});
  else if (choice < 98 && stores) add_shared_places(draft, block);
  else if (choice < 99 && draft.scope.depth < 2 && draft.has(Kind::Loops))
    add_handed_on(draft, block);
  else assign_tile(draft, block);
}

}  // namespace

void add_statements(Draft& draft, Block& block, int count) {
  for (int k = 0; k < count; ++k) {
    if (draft.scope.depth < 2 && draft.chance(draft.scope.depth == 0 ? 30 : 15) &&
        add_compound(draft, block))
      continue;
    if (draft.chance(15) && add_pointers(draft, block)) continue;
    add_simple(draft, block);
  }
}

}  // namespace tilewright::fuzz
