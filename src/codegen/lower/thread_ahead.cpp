// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_ahead.cpp — a loop around a matrix product whose operands lie in slots of
// buffers: tensor cores never wait for shared memory.
//
// The words of a step along the depth are read while those of the step before are multiplied, also
// from one round to the next: the wait for the next round's slots, and the barrier that goes with
// it, stand before the last step's multiplications. Copies of later rounds start between the
// steps, a few at a time.
#include "codegen/lower/thread_ahead.h"

#include <algorithm>
#include <utility>

#include "codegen/lower/find_ahead.h"
#include "codegen/lower/thread_families.h"
#include "passes/laid/op_facts.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

namespace {

bool is_argument_of(const ir::Op& loop, ir::Value value) {
  const std::vector<ir::Value>& all = loop.regions[0].arguments;
  return std::find(all.begin() + 1, all.end(), value) != all.end();
}

// Whether a value is there before the loop.
bool is_outside(const ir::Kernel& kernel, const ir::Op& loop, ir::Value value) {
  const auto is_of = [&](const ir::Region& region) {
    return std::find(region.arguments.begin(), region.arguments.end(), value) !=
           region.arguments.end();
  };
  bool out = !is_of(loop.regions[0]);
  ir::walk(loop.regions[0], [&](const ir::Op& op) {
    out &= &op != kernel.maker(value);
    for (const ir::Region& region : op.regions) out &= !is_of(region);
  });
  return out;
}

}  // namespace

LoopAhead* ThreadAhead::loop_of(const Step& product) {
  return ahead() && ahead()->dot == &product ? ahead() : nullptr;
}

bool ThreadAhead::is_taken_ahead(const Step& step) {
  const Ahead* of = ahead();
  if (!of) return false;
  const bool is_beside = &step == of->copies || &step == of->commit;
  return (of->reads_ahead && &step == of->wait) || (of->copies && is_beside);
}

// ---- Before the loop, and where a round ends

std::vector<ProgramLowering::Carried> ThreadAhead::begin_rounds(const Step& loop) {
  std::optional<Ahead> ahead = find_ahead(state_, loop);
  if (ahead && ahead->reads_ahead) read_first(*ahead, loop);
  else if (ahead) place_copies(*ahead, *loop.op);
  std::vector<ProgramLowering::Carried> out;
  if (ahead)
    for (CopyBeside& copy : ahead->beside) {
      if (!copy.from) continue;
      const ir::Value variable = out_.make_value(
          type_of(copy.from),
          names_.make(out_.name_of(families().copies.buffer_array(*copy.step->ops.front())) +
                      "_from"),
          nullptr);
      out.push_back({variable, std::exchange(copy.from, variable)});
    }
  aheads_.push_back(std::move(ahead));
  return out;
}

std::vector<ir::Value> ThreadAhead::end_rounds() {
  std::vector<ir::Value> out;
  if (const Ahead* of = ahead())
    for (const CopyBeside& copy : of->beside) {
      if (!copy.from) continue;
      ir::Value next = copy.from;
      for (const ir::Value by : copy.by)
        next = FinalBuilder::make(OpKind::Offset, {next, scalar(by)}, type_of(next));
      out.push_back(next);
    }
  aheads_.pop_back();
  return out;
}

// Words of two steps: of the one that is multiplied, and of the next one.
void ThreadAhead::read_first(Ahead& ahead, const Step& loop) {
  for (const bool is_left : {true, false}) {
    const OperandWords words =
        families().mma.words_of(*ahead.dot, products_.operand_of(*ahead.dot, is_left));
    ahead.words.emplace_back(words, families().mma.make_words(words, 1));
  }
  if (ahead.copies) place_copies(ahead, *loop.op);
  families().copies.wait_for_copies(*ahead.wait->op);
  const Loop nowhere = loop_with(*ahead.dot, {{"", 0}, {"", 0}}, {{}, {}});
  const ir::Value has_rounds =
      compare("lt", scalar(loop.op->operands[0]), scalar(loop.op->operands[1]));
  when(has_rounds, [&] {
    for (const std::size_t side : {0, 1})
      read_half(ahead, side,
                families().copies.slot_of(*ahead.reads[side], scalar(ahead.initial_slot)),
                ahead.words[side].second, nowhere);
  });
}

void ThreadAhead::read_half(const Ahead& ahead, std::size_t side, ir::Value slot, ir::Value into,
                            const Loop& around) {
  families().mma.read_words(*ahead.dot, ahead.words[side].first, into, around, slot);
}

// ---- In the loop

// After the last round the same slot is read once more.
void ThreadAhead::multiply_ahead(const Step& step, ir::Value sums) {
  const Ahead& of = *ahead();
  const DotPlan& plan = layouts_.plan_of(*step.op);
  Loop steps = loop_with(
      step, {{names_.make("step"), plan.sizes.depth - plan.shape.log_depth}, {"", 0}}, {{}, {}});
  const Loop nowhere = loop_with(step, {{"", 0}, {"", 0}}, {{}, {}});
  const auto half = [&](std::size_t side, ir::Value number) {
    const auto& [words, array] = of.words[side];
    const std::int64_t count = std::int64_t{1}
                               << (words.operand.log_words + words.operand.log_tiles);
    return view(array, sum({{number, count}}, i32));
  };
  const auto multiply = [&](ir::Value number) {
    families().mma.multiply_words(
        step, sums, {{of.words[0].first, half(0, number)}, {of.words[1].first, half(1, number)}},
        nowhere);
  };
  const ir::Value next_slot =
      named(FinalBuilder::make(OpKind::Select,
                               {has_next(*of.loop), scalar(of.next_slot), scalar(of.slot)},
                               Type::scalar(i32)),
            names_.make("next_slot"), *list_);
  std::array<ir::Value, 2> next;
  for (const std::size_t side : {0, 1})
    next[side] =
        named(families().copies.slot_of(*of.reads[side], next_slot),
              names_.make("next_" + out_.name_of(array(of.reads[side]->result()))), *list_);
  open_rounds(steps, 0, "depth", -1, {}, 1);
  const ir::Value at = steps.variables[0];
  for (const std::size_t side : {0, 1})
    read_half(of, side, array(of.reads[side]->result()), half(side, odd(at)), steps);
  for (CopyBeside& copy : ahead()->beside) start_beside(copy, steps, 1);
  multiply(odd(sum({{at}, {number(-1)}}, i32)));
  close(steps, 0);
  if (of.copies) statement(OpKind::CommitCopies, {}, *list_, {}, of.commit->op->location);
  families().copies.wait_for_copies(*of.wait->op);
  for (const std::size_t side : {0, 1})
    read_half(of, side, next[side], of.words[side].second, nowhere);
  multiply(number(1));
}

ir::Value ThreadAhead::odd(ir::Value value) {
  return FinalBuilder::make(OpKind::Digit, {value}, Type::scalar(i32),
                            {{"over", std::int64_t{1}}, {"of", std::int64_t{2}}});
}

// Whether the loop has another round.
ir::Value ThreadAhead::has_next(const ir::Op& loop) {
  const ir::Value index = scalar(loop.regions[0].arguments[0]);
  return compare("lt", sum({{index}, {scalar(loop.operands[2])}}, type_of(index).dtype),
                 scalar(loop.operands[1]));
}

// ---- Copies between the steps

// One place of each thread that goes along with the loop's pointers, and distances from there: the
// compiler would rather keep all places from before the loop, and have no registers left for the
// product.
void ThreadAhead::place_copies(Ahead& ahead, const ir::Op& loop) {
  for (const Step& step : ahead.copies->regions[0]) {
    const ir::Op& op = *step.ops.front();
    CopyBeside copy{.step = &step, .loop = {.plan = plans_.copy_loop(step)}};
    copy.loop.variables[of_thread] = thread_;
    copy.place = families().copies.copy_place(copy.loop, op);
    carry_pointer(copy, loop);
    ahead.beside.push_back(std::move(copy));
  }
}

// Where the pointers are a sum of one that the loop carries and what stays the same, and the loop
// adds to that one.
void ThreadAhead::carry_pointer(CopyBeside& copy, const ir::Op& loop) {
  const ir::Op* affine = plans_.formula_of(copy.loop.plan, *copy.step->ops.front());
  if (!affine || !is_argument_of(loop, affine->operands[0])) return;
  for (std::size_t i = 1; i < affine->operands.size(); ++i)
    if (!plans_.constant_of(affine->operands[i]) && !is_outside(kernel_, loop, affine->operands[i]))
      return;
  const std::vector<ir::Value>& arguments = loop.regions[0].arguments;
  const auto number = static_cast<std::size_t>(
      std::find(arguments.begin(), arguments.end(), affine->operands[0]) - arguments.begin());
  ir::Value next = loop.regions[0].ops.back()->operands[number - 1];
  std::vector<ir::Value> by;
  for (const ir::Op* maker = kernel_.maker(next); next != arguments[number];
       maker = kernel_.maker(next)) {
    if (!maker || maker->kind != OpKind::Offset) return;
    by.insert(by.begin(), maker->operands[1]);
    next = maker->operands[0];
  }
  const Frame& frame = copy.loop.plan.frame;
  const Place first = first_of_vector(frame.place, copy.loop.plan.log_vector);
  copy.base = affine->operands[0];
  copy.by = std::move(by);
  copy.from = moved_pointer(scalar(loop.operands[number + 2]), copy.loop, *affine,
                            only_variable(frame.space, first, of_thread));
}

void ThreadAhead::begin_beside() {
  Ahead& of = *ahead();
  if (!of.copies) return;
  of.starts = named(scalar(of.copies->op->operands[0]), names_.make("is_ahead"), *list_);
  for (CopyBeside& copy : of.beside)
    copy.slot = families().copies.begin_copies(*copy.step->ops.front());
}

// A part of the copies for each step from number `first_step` on.
void ThreadAhead::start_beside(CopyBeside& copy, const Loop& steps, int first_step) {
  Loop& loop = copy.loop;
  const ir::Op& op = *copy.step->ops.front();
  const std::int64_t parts =
      (std::int64_t{1} << steps.plan.frame.space.variables[0].bits) - first_step;
  const std::int64_t count = std::int64_t{1} << loop.plan.log_vectors;
  // As a product and a quotient: where compilers see at once how many copies a step has, they write
  // out these first, and hold more registers (a product in tf32 of 64 x 64 x 64: 128, then 210).
  const auto bound = [&](std::int64_t behind) {
    const ir::Value part = sum({{steps.variables[0]}, {number(behind - first_step)}}, i32);
    const ir::Value all = sum({{part, count}}, i32);
    if (parts == 1) return all;
    return FinalBuilder::make(OpKind::Divide, {all, number(parts)}, Type::scalar(i32));
  };
  ir::Op* vectors = out_.make_op(OpKind::For, {bound(0), bound(1), number(1)}, {}, {});
  vectors->set("over", std::string("vectors"));
  vectors->set("unroll", std::int64_t{-1});
  vectors->regions.resize(1);
  loop.variables[over_vectors] = out_.make_value(Type::scalar(i32), "k", nullptr);
  vectors->regions[0].arguments = {loop.variables[over_vectors]};
  insert(vectors, *list_);
  loop.scopes.emplace_back();
  region(vectors->regions[0], [&] {
    const Frame& frame = loop.plan.frame;
    const Place first = first_of_vector(frame.place, loop.plan.log_vector);
    const ir::Value to =
        view(copy.slot, moved(copy.place.at, copy.place.image, loop, copy.place.by_vector));
    const ir::Value from = copy.from
                               ? moved_pointer(copy.from, loop, *plans_.formula_of(loop.plan, op),
                                               only_variable(frame.space, first, over_vectors))
                               : element(loop, op.operands[0], first);
    const ir::Value wanted = families().copies.copy_wanted(loop, op);
    families().copies.start_copy(
        loop, op,
        {to, from, wanted ? wanted : constant_of(Type::scalar(b1), std::int64_t{1}),
         ahead()->starts});
    statement(OpKind::Yield, {}, *list_);
  });
  loop.scopes.pop_back();
}

}  // namespace tilewright
