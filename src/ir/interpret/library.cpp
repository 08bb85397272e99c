// SPDX-License-Identifier: Apache-2.0
// ir/interpret/library.cpp — what the functions of machine/library.def do.
#include <algorithm>
#include <vector>

#include "base/check.h"
#include "ir/interpret/elementwise.h"
#include "ir/interpret/program.h"
#include "machine/library.h"

namespace tilewright::ir {
namespace {

double f32_of(const Op& op, OpKind kind, double a, double b, bool float64) {
  const Type type = Type::scalar(f32);
  const Op arithmetic{.kind = kind, .location = op.location};
  const Tile left{type, {Element{.f = a}}}, right{type, {Element{.f = b}}};
  const Tile* both[] = {&left, &right};
  return interpret_elementwise(arithmetic, type, both, float64).elements[0].f;
}

}  // namespace

void Program::call(const Op& op) {
  const LibraryFunction* function = find_library_function(op.text("function"));
  TW_CHECK(function, "there is no function '{}'", op.text("function"));
  const auto number = [&](std::size_t k) { return operand(op, k).elements[0].f; };
  const auto give = [&](Element element) { set_result(op, {result_type(op), {element}}); };
  switch (function->kind) {
    case LibraryKind::Clip:
      return give({.i = std::min(std::max(integer(op, 0), integer(op, 1)), integer(op, 2))});
    case LibraryKind::ExpPlus: {
      const Element power[] = {{.f = number(0)}};
      const double exp = math_value("exp", DType::Float32, power).f;
      const double rounded = options_.float64 ? exp : round_to(DType::Float32, exp);
      return give({.f = f32_of(op, OpKind::Add, rounded, number(1), options_.float64)});
    }
    case LibraryKind::DivideFast:
      return give({.f = f32_of(op, OpKind::Divide, number(0), number(1), options_.float64)});
    case LibraryKind::Copy:
    case LibraryKind::Divisor:
    case LibraryKind::PlainDivisor:
      return give(operand(op, 0).elements[0]);
    case LibraryKind::Divide:
      return give({.f = f32_of(op, OpKind::Divide, number(1), number(0), options_.float64)});
    case LibraryKind::IsLarge:
      // Either is right: every second program streams, so that both are tried.
      return give({.i = (id_[0] + id_[1] + id_[2]) % 2});
    case LibraryKind::RowOf:
      return give(operand(op, integer(op, 0) != 0 ? 1 : 2).elements[0]);
    case LibraryKind::Stream:
      return stream(op);
    case LibraryKind::Map:
      return write_row(op, 2, integer(op, 0), integer(op, 1));
    case LibraryKind::Sum:
    case LibraryKind::SumF64:
    case LibraryKind::SumBeside:
    case LibraryKind::SumKept:
      return sum_row(op);
    case LibraryKind::Largest:
      return largest_of_row(op);
    case LibraryKind::ByTurns:
      return give({.i = arrays_.make(op.result(), op.integers("numbers")[0])});
    case LibraryKind::Defer:
      // At once, which is one of the moments that it may be done at.
      return write_row(op, 0, 0, integer(op, 1));
    case LibraryKind::FinishStreams:
    case LibraryKind::WaitAMoment:
    case LibraryKind::FetchAhead:
    case LibraryKind::FetchBlock:
    case LibraryKind::FetchFarBlock:
    case LibraryKind::RunDeferred:
    case LibraryKind::FinishDeferred:
      return;
  }
}

void Program::stream(const Op& op) {
  if (integer(op, 0) == 0) return;
  const Type& pointer = kernel_.type(op.operands[1]);
  const auto bytes = static_cast<std::int64_t>(pointer.pointee().element_bytes());
  for (std::int64_t i = 0; i < integer(op, 3); ++i) {
    if (const std::string problem = arrays_.problem(integer(op, 2), i, true); !problem.empty())
      fail(op, "stream reads " + problem);
    checked_write(op, integer(op, 1) + i * bytes, pointer.dtype, arrays_.read(integer(op, 2), i));
  }
}

double Program::value_at(const Region& region, std::int64_t i) {
  set(region.arguments[0], {Type::scalar(i64), {Element{.i = i}}});
  return get(run_region(region)->operands[0]).elements[0].f;
}

// Memory from the pointer on, which is an operand, gets the values of the region for first to last.
void Program::write_row(const Op& op, std::size_t pointer, std::int64_t first, std::int64_t last) {
  const Type& type = kernel_.type(op.operands[pointer]);
  const auto bytes = static_cast<std::int64_t>(type.pointee().element_bytes());
  const std::int64_t to = integer(op, pointer);
  enter(op);
  for (std::int64_t i = first; i < last; ++i) {
    const double value = value_at(op.regions[0], i);
    checked_write(op, to + (i - first) * bytes, type.dtype,
                  {.f = options_.float64 ? value : round_to(type.dtype, value)});
  }
  leave();
}

// Part by part, as the library does; what is done meanwhile is done behind each.
void Program::sum_row(const Op& op) {
  constexpr std::int64_t part = 512;
  const std::int64_t sum = integer(op, 0), first = integer(op, 1), last = integer(op, 2);
  const bool keeps = op.operands.size() > 3;
  const std::int64_t row = keeps ? integer(op, 3) : 0;
  const bool is_wide = options_.float64 || kernel_.type(op.operands[0]).dtype == DType::Float64;
  const auto add = [&](double a, double b) { return f32_of(op, OpKind::Add, a, b, is_wide); };
  enter(op);
  double all = 0;
  for (std::int64_t from = first; from < last; from += part) {
    std::vector<double> terms;
    for (std::int64_t i = from; i < std::min(from + part, last); ++i) {
      terms.push_back(value_at(op.regions[0], i));
      if (keeps) write_array(op, row, i, {.f = terms.back()});
    }
    // Neighbours first: the library has as many sums as a few vectors have lanes.
    for (std::size_t by = 1; by < terms.size(); by *= 2)
      for (std::size_t k = 0; k + by < terms.size(); k += 2 * by)
        terms[k] = add(terms[k], terms[k + by]);
    all = add(all, terms[0]);
    if (op.regions.size() < 2) continue;
    set(op.regions[1].arguments[0], {Type::scalar(i64), {Element{.i = from}}});
    run_region(op.regions[1]);
  }
  leave();
  write_array(op, sum, 0, {.f = add(read_array(op, sum, 0).f, all)});
}

void Program::largest_of_row(const Op& op) {
  const std::int64_t largest = integer(op, 0);
  double most = read_array(op, largest, 0).f;
  enter(op);
  for (std::int64_t i = integer(op, 1), last = integer(op, 2); i < last; ++i)
    most = f32_of(op, OpKind::Maximum, most, value_at(op.regions[0], i), options_.float64);
  leave();
  write_array(op, largest, 0, {.f = most});
}

}  // namespace tilewright::ir
