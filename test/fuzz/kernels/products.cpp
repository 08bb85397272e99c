// SPDX-License-Identifier: Apache-2.0
// fuzz/kernels/products.cpp — loops of matrix products: sums of them, and products of products as
// attention has them.
#include <fmt/format.h>

#include "statement_parts.h"

namespace tilewright::fuzz {
namespace {

bool has_pointer(const Draft& draft, DType dtype) {
  for (const PointerVariable& pointer : draft.scope.pointers)
    if (pointer.dtype == dtype) return true;
  return false;
}

// Of the operands: what is in memory, so that loads can be copied ahead.
DType product_dtype(const Draft& draft, bool has_bytes) {
  DType dtype = has_bytes ? i8 : f16;
  for (const PointerVariable& pointer : draft.scope.pointers)
    if (pointer.dtype == f16 || pointer.dtype == bf16 || (pointer.dtype == i8 && has_bytes))
      dtype = pointer.dtype;
  return dtype;
}

std::string loaded_operand(Draft& draft, DType dtype) {
  if (has_pointer(draft, dtype)) return load(draft, Form::Matrix, dtype).text;
  return convert(load(draft, Form::Matrix, i32), dtype).text;
}

// A loop with a body that `fill` writes, and now and then other statements before and behind it.
template <class Fill>
void add_loop(Draft& draft, Block& block, const Fill& fill) {
  Statement loop;
  {
    const InnerScope inner(draft);
    const int rounds = 2 + draft.pick(3);
    loop.branches.push_back({for_header(draft, rounds), {}});
    draft.scope.rounds *= rounds;
    Block& body = loop.branches[0].body;
    if (draft.chance(30)) add_statements(draft, body, 1);
    fill(body);
    if (draft.chance(30)) add_statements(draft, body, 1);
  }
  block.push_back(std::move(loop));
}

}  // namespace

bool add_product_loop(Draft& draft, Block& block) {
  if (!draft.has(Kind::Products) || !draft.has(Kind::Loops)) return false;
  if (draft.rows < 16 || draft.columns < 16) return false;
  const bool is_square = draft.rows == draft.columns;
  const DType dtype = product_dtype(draft, draft.columns >= 32);
  const DType sums = dtype == i8 ? i32 : f32;
  const std::string name = draft.fresh("acc");
  block.push_back({{fmt::format("{} = tl.zeros([{}, {}], {})", name, draft.rows, draft.rows,
                                type_text(sums))}});
  add_loop(draft, block, [&](Block& body) {
    const std::string left = loaded_operand(draft, dtype), right = loaded_operand(draft, dtype);
    const bool is_turned = !is_square || draft.chance(50);
    body.push_back({{fmt::format("{} += tl.dot({}, {})", name, left,
                                 is_turned ? fmt::format("tl.trans({})", right) : right)}});
  });
  const std::string moved = draft.chance(50) ? fmt::format("tl.trans({})", name) : name;
  if (is_square) store_result(draft, block, Form::Matrix, {fmt::format("{}.to(tl.int32)", moved)});
  else
    store_result(draft, block, Form::Rows,
                 {fmt::format("tl.sum({}.to(tl.int32), axis={})", moved, draft.pick(2))});
  return true;
}

bool add_chained_products(Draft& draft, Block& block) {
  if (!draft.has(Kind::Products) || !draft.has(Kind::Loops)) return false;
  if (draft.rows < 16 || draft.columns < 16) return false;
  const DType dtype = product_dtype(draft, false);
  const std::string q = draft.fresh("q"), acc = draft.fresh("acc"), high = draft.fresh("high");
  const std::string k = draft.fresh("k"), v = draft.fresh("v"), s = draft.fresh("s"),
                    p = draft.fresh("p");
  const std::string factor = draft.fresh("factor");
  block.push_back({{fmt::format("{} = {}", q, loaded_operand(draft, dtype))}});
  block.push_back(
      {{fmt::format("{} = tl.zeros([{}, {}], tl.float32)", acc, draft.rows, draft.columns)}});
  block.push_back({{fmt::format("{} = tl.zeros([{}], tl.int32)", high, draft.rows)}});
  add_loop(draft, block, [&](Block& body) {
    const auto add = [&](const std::string& line) { body.push_back({{line}}); };
    const bool is_loaded_late = draft.chance(50);
    add(fmt::format("{} = {}", k, loaded_operand(draft, dtype)));
    if (!is_loaded_late) add(fmt::format("{} = {}", v, loaded_operand(draft, dtype)));
    add(fmt::format("{} = tl.dot({}, tl.trans({})).to(tl.int32)", s, q, k));
    const bool is_scaled = draft.chance(60);
    if (is_scaled) {
      // What is carried from round to round scales the sums, as the running maximum of a softmax
      // does.
      const std::string next = draft.fresh("high");
      add(fmt::format("{} = tl.maximum({}, tl.max({}, axis=1) % 5)", next, high, s));
      add(fmt::format("{} = (1 + ({} - {}) % 2).to(tl.float32)", factor, next, high));
      add(fmt::format("{} = {}", high, next));
      if (draft.chance(70)) add(fmt::format("{0} = {0} * {1}[:, None]", acc, factor));
    }
    add(fmt::format("{} = (({}{}) % 7).to({})", p, s,
                    is_scaled ? fmt::format(" - {}[:, None]", high) : "", type_text(dtype)));
    if (is_loaded_late) add(fmt::format("{} = {}", v, loaded_operand(draft, dtype)));
    add(draft.chance(50) ? fmt::format("{0} = tl.dot({1}, {2}, {0})", acc, p, v)
                         : fmt::format("{} += tl.dot({}, {})", acc, p, v));
  });
  store_result(draft, block, Form::Matrix, {fmt::format("{}.to(tl.int32)", acc)});
  if (draft.chance(40)) store_result(draft, block, Form::Rows, {high});
  return true;
}

}  // namespace tilewright::fuzz
