// SPDX-License-Identifier: Apache-2.0
// passes/laid/rotation.cpp — whether tiles may be turned round, and what that brings into line.
#include "passes/laid/rotation.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "ir/constant.h"
#include "passes/laid/alignment.h"
#include "passes/laid/op_facts.h"

namespace tilewright {
namespace {

using ir::OpKind;

constexpr std::int64_t vector_bytes = 16;
constexpr std::int64_t small_bytes = 2;   // wider elements gain nothing: measured
constexpr std::int64_t least_vector = 4;  // elements
constexpr std::int64_t wide_enough = 8;   // bytes that are aligned without a rotation

// Whether the op means the same when all tiles have their elements in another order.
bool is_free_of_order(const ir::Kernel& kernel, const ir::Op& op) {
  return op.facts().has(ir::AnyOrder) || op.operands.empty() || !is_tile(kernel, op.operands[0]);
}

// The size of all tiles of a kernel, if they are rank 1, equal, and free of order; else 0.
std::int64_t common_size(const ir::Kernel& kernel) {
  std::int64_t size = 0;
  bool is_right = true;
  const auto visit = [&](ir::Value value) {
    const ir::Type& type = kernel.type(value);
    if (!type.is_tile()) return;
    if (size == 0) size = type.numel();
    is_right &= type.rank == 1 && type.numel() == size;
  };
  ir::walk(kernel.body, [&](const ir::Op& op) {
    is_right &= is_free_of_order(kernel, op);
    for (const ir::Value result : op.results) visit(result);
    for (const ir::Region& region : op.regions)
      for (const ir::Value argument : region.arguments) visit(argument);
  });
  return is_right ? size : 0;
}

struct TileAccessPhase {
  const ir::Op* op = nullptr;
  std::int64_t bytes = 1;    // of an element
  std::int64_t aligned = 1;  // bytes, without a rotation
  ir::Value start;           // none: aligned to whole vectors
};

class Phases {
 public:
  Phases(const ir::Kernel& kernel, const Alignments& alignments)
      : kernel_(kernel), alignments_(alignments) {
    ir::walk(kernel.body, [&](const ir::Op& op) {
      if (op.kind == OpKind::For) note_carried(op);
      const bool is_access = op.kind == OpKind::Load || op.kind == OpKind::Store;
      if (is_access && is_tile(kernel, op.operands[0])) note_access(op);
    });
  }

  // False when one of them is no run of neighbours behind bounds.
  bool are_rows() const { return are_rows_; }
  const std::vector<TileAccessPhase>& accesses() const { return accesses_; }

 private:
  struct Carried {
    ir::Value initial, next;
  };

  void note_carried(const ir::Op& loop) {
    const ir::Region& body = loop.regions[0];
    for (std::size_t k = 0; k + 3 < loop.operands.size(); ++k)
      carried_[body.arguments[k + 1].id] = {loop.operands[k + 3], body.ops.back()->operands[k]};
  }

  void note_access(const ir::Op& op) {
    const ir::Op* affine = kernel_.maker(op.operands[0]);
    const ir::Op* bounds = op.mask() ? kernel_.maker(op.mask()) : nullptr;
    const bool is_row = affine && affine->kind == OpKind::Affine &&
                        ir::integer_constant(kernel_, affine->operands[1]) == 1 &&
                        (!op.mask() || (bounds && bounds->kind == OpKind::Bounds)) &&
                        op.integer("volatile") == 0;
    are_rows_ &= is_row;
    if (!is_row) return;
    const ir::Value base = affine->operands[0];
    TileAccessPhase access{.op = &op,
                           .bytes = static_cast<std::int64_t>(size_of(kernel_.type(base).dtype)),
                           .aligned = std::min(alignments_.of(base), vector_bytes)};
    if (access.aligned < vector_bytes) access.start = start_of(base, access.bytes);
    accesses_.push_back(access);
  }

  bool is_multiple(ir::Value value, std::int64_t of) const {
    return alignments_.of(value) % of == 0;
  }

  // The number or pointer that says where in its vector a pointer to elements of that size, or an
  // index of such elements, is: what else goes into it are whole vectors.
  ir::Value start_of(ir::Value value, std::int64_t bytes) {
    if (const auto found = carried_.find(value.id); found != carried_.end()) {
      const Carried carried = found->second;
      carried_.erase(found);  // it may move by whole vectors only
      const bool stays = start_of(carried.next, bytes) == value;
      const ir::Value start = stays ? start_of(carried.initial, bytes) : value;
      carried_.emplace(value.id, carried);
      return start;
    }
    const ir::Op* maker = kernel_.maker(value);
    if (!maker) return value;
    const std::int64_t elements = vector_bytes / bytes;
    const bool is_offset = maker->kind == OpKind::Offset;
    if (is_offset || maker->kind == OpKind::Add) {
      if (is_multiple(maker->operands[1], elements)) return start_of(maker->operands[0], bytes);
      if (is_multiple(maker->operands[0], is_offset ? vector_bytes : elements))
        return start_of(maker->operands[1], bytes);
      return value;
    }
    if (maker->kind != OpKind::Cast) return value;
    const ir::Type& from = kernel_.type(maker->operands[0]);
    const bool is_number = !from.is_pointer && !from.is_float() && !from.is_bool();
    return is_number && from.element_bytes() >= 4 ? start_of(maker->operands[0], bytes) : value;
  }

  const ir::Kernel& kernel_;
  const Alignments& alignments_;
  std::unordered_map<std::uint32_t, Carried> carried_;  // by the argument of a loop's body
  std::vector<TileAccessPhase> accesses_;
  bool are_rows_ = true;
};

// Where the rows begin that are worth it: the stores must all begin there.
ir::Value common_start(const std::vector<TileAccessPhase>& accesses) {
  const auto store = std::find_if(accesses.begin(), accesses.end(), [](const auto& access) {
    return access.op->kind == OpKind::Store;
  });
  const auto is_worth_it = [](const TileAccessPhase& access) {
    return access.start && access.bytes <= small_bytes && access.aligned < wide_enough;
  };
  const auto first = std::find_if(accesses.begin(), accesses.end(), [&](const auto& access) {
    return is_worth_it(access) && (store == accesses.end() || access.start == store->start);
  });
  const bool agree = std::all_of(accesses.begin(), accesses.end(), [&](const auto& access) {
    return access.op->kind != OpKind::Store || access.start == store->start;
  });
  return agree && first != accesses.end() ? first->start : ir::Value{};
}

// Whether a scalar is there before the first loop over elements.
bool is_early(const ir::Kernel& kernel, const Sweeps& schedule, ir::Value value) {
  const ir::Op* maker = kernel.maker(value);
  if (!maker)
    return std::any_of(kernel.arguments.begin(), kernel.arguments.end(),
                       [&](const ir::KernelArgument& argument) { return argument.value == value; });
  if (maker->kind == OpKind::Constant) return true;
  for (const Step& step : schedule.steps()) {
    if (step.kind != Step::Kind::Scalar) return false;
    if (step.op == maker) return true;
  }
  return false;
}

}  // namespace

std::optional<Rotation> find_rotation(const ir::Kernel& kernel, const Sweeps& schedule,
                                      const Alignments& alignments, int threads) {
  Rotation out{.size = common_size(kernel)};
  if (out.size == 0) return std::nullopt;
  const Phases phases(kernel, alignments);
  if (!phases.are_rows()) return std::nullopt;
  out.start = common_start(phases.accesses());
  if (!out.start || !is_early(kernel, schedule, out.start)) return std::nullopt;
  std::int64_t widest = 1;
  for (const TileAccessPhase& access : phases.accesses())
    if (access.start == out.start) {
      out.aligned.insert(access.op);
      widest = std::max(widest, access.bytes);
    } else {
      out.brings_all = false;
    }
  out.vector = vector_bytes / widest;
  if (out.vector < least_vector || out.size < out.vector * threads) return std::nullopt;
  return out;
}

}  // namespace tilewright
