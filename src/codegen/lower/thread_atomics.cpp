// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_atomics.cpp — atomics of elements and of scalars, and loops that wait for one.
//
// An atomic that orders other accesses has a fence on either side; none behind it where nobody asks
// for the old value, since nothing can then be known to have come before. Where the loads of a loop
// come first and the atomic is its first write, one pair of fences around the loop does for all of
// its elements; fences at each element would make every one wait for memory.
#include "codegen/lower/thread_atomics.h"

#include <algorithm>

#include "codegen/cuda/program_shape.h"
#include "codegen/lower/thread_lowering.h"
#include "passes/laid/spins.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

namespace {

std::string order_of(const ir::Op& atomic, const ir::Op* fenced) {
  const bool is_relaxed = &atomic == fenced || atomic.text("order", "acq_rel") == "relaxed";
  return is_relaxed ? "relaxed" : "ordered";
}

std::string scope_of(const ir::Op& atomic) {
  const std::string_view scope = atomic.text("scope", "gpu");
  return scope == "cta" ? "block" : scope == "sys" ? "system" : "device";
}

}  // namespace

// With these operands, in this order; what it gives has a name where it is wanted.
ir::Value ThreadAtomics::make_atomic(const ir::Op& op, const std::vector<ir::Value>& operands,
                                     const std::string& order, const std::string& name) {
  ir::Op* made = out_.make_op(op.kind, operands, {kernel_.type(op.result()).element()}, op.location);
  if (op.kind == OpKind::AtomicRmw) made->set("op", std::string(op.text("op")));
  made->set("order", order);
  made->set("scope", scope_of(op));
  if (!name.empty()) out_.set_name(made->result(), name);
  insert(made, *list_);
  return made->result();
}

void ThreadAtomics::fence(const ir::Op& atomic) {
  statement(OpKind::Fence, {}, *list_, {{"scope", scope_of(atomic)}});
}

// ---- Elements of tiles

void ThreadAtomics::atomic_element(Loop& loop, const ir::Op& op) {
  const Frame& frame = loop.plan.frame;
  std::vector<ir::Value> conditions;
  if (const ir::Value own = owner(*frame.layout)) conditions.push_back(own);
  if (op.mask()) conditions.push_back(element(loop, op.mask(), frame.place));
  const std::size_t values = op.kind == OpKind::AtomicCas ? 3 : 2;
  std::vector<ir::Value> operands;
  for (std::size_t k = 1; k < values; ++k)
    operands.push_back(element(loop, op.operands[k], frame.place));
  operands.insert(operands.begin(), element(loop, op.operands[0], frame.place));
  const bool is_asked = plans_.uses_of(op.result()) > 0;
  if (is_asked && owner(*frame.layout)) return share_old(loop, op, std::move(operands), conditions);
  const std::string name = is_asked ? names_.make(kernel_.name_of(op.result()), "old") : "";
  const std::string order = order_of(op, fenced_);
  // A compare-and-swap takes no mask.
  const auto make = [&] {
    const ir::Value old = make_atomic(op, operands, order, name);
    if (is_asked) loop.scopes.back().elements[Frame::key(op.result(), frame.place)] = old;
  };
  if (conditions.empty()) return make();
  if (op.kind == OpKind::AtomicCas) return when(all(conditions), make);
  operands.push_back(all(conditions));
  make();
}

// Where several threads hold the element, one does it and the others get what it has found through
// shared memory.
void ThreadAtomics::share_old(Loop& loop, const ir::Op& op, std::vector<ir::Value> operands,
                              const std::vector<ir::Value>& conditions) {
  const Frame& frame = loop.plan.frame;
  const std::string name = names_.make(kernel_.name_of(op.result()), "old");
  const Type element = kernel_.type(op.result()).element();
  const ir::Value slots = make_scratch(op, element, kernel_.type(op.result()).numel(),
                                       (name + "_shared").c_str());
  const ir::Value at = index(loop, frame.place);
  const auto make = [&] {
    return make_atomic(op, operands, order_of(op, fenced_), names_.make("found"));
  };
  const ir::Value own = owner(*frame.layout);
  if (op.kind == OpKind::AtomicCas) {
    when(own, [&] { statement(OpKind::Write, {slots, at, make()}, *list_, {}, op.location); });
  } else {
    operands.push_back(all(conditions));
    statement(OpKind::Write, {slots, at, make(), own}, *list_, {}, op.location);
  }
  loop.scopes.back().elements[Frame::key(op.result(), frame.place)] =
      named(FinalBuilder::make(OpKind::Read, {slots, at}, element), name, *list_);
}

// Puts the first fence behind the loads of a loop; the atomic itself then has none.
void ThreadAtomics::begin_fenced(const TileReads& reads,
                                 const std::vector<ElementPlans::Preload>& preloads,
                                 const Step& step) {
  const auto first = std::find_if(step.ops.begin(), step.ops.end(),
                                  [](const ir::Op* op) { return op->facts().has(ir::Writes); });
  if (first == step.ops.end() || (*first)->kind != OpKind::AtomicRmw ||
      order_of(**first, nullptr) == "relaxed")
    return;
  const auto is_done = [&](const TileAccess& access) {
    return access.op->kind != OpKind::Load ||
           std::any_of(preloads.begin(), preloads.end(), [&](const ElementPlans::Preload& preload) {
             return preload.value == access.op->result();
           });
  };
  if (!std::all_of(reads.accesses.begin(), reads.accesses.end(), is_done)) return;
  fenced_ = *first;
  fence(*fenced_);
}

void ThreadAtomics::end_fenced() {
  if (fenced_ && plans_.uses_of(fenced_->result()) > 0) fence(*fenced_);
  fenced_ = nullptr;
}

void ThreadAtomics::note_atomic(const ElementPlans::VectorAccess& access,
                                std::vector<ir::Attribute>& out) const {
  constexpr std::int64_t most_bytes = 16;
  const ir::Op& op = *access.op;
  const auto bytes = static_cast<std::int64_t>(kernel_.type(op.operands[1]).element_bytes());
  out[1].value = std::min<std::int64_t>(access.width, most_bytes / bytes);
  out.push_back({"adds", order_of(op, fenced_)});
  out.push_back({"scope", scope_of(op)});
}

// ---- Scalars

// What the block did before happens before it; what it does after sees what it saw. One thread does
// it, and the others get its result through shared memory.
void ThreadAtomics::scalar_atomic(const ir::Op& op) {
  meet();
  std::vector<ir::Value> operands;
  for (const ir::Value operand : op.operands) operands.push_back(scalar(operand));
  const ir::Value is_first = compare("eq", thread_, number(0));
  const std::string order = order_of(op, nullptr);
  if (plans_.uses_of(op.result()) == 0) {
    if (op.kind == OpKind::AtomicCas)
      return when(is_first, [&] { make_atomic(op, operands, order, ""); });
    ir::Value& mask = operands.size() > 2 ? operands[2] : operands.emplace_back();
    mask = mask ? all({is_first, mask}) : is_first;
    make_atomic(op, operands, order, "");
    return;
  }
  const Type type = kernel_.type(op.result());
  const std::string name = names_.make(kernel_.name_of(op.result()), "old");
  const ir::KernelBuffer& scratch = kernel_.buffers[kernel_.buffer_named(op.text("scratch"))];
  const ir::Value slot =
      named(FinalBuilder::make(OpKind::Array, {}, Type::array(type, ir::Space::Shared),
                               {{"count", std::int64_t{1}}, {"offset", scratch.offset}}),
            names_.make(name + "_shared"), shared_);
  when(is_first, [&] {
    const ir::Value old = make_atomic(op, operands, order, names_.make("found"));
    statement(OpKind::Write, {slot, number(0), old}, *list_, {}, op.location);
  });
  scalars_[op.result().id] =
      named(FinalBuilder::make(OpKind::Read, {slot, number(0)}, type), name, *list_);
}

// ---- Loops that only wait for an exchange

ir::Value ThreadAtomics::spinning_atomic(const ir::Op& op, const std::vector<ir::Value>& operands) {
  return make_atomic(op, operands, spinning_, names_.make(kernel_.name_of(op.result()), "old"));
}

// Blocks of fewer threads are so many that their asking at full speed keeps the memory busy which
// the one that has the lock waits for: a fence in every round slows them down.
constexpr int threads_of_few_blocks = 256;

// One thread asks, the others wait at a barrier. What the block did before must be seen by whoever
// sees the exchange: one fence is enough for all rounds, since nothing is written between them.
void ThreadAtomics::spin(const Step& step) {
  const auto at = std::find_if(step.regions[0].begin(), step.regions[0].end(),
                               [](const Step& inner) { return is_exchange(*inner.op); });
  const ir::Op& exchange = *at->op;
  const bool is_fenced = exchange.kind == OpKind::AtomicCas &&
                         exchange.text("order", "acq_rel") != "relaxed" &&
                         shape_of(kernel_, options_.target).threads() >= threads_of_few_blocks;
  meet(step.op->location);
  when(compare("eq", thread_, number(0)), [&] {
    if (is_fenced) fence(exchange);
    spinning_ = is_fenced ? "acquire" : order_of(exchange, nullptr);
    families().program.while_loop(step);
    spinning_.clear();
  });
  meet();
}

}  // namespace tilewright
