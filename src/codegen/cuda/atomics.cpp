// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/atomics.cpp — atomics of tiles: sums in whole vectors where nobody asks for the old
// values, else element by element.
//
// An atomic that orders other accesses has a fence on either side; none behind it where nobody asks
// for the old value, since nothing can then be known to have come before. Where the loads of a loop
// come first and the atomic is its first write, one pair of fences around the loop does for all of
// its elements; fences at each element would make every one wait for memory.
#include <algorithm>

#include <fmt/format.h>

#include "codegen/cuda/emitter.h"

namespace tilewright {

using ir::OpKind;

std::string_view scope_text(const ir::Op& atomic) {
  const std::string_view scope = atomic.text("scope", "gpu");
  return scope == "cta" ? "Block" : scope == "sys" ? "System" : "Device";
}

std::string Emitter::atomic_call(const ir::Op& op, const std::string& pointer,
                                 const std::vector<std::string>& values, std::string_view order) {
  parts_.insert("atomics");
  if (order.empty()) order = order_of(op);
  std::string_view name = op.kind == OpKind::AtomicCas ? "cas" : op.text("op");
  if (name == "fadd") name = "add";
  std::string text = fmt::format("tw::atomic_{}<tw::Order::{}, tw::Scope::{}>({}", name, order,
                                 scope_text(op), pointer);
  for (const std::string& value : values) text += ", " + value;
  return text + ")";
}

// Where several threads hold the element, one does it and the others get its result through shared
// memory.
void Emitter::atomic_element(Frame& frame, const ir::Op& op) {
  const std::string owner = owner_text(*frame.layout);
  std::string condition = owner;
  if (op.mask()) {
    const std::string mask = element(frame, op.mask(), frame.place);
    condition = condition.empty() ? bare(mask) : condition + " && " + atom(mask);
  }
  std::vector<std::string> values = {element(frame, op.operands[1], frame.place)};
  if (op.kind == OpKind::AtomicCas) values.push_back(element(frame, op.operands[2], frame.place));
  const std::string call = atomic_call(op, element(frame, op.operands[0], frame.place), values);
  const ir::Value result = op.result();
  if (uses_[result.id] == 0) {
    statement(op, condition.empty() ? call + ";" : fmt::format("if ({}) {};", condition, call));
    return;
  }
  const std::string name = new_name(result, "old");
  const std::string type = type_of(result);
  statement(op, condition.empty() ? fmt::format("{} {} = {};", type, name, call)
                                  : fmt::format("{} {} = {{}};", type, name));
  if (!condition.empty()) out_.format("if ({}) {} = {};", condition, name, call);
  if (!owner.empty()) {
    const std::string slots = names_.make(name + "_shared");
    shared_.add(slots, type, kernel_.type(result).numel(), scratch_of(op), true);
    barrier();
    const std::string index = index_text(frame, frame.place);
    out_.format("if ({}) {}[{}] = {};", owner, slots, index, name);
    barrier();
    out_.format("{} = {}[{}];", name, slots, index);
  }
  frame.remember(Frame::key(result, frame.place), name);
}

void Emitter::vector_add(Frame& frame, const VectorAccess& access, const std::string& from) {
  parts_.insert("atomics");
  constexpr int most_bytes = 16;
  const ir::Op& op = *access.op;
  const int width = std::min(
      access.width, most_bytes / static_cast<int>(kernel_.type(op.operands[1]).element_bytes()));
  frame.is_whole_vector = true;
  const std::string pointer = vector_pointer(frame, access);
  const Guard guard = vector_guard(frame, access);
  frame.is_whole_vector = false;
  const std::string owner = owner_text(*frame.layout);
  statement(op, fmt::format("{}tw::add_vector{}<tw::Order::{}, tw::Scope::{}, {}, {}>({}, {}{});",
                            owner.empty() ? "" : "if (" + owner + ") ", guard.suffix, order_of(op),
                            scope_text(op), 1 << frame.space.variables[0].bits, width, pointer,
                            from, guard.arguments));
}

std::string_view Emitter::order_of(const ir::Op& atomic) const {
  const bool is_relaxed = &atomic == fenced_ || atomic.text("order", "acq_rel") == "relaxed";
  return is_relaxed ? "Relaxed" : "Ordered";
}

// Puts the first fence behind the loads of a loop; `order_of` then has none for the atomic.
void Emitter::begin_fenced(const TileReads& reads, const std::vector<Preload>& preloads,
                           const Step& step) {
  const auto first = std::find_if(step.ops.begin(), step.ops.end(),
                                  [](const ir::Op* op) { return op->facts().has(ir::Writes); });
  if (first == step.ops.end() || (*first)->kind != OpKind::AtomicRmw ||
      order_of(**first) == "Relaxed")
    return;
  const auto is_done = [&](const TileAccess& access) {
    if (access.op->kind != OpKind::Load) return true;
    return std::any_of(preloads.begin(), preloads.end(), [&](const Preload& preload) {
      return preload.access && preload.value == access.op->result();
    });
  };
  if (!std::all_of(reads.accesses.begin(), reads.accesses.end(), is_done)) return;
  parts_.insert("atomics");
  fenced_ = *first;
  out_.format("tw::fence<tw::Scope::{}>();", scope_text(*fenced_));
}

void Emitter::end_fenced() {
  if (!fenced_) return;
  if (uses_[fenced_->result().id] > 0)
    out_.format("tw::fence<tw::Scope::{}>();", scope_text(*fenced_));
  fenced_ = nullptr;
}

}  // namespace tilewright
