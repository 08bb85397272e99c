// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_reductions.cpp — elements combined by the thread that holds them, then over
// the lanes of a warp and over warps by calls. Threads that hold copies do the same work and get
// the same result, so that nothing counts twice.
#include "codegen/lower/thread_reductions.h"

#include <fmt/format.h>

#include "codegen/lower/combine_facts.h"
#include "codegen/lower/thread_families.h"
#include "codegen/lower/thread_lowering.h"
#include "passes/laid/op_facts.h"
#include "passes/laid/tile_reads.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

namespace {

// Of sums of small floats.
constexpr Type sum_type{.dtype = DType::Float32};

}  // namespace

// ---- Around the loop over elements

ThreadReductions::Reduction ThreadReductions::begin_reduction(const Step& step, const ir::Op& op) {
  Reduction out{.op = &op, .plan = plan_reduce(kernel_, schedule_, layouts_, step, op)};
  out.registers = out.plan.kept.register_count();
  const ir::Op* single = only_op(op.regions[0]);
  const Type own_type = kernel_.type(op.operands[0]).element();
  const bool is_sum = single && single->kind == OpKind::Add;
  // Sums of small floats are rounded at the end.
  out.is_wide = is_sum && own_type.is_float() && size_of(own_type.dtype) < 4;
  out.has_identity = is_sum && out.plan.registers != 0;
  const std::string& own_name = kernel_.name_of(op.results[0]);
  const std::string base = own_name.empty() ? std::string(total_name(single)) : own_name;
  out.name = names_.make(out.is_wide ? base + "_f32" : base);
  declare_totals(out);
  return out;
}

std::vector<Type> ThreadReductions::total_types(const Reduction& reduction) const {
  std::vector<Type> out;
  for (const ir::Value operand : reduction.op->operands)
    out.push_back(reduction.is_wide ? sum_type : kernel_.type(operand).element());
  return out;
}

void ThreadReductions::declare_totals(Reduction& reduction) {
  const bool is_one = reduction.registers == 1;
  const ir::Space space = is_one ? ir::Space::Registers : ir::Space::Stack;
  const std::vector<Type> types = total_types(reduction);
  if (types.size() > 1) {
    reduction.type = names_.make("Group");
    reduction.totals = make_group(reduction, space, reduction.registers, *list_);
    return;
  }
  std::vector<ir::Value> initial;
  if (reduction.has_identity)  // of floats -0: 0 + -0 is 0
    initial.push_back(types[0].is_float() ? constant_of(types[0], -0.0) : zero_of(types[0]));
  std::vector<ir::Attribute> attributes = {{"count", std::int64_t{reduction.registers}}};
  if (is_one && !reduction.has_identity) attributes.push_back({"unset", std::int64_t{1}});
  reduction.totals = {named(FinalBuilder::make(OpKind::Array, initial, Type::array(types[0], space),
                                               attributes, reduction.op->location),
                            reduction.name, *list_)};
}

std::vector<ir::Value> ThreadReductions::make_group(const Reduction& reduction, ir::Space space,
                                                    std::int64_t count, Statements& list,
                                                    const std::string& name) {
  std::vector<Type> types = total_types(reduction);
  for (Type& type : types) type = Type::array(type, space);
  const bool is_shared = space == ir::Space::Shared;
  ir::Op* op = out_.make_op(OpKind::Group, {}, types,
                            is_shared ? ir::Location{} : reduction.op->location);
  op->set("type", reduction.type);
  op->set("count", count);
  const std::string base = name.empty() ? reduction.name : name;
  for (std::size_t k = 0; k < types.size(); ++k)
    out_.set_name(op->results[k], k == 0 ? base : names_.make(fmt::format("{}_v{}", base, k)));
  insert(op, list);
  return op->results;
}

// Whether the thread's element is the first of its total.
std::vector<ir::Value> ThreadReductions::is_first(const Loop& loop, const ir::Op& reduce) {
  const Frame& frame = loop.plan.frame;
  const IndexMap along = compose(combined_map(frame.step->shape, reduce), frame.place);
  std::vector<ir::Value> out;
  for (std::size_t i = 3; i-- > 0;) {
    // Only which bits are combined counts, not how far they go.
    std::vector<std::uint64_t> columns(static_cast<std::size_t>(frame.space.bits()));
    int used = 0;
    const int base = frame.space.first_bit_of(i);
    for (int j = 0; j < frame.space.variables[i].bits; ++j)
      if (along.matrix.column(base + j) != 0)
        columns[static_cast<std::size_t>(base + j)] = std::uint64_t{1} << used++;
    if (used == 0) continue;
    const ir::Value bits = linear(loop, {BitMatrix(used, std::move(columns)), 0}, i, i + 1);
    out.push_back(compare("eq", bits, number(0)));
  }
  return out;
}

// Which of the thread's totals an element belongs to.
ir::Value ThreadReductions::total_index(const Loop& loop, const Reduction& reduction) {
  if (reduction.registers == 1) return number(0);
  const Frame& frame = loop.plan.frame;
  const BitMatrix& kept = reduction.plan.kept.registers();
  const IndexMap slice = total_map(frame.step->shape, *reduction.op);
  std::vector<std::uint64_t> columns;
  const int registers = frame.layout->registers().columns();
  for (int j = 0; j < frame.space.bits(); ++j)
    columns.push_back(
        j < registers ? *kept.solve(slice.matrix(frame.layout->registers().column(j))) : 0);
  return linear(loop, {BitMatrix(kept.columns(), std::move(columns)), 0});
}

std::vector<ir::Value> ThreadReductions::combined(const ir::Region& region,
                                                  const std::vector<ir::Value>& both) {
  for (std::size_t k = 0; k < both.size(); ++k) scalars_[region.arguments[k].id] = both[k];
  families().program.scalars_of(region);
  std::vector<ir::Value> out;
  for (const ir::Value value : region.ops.back()->operands) out.push_back(scalar(value));
  return out;
}

void ThreadReductions::add_to(Loop& loop, const Reduction& reduction) {
  const ir::Op& op = *reduction.op;
  std::vector<ir::Value> values;
  for (const ir::Value operand : op.operands)
    values.push_back(element(loop, operand, loop.plan.frame.place));
  if (reduction.is_wide) values[0] = cast(values[0], sum_type.dtype);
  const ir::Value at = total_index(loop, reduction);
  const auto write = [&](const std::vector<ir::Value>& all) {
    for (std::size_t k = 0; k < all.size(); ++k)
      statement(OpKind::Write, {reduction.totals[k], at, all[k]}, *list_, {}, op.location);
  };
  if (reduction.plan.registers == 0) return write(values);
  const auto add = [&] {
    std::vector<ir::Value> both;
    for (const ir::Value total : reduction.totals)
      both.push_back(FinalBuilder::make(OpKind::Read, {total, at}, type_of(total).element()));
    both.insert(both.end(), values.begin(), values.end());
    std::vector<ir::Value> sums;
    if (reduction.is_wide)
      sums = {FinalBuilder::make(OpKind::Add, both, sum_type, {}, op.location)};
    else sums = combined(op.regions[0], both);
    // None is written while another one is still to be computed.
    if (sums.size() > 1)
      for (ir::Value& sum : sums) sum = named(sum, names_.make("next"), *list_);
    write(sums);
  };
  if (reduction.has_identity) return add();
  const std::vector<ir::Value> first = is_first(loop, op);
  choose(all(first), [&] { write(values); }, add);
}

// ---- Over threads

void ThreadReductions::end_reduction(const Reduction& reduction) {
  const ReducePlan& plan = reduction.plan;
  if (plan.lanes != 0 || plan.warps != 0) combine_threads(reduction);
  for (std::size_t k = 0; k < reduction.op->results.size(); ++k) publish(reduction, k);
}

void ThreadReductions::combine_threads(const Reduction& reduction) {
  const ReducePlan& plan = reduction.plan;
  const bool is_block = plan.warps != 0;
  const bool in_order = !reduction.is_wide && !is_symmetric(reduction.op->regions[0]);
  std::vector<std::int64_t> numbers = {plan.lanes};
  if (is_block) numbers.push_back(plan.warps);
  numbers.insert(numbers.end(), {reduction.registers, in_order ? 1 : 0});
  if (plan.is_over_cluster && !has_begun_)
    statement(OpKind::Call, {}, *list_,
              {{"function", std::string(name_of(LibraryKind::ClusterWait))}},
              reduction.op->location);
  has_begun_ |= plan.is_over_cluster;
  call_combining(reduction,
                 plan.is_over_cluster ? LibraryKind::ReduceCluster
                 : is_block           ? LibraryKind::ReduceBlock
                                      : LibraryKind::ReduceLanes,
                 std::move(numbers));
}

// A function that combines elements of all threads, handed the op's region; through slots where
// warps meet.
void ThreadReductions::call_combining(const Reduction& reduction, LibraryKind kind,
                                      std::vector<std::int64_t> numbers,
                                      const std::vector<ir::Value>& more) {
  const ir::Region& combine = reduction.op->regions[0];
  std::vector<ir::Value> operands = reduction.totals;
  operands.insert(operands.end(), more.begin(), more.end());
  if (find_library_function(name_of(kind))->operands.ends_with('S')) {
    const std::vector<ir::Value> slots = make_slots(reduction);
    operands.insert(operands.end(), slots.begin(), slots.end());
  }
  ir::Op* call = out_.make_op(OpKind::Call, operands, {}, reduction.op->location);
  call->set("function", std::string(name_of(kind)));
  call->set("numbers", std::move(numbers));
  call->set("named", names_.make("combine"));
  call->regions.resize(1);
  ir::Region& function = call->regions[0];
  for (const char* side : {"a", "b"})
    for (const ir::Value total : reduction.totals)
      function.arguments.push_back(
          out_.make_value(type_of(total).element(), names_.make(side), nullptr));
  insert(call, *list_);
  region(function, [&] {
    const std::vector<ir::Value> both = function.arguments;
    statement(OpKind::Yield,
              reduction.is_wide ? std::vector{FinalBuilder::make(OpKind::Add, both, sum_type)}
                                : combined(combine, both),
              *list_);
  });
}

// Where warps meet.
std::vector<ir::Value> ThreadReductions::make_slots(const Reduction& reduction) {
  const ir::KernelBuffer& scratch =
      kernel_.buffers[kernel_.buffer_named(reduction.op->text("scratch"))];
  const std::string name = names_.make(reduction.name + "_slots");
  if (reduction.totals.size() > 1) {
    const std::vector<ir::Value> slots =
        make_group(reduction, ir::Space::Shared, reduction.plan.slots, shared_, name);
    out_.maker(slots[0])->set("offset", scratch.offset);
    return slots;
  }
  return {named(FinalBuilder::make(OpKind::Array, {},
                                   Type::array(total_types(reduction)[0], ir::Space::Shared),
                                   {{"count", reduction.plan.slots}, {"offset", scratch.offset}}),
                name, shared_)};
}

// Makes a total the op's result: the scalar itself, or the elements of its array.
void ThreadReductions::publish(const Reduction& reduction, std::size_t number_of_result) {
  const ir::Value result = reduction.op->results[number_of_result];
  const ir::Value total = reduction.totals[number_of_result];
  const Type element = kernel_.type(result).element();
  const auto rounded = [&](ir::Value at) {
    return cast(FinalBuilder::make(OpKind::Read, {total, at}, type_of(total).element()),
                element.dtype);
  };
  if (!is_tile(kernel_, result) && state_.shares_seen == SharedLooks::Totals) {
    scalars_[result.id] = families().scalars.from_one_thread(
        element, names_.make(kernel_.name_of(result), "total"), reduction.op->location,
        [&] { return rounded(number(0)); });
    return;
  }
  if (!is_tile(kernel_, result)) {
    if (!reduction.is_wide) return write_at_uses(result, rounded(number(0)));
    scalars_[result.id] = named(rounded(number(0)), names_.make(kernel_.name_of(result), "sum"),
                                *list_);
    return;
  }
  if (!schedule_.is_placed(result)) return;
  const std::uint32_t storage = schedule_.storage(result).id;
  const bool is_array = reduction.registers > 1 && reduction.totals.size() == 1 &&
                        !layouts_.is_shared(result);
  if (is_array && !reduction.is_wide && !arrays_.contains(storage)) {
    arrays_[storage] = total;
    return;
  }
  declare(result);
  for_all_registers(reduction.registers, [&](ir::Value k) {
    if (layouts_.is_shared(result)) return share_total(reduction, result, k, rounded(k));
    statement(OpKind::Write, {array(result), k, rounded(k)}, *list_);
  });
}

// To its place in shared memory, by a thread that has it.
void ThreadReductions::share_total(const Reduction& reduction, ir::Value result, ir::Value k,
                                   ir::Value total) {
  const Layout& kept = reduction.plan.kept;
  Loop loop;
  loop.plan.frame.space = {{{"k", kept.registers().columns()}, {"thread", kept.thread_bits()}}};
  loop.variables = {k, thread_};
  const ir::Value at = linear(loop, layouts_.swizzle_of(result)({kept.matrix(), 0}));
  std::vector<ir::Value> operands = {array(result), at, total};
  if (const ir::Value own = owner(kept)) operands.push_back(own);
  statement(OpKind::Write, operands, *list_);
}

}  // namespace tilewright
