// SPDX-License-Identifier: Apache-2.0
// ir/interpret/final_ops.cpp — arrays and index arithmetic, and vectors between arrays and memory.
#include "ir/interpret/final_ops.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "ir/interpret/program.h"

namespace tilewright::ir {

void FinalOps::final_stage(const Op& op) {
  switch (final_op(op.kind)) {
    case FinalOp::Array:
      return make_array(op);
    case FinalOp::Group:
      return make_group(op);
    case FinalOp::ArrayView:
      return set_result(op, {result_type(op), {view_of(op)}});
    case FinalOp::Read:
      return set_result(op, {result_type(op), {read_array(op, 0, integer(op, 1))}});
    case FinalOp::Write:
      if (op.operands.size() < 4 || integer(op, 3) != 0)
        write_array(op, 0, integer(op, 1), operand(op, 2).elements[0]);
      return;
    case FinalOp::Linear:
      return linear(op);
    case FinalOp::Digit: {
      const std::int64_t whole = integer(op, 0) / op.integer("over");
      const std::int64_t of = op.integer("of");
      return set_result(op, {result_type(op), {Element{.i = of == 0 ? whole : whole % of}}});
    }
    case FinalOp::All: {
      bool holds = true;
      for (std::size_t k = 0; k < op.operands.size(); ++k) holds &= integer(op, k) != 0;
      return set_result(op, {result_type(op), {Element{.i = holds}}});
    }
    case FinalOp::Call:
      return parts().library.call(op);
    case FinalOp::ForPrograms: {
      // The range that the interpreter runs has one program.
      parts().program.enter(op);
      std::vector<Tile> values = values_of(op.operands);
      note_moves(op.regions[0].arguments, op.operands);
      set_all(op.regions[0].arguments, values);
      parts().program.run_region(op.regions[0]);
      return parts().program.leave();
    }
    case FinalOp::Thread:
      return set_result(op, {result_type(op), {Element{.i = thread_}}});
    case FinalOp::LoadTo:
      return load_vector(op);
    case FinalOp::StoreFrom:
      return store_vector(op);
    case FinalOp::CopyTo:
      return start_copy(op);
    case FinalOp::Lines:
      return;
  }
}

void FinalOps::make_group(const Op& op) {
  for (std::size_t k = 0; k < op.results.size(); ++k) {
    const bool is_shared = result_type(op, k).space == Space::Shared;
    const std::int64_t handle = is_shared ? shared_.make(op, k, 0, result_type(op, k).dtype)
                                          : arrays_.make(op.results[k], op.integer("count"));
    set_result(op, {result_type(op, k), {Element{.i = handle}}}, k);
  }
}

void FinalOps::make_array(const Op& op) {
  if (result_type(op).space == Space::Shared) {
    const auto bytes = static_cast<std::int64_t>(result_type(op).element().element_bytes());
    return set_result(
        op, {result_type(op), {Element{.i = shared_.make(op, 0, bytes, result_type(op).dtype)}}});
  }
  const std::int64_t handle = arrays_.make(op.result(), op.integer("count"));
  if (!op.operands.empty())
    for (std::int64_t i = 0; i < op.integer("count"); ++i)
      arrays_.write(handle, i, operand(op, 0).elements[0]);
  // A variable without an initial value is zero, as C++ has it.
  else if (result_type(op).space == Space::Registers && op.integer("unset") == 0)
    arrays_.write(handle, 0, Element{.i = 0});
  set_result(op, {result_type(op), {Element{.i = handle}}});
}

Element FinalOps::view_of(const Op& op) const {
  const std::int64_t handle = integer(op, 0), index = integer(op, 1);
  if (Arrays::is_array(handle)) return {.i = Arrays::view(handle, index)};
  return {.i = handle +
               index * static_cast<std::int64_t>(result_type(op).element().element_bytes())};
}

// Whether element `i` of a vector is moved: operands from number `first` on guard it.
std::optional<std::int64_t> FinalOps::moved_place(const Op& op, std::size_t pointer,
                                                  std::size_t guards, std::int64_t i) const {
  if (op.integer("rotates") != 0) return rotated_place(op, pointer, i);
  if (!is_moved(op, 2, guards, i)) return std::nullopt;
  const Type pointee = kernel_.type(op.operands[pointer]).pointee();
  return integer(op, pointer) + i * static_cast<std::int64_t>(pointee.element_bytes());
}

bool FinalOps::is_moved(const Op& op, std::size_t first, std::size_t guards, std::int64_t i) const {
  if (guards == 0) return true;
  if (guards == 1) return integer(op, first) != 0;
  return i >= integer(op, first) && i < integer(op, first + 1);
}

// Bounds inside of a vector that moves in parts are multiples of one.
void FinalOps::check_parts(const Op& op) const {
  if (op.integer("parts") == 0) return;
  for (const std::size_t k : {2, 3}) {
    const std::int64_t bound = std::clamp<std::int64_t>(integer(op, k), 0, op.integer("count"));
    if (bound % op.integer("width") != 0)
      fail(op, fmt::format("{} moves parts of {} elements, but a bound is {}", op.facts().name,
                           op.integer("width"), bound));
  }
}

void FinalOps::load_vector(const Op& op) {
  check_parts(op);
  check_rotated(op, 1);
  if (kernel_.type(op.operands[1]).is_array()) {
    for (std::int64_t i = 0; i < op.integer("count"); ++i)
      write_array(op, 0, i, read_array(op, 1, i));
    return;
  }
  const std::size_t guards = op.operands.size() < 3 ? 0 : op.operands.size() - 3;
  if (op.integer("copies") != 0) return start_copy(op, guards);
  const DType dtype = kernel_.type(op.operands[1]).dtype;
  for (std::int64_t i = 0; i < op.integer("count"); ++i) {
    const std::optional<std::int64_t> from = moved_place(op, 1, guards, i);
    write_array(op, 0, i,
                from ? checked_read(op, *from, dtype) : get(op.operands.back()).elements[0]);
  }
}

void FinalOps::store_vector(const Op& op) {
  check_parts(op);
  check_rotated(op, 0);
  if (kernel_.type(op.operands[0]).is_array()) {
    for (std::int64_t i = 0; i < op.integer("count"); ++i)
      write_array(op, 0, i, read_array(op, 1, i));
    return;
  }
  const Type pointee = kernel_.type(op.operands[0]).pointee();
  const bool adds = op.find("adds") != nullptr;
  for (std::int64_t i = 0; i < op.integer("count"); ++i) {
    const std::optional<std::int64_t> pointer = moved_place(op, 0, op.operands.size() - 2, i);
    if (!pointer) continue;
    Element element = read_array(op, 1, i);
    if (adds) element = sum_in_memory(op, *pointer, pointee, element);
    checked_write(op, *pointer, pointee.dtype, element);
  }
}

void FinalOps::linear(const Op& op) {
  const std::vector<std::int64_t> factors = op.integers("factors");
  std::int64_t sum = op.integer("offset");
  std::size_t stride = factors.size();
  for (std::size_t k = 0; k < factors.size(); ++k)
    sum += integer(op, k) * (factors[k] != 0 ? factors[k] : integer(op, stride++));
  set_result(op, {result_type(op), {Element{.i = wrap(result_type(op).dtype, sum)}}});
}

}  // namespace tilewright::ir
