// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_lowering.cpp — the program of a thread: its entry, steps and scalars. Every thread computes scalars; thread 0 alone stores them.
#include "codegen/lower/thread_lowering.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "base/check.h"
#include "codegen/cuda/program_shape.h"
#include "codegen/lower/copy_facts.h"
#include "ir/analysis/group_products.h"
#include "ir/analysis/meetings.h"
#include "ir/roles.h"
#include "passes/laid/allocate_shared.h"
#include "passes/laid/dot_plan.h"
#include "passes/laid/op_facts.h"
#include "passes/laid/spins.h"
#include "passes/laid/warp_exchange.h"
#include "passes/passes.h"
#include "tilewright/error.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

ThreadLowering::ThreadLowering(const ir::Kernel& laid, const LaidFacts& facts,
                               const TileLayouts& layouts, const CudaEmitOptions& options,
                               MemoryMeetings meetings, SharedLooks shares_seen,
                               FinalProgram& program)
    : ElementPlans(laid, facts, layouts, options),
      ProgramLowering(laid, facts.sweeps, program),
      text_(out_),
      has_products_(has_asynchronous_dots(laid)),
      advances_copies_(has_lines_along_depth(laid, facts)),
      settled_(settled_indices(laid, facts.sweeps)),
      warp_buffers_(ir::producer_of(laid) ? exchanged_within_warps(laid, facts.sweeps, layouts)
                                          : std::set<std::size_t>()),
      meetings_(std::move(meetings)),
      shares_seen_(shares_seen),
      shared_end_(shared_bytes_of(laid)) {}

ThreadProgram ThreadLowering::run() {
  enter();
  steps(schedule_.steps());
  // Which programs share a block is known by the numbers that are asked for.
  if (const int axis = first_program_axis(kernel_);
      kernel_.shape.programs > 1 && axis != first_program_axis(out_))
    named(FinalBuilder::make(OpKind::ProgramId, {}, Type::scalar(i32),
                             {{"axis", std::int64_t{axis}}}),
          names_.make("program"), prologue_);
  prologue_.insert(prologue_.end(), shared_.begin(), shared_.end());
  out_.body.ops.insert(out_.body.ops.begin() + 1, prologue_.begin(), prologue_.end());
  out_.shape.resident = resident_blocks();
  return {std::move(out_), is_crowded_, refusals_, fits_shape_};
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
  for (const ir::KernelMap& map : kernel_.maps) {
    out_.maps.push_back(map);
    out_.maps.back().name = names_.make(map.name);
  }
  list_ = &out_.body.ops;
  const std::int64_t threads = shape_of(kernel_, options_.target).threads();
  thread_ = named(FinalBuilder::make(OpKind::Thread, {}, Type::scalar(i32), {{"count", threads}, {"lanes", std::int64_t{options_.target.warp_size}}}),
                  "thread", *list_);
  whole_thread_ = thread_;
}

void ThreadLowering::steps(const Steps& all) {
  for (const Step& step : all) {
    if (is_taken_ahead(step)) continue;
    if (step.kind != Step::Kind::Scalar) wait_for_touched(*step.op);
    if (meetings_.before.contains(step.order)) meet();
    if (step.kind != Step::Kind::Scalar) declare_shift();
    switch (step.kind) {
      case Step::Kind::Scalar:
        scalar_op(*step.op);
        break;
      case Step::Kind::Elements:
        elements(step);
        // The sweep's results are the scalars that it has found.
        if (step.op)
          for (const ir::Value result : step.op->results)
            if (!is_tile(kernel_, result))
              scalars_[result.id] = scalar(schedule_.source_of(result));
        note_computed(step);
        break;
      case Step::Kind::Control: {
        const bool loops = step.op->facts().has(ir::Loops);
        loop_depth_ += loops;
        for (const ir::Value result : step.op->results)
          if (is_tile(kernel_, result)) declare(result);
        for (const ir::Region& inner : step.op->regions)
          for (const ir::Value argument : inner.arguments)
            if (is_tile(kernel_, argument)) declare(argument);
        note_scratch(*step.op);
        if (step.op->kind == OpKind::For) hold_operands(step);
        if (step.op->kind == OpKind::While && is_spin(step)) spin(step);
        else if (parts_roles(*step.op)) roles(step);
        else control(step);
        loop_depth_ -= loops;
        break;
      }
      case Step::Kind::Across:
        across(step);
        break;
    }
    show_written();
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
  if (op.kind == OpKind::IsProducer) return;  // the branch of the roles asks
  if (op.kind == OpKind::Constant || op.kind == OpKind::Assume) return;
  if (op.kind == OpKind::Load) return scalar_load(op);
  if (op.kind == OpKind::Store) return scalar_store(op);
  if (op.kind == OpKind::Print) return print_scalars(op);
  if (facts.is(ir::Family::Sync)) return synchronize(op);
  if (facts.is_atomic() && spinning_.empty()) return scalar_atomic(op);
  std::vector<ir::Value> operands;
  for (const ir::Value operand : op.operands) operands.push_back(scalar(operand));
  if (facts.is(ir::Family::Check)) {
    statement(op.kind, operands, *list_, op.attributes, op.location);
    return;
  }
  if (facts.is_atomic()) {
    scalars_[op.result().id] = make_atomic(op, operands, spinning_,
                                           names_.make(kernel_.name_of(op.result()), "old"));
    return;
  }
  const ir::Value made =
      FinalBuilder::make(op.kind, operands, kernel_.type(op.result()), op.attributes, op.location);
  if (is_inlined(op, made)) write_at_uses(op.result(), made);
  else
    scalars_[op.result().id] = named(made, names_.make(kernel_.name_of(op.result()), "t"), *list_);
}

// At the end of the program, before which every array is made.
ir::Value ThreadLowering::only_element(const ir::Op& view, ir::Value value) {
  static const Step at_end{.kind = Step::Kind::Control, .order = 1 << 30};
  Loop loop;
  loop.plan.frame.step = &at_end;
  loop.plan.frame.place = {BitMatrix::zero(0, 0), 0};
  return viewed(loop, view, value, loop.plan.frame.place);
}

void ThreadLowering::synchronize(const ir::Op& op) {
  switch (ir::sync_op(op.kind)) {
    case ir::SyncOp::WaitCopies:
      return wait_for_copies(op);
    case ir::SyncOp::CommitCopies:
    case ir::SyncOp::Fence:
      statement(op.kind, {}, *list_, op.attributes, op.location);
      return;
    case ir::SyncOp::Barrier:
      return meet(op.location);
    case ir::SyncOp::Acquire:
    case ir::SyncOp::CopyMap:
    case ir::SyncOp::Await:
    case ir::SyncOp::Release:
      return ring_op(op);
    case ir::SyncOp::WaitStores:
      return call_statement(LibraryKind::WaitBoxes, {}, {op.text("until") == "memory" ? 1 : 0},
                            op.location);
  }
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

void ThreadLowering::scalar_load(const ir::Op& op) {
  const std::string name = names_.make(kernel_.name_of(op.result()), "t");
  const bool is_shared = shares_seen_ != SharedLooks::None && op.integer("volatile") != 0;
  scalars_[op.result().id] = is_shared ? share_seen(op, name) : load_scalar(op, name);
}

// One thread looks.
ir::Value ThreadLowering::share_seen(const ir::Op& op, const std::string& name) {
  return from_one_thread(kernel_.type(op.result()), name, op.location,
                         [&] { return load_scalar(op, names_.make("found")); });
}

// The others get what it has found through shared memory.
ir::Value ThreadLowering::from_one_thread(const Type& type, const std::string& name,
                                          ir::Location location,
                                          const std::function<ir::Value()>& find) {
  constexpr std::int64_t line = 16;
  const ir::Value slot =
      named(FinalBuilder::make(OpKind::Array, {}, Type::array(type, ir::Space::Shared),
                               {{"count", std::int64_t{1}}, {"offset", shared_end_}}),
            names_.make(name + "_shared"), shared_);
  shared_end_ += line;
  when(compare("eq", thread_, number(0)), [&] {
    statement(OpKind::Write, {slot, number(0), find()}, *list_, {}, location);
  });
  return named(FinalBuilder::make(OpKind::Read, {slot, number(0)}, type), name, *list_);
}

// Behind a branch where it is masked.
ir::Value ThreadLowering::load_scalar(const ir::Op& op, const std::string& name) {
  const Type& type = kernel_.type(op.result());
  const auto load = [&] {
    return FinalBuilder::make(OpKind::Load, {scalar(op.operands[0])}, type,
                              access_attributes(op, cache_of(op)), op.location);
  };
  if (op.operands.size() < 2) return named(load(), name, *list_);
  ir::Op* chosen = out_.make_op(OpKind::If, {scalar(op.operands[1])}, {type}, op.location);
  chosen->regions.resize(2);
  out_.set_name(chosen->results[0], name);
  insert(chosen, *list_);
  region(chosen->regions[0], [&] { statement(OpKind::Yield, {load()}, *list_); });
  region(chosen->regions[1], [&] {
    statement(OpKind::Yield, {op.operands.size() > 2 ? scalar(op.operands[2]) : zero_of(type)},
              *list_);
  });
  return chosen->results[0];
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
  choose(condition, body, {});
}

void ThreadLowering::choose(ir::Value condition, const std::function<void()>& body,
                            const std::function<void()>& otherwise) {
  ir::Op* branch = out_.make_op(OpKind::If, {condition}, {}, {});
  branch->regions.resize(2);
  insert(branch, *list_);
  region(branch->regions[0], [&] {
    body();
    statement(OpKind::Yield, {}, *list_);
  });
  region(branch->regions[1], [&] {
    if (otherwise) otherwise();
    statement(OpKind::Yield, {}, *list_);
  });
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
          ? compare("lt", whole_thread_, number(static_cast<std::int64_t>(kept + 1)))
          : compare("eq",
                    FinalBuilder::make(OpKind::And,
                                       {whole_thread_, number(static_cast<std::int64_t>(copies))},
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
  if (ir::producer_of(kernel_)) return 1;
  if (const int registers = options_.max_registers; registers > 0)
    return std::min({target.registers_per_processor / (registers * threads),
                     target.max_threads_per_processor / threads, target.max_blocks_per_processor});
  if (shape.resident > 0) return shape.resident;
  if (loop_words_ > few_words) return 1;
  return has_rolled_slices_ ? target.registers_per_processor / (registers_of_slices * threads) : 0;
}

namespace {

bool is_whole(const ThreadProgram& program) {
  return program.refusals.is_empty() && program.fits_shape;
}

// Where threads would not all come to where they meet. Those that are started beside each other see
// memory at different moments, and one cannot look for all of them at an element of a tile.
[[noreturn]] void refuse_meeting(const ir::Kernel& laid, const ir::Op& meeting) {
  throw ArgumentError(fmt::format(
      "kernel '{}': whether its threads meet (line {}) depends on elements of a tile that another "
      "program may change meanwhile, and each thread may see another value; load a scalar for it",
      laid.name, meeting.location.line));
}

}  // namespace

ThreadProgram lower_to_threads(const ir::Kernel& laid, const LaidFacts& facts,
                               const TileLayouts& layouts, const CudaEmitOptions& options) {
  const MemoryMeetings meetings = meetings_in_memory(laid, facts.sweeps, layouts);
  const auto lower = [&](SharedLooks shares_seen) {
    FinalProgram program;
    ThreadProgram out =
        ThreadLowering(laid, facts, layouts, options, meetings, shares_seen, program).run();
    if (is_whole(out))
      for (const PassEntry& pass : final_passes()) pass.run(out.kernel, options.target);
    return out;
  };
  ThreadProgram out = lower(SharedLooks::None);
  // Threads may see different values where a volatile load decides whether they meet.
  const auto divergent = [&] { return is_whole(out) ? ir::find_divergent(out.kernel) : nullptr; };
  for (const SharedLooks shares : {SharedLooks::Scalars, SharedLooks::Totals})
    if (divergent() != nullptr) out = lower(shares);
  if (const ir::Op* meeting = divergent()) refuse_meeting(laid, *meeting);
  // Who touches a product that goes on has waited for it, and what it reads was shown to it.
  TW_CHECK(!has_asynchronous_dots(laid) || !is_whole(out) ||
               (ir::find_undrained(out.kernel).op == nullptr &&
                ir::find_unshown(out.kernel).empty()),
           "a product of kernel '{}' is not waited for", laid.name);
  return out;
}

}  // namespace tilewright
