// SPDX-License-Identifier: Apache-2.0
// ir/interpret/library.cpp — what the functions of machine/library.def do.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "ir/calls.h"
#include "ir/interpret/elementwise.h"
#include "ir/interpret/program.h"
#include "ir/interpret/shapes.h"

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

void LibraryCalls::call(const Op& op) {
  const LibraryFunction& function = function_of(op);
  switch (function.family) {
    case LibraryFamily::Value:
      return set_result(op, {result_type(op), {value_of_call(op, value_call(function))}});
    case LibraryFamily::Host:
      return call_of_host(op, host_call(function));
    case LibraryFamily::Thread:
      return call_of_thread(op, thread_call(function));
    case LibraryFamily::Together:
      fail(op, fmt::format("'{}' is called by all threads of a program", function.name));
  }
}

Element LibraryCalls::value_of_call(const Op& op, ValueCall function) {
  const auto number = [&](std::size_t k) { return operand(op, k).elements[0].f; };
  const auto constant = [&](std::size_t k) { return op.integers("numbers")[k]; };
  switch (function) {
    case ValueCall::Clip:
      return {.i = std::min(std::max(integer(op, 0), integer(op, 1)), integer(op, 2))};
    case ValueCall::ExpPlus: {
      const Element power[] = {{.f = number(0)}};
      const double exp = math_value("exp", DType::Float32, power).f;
      const double rounded = options_.float64 ? exp : round_to(DType::Float32, exp);
      return {.f = f32_of(op, OpKind::Add, rounded, number(1), options_.float64)};
    }
    case ValueCall::DivideFast:
      return {.f = f32_of(op, OpKind::Divide, number(0), number(1), options_.float64)};
    case ValueCall::Divide:
      return {.f = f32_of(op, OpKind::Divide, number(1), number(0), options_.float64)};
    case ValueCall::Copy:
    case ValueCall::Divisor:
    case ValueCall::PlainDivisor:
    case ValueCall::Here:
    case ValueCall::Uniform:
    case ValueCall::Settled:
      return operand(op, 0).elements[0];
    case ValueCall::IsLarge:
      // Either is right: every second program streams, so that both are tried.
      return {.i = (id_[0] + id_[1] + id_[2]) % 2};
    case ValueCall::IsAligned:
      return {.i = integer(op, 0) % constant(0) == 0};
    case ValueCall::IsRun:
      return {.i = is_run(op)};
    case ValueCall::InPlace:
    case ValueCall::RowOf:
      return operand(op, integer(op, 0) != 0 ? 1 : 2).elements[0];
    case ValueCall::ByTurns:
      return {.i = arrays_.make(op.result(), constant(0))};
    case ValueCall::OwnRow:
      return {.i = arrays_.make(op.result(), constant(0), constant(1), constant(2))};
    case ValueCall::Rotated:
      return {.i = (integer(op, 0) - integer(op, 1)) & (constant(0) - 1)};
    case ValueCall::WordOf:
    case ValueCall::WordAt:
      return {.i = parts().matrices.word_of(op)};
    case ValueCall::Advanced: {
      const std::size_t bytes = kernel_.type(op.operands[0]).pointee().element_bytes();
      return {.i = integer(op, 0) + integer(op, 1) * static_cast<std::int64_t>(bytes)};
    }
    case ValueCall::Describe:
      return {.i = parts().matrices.descriptor_of(op)};
    case ValueCall::Further:
      return {.i = integer(op, 0) + integer(op, 1)};
  }
  TW_UNREACHABLE("a function that is none");
}

void LibraryCalls::call_of_host(const Op& op, HostCall function) {
  switch (function) {
    case HostCall::Dot:
      return dot_of_arrays(op);
    case HostCall::RunningSum:
      return running_sum(op);
    case HostCall::MergeRuns: {
      const std::vector<std::int64_t> numbers = op.integers("numbers");
      const Tile runs = array_tile(op, 0, 1, integer(op, 1), 0, 1);
      return write_tile(op, 0, sort_tile(runs, numbers[0], numbers[1], sort_orders[numbers[2]]));
    }
    case HostCall::Stream:
      return stream(op);
    case HostCall::Map:
      return write_row(op, 2, integer(op, 0), integer(op, 1));
    case HostCall::Sum:
    case HostCall::SumF64:
    case HostCall::SumBeside:
    case HostCall::SumKept:
      return sum_row(op);
    case HostCall::Largest:
    case HostCall::LargestOrNan:
      return largest_of_row(op);
    case HostCall::Defer:
      // At once, which is one of the moments that it may be done at.
      return write_row(op, 0, 0, integer(op, 1));
    case HostCall::FinishStreams:
    case HostCall::WaitAMoment:
    case HostCall::FetchAhead:
    case HostCall::FetchBlock:
    case HostCall::RunDeferred:
    case HostCall::FinishDeferred:
      return;
  }
}

void LibraryCalls::call_of_thread(const Op& op, ThreadCall function) {
  switch (function) {
    case ThreadCall::CountOne:
      return parts().scans.count_one(op);
    case ThreadCall::FinishCopies:
      return parts().final_ops.finish_copies();
    case ThreadCall::ShowToProducts:
      return shared_.show(thread_);
    case ThreadCall::TakeProducts:
    case ThreadCall::ComputeBefore:
      static_cast<void>(read_array(op, 0, 0));
      return;
    case ThreadCall::SetUpRing:
      return parts().rings.set_up_ring(op);
    case ThreadCall::AcquireSlot:
      return parts().rings.acquire_slot(op);
    case ThreadCall::CopyBox:
      return parts().rings.copy_box(op);
    case ThreadCall::StoreBox:
      return parts().maps.store_box(op);
    case ThreadCall::WaitBoxes:
      return parts().maps.wait_stores(op.integers("numbers")[0] != 0);
    case ThreadCall::PrefetchMap:
      return;
  }
}

// Whether elements of an array are consecutive numbers.
bool LibraryCalls::is_run(const Op& op) const {
  const DType dtype = kernel_.type(op.operands[0]).dtype;
  bool holds = true;
  for (std::int64_t i = 0; i < integer(op, 1); ++i)
    holds &= read_array(op, 0, i).i == wrap(dtype, read_array(op, 0, 0).i + i);
  return holds;
}

void LibraryCalls::stream(const Op& op) {
  if (integer(op, 0) == 0) return;
  const Type& pointer = kernel_.type(op.operands[1]);
  const auto bytes = static_cast<std::int64_t>(pointer.pointee().element_bytes());
  for (std::int64_t i = 0; i < integer(op, 3); ++i) {
    if (const std::string problem = arrays_.problem(integer(op, 2), i, true); !problem.empty())
      fail(op, "stream reads " + problem);
    checked_write(op, integer(op, 1) + i * bytes, pointer.dtype, arrays_.read(integer(op, 2), i));
  }
}

double LibraryCalls::value_at(const Region& region, std::int64_t i) {
  set(region.arguments[0], {Type::scalar(i64), {Element{.i = i}}});
  return get(parts().program.run_region(region)->operands[0]).elements[0].f;
}

// Memory from the pointer on, which is an operand, gets the values of the region for first to last.
void LibraryCalls::write_row(const Op& op, std::size_t pointer, std::int64_t first,
                             std::int64_t last) {
  const Type& type = kernel_.type(op.operands[pointer]);
  const auto bytes = static_cast<std::int64_t>(type.pointee().element_bytes());
  const std::int64_t to = integer(op, pointer);
  parts().program.enter(op);
  for (std::int64_t i = first; i < last; ++i) {
    const double value = value_at(op.regions[0], i);
    checked_write(op, to + (i - first) * bytes, type.dtype,
                  {.f = options_.float64 ? value : round_to(type.dtype, value)});
  }
  parts().program.leave();
}

// Part by part, as the library does; what is done meanwhile is done behind each.
void LibraryCalls::sum_row(const Op& op) {
  constexpr std::int64_t part = 512;
  const std::int64_t first = integer(op, 1), last = integer(op, 2);
  const bool keeps = op.operands.size() > 3;
  const bool is_wide = options_.float64 || kernel_.type(op.operands[0]).dtype == DType::Float64;
  const auto add = [&](double a, double b) { return f32_of(op, OpKind::Add, a, b, is_wide); };
  parts().program.enter(op);
  double all = -0.0;  // 0 + -0 is 0
  for (std::int64_t from = first; from < last; from += part) {
    std::vector<double> terms;
    for (std::int64_t i = from; i < std::min(from + part, last); ++i) {
      terms.push_back(value_at(op.regions[0], i));
      if (keeps) write_array(op, 3, i, {.f = terms.back()});
    }
    // Neighbours first: the library has as many sums as a few vectors have lanes.
    for (std::size_t by = 1; by < terms.size(); by *= 2)
      for (std::size_t k = 0; k + by < terms.size(); k += 2 * by)
        terms[k] = add(terms[k], terms[k + by]);
    all = add(all, terms[0]);
    if (op.regions.size() < 2) continue;
    set(op.regions[1].arguments[0], {Type::scalar(i64), {Element{.i = from}}});
    parts().program.run_region(op.regions[1]);
  }
  parts().program.leave();
  write_array(op, 0, 0, {.f = add(read_array(op, 0, 0).f, all)});
}

void LibraryCalls::largest_of_row(const Op& op) {
  double most = read_array(op, 0, 0).f;
  bool has_nan = std::isnan(most);
  parts().program.enter(op);
  for (std::int64_t i = integer(op, 1), last = integer(op, 2); i < last; ++i) {
    const double value = value_at(op.regions[0], i);
    has_nan |= std::isnan(value);
    most = f32_of(op, OpKind::Maximum, most, value, options_.float64);
  }
  parts().program.leave();
  if (has_nan && calls(op, LibraryKind::LargestOrNan))
    most = std::numeric_limits<double>::quiet_NaN();
  write_array(op, 0, 0, {.f = most});
}

// ---- Tiles in arrays

// Rows and columns at distances in elements, of an operand that is an array or a pointer.
Tile LibraryCalls::array_tile(const Op& op, std::size_t array, std::int64_t rows,
                              std::int64_t columns, std::int64_t by_row,
                              std::int64_t by_column) const {
  Tile tile{Type::scalar(kernel_.type(op.operands[array]).dtype).with_shape({rows, columns}), {}};
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t column = 0; column < columns; ++column)
      tile.elements.push_back(read_array(op, array, row * by_row + column * by_column));
  return tile;
}

void LibraryCalls::write_tile(const Op& op, std::size_t array, const Tile& tile) {
  for (std::size_t i = 0; i < tile.size(); ++i)
    write_array(op, array, static_cast<std::int64_t>(i), tile.elements[i]);
}

void LibraryCalls::dot_of_arrays(const Op& op) {
  const std::vector<std::int64_t> sizes = op.integers("numbers");
  const std::int64_t rows = sizes[0], columns = sizes[1], depth = sizes[2];
  const Tile a = array_tile(op, 1, rows, depth, integer(op, 2), integer(op, 3));
  const Tile b = array_tile(op, 4, depth, columns, integer(op, 5), integer(op, 6));
  const Tile sums = array_tile(op, 0, rows, columns, columns, 1);
  const Op dot{.kind = OpKind::Dot, .location = op.location};
  write_tile(op, 0, product(dot, sums.type, a, b, sums));
}

void LibraryCalls::running_sum(const Op& op) {
  const std::int64_t count = integer(op, 1);
  const bool is_reverse = op.integers("numbers")[0] != 0;
  const Type type = kernel_.type(op.operands[0]).element();
  const Op add{.kind = OpKind::Add, .location = op.location};
  Tile sum{type, {}};
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t at = is_reverse ? count - 1 - k : k;
    const Tile next{type, {read_array(op, 0, at)}};
    const Tile* both[] = {&sum, &next};
    sum = k == 0 ? next : computed(add, type, both);
    write_array(op, 0, at, sum.elements[0]);
  }
}

}  // namespace tilewright::ir
