// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_lowering.cpp — the program of a thread: which kernels have one, its entry,
// steps and scalars. Every thread computes scalars; thread 0 alone stores them.
#include "codegen/lower/thread_lowering.h"

#include <algorithm>
#include <functional>

#include "base/check.h"
#include "codegen/cuda/program_shape.h"
#include "codegen/lower/thread_order.h"
#include "ir/roles.h"
#include "passes/laid/hand_overs.h"
#include "passes/laid/op_facts.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

namespace {

bool is_lowered(const ir::Kernel& laid, const ir::Op& op) {
  const ir::OpFacts& facts = op.facts();
  switch (facts.family) {
    case ir::Family::Source:
      return op.kind != OpKind::NumBlocks && op.kind != OpKind::IsProducer;
    case ir::Family::View:
      // The only element of a tile is no element of a loop.
      return std::all_of(op.results.begin(), op.results.end(),
                         [&](ir::Value value) { return is_tile(laid, value); });
    case ir::Family::Elementwise:
    case ir::Family::Check:
    case ir::Family::Ends:
      return true;
    case ir::Family::Access:
      return op.kind == OpKind::Load || op.kind == OpKind::Store;
    case ir::Family::Control:
      return op.kind != OpKind::While;
    case ir::Family::Reduction:
    case ir::Family::Across:
    case ir::Family::Sync:
    case ir::Family::Final:
      break;
  }
  return false;
}

bool is_lowered(const ir::Kernel& laid, const LaidFacts& facts) {
  const bool has_place = std::any_of(
      laid.buffers.begin(), laid.buffers.end(),
      [](const ir::KernelBuffer& buffer) { return buffer.has_place() || buffer.has_slots(); });
  if (has_place || laid.shape.cluster > 1 || facts.alignments.rotation() || !laid.rings.empty() ||
      !laid.maps.empty() || ir::is_persistent(laid))
    return false;
  bool all = true;
  ir::walk(laid.body, [&](const ir::Op& op) {
    all &= is_lowered(laid, op);
    if (!op.facts().is(ir::Family::Control) || op.kind == OpKind::Sweep) return;
    // Tiles that change places would have to be copied aside.
    for (const HandOver& hand_over : hand_overs_of(op))
      for (std::size_t k = 0; k < hand_over.to.size(); ++k)
        all &= !is_overwritten(laid, facts.sweeps, hand_over, k);
  });
  return all;
}

}  // namespace

ThreadLowering::ThreadLowering(const ir::Kernel& laid, const LaidFacts& facts,
                               const TileLayouts& layouts, const CudaEmitOptions& options)
    : ElementPlans(laid, facts, layouts, options),
      ProgramLowering(laid, facts.sweeps),
      text_(out_) {}

ThreadProgram ThreadLowering::run() {
  enter();
  steps(schedule_.steps());
  out_.body.ops.insert(out_.body.ops.begin() + 1, prologue_.begin(), prologue_.end());
  out_.shape.resident = resident_blocks();
  return {std::move(out_), is_crowded_};
}

void ThreadLowering::enter() {
  out_.name = kernel_.name;
  out_.stage = ir::Stage::Final;
  out_.files = kernel_.files;
  out_.shape = kernel_.shape;
  for (const char* own : CudaExpressions::own_names) names_.make(own);
  for (const ir::KernelArgument& argument : kernel_.arguments) {
    const std::string name = names_.make(kernel_.name_of(argument.value), "argument");
    const ir::Value value = out_.add_argument(kernel_.type(argument.value), name);
    out_.arguments.back() = argument;
    out_.arguments.back().value = value;
    scalars_[argument.value.id] = value;
  }
  list_ = &out_.body.ops;
  const std::int64_t threads = shape_of(kernel_, options_.target).threads();
  thread_ = named(FinalBuilder::make(OpKind::Thread, {}, Type::scalar(i32), {{"count", threads}}),
                  "thread", *list_);
}

void ThreadLowering::steps(const Steps& all) {
  for (const Step& step : all) {
    switch (step.kind) {
      case Step::Kind::Scalar:
        scalar_op(*step.op);
        break;
      case Step::Kind::Elements:
        elements(step);
        break;
      case Step::Kind::Control: {
        const bool loops = step.op->facts().has(ir::Loops);
        loop_depth_ += loops;
        for (const ir::Value result : step.op->results)
          if (is_tile(kernel_, result)) declare(result);
        for (const ir::Region& inner : step.op->regions)
          for (const ir::Value argument : inner.arguments)
            if (is_tile(kernel_, argument)) declare(argument);
        control(step);
        loop_depth_ -= loops;
        break;
      }
      case Step::Kind::Across:
        TW_UNREACHABLE("'{}' is not lowered to threads", step.op->facts().name);
    }
  }
}

void ThreadLowering::mark_loop(ir::Op& loop, const ir::Op& op) {
  if (op.integer("unroll") > 1) loop.set("unroll", op.integer("unroll"));
}

// ---- Scalars

bool ThreadLowering::is_inlined(const ir::Op& op, ir::Value made) const {
  constexpr std::size_t longest = 59;
  return op.facts().has(ir::Pure) && kernel_.name_of(op.result()).empty() &&
         text_.expression(*out_.maker(made)).size() <= longest;
}

void ThreadLowering::scalar_op(const ir::Op& op) {
  const ir::OpFacts& facts = op.facts();
  if (op.kind == OpKind::Constant || op.kind == OpKind::Assume) return;
  if (op.kind == OpKind::Load) return scalar_load(op);
  if (op.kind == OpKind::Store) return scalar_store(op);
  std::vector<ir::Value> operands;
  for (const ir::Value operand : op.operands) operands.push_back(scalar(operand));
  if (facts.is(ir::Family::Check)) {
    statement(op.kind, operands, *list_, op.attributes, op.location);
    return;
  }
  const ir::Value made =
      FinalBuilder::make(op.kind, operands, kernel_.type(op.result()), op.attributes, op.location);
  if (is_inlined(op, made)) write_at_uses(op.result(), made);
  else
    scalars_[op.result().id] = named(made, names_.make(kernel_.name_of(op.result()), "t"), *list_);
}

ir::Value ThreadLowering::zero_of(const Type& type) {
  return type.is_float() ? constant_of(type, 0.0) : constant_of(type, std::int64_t{0});
}

namespace {

std::vector<ir::Attribute> access_attributes(const ir::Op& op, std::string_view cache) {
  std::vector<ir::Attribute> out;
  if (!cache.empty()) out.push_back({"cache", std::string(cache)});
  if (op.integer("volatile") != 0) out.push_back({"volatile", std::int64_t{1}});
  return out;
}

}  // namespace

// Behind a branch where it is masked.
void ThreadLowering::scalar_load(const ir::Op& op) {
  const Type& type = kernel_.type(op.result());
  const auto load = [&] {
    return FinalBuilder::make(OpKind::Load, {scalar(op.operands[0])}, type,
                              access_attributes(op, cache_of(op)), op.location);
  };
  const std::string name = names_.make(kernel_.name_of(op.result()), "t");
  if (op.operands.size() < 2) {
    scalars_[op.result().id] = named(load(), name, *list_);
    return;
  }
  ir::Op* chosen = out_.make_op(OpKind::If, {scalar(op.operands[1])}, {type}, op.location);
  chosen->regions.resize(2);
  out_.set_name(chosen->results[0], name);
  insert(chosen, *list_);
  region(chosen->regions[0], [&] { statement(OpKind::Yield, {load()}, *list_); });
  region(chosen->regions[1], [&] {
    statement(OpKind::Yield, {op.operands.size() > 2 ? scalar(op.operands[2]) : zero_of(type)},
              *list_);
  });
  scalars_[op.result().id] = chosen->results[0];
}

void ThreadLowering::scalar_store(const ir::Op& op) {
  std::vector<ir::Value> conditions = {compare("eq", thread_, number(0))};
  if (op.operands.size() > 2) conditions.push_back(scalar(op.operands[2]));
  when(all(conditions), [&] {
    statement(OpKind::Store, {scalar(op.operands[0]), scalar(op.operands[1])}, *list_,
              access_attributes(op, cache_of(op)), op.location);
  });
}

ir::Value ThreadLowering::all(const std::vector<ir::Value>& conditions) {
  if (conditions.size() == 1) return conditions[0];
  return FinalBuilder::make(OpKind::All, conditions, Type::scalar(b1));
}

void ThreadLowering::when(ir::Value condition, const std::function<void()>& body) {
  ir::Op* branch = out_.make_op(OpKind::If, {condition}, {}, {});
  branch->regions.resize(2);
  insert(branch, *list_);
  region(branch->regions[0], [&] {
    body();
    statement(OpKind::Yield, {}, *list_);
  });
  region(branch->regions[1], [&] { statement(OpKind::Yield, {}, *list_); });
}

ir::Value ThreadLowering::owner(const Layout& layout) {
  const std::uint64_t copies = layout.copy_bits();
  if (copies == 0) return {};
  const auto found = owners_.find(copies);
  if (found != owners_.end()) return found->second;
  const std::uint64_t all_bits = (std::uint64_t{1} << layout.thread_bits()) - 1;
  const std::uint64_t kept = all_bits & ~copies;
  const ir::Value holds =
      (kept & (kept + 1)) == 0
          ? compare("lt", thread_, number(static_cast<std::int64_t>(kept + 1)))
          : compare("eq",
                    FinalBuilder::make(OpKind::And,
                                       {thread_, number(static_cast<std::int64_t>(copies))},
                                       Type::scalar(i32)),
                    number(0));
  return owners_[copies] = named(holds, names_.make("is_owner"), prologue_);
}

// ---- Registers

// Left alone, the compiler counts on so many blocks that the loads of a loop which adds to tiles
// have no registers to arrive in at once; what it would keep from one slice to the next takes the
// place of other blocks.
int ThreadLowering::resident_blocks() const {
  constexpr std::int64_t few_words = 64;
  constexpr int registers_of_slices = 128;
  const ProgramShape shape = shape_of(kernel_, options_.target);
  const int threads = shape.programs * shape.block_threads();
  const Target& target = options_.target;
  if (const int registers = options_.max_registers; registers > 0)
    return std::min({target.registers_per_processor / (registers * threads),
                     target.max_threads_per_processor / threads, target.max_blocks_per_processor});
  if (shape.resident > 0) return shape.resident;
  if (loop_words_ > few_words) return 1;
  return has_rolled_slices_ ? target.registers_per_processor / (registers_of_slices * threads) : 0;
}

std::optional<ThreadProgram> lower_to_threads(const ir::Kernel& laid, const LaidFacts& facts,
                                              const TileLayouts& layouts,
                                              const CudaEmitOptions& options) {
  if (!is_lowered(laid, facts) || must_meet_in_memory(laid, facts.sweeps, layouts))
    return std::nullopt;
  ThreadProgram out = ThreadLowering(laid, facts, layouts, options).run();
  // Which programs share a block is known by the numbers that are asked for.
  if (laid.shape.programs > 1 && first_program_axis(laid) != first_program_axis(out.kernel))
    return std::nullopt;
  return out;
}

}  // namespace tilewright
