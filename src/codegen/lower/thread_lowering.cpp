// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_lowering.cpp — the program of a thread: its entry and its steps.
#include "codegen/lower/thread_lowering.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "codegen/cuda/program_shape.h"
#include "ir/analysis/group_products.h"
#include "ir/analysis/meetings.h"
#include "ir/roles.h"
#include "passes/laid/dot_plan.h"
#include "passes/laid/op_facts.h"
#include "passes/laid/spins.h"
#include "passes/passes.h"
#include "tilewright/error.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

ThreadLowering::ThreadLowering(ThreadState& state)
    : ProgramLowering(state.laid, state.facts.sweeps, state),
      state_(state),
      kernel_(state.laid),
      families_{.program = *this,
                .scalars = ThreadScalars(state),
                .loops = ThreadLoops(state),
                .vectors = ThreadVectors(state),
                .rows = ThreadRows(state),
                .tiles = ThreadTiles(state),
                .reductions = ThreadReductions(state),
                .scans = ThreadScans(state),
                .sorts = ThreadSorts(state),
                .atomics = ThreadAtomics(state),
                .copies = ThreadCopies(state),
                .dots = ThreadDots(state),
                .mma = ThreadMma(state),
                .ahead = ThreadAhead(state),
                .groups = ThreadGroups(state),
                .rings = ThreadRings(state),
                .stores = ThreadStores(state)} {
  state.families = &families_;
}

ThreadProgram ThreadLowering::run() {
  enter();
  steps(sweeps_.steps());
  // Which programs share a block is known by the numbers that are asked for.
  if (const int axis = first_program_axis(kernel_);
      kernel_.shape.programs > 1 && axis != first_program_axis(out_))
    named(FinalBuilder::make(OpKind::ProgramId, {}, Type::scalar(i32),
                             {{"axis", std::int64_t{axis}}}),
          names_.make("program"), state_.prologue);
  Statements& prologue = state_.prologue;
  prologue.insert(prologue.end(), state_.shared.begin(), state_.shared.end());
  out_.body.ops.insert(out_.body.ops.begin() + 1, prologue.begin(), prologue.end());
  out_.shape.resident = resident_blocks();
  return {std::move(out_), state_.plans.is_crowded(), families_.tiles.refusals(),
          families_.rows.fits_shape()};
}

void ThreadLowering::enter() {
  out_.name = kernel_.name;
  out_.stage = ir::Stage::Final;
  out_.files = kernel_.files;
  out_.shape = kernel_.shape;
  for (const char* own : own_names_of_threads) names_.make(own);
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
  const Target& target = state_.options.target;
  const std::int64_t threads = shape_of(kernel_, target).threads();
  state_.thread =
      named(FinalBuilder::make(OpKind::Thread, {}, Type::scalar(i32),
                               {{"count", threads}, {"lanes", std::int64_t{target.warp_size}}}),
            "thread", *list_);
  state_.whole_thread = state_.thread;
}

void ThreadLowering::steps(const Steps& all) {
  for (const Step& step : all) {
    if (families_.ahead.is_taken_ahead(step)) continue;
    if (step.kind != Step::Kind::Scalar) families_.groups.wait_for_touched(*step.op);
    if (state_.meetings.before.contains(step.order)) families_.scalars.meet();
    if (step.kind != Step::Kind::Scalar) families_.rows.declare_shift();
    switch (step.kind) {
      case Step::Kind::Scalar:
        families_.scalars.scalar_op(*step.op);
        break;
      case Step::Kind::Elements:
        families_.loops.elements(step);
        // The sweep's results are the scalars that it has found.
        if (step.op)
          for (const ir::Value result : step.op->results)
            if (!is_tile(kernel_, result)) scalars_[result.id] = scalar(sweeps_.source_of(result));
        families_.groups.note_computed(step);
        break;
      case Step::Kind::Control:
        step_of_control(step);
        break;
      case Step::Kind::Across:
        across(step);
        break;
    }
    families_.groups.show_written();
  }
}

namespace {

Steps steps_of_scalars(const ir::Region& region) {
  Steps out;
  for (const ir::Op* op : region.ops) {
    if (op->facts().is(ir::Family::Ends)) continue;
    Step step{.order = -1, .op = op};  // nobody meets before it
    if (op->facts().is(ir::Family::Control)) step.kind = Step::Kind::Control;
    for (const ir::Region& inner : op->regions) step.regions.push_back(steps_of_scalars(inner));
    out.push_back(std::move(step));
  }
  return out;
}

}  // namespace

void ThreadLowering::scalars_of(const ir::Region& region) {
  families_.groups.outside_functions([&] { steps(steps_of_scalars(region)); });
}

void ThreadLowering::step_of_control(const Step& step) {
  const bool loops = step.op->facts().has(ir::Loops);
  if (loops) families_.loops.begin_loop();
  families_.tiles.begin_control(*step.op);
  if (step.op->kind == OpKind::For) families_.mma.hold_operands(step);
  if (step.op->kind == OpKind::While && is_spin(step)) families_.atomics.spin(step);
  else if (families_.rings.parts_roles(*step.op)) families_.rings.roles(step);
  else control(step);
  if (loops) families_.loops.end_loop();
}

void ThreadLowering::across(const Step& step) {
  switch (ir::across_op(step.op->kind)) {
    case ir::AcrossOp::Gather:
      return families_.tiles.gather(step);
    case ir::AcrossOp::Concatenate:
      return families_.tiles.concatenate(step);
    case ir::AcrossOp::Scan:
      return families_.scans.scan(step);
    case ir::AcrossOp::Sort:
      return families_.sorts.sort(step);
    case ir::AcrossOp::Histogram:
      return families_.sorts.histogram(step);
    case ir::AcrossOp::Print:
      return families_.sorts.print(step);
    case ir::AcrossOp::Dot:
      return families_.dots.dot(step);
    case ir::AcrossOp::StoreMap:
      return families_.stores.store_map(step);
    case ir::AcrossOp::ReadBuffer:
      if (kernel_.is_in_ring(kernel_.buffers[kernel_.buffer_of(*step.op)]))
        return families_.rings.read_slot(*step.op);
      return families_.copies.read_buffer(step);
  }
}

// ---- What ProgramLowering asks of the families

void ThreadLowering::mark_loop(ir::Op& loop, const ir::Op& op) {
  if (op.integer("unroll") > 1) loop.set("unroll", op.integer("unroll"));
}

ir::Value ThreadLowering::only_element(const ir::Op& view, ir::Value value) {
  return families_.scalars.only_element(view, value);
}

void ThreadLowering::copy(const Step& step,
                          const std::vector<std::pair<ir::Value, ir::Value>>& copies) {
  families_.tiles.copy(step, copies);
}

std::vector<ProgramLowering::Carried> ThreadLowering::begin_rounds(const Step& step) {
  return families_.ahead.begin_rounds(step);
}

std::vector<ir::Value> ThreadLowering::end_rounds(const Step&) {
  return families_.ahead.end_rounds();
}

void ThreadLowering::rounds(const Step& step, const std::vector<ir::Value>& initial) {
  families_.groups.rounds(step, initial, [&] { ProgramLowering::rounds(step, initial); });
}

void ThreadLowering::round(const Step& step) {
  families_.groups.round(step, [&] { ProgramLowering::round(step); });
}

void ThreadLowering::begin_branch(const Step& step, std::size_t side) {
  families_.rings.begin_branch(step, side);
}

void ThreadLowering::end_branch(const Step&, std::size_t) { families_.rings.end_branch(); }

// ---- Registers

// Left alone, the compiler counts on so many blocks that the loads of a loop which adds to tiles
// have no registers to arrive in at once; what it would keep from one slice to the next takes the
// place of other blocks.
int ThreadLowering::resident_blocks() const {
  constexpr std::int64_t few_words = 64;
  constexpr int registers_of_slices = 128;
  const CudaEmitOptions& options = state_.options;
  const ProgramShape shape = shape_of(kernel_, options.target);
  const int threads = shape.programs * shape.block_threads();
  const Target& target = options.target;
  if (ir::producer_of(kernel_)) return 1;
  if (const int registers = options.max_registers; registers > 0)
    return std::min({target.registers_per_processor / (registers * threads),
                     target.max_threads_per_processor / threads, target.max_blocks_per_processor});
  if (shape.resident > 0) return shape.resident;
  if (families_.loops.loop_words() > few_words) return 1;
  return state_.plans.has_rolled_slices()
             ? target.registers_per_processor / (registers_of_slices * threads)
             : 0;
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

ThreadProgram sketch_threads(const ir::Kernel& laid, const LaidFacts& facts,
                             const TileLayouts& layouts, const CudaEmitOptions& options) {
  const MemoryMeetings meetings = meetings_in_memory(laid, facts.sweeps, layouts);
  ThreadState state({laid, facts, layouts, options, meetings, SharedLooks::None});
  return ThreadLowering(state).run();
}

const ir::Op* finish_threads(const ir::Kernel& laid, ir::Kernel& program, const Target& target) {
  for (const PassEntry& pass : final_passes()) pass.run(program, target);
  if (const ir::Op* divergent = ir::find_divergent(program)) return divergent;
  // Who touches a product that goes on has waited for it. (What it reads was shown to it:
  // insert_barriers.)
  TW_CHECK(!has_asynchronous_dots(laid) || ir::find_undrained(program).op == nullptr,
           "a product of kernel '{}' is not waited for", laid.name);
  return nullptr;
}

ThreadProgram lower_to_threads(const ir::Kernel& laid, const LaidFacts& facts,
                               const TileLayouts& layouts, const CudaEmitOptions& options) {
  const MemoryMeetings meetings = meetings_in_memory(laid, facts.sweeps, layouts);
  ThreadProgram out;
  const ir::Op* divergent = nullptr;
  // Threads may see different values where a volatile load decides whether they meet.
  for (const SharedLooks shares : {SharedLooks::None, SharedLooks::Scalars, SharedLooks::Totals}) {
    ThreadState state({laid, facts, layouts, options, meetings, shares});
    out = ThreadLowering(state).run();
    if (is_whole(out)) divergent = finish_threads(laid, out.kernel, options.target);
    if (!is_whole(out) || divergent == nullptr) return out;
  }
  refuse_meeting(laid, *divergent);
}

}  // namespace tilewright
