// SPDX-License-Identifier: Apache-2.0
// ir/interpret/arrays.cpp — arrays, and the ops on them and on places in them.
#include "ir/interpret/arrays.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "ir/interpret/elementwise.h"
#include "ir/interpret/program.h"

namespace tilewright::ir {
namespace {

// The highest buffer number: launches have far fewer.
constexpr int array_tag = 0xfffe;
constexpr int owner_shift = 28;
constexpr std::int64_t first_mask = (std::int64_t{1} << owner_shift) - 1;

Type element_type_of(const Type& array_or_pointer) {
  return array_or_pointer.is_array() ? array_or_pointer.element() : array_or_pointer.pointee();
}

}  // namespace

std::int64_t Arrays::make(Value owner, std::int64_t count, std::int64_t vector,
                          std::int64_t apart) {
  TW_CHECK(owner.id < (1u << (TaggedPointer::tag_shift - owner_shift)) && count <= first_mask,
           "an array of {} elements is too large to be interpreted", count);
  Row& row = elements_[owner.id];
  row.elements.assign(static_cast<std::size_t>(count), std::nullopt);
  row.vector = vector;
  row.step = vector * apart;
  return handle_of(owner);
}

std::int64_t Arrays::handle_of(Value owner) {
  return TaggedPointer::make(array_tag, static_cast<std::uint64_t>(owner.id) << owner_shift);
}

bool Arrays::is_array(std::int64_t handle) { return TaggedPointer::buffer(handle) == array_tag; }
std::int64_t Arrays::view(std::int64_t handle, std::int64_t index) { return handle + index; }

std::uint32_t Arrays::owner_of(std::int64_t handle) {
  return static_cast<std::uint32_t>(TaggedPointer::address(handle) >> owner_shift);
}
std::int64_t Arrays::first_of(std::int64_t handle) {
  return static_cast<std::int64_t>(TaggedPointer::address(handle)) & first_mask;
}

std::int64_t Arrays::Row::number(std::int64_t index) const {
  if (step == vector) return index;
  return index >= 0 && index % step < vector ? index / step * vector + index % step : -1;
}

std::string Arrays::problem(std::int64_t handle, std::int64_t index, bool reads) const {
  const Row& row = elements_.at(owner_of(handle));
  const auto& elements = row.elements;
  if (row.number(first_of(handle) + index) < 0 && first_of(handle) + index >= 0)
    return fmt::format("index {} of a row, which is another thread's", first_of(handle) + index);
  const std::int64_t at = row.number(first_of(handle) + index);
  if (at < 0 || at >= static_cast<std::int64_t>(elements.size()))
    return fmt::format("index {} of an array of {} elements", at, elements.size());
  if (reads && !elements[static_cast<std::size_t>(at)])
    return fmt::format("index {} of an array, which nothing has written", at);
  return "";
}

Element Arrays::read(std::int64_t handle, std::int64_t index) const {
  const Row& row = elements_.at(owner_of(handle));
  return *row.elements[static_cast<std::size_t>(row.number(first_of(handle) + index))];
}

void Arrays::write(std::int64_t handle, std::int64_t index, Element element) {
  Row& row = elements_.at(owner_of(handle));
  row.elements[static_cast<std::size_t>(row.number(first_of(handle) + index))] = element;
}

// ---- The ops of stage Final

void Program::final_stage(const Op& op) {
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
      return call(op);
    case FinalOp::ForPrograms: {
      // The range that the interpreter runs has one program.
      enter(op);
      std::vector<Tile> values = values_of(op.operands);
      note_moves(op.regions[0].arguments, op.operands);
      set_all(op.regions[0].arguments, values);
      run_region(op.regions[0]);
      return leave();
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

void Program::make_group(const Op& op) {
  for (std::size_t k = 0; k < op.results.size(); ++k) {
    const bool is_shared = result_type(op, k).space == Space::Shared;
    const std::int64_t handle = is_shared ? shared_.make(op, k, 0, result_type(op, k).dtype)
                                          : arrays_.make(op.results[k], op.integer("count"));
    set_result(op, {result_type(op, k), {Element{.i = handle}}}, k);
  }
}

void Program::make_array(const Op& op) {
  if (result_type(op).space == Space::Shared) {
    const auto bytes = static_cast<std::int64_t>(result_type(op).element().element_bytes());
    return set_result(op, {result_type(op), {Element{.i = shared_.make(op, 0, bytes, result_type(op).dtype)}}});
  }
  const std::int64_t handle = arrays_.make(op.result(), op.integer("count"));
  if (!op.operands.empty())
    for (std::int64_t i = 0; i < op.integer("count"); ++i)
      arrays_.write(handle, i, operand(op, 0).elements[0]);
  // A variable without an initial value is zero, as C++ has it.
  else if (result_type(op).space == Space::Registers && op.integer("unset") == 0) arrays_.write(handle, 0, Element{.i = 0});
  set_result(op, {result_type(op), {Element{.i = handle}}});
}

Element Program::view_of(const Op& op) const {
  const std::int64_t handle = integer(op, 0), index = integer(op, 1);
  if (Arrays::is_array(handle)) return {.i = Arrays::view(handle, index)};
  return {.i = handle +
               index * static_cast<std::int64_t>(result_type(op).element().element_bytes())};
}

Element Program::read_array(const Op& op, std::size_t array, std::int64_t index) const {
  const std::int64_t handle = integer(op, array);
  const Type element = element_type_of(kernel_.type(op.operands[array]));
  if (!Arrays::is_array(handle))
    return checked_read(op, handle + index * static_cast<std::int64_t>(element.element_bytes()),
                        element.dtype);
  const bool is_shared = kernel_.type(op.operands[array]).space == Space::Shared;
  std::string problem = is_shared ? shared_.note_read(handle, index, thread_)
                                  : arrays_.problem(handle, index, true);
  if (problem.empty() && !is_shared && products_.is_used())
    problem = products_.touch(thread_ / GroupProducts::threads, Arrays::owner_of(handle), false);
  if (!problem.empty())
    fail(op, fmt::format("{} reads {}", op.facts().name, problem));
  return is_shared ? shared_.read(handle, index) : arrays_.read(handle, index);
}

void Program::write_array(const Op& op, std::size_t array, std::int64_t index, Element element) {
  const std::int64_t handle = integer(op, array);
  const Type type = element_type_of(kernel_.type(op.operands[array]));
  if (!Arrays::is_array(handle))
    return checked_write(op, handle + index * static_cast<std::int64_t>(type.element_bytes()),
                         type.dtype, element);
  const bool is_shared = kernel_.type(op.operands[array]).space == Space::Shared;
  std::string problem = is_shared ? shared_.note_write(handle, index, thread_, op)
                                  : arrays_.problem(handle, index, false);
  if (problem.empty() && is_shared) {
    const auto [first, end] = shared_.bytes_of(handle, index);
    problem = stores_.write_problem(first, end);
  }
  if (problem.empty() && products_.is_used()) {
    if (is_shared) {
      const auto [first, end] = shared_.bytes_of(handle, index);
      problem = products_.write_problem(first, end);
    } else {
      problem = products_.touch(thread_ / GroupProducts::threads, Arrays::owner_of(handle), true);
    }
  }
  if (!problem.empty())
    fail(op, fmt::format("{} writes {}", op.facts().name, problem));
  if (is_shared) shared_.write(handle, index, element);
  else arrays_.write(handle, index, element);
}

// Whether element `i` of a vector is moved: operands from number `first` on guard it.
std::optional<std::int64_t> Program::moved_place(const Op& op, std::size_t pointer,
                                                 std::size_t guards, std::int64_t i) const {
  if (op.integer("rotates") != 0) return rotated_place(op, pointer, i);
  if (!is_moved(op, 2, guards, i)) return std::nullopt;
  const Type pointee = kernel_.type(op.operands[pointer]).pointee();
  return integer(op, pointer) + i * static_cast<std::int64_t>(pointee.element_bytes());
}

bool Program::is_moved(const Op& op, std::size_t first, std::size_t guards, std::int64_t i) const {
  if (guards == 0) return true;
  if (guards == 1) return integer(op, first) != 0;
  return i >= integer(op, first) && i < integer(op, first + 1);
}

// Bounds inside of a vector that moves in parts are multiples of one.
void Program::check_parts(const Op& op) const {
  if (op.integer("parts") == 0) return;
  for (const std::size_t k : {2, 3}) {
    const std::int64_t bound = std::clamp<std::int64_t>(integer(op, k), 0, op.integer("count"));
    if (bound % op.integer("width") != 0)
      fail(op, fmt::format("{} moves parts of {} elements, but a bound is {}", op.facts().name,
                           op.integer("width"), bound));
  }
}

void Program::load_vector(const Op& op) {
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

void Program::store_vector(const Op& op) {
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

Element Program::sum_in_memory(const Op& op, std::int64_t pointer, const Type& type,
                               Element element) {
  const Op add{.kind = OpKind::Add, .location = op.location};
  const Tile old{type.element(), {checked_read(op, pointer, type.dtype)}};
  const Tile more{type.element(), {element}};
  const Tile* both[] = {&old, &more};
  const Tile sum = jitter_.is_on() && Jitter::applies(add, type.element())
                       ? jitter_.elementwise(add, type.element(), both)
                       : interpret_elementwise(add, type.element(), both, options_.float64);
  return sum.elements[0];
}

void Program::linear(const Op& op) {
  const std::vector<std::int64_t> factors = op.integers("factors");
  std::int64_t sum = op.integer("offset");
  std::size_t stride = factors.size();
  for (std::size_t k = 0; k < factors.size(); ++k)
    sum += integer(op, k) * (factors[k] != 0 ? factors[k] : integer(op, stride++));
  set_result(op, {result_type(op), {Element{.i = wrap(result_type(op).dtype, sum)}}});
}

}  // namespace tilewright::ir
