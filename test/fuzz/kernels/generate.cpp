// SPDX-License-Identifier: Apache-2.0
// fuzz/kernels/generate.cpp — the frame of a generated kernel: sizes, memory, arguments, and what
// is stored in the end.
#include "generate.h"

#include <algorithm>

#include <fmt/format.h>

#include "draft.h"
#include "statement_parts.h"

namespace tilewright::fuzz {
namespace {

// Half of what is allowed, so that kernels differ in what meets in them.
void choose_kinds(Draft& draft, const Kinds& allowed) {
  draft.kinds.set(Kind::LongRows, allowed.has(Kind::LongRows));  // has dice of its own
  for (int i = 0; i < static_cast<int>(Kind::LongRows); ++i) {
    const auto kind = static_cast<Kind>(i);
    const bool is_usual = kind == Kind::Loops || kind == Kind::Stores;
    const int percent = is_usual ? 75 : kind == Kind::Programs ? 15 : 40;
    draft.kinds.set(kind, draft.chance(percent) && allowed.has(kind));
  }
}

void choose_sizes(Draft& draft) {
  constexpr int sizes[] = {16, 32, 64, 128, 128, 256, 256, 256, 512, 1024};
  draft.size = sizes[draft.pick(10)];
  if (draft.has(Kind::Products)) draft.size = draft.chance(60) ? 256 : 1024;
  draft.rows = 4;
  while (draft.rows * draft.rows < draft.size) draft.rows *= 2;
  draft.columns = draft.size / draft.rows;
  if (draft.chance(30)) std::swap(draft.rows, draft.columns);
  draft.room = 4 * draft.size;
  constexpr int warps[] = {0, 1, 2, 4, 4, 8};
  draft.program.warps = warps[draft.pick(6)];
  // Rows enough for products of warpgroups.
  if (draft.has(Kind::Products) && draft.chance(40)) {
    draft.rows = 64;
    draft.columns = draft.chance(70) ? 16 : 32;
    draft.size = draft.rows * draft.columns;
    draft.room = 4 * draft.size;
    draft.program.warps = warps[draft.pick(2) == 0 ? 5 : 4];
  }
  draft.program.grid = draft.has(Kind::Programs) ? 2 + draft.pick(2) : 1;
}

void choose_dtypes(Draft& draft) {
  draft.dtypes = {i32};
  constexpr DType small[] = {i8, i16, u8, u16, u32, i64, u64};
  constexpr DType floats[] = {f32, f32, f16, bf16, f64};
  if (draft.has(Kind::SmallTypes)) draft.dtypes.push_back(small[draft.pick(7)]);
  if (draft.has(Kind::Floats)) draft.dtypes.push_back(floats[draft.pick(5)]);
}

// Every argument has `room` elements; an aliased one begins somewhere in another's memory.
void add_arguments(Draft& draft) {
  Program& program = draft.program;
  const int count = 1 + draft.pick(3);
  std::vector<DType> wanted = draft.dtypes;
  while (static_cast<int>(wanted.size()) < count) wanted.push_back(i32);
  std::vector<std::int64_t> chunk;
  for (const DType dtype : wanted) {
    const std::string name = fmt::format("a{}", program.pointers.size());
    std::size_t shared = program.memory.size();
    for (std::size_t i = 0; i < program.memory.size(); ++i)
      if (program.memory[i].dtype == dtype) shared = i;
    std::int64_t start = 0;
    if (!draft.has(Kind::AliasedArguments) || shared == program.memory.size()) {
      shared = program.memory.size();
      program.memory.push_back({.dtype = dtype});
      chunk.push_back(draft.room);
    } else {
      const int starts[] = {0, 1, 3, 16, draft.size / 2, draft.size};
      start = starts[draft.pick(6)];
      chunk[shared] = std::max<std::int64_t>(chunk[shared], draft.room + start);
    }
    program.pointers.push_back({name, shared, start});
  }
  if (draft.has(Kind::AliasedArguments) && count == 1) {
    program.pointers.push_back(
        {fmt::format("a{}", program.pointers.size()), 0, draft.pick(2) * (1 + draft.pick(5))});
    chunk[0] = std::max(chunk[0], draft.room + program.pointers.back().start);
  }
  for (std::size_t i = 0; i < chunk.size(); ++i) program.memory[i].count = chunk[i] * program.grid;
}

// Each program has a part of every argument for itself.
void enter_arguments(Draft& draft, Block& head) {
  Program& program = draft.program;
  if (program.grid > 1) head.push_back({{"pid = tl.program_id(0)"}});
  for (const PointerArgument& pointer : program.pointers) {
    const Memory& memory = program.memory[pointer.memory];
    std::string name = pointer.name;
    if (program.grid > 1) {
      name = "p" + pointer.name;
      head.push_back(
          {{fmt::format("{} = {} + pid * {}", name, pointer.name, memory.count / program.grid)}});
    }
    draft.scope.pointers.push_back(
        {name, memory.dtype, draft.room, static_cast<int>(pointer.memory)});
  }
}

void enter_indices(Draft& draft, Block& head) {
  head.push_back({{fmt::format("i = tl.arange(0, {})", draft.size)}});
  head.push_back({{fmt::format("r = tl.arange(0, {})", draft.rows)}});
  head.push_back({{fmt::format("c = tl.arange(0, {})", draft.columns)}});
  if (draft.has(Kind::GatheredPointers)) head.push_back({{"g = tl.load(perm + i)"}});
}

// Values that something is made of from the start.
void enter_values(Draft& draft, Block& body) {
  const int count = 1 + draft.pick(3);
  for (int k = 0; k < count; ++k) {
    const Form form = draft.has(Kind::Matrices) && draft.chance(50) ? Form::Matrix : Form::Flat;
    const DType dtype = draft.any(draft.dtypes);
    const std::string name = draft.fresh("x");
    body.push_back({{name + " = " + load(draft, form, dtype).text}});
    draft.scope.tiles.push_back({name, dtype, form});
  }
}

std::string stored_index(const Draft& draft, Form form) {
  if (form == Form::Flat) return "i";
  if (form == Form::Matrix) return fmt::format("r[:, None] * {} + c[None, :]", draft.columns);
  return form == Form::Rows ? "r" : "c";
}

// Most of what is left; all of it would keep every value alive to the end.
void leave_results(Draft& draft, Block& body) {
  const auto slot = [&] { return draft.slots++ * draft.size; };
  bool stored = false;
  for (const TileVariable& tile : draft.scope.tiles) {
    if (draft.chance(40) && stored) continue;
    stored = true;
    body.push_back(
        {{fmt::format("tl.store(out + {} + {}, {})", slot(), stored_index(draft, tile.form),
                      convert({tile.name, tile.dtype}, i32).text)}});
  }
  for (const std::string& name : draft.scope.scalars)
    if (draft.chance(60)) body.push_back({{fmt::format("tl.store(out + {}, {})", slot(), name)}});
}

void add_all_statements(Draft& draft, Block& body) {
  enter_values(draft, body);
  add_statements(draft, body, draft.is_elementwise ? 1 + draft.pick(4) : 4 + draft.pick(9));
  leave_results(draft, body);
}

void add_other_arguments(Draft& draft, Block& head) {
  Program& program = draft.program;
  if (draft.has(Kind::GatheredPointers)) {
    program.pointers.push_back({"perm", program.memory.size(), 0});
    program.memory.push_back({i32, draft.size, Memory::Fill::Permutation, draft.size});
  }
  program.pointers.push_back({"out", program.memory.size(), 0});
  const std::int64_t results = std::int64_t{std::max(draft.slots, 1)} * draft.size;
  program.memory.push_back({i32, results * program.grid, Memory::Fill::Zero});
  if (program.grid > 1) head.push_back({{fmt::format("out += pid * {}", results)}});
}

}  // namespace

Program generate(unsigned seed, const Kinds& allowed) {
  Draft draft;
  draft.random.seed(seed * 2654435761u + 12345u);
  draft.program.seed = seed;
  draft.program.name = fmt::format("k{}", seed);
  choose_kinds(draft, allowed);
  choose_sizes(draft);
  choose_few_elements(draft);
  choose_dtypes(draft);
  add_arguments(draft);
  draft.program.integers = {{"n", draft.size}, {"m", 3}, {"s", 5}, {"w", draft.columns}};
  draft.scope.scalars = {};
  Block head;
  Block body;
  enter_arguments(draft, head);
  if (draft.is_elementwise && !draft.has(Kind::Stores)) add_plain_elements(draft, body);
  else add_all_statements(draft, body);
  if (draft.has(Kind::LongRows)) add_long_row(draft, body);
  if (!draft.is_elementwise) {
    add_narrow_mask(draft, body);
    add_last_statements(draft, body);
    add_chosen_layouts(draft, body);
  }
  add_other_arguments(draft, head);
  Block indices;
  enter_indices(draft, indices);
  Block& whole = draft.program.body;
  for (Block* part : {&head, &indices, &body})
    whole.insert(whole.end(), part->begin(), part->end());
  return draft.program;
}

}  // namespace tilewright::fuzz
