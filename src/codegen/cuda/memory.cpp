// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/memory.cpp — loads and stores of tiles: whole vectors where pointers and masks allow
// it, else element by element.
#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "base/quote.h"
#include "codegen/cuda/emitter.h"
#include "passes/laid/op_facts.h"

namespace tilewright {
namespace {

using ir::OpKind;

ir::AttributeValue zero_of(const ir::Type& type) {
  if (type.is_float()) return 0.0;
  return std::int64_t{0};
}

}  // namespace

std::string Emitter::cache_text(const ir::Op& op) const {
  const std::string_view cache = cache_of(op);
  return cache.empty() ? "" : fmt::format("<tw::Cache::{}>", camel_case(cache));
}

std::string Emitter::uniform_text(ir::Value value) {
  const ir::Op* maker = kernel_.maker(value);
  while (is_mapped_view(*maker)) maker = kernel_.maker(maker->operands[0]);
  if (maker->kind == OpKind::Splat) return scalar(maker->operands[0]);
  return literal_text(kernel_.type(maker->result()), *maker->find("value"));
}

// ---- Whole vectors

// The address of the vector's first element.
std::string Emitter::vector_pointer(Frame& frame, const VectorAccess& access) {
  if (access.affine)
    return sum_text(scalar(access.affine->operands[0]),
                    offset_text(frame, *access.affine, access.place));
  const Place first = first_of_vector(access.place, frame.space.variables[0].bits);
  return bare(element(frame, access.op->operands[0], first));
}

std::string Emitter::mask_text(Frame& frame, const VectorAccess& access) {
  const int log_vector = frame.space.variables[0].bits;
  if (access.mask)
    return bare(element(frame, access.mask, first_of_vector(access.place, log_vector)));
  return access.bounds ? bounds_text(frame, *access.bounds, access.place) : "true";
}

std::string Emitter::vector_template(const Frame& frame, const VectorAccess& access,
                                     const Guard& guard) const {
  const int count = 1 << frame.space.variables[0].bits;
  const std::string_view cache = vector_cache(access, guard.suffix == "_guarded");
  const int width = guard.suffix == "_parts" ? part_of_vector(frame, access) : access.width;
  std::string out = fmt::format("{}", count);
  if (width != count || !cache.empty()) out += fmt::format(", {}", width);
  if (!cache.empty()) out += ", tw::Cache::" + camel_case(cache);
  return out;
}

// How a vector is guarded: "" when all of it is inside; "_whole" with one condition; "_guarded"
// with the first element inside and the end; "_parts" where these are multiples of a part.
Emitter::Guard Emitter::vector_guard(Frame& frame, const VectorAccess& access) {
  if (is_all_or_nothing(frame, access)) {
    const std::string inside = mask_text(frame, access);
    return inside == "true" ? Guard{} : Guard{"_whole", ", " + inside};
  }
  const ir::Op& bounds = *access.bounds;
  const ir::Type& type = kernel_.type(bounds.result());
  const int d = access.contiguous;
  const std::string outer = bounds_text(frame, bounds, access.place, d);
  const ir::Value low = bounds.operands[2 * static_cast<std::size_t>(d)];
  const ir::Value high = bounds.operands[2 * static_cast<std::size_t>(d) + 1];
  const auto least = constant_of(low);
  const std::string index = atom(coordinate(frame, access.place, type, d));
  std::string first = "0";
  if (!(least && *least <= 0)) first = fmt::format("{} - {}", scalar(low), index);
  std::string end = fmt::format("{} - {}", scalar(high), index);
  if (outer != "true") end = fmt::format("{} ? {} : 0", outer, end);
  const int part = part_of_vector(frame, access);
  return {part > 1 ? "_parts" : "_guarded", fmt::format(", {}, {}", first, end)};
}

// What masked-off elements of a load are; bools are bytes in memory.
std::string Emitter::other_text(const ir::Op& load) {
  const ir::Type& type = kernel_.type(load.result());
  const std::string other =
      load.operands.size() > 2 ? uniform_text(load.operands[2]) : literal_text(type, zero_of(type));
  return type.is_bool() ? "u8(" + other + ")" : other;
}

// One element of its own needs no vector: a plain assignment reads better.
void Emitter::single_load(Frame& frame, const VectorAccess& access, const std::string& into) {
  parts_.insert("memory");
  const ir::Op& op = *access.op;
  const std::string pointer = vector_pointer(frame, access);
  const std::string mask = mask_text(frame, access);
  if (mask == "true") {
    statement(op, fmt::format("{} = tw::load_one{}({});", into, cache_text(op), pointer));
    return;
  }
  statement(op, fmt::format("{} = tw::load_if{}({}, {}, {});", into, cache_text(op), mask, pointer,
                            other_text(op)));
}

void Emitter::vector_load(Frame& frame, const VectorAccess& access, const std::string& into) {
  parts_.insert("memory");
  frame.is_whole_vector = true;
  const std::string pointer = vector_pointer(frame, access);
  const Guard guard = vector_guard(frame, access);
  frame.is_whole_vector = false;
  if (guard.suffix.empty()) {
    statement(*access.op, fmt::format("tw::load<{}>({}, {});",
                                      vector_template(frame, access, guard), into, pointer));
    return;
  }
  statement(*access.op, fmt::format("tw::load{}<{}>({}, {}{}, {});", guard.suffix,
                                    vector_template(frame, access, guard), into, pointer,
                                    guard.arguments, other_text(*access.op)));
}

void Emitter::vector_store(Frame& frame, const VectorAccess& access, const std::string& from) {
  parts_.insert("memory");
  frame.is_whole_vector = true;
  const std::string pointer = vector_pointer(frame, access);
  const Guard guard = vector_guard(frame, access);
  frame.is_whole_vector = false;
  const std::string owner = owner_text(*frame.layout);
  statement(*access.op,
            fmt::format("{}tw::store{}<{}>({}, {}{});", owner.empty() ? "" : "if (" + owner + ") ",
                        guard.suffix, vector_template(frame, access, guard), pointer, from,
                        guard.arguments));
}

// ---- Order

void Emitter::order_memory(const ir::Op& op) {
  if (global_.needs_barrier(op)) barrier();
  global_.note(op);
}

bool Emitter::needs_barrier(const TileReads& reads, const Layout& layout) {
  bool needs = false;
  for (const TileAccess& access : reads.accesses)
    needs |= global_.needs_barrier(access, layout);
  return needs;
}

bool Emitter::note_accesses(const TileReads& reads, const Layout& layout) {
  const auto is_write = [](const TileAccess& access) { return access.op->facts().has(ir::Writes); };
  for (const TileAccess& access : reads.accesses)
    if (!is_write(access)) global_.note(access, layout);
  bool needs_inside = false;
  for (const TileAccess& access : reads.accesses)
    needs_inside |= is_write(access) && global_.needs_barrier(access, layout);
  if (needs_inside) global_.note_barrier();
  for (const TileAccess& access : reads.accesses)
    if (is_write(access)) global_.note(access, layout);
  return needs_inside;
}

// The barrier between the loads and the stores of a loop. A load that comes only with its element
// would come after it, and must have a loop of its own.
void Emitter::part_accesses(const TileReads& reads, const std::vector<Preload>& preloads) {
  const GlobalMemory::Uses uses = global_.uses();
  barrier();
  global_.restore(uses);
  for (const TileAccess& access : reads.accesses) {
    if (access.op->kind != OpKind::Load) continue;
    const ir::Value value = access.op->result();
    const bool is_done = std::any_of(preloads.begin(), preloads.end(), [&](const Preload& preload) {
      return preload.value == value && preload.access.has_value();
    });
    const bool is_met = std::any_of(
        reads.accesses.begin(), reads.accesses.end(),
        [&](const TileAccess& other) { return global_.order().must_order(*access.op, *other.op); });
    if (!is_done && is_met) refused_.unparted.push_back(value);
  }
}

// ---- Single elements

std::string Emitter::load_element(Frame& frame, const ir::Op& op, const Place& place) {
  parts_.insert("memory");
  const ir::Value result = op.result();
  const ir::Type& type = kernel_.type(result);
  const bool is_bool = type.is_bool();
  const bool is_volatile = op.integer("volatile") != 0;
  const std::string pointer = bare(element(frame, op.operands[0], place));
  std::string text = is_volatile ? fmt::format("tw::load_volatile({})", pointer)
                                 : fmt::format("tw::load_one{}({})", cache_text(op), pointer);
  if (op.operands.size() > 1) {
    const std::string mask = bare(element(frame, op.operands[1], place));
    std::string other = op.operands.size() > 2 ? element(frame, op.operands[2], place)
                                               : literal_text(type, zero_of(type));
    if (is_bool) other = "u8(" + other + ")";
    text = is_volatile
               ? fmt::format("{} ? {} : {}", atom(mask), text, atom(other))
               : fmt::format("tw::load_if{}({}, {}, {})", cache_text(op), mask, pointer, other);
  }
  if (is_bool) text = atom(text) + " != 0";
  const std::string name = new_name(result);
  statement(op, constant_text(result, name, text));
  return name;
}

void Emitter::store_element(Frame& frame, const ir::Op& op) {
  parts_.insert("memory");
  std::string value = bare(element(frame, op.operands[1], frame.place));
  if (kernel_.type(op.operands[1]).is_bool()) value = "u8(" + value + ")";
  std::string condition = owner_text(*frame.layout);
  if (op.operands.size() > 2) {
    const std::string mask = element(frame, op.operands[2], frame.place);
    condition = condition.empty() ? bare(mask) : condition + " && " + atom(mask);
  }
  const std::string pointer = bare(element(frame, op.operands[0], frame.place));
  statement(op, condition.empty()
                    ? fmt::format("tw::store_one{}({}, {});", cache_text(op), pointer, value)
                    : fmt::format("tw::store_if{}({}, {}, {});", cache_text(op), condition, pointer,
                                  value));
}

void Emitter::assert_element(Frame& frame, const ir::Op& op) {
  parts_.insert("check");
  std::string condition = "!" + atom(element(frame, op.operands[0], frame.place));
  if (op.operands.size() > 1)
    condition += " && " + atom(element(frame, op.operands[1], frame.place));
  statement(
      op, fmt::format("if ({}) tw::assert_failed({});", condition, cpp_string(op.text("message"))));
}

}  // namespace tilewright
