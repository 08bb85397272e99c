// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_sorts.cpp — ops whose elements all threads meet over in an array of shared
// memory: sorts, by a call, histograms, by counting one element after the other, and prints, by the
// first thread.
#include "codegen/lower/thread_sorts.h"

#include <algorithm>
#include <bit>

#include "codegen/cuda/program_shape.h"
#include "codegen/lower/thread_families.h"
#include "machine/sorted_places.h"
#include "passes/laid/op_facts.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

namespace {

int log_of(std::int64_t count) { return std::countr_zero(static_cast<std::uint64_t>(count)); }

}  // namespace

// ---- Sorts

// Where machine/sorted_places.h has the element that a loop is at.
ir::Value ThreadSorts::sorted_place(Loop& loop, int log_count) {
  const ir::Value at = index(loop, loop.plan.frame.place);
  if (!moves_sorted(log_count, log_threads())) return at;
  const ir::Value higher = FinalBuilder::make(
      OpKind::Digit, {at}, Type::scalar(i32),
      {{"over", std::int64_t{1} << log_sorted(log_count, log_threads())}, {"of", sort_banks}});
  return FinalBuilder::make(OpKind::Xor, {at, higher}, Type::scalar(i32));
}

void ThreadSorts::sort(const Step& step) {
  const ir::Op& op = *step.op;
  const Type& type = kernel_.type(op.result());
  const int log_count = bits_of_type(type);
  const ir::Value runs = make_scratch(op, type.element(), type.numel(), "runs_shared");
  Loop loop = make(step, layouts_.of_array(op.result()));
  open_all(loop);
  const Place& place = loop.plan.frame.place;
  std::vector<ir::Value> operands = {runs, sorted_place(loop, log_count),
                                     element(loop, op.operands[0], place)};
  if (const ir::Value own = owner(*loop.plan.frame.layout)) operands.push_back(own);
  statement(OpKind::Write, operands, *list_, {}, op.location);
  close_all(loop);
  std::int64_t order = 0;
  while (sort_orders[order] != op.text("order")) ++order;
  statement(OpKind::Call, {runs}, *list_,
            {{"function", std::string(name_of(LibraryKind::SortBlock))},
             {"numbers", std::vector<std::int64_t>{op.integer("first"), op.integer("last"), order,
                                                   log_count, log_threads()}}},
            op.location);
  families().tiles.for_each_result(step, [&](Loop& result) {
    return FinalBuilder::make(OpKind::Read, {runs, sorted_place(result, log_count)},
                              type.element());
  });
}

// ---- Histograms

// All numbers below the count, the threads' one after the other: the loop's place is the number.
void ThreadSorts::for_each_number(const Step& step, std::int64_t count,
                                  const std::function<void(Loop&)>& body) {
  const int log_count = log_of(count), threads = log_threads();
  const int own = std::min(log_count, threads);
  Loop loop;
  loop.plan.frame.step = &step;
  loop.plan.frame.space = {{{"k", log_count - own}, {"thread", threads}}};
  loop.variables = {{}, thread_};
  std::vector<std::uint64_t> columns;
  for (int j = own; j < log_count; ++j) columns.push_back(std::uint64_t{1} << j);
  for (int j = 0; j < threads; ++j) columns.push_back(j < own ? std::uint64_t{1} << j : 0);
  loop.plan.frame.place = {BitMatrix(log_count, std::move(columns)), 0};
  const auto all_rounds = [&] {
    open(loop, 0, "elements", false);
    body(loop);
    close(loop, 0);
  };
  if (own == threads) return all_rounds();
  when(compare("lt", thread_, number(count)), all_rounds);
}

// Counted in shared memory, then read by whoever holds the element.
void ThreadSorts::histogram(const Step& step) {
  const ir::Op& op = *step.op;
  const Type& type = kernel_.type(op.result());
  const Type count = Type::scalar(i32);
  const ir::Value counts = make_scratch(op, count, type.numel(), "counts_shared");
  for_each_number(step, type.numel(), [&](Loop& loop) {
    statement(OpKind::Write, {counts, linear(loop, loop.plan.frame.place), number(0)}, *list_, {},
              op.location);
  });
  for_each_number(step, kernel_.type(op.operands[0]).numel(), [&](Loop& loop) {
    const Place& place = loop.plan.frame.place;
    const ir::Value bin =
        named(cast(element(loop, op.operands[0], place), i64), names_.make("bin"), *list_);
    std::vector<ir::Value> conditions = {compare("ge", bin, number(0, i64)),
                                         compare("lt", bin, number(type.numel(), i64))};
    if (op.mask()) conditions.push_back(element(loop, op.mask(), place));
    when(all(conditions), [&] {
      statement(OpKind::Call, {counts, bin}, *list_,
                {{"function", std::string(name_of(LibraryKind::CountOne))}}, op.location);
    });
  });
  families().tiles.for_each_result(step, [&](Loop& result) {
    const ir::Value at = index(result, result.plan.frame.place);
    return cast(FinalBuilder::make(OpKind::Read, {counts, at}, count), type.dtype);
  });
}

// ---- Prints

void ThreadSorts::print_scalars(const ir::Op& op) {
  when(compare("eq", thread_, number(0)), [&] {
    if (op.operands.empty()) statement(OpKind::Print, {}, *list_, op.attributes, op.location);
    for (const ir::Value value : op.operands)
      statement(OpKind::Print, {scalar(value)}, *list_, op.attributes, op.location);
  });
}

// One line for each element, as ir/interpret prints it.
void ThreadSorts::print(const Step& step) {
  const ir::Op& op = *step.op;
  when(compare("eq", thread_, number(0)), [&] {
    for (const ir::Value value : op.operands) {
      if (!is_tile(kernel_, value)) {
        statement(OpKind::Print, {scalar(value)}, *list_, op.attributes, op.location);
        continue;
      }
      const int bits = bits_of_type(kernel_.type(value));
      Loop loop;
      loop.plan.frame.step = &step;
      loop.plan.frame.space = {{{names_.make("e"), bits}}};
      loop.plan.frame.place = IndexMap::identity(bits);
      loop.variables = {number(0)};
      open(loop, 0, "elements", false);
      statement(OpKind::Print, {element(loop, value, loop.plan.frame.place), loop.variables[0]},
                *list_, op.attributes, op.location);
      close(loop, 0);
    }
  });
}

}  // namespace tilewright
