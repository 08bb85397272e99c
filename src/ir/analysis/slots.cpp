// SPDX-License-Identifier: Apache-2.0
// ir/analysis/slots.cpp — numbers of slots by trying them all: an expression that steps from each
// number to the one so many behind it, round the buffer, is that distance.
#include "ir/analysis/slots.h"

#include <algorithm>
#include <set>
#include <vector>

#include "ir/analysis/rounds.h"
#include "ir/calls.h"
#include "ir/interpret/elementwise.h"

namespace tilewright::ir {
namespace {

constexpr std::int64_t most_slots = 64;
constexpr int most_parts = 32;

std::uint64_t all_of(std::int64_t of) {
  return of >= most_slots ? ~std::uint64_t{0} : (std::uint64_t{1} << of) - 1;
}

Slots unknown(std::int64_t of) { return {of, {}, all_of(of), all_of(of)}; }

std::int64_t modulo(std::int64_t number, std::int64_t of) { return (number % of + of) % of; }

std::uint64_t turned(std::uint64_t mask, std::int64_t by, std::int64_t of) {
  std::uint64_t out = 0;
  for (std::int64_t d = 0; d < of; ++d)
    if ((mask >> d & 1) != 0) out |= std::uint64_t{1} << modulo(d + by, of);
  return out;
}

// Whole numbers and bools of others.
bool is_computed(const Kernel& kernel, const Op& op) {
  const auto is_number = [&](Value value) {
    return kernel.type(value).is_scalar() && !kernel.type(value).is_float() &&
           !kernel.type(value).is_pointer;
  };
  return (op.facts().is(Family::Elementwise) || op.facts().maps(Same)) &&
         op.kind != OpKind::InlineAsm && op.results.size() == 1 && is_number(op.result()) &&
         std::all_of(op.operands.begin(), op.operands.end(), is_number);
}

// What an expression is computed from, but for constants.
void find_leaves(const Kernel& kernel, Value value, std::set<std::uint32_t>& out, int& budget) {
  const Op* op = kernel.maker(value);
  if (op && op->kind == OpKind::Constant) return;
  if (!op || !is_computed(kernel, *op) || --budget < 0) {
    out.insert(value.id);
    return;
  }
  for (const Value operand : op->operands) find_leaves(kernel, operand, out, budget);
}

// The expression where its leaf is a number.
std::optional<Element> evaluate(const Kernel& kernel, Value value, Value leaf, Element x) {
  if (value == leaf) return x;
  const Op* op = kernel.maker(value);
  if (!op) return std::nullopt;
  if (op->kind == OpKind::Constant) return Element{.i = op->integer("value")};
  if (!is_computed(kernel, *op)) return std::nullopt;
  std::vector<Tile> in;
  for (const Value operand : op->operands) {
    const std::optional<Element> number = evaluate(kernel, operand, leaf, x);
    if (!number) return std::nullopt;
    in.push_back({kernel.type(operand), {*number}});
  }
  if (!op->facts().is(Family::Elementwise)) return in[0].elements[0];
  std::vector<const Tile*> operands;
  for (const Tile& tile : in) operands.push_back(&tile);
  return interpret_elementwise(*op, kernel.type(value), operands, false).elements[0];
}

bool is_descriptor(const Op& call) {
  return calls(call, LibraryKind::Describe) || calls(call, LibraryKind::Further);
}

}  // namespace

SlotNumbers::SlotNumbers(const Kernel& kernel) : kernel_(kernel) {
  walk(kernel.body, [&](const Op& op) {
    if (op.kind != OpKind::For) return;
    for (std::size_t k = 1; k < op.regions[0].arguments.size(); ++k)
      arguments_[op.regions[0].arguments[k].id] = {&op, k};
  });
}

// By how much the expression is more than its leaf, round the buffer.
std::optional<std::int64_t> SlotNumbers::distance(Value slot, Value leaf, std::int64_t of) const {
  std::optional<std::int64_t> out;
  for (std::int64_t x = 0; x < of; ++x) {
    const std::optional<Element> y = evaluate(kernel_, slot, leaf, {.i = x});
    if (!y || y->i < 0 || y->i >= of || (out && modulo(y->i - x, of) != *out)) return std::nullopt;
    out = modulo(y->i - x, of);
  }
  return out;
}

const std::optional<SlotNumbers::Carried>& SlotNumbers::carried(Value argument,
                                                                std::int64_t of) const {
  const auto [known, is_new] = carried_.try_emplace({argument.id, of});
  if (is_new) known->second = find_carried(argument, of);
  return known->second;
}

// One that goes round by itself, or is the number of the round before.
std::optional<SlotNumbers::Carried> SlotNumbers::find_carried(Value argument,
                                                              std::int64_t of) const {
  const auto found = arguments_.find(argument.id);
  if (found == arguments_.end()) return std::nullopt;
  const Op& loop = *found->second.loop;
  const auto initial_of = [&](std::size_t number) -> std::optional<std::int64_t> {
    const Moved initial = moved(kernel_, loop.operands[number + 2]);
    const bool is_slot = !initial.root && initial.by >= 0 && initial.by < of;
    return is_slot ? std::optional(initial.by) : std::nullopt;
  };
  const std::optional<std::int64_t> initial = initial_of(found->second.number);
  const Value next = loop.regions[0].ops.back()->operands[found->second.number - 1];
  std::set<std::uint32_t> leaves;
  int budget = most_parts;
  find_leaves(kernel_, next, leaves, budget);
  if (!initial || leaves.size() != 1) return std::nullopt;
  const Value leaf{*leaves.begin()};
  const std::optional<std::int64_t> by = distance(next, leaf, of);
  if (!by) return std::nullopt;
  if (leaf == argument) return Carried{argument, 0, *initial, *by};
  const auto other = arguments_.find(leaf.id);
  if (other == arguments_.end() || other->second.loop != &loop) return std::nullopt;
  const Value others_next = loop.regions[0].ops.back()->operands[other->second.number - 1];
  const std::optional<std::int64_t> step = distance(others_next, leaf, of);
  const std::optional<std::int64_t> begin = initial_of(other->second.number);
  if (!step || !begin || modulo(*begin + *by - *step - *initial, of) != 0) return std::nullopt;
  return Carried{leaf, modulo(*by - *step, of), *begin, *step};
}

Slots SlotNumbers::slots_of(Value slot, std::int64_t of) const {
  if (of > most_slots) return unknown(of);
  const auto one = [&](Value root, std::int64_t number) {
    const std::uint64_t mask = std::uint64_t{1} << modulo(number, of);
    return Slots{of, root, mask, mask};
  };
  std::set<std::uint32_t> leaves;
  int budget = most_parts;
  find_leaves(kernel_, slot, leaves, budget);
  if (leaves.empty())
    if (const auto number = evaluate(kernel_, slot, {}, {});
        number && number->i >= 0 && number->i < of)
      return one({}, number->i);
  if (leaves.size() == 1) {
    const Value leaf{*leaves.begin()};
    const std::optional<Carried>& from = carried(leaf, of);
    const std::optional<std::int64_t> by = from ? distance(slot, leaf, of) : std::nullopt;
    if (by) return one(from->root, from->by + *by);
  }
  const Op* op = kernel_.maker(slot);
  if (op && op->kind == OpKind::Hint) return slots_of(op->operands[0], of);
  if (!op || op->kind != OpKind::Select) return unknown(of);
  const Slots a = slots_of(op->operands[1], of), b = slots_of(op->operands[2], of);
  if (a.root != b.root) return unknown(of);
  Slots out{of, a.root, a.mask | b.mask, a.next | b.next};
  const auto root = arguments_.find(out.root.id);
  if (root != arguments_.end() && rounds_behind(kernel_, *root->second.loop, op->operands[0]) > 0)
    out.next = a.next;
  return out;
}

// An operand of a product is what it begins with.
Value SlotNumbers::slot_view(Value view) const {
  const Op* op = kernel_.maker(view);
  while (op && op->kind == OpKind::Call && is_descriptor(*op)) op = kernel_.maker(op->operands[0]);
  while (op && op->kind == OpKind::ArrayView) {
    const Op* array = kernel_.maker(op->operands[0]);
    if (array && array->kind == OpKind::Array)
      return array->integer("slots", 1) > 1 ? op->result() : Value{};
    op = array;
  }
  return {};
}

Slots SlotNumbers::of(Value view) const {
  const Value slot = slot_view(view);
  if (!slot) return {};
  const Op& op = *kernel_.maker(slot);
  const Op& array = *kernel_.maker(op.operands[0]);
  const std::int64_t of = array.integer("slots"), size = array.integer("count") / of;
  const Op* index = kernel_.maker(op.operands[1]);
  if (index && index->kind == OpKind::Constant && index->integer("value") % size == 0 &&
      of <= most_slots) {
    const std::int64_t number = index->integer("value") / size;
    if (number < 0 || number >= of) return unknown(of);
    return {of, {}, std::uint64_t{1} << number, std::uint64_t{1} << number};
  }
  const bool is_product = index && index->kind == OpKind::Linear &&
                          index->integers("factors") == std::vector<std::int64_t>{size} &&
                          index->integer("offset") == 0;
  return is_product ? slots_of(index->operands[0], of) : unknown(of);
}

Slots SlotNumbers::entered(const Op& loop, Slots slots) const {
  if (slots.of == 0 || slots.root || loop.kind != OpKind::For || slots.mask == all_of(slots.of))
    return slots;
  for (std::size_t k = 1; k < loop.regions[0].arguments.size(); ++k) {
    const std::optional<Carried>& from = carried(loop.regions[0].arguments[k], slots.of);
    if (!from) continue;
    slots.root = from->root;
    slots.mask = slots.next = turned(slots.mask, -from->initial, slots.of);
    return slots;
  }
  return slots;
}

Slots SlotNumbers::gone_round(const Op& loop, Slots slots) const {
  const auto found = arguments_.find(slots.root.id);
  if (slots.of == 0 || found == arguments_.end() || found->second.loop != &loop) return slots;
  slots.mask = slots.next = turned(slots.next, -carried(slots.root, slots.of)->step, slots.of);
  return slots;
}

Slots SlotNumbers::left(const Op& loop, Slots slots) const {
  const auto found = arguments_.find(slots.root.id);
  const bool is_of_loop = slots.of > 0 && found != arguments_.end() && found->second.loop == &loop;
  return is_of_loop ? unknown(slots.of) : slots;
}

}  // namespace tilewright::ir
