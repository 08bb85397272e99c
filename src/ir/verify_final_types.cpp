// SPDX-License-Identifier: Apache-2.0
// ir/verify_final_types.cpp — what operands and results the ops of stage Final have.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "ir/calls.h"
#include "ir/type_rules.h"
#include "ir/verify_final.h"

namespace tilewright::ir {
namespace {

class FinalTypes : TypeRules {
 public:
  using TypeRules::TypeRules;

  void check() const {
    switch (final_op(op_.kind)) {
      case FinalOp::Array:
        return check_array();
      case FinalOp::Group:
        return check_group();
      case FinalOp::ArrayView:
        require(result() == operand(0), "the view has the type of the array");
        return check_place();
      case FinalOp::Read:
        check_place();
        return require(result() == operand(0).element(), "gives an element of the array");
      case FinalOp::Write:
        return check_write();
      case FinalOp::Linear:
        return check_linear();
      case FinalOp::Digit:
        return check_digit();
      case FinalOp::All:
        for (std::size_t k = 0; k < op_.operands.size(); ++k)
          require(operand(k) == Type::scalar(b1), "conditions are bools");
        return require(!op_.operands.empty() && result() == Type::scalar(b1), "gives a bool");
      case FinalOp::Call:
        return verify_call_types(kernel_, op_);
      case FinalOp::ForPrograms:
        return check_programs();
      case FinalOp::Thread: {
        const std::int64_t count = op_.integer("count");
        require(count > 0 && (count & (count - 1)) == 0, "the count is a power of two");
        const std::int64_t lanes = op_.integer("lanes", 1);
        require(lanes > 0 && count % lanes == 0, "threads are whole warps");
        return require(result() == Type::scalar(i32), "gives an i32");
      }
      case FinalOp::LoadTo:
        if (op_.integer("rotates") != 0) return check_rotated(0, 8);
        return check_vector(0, op_.operands.size() - 3, true);
      case FinalOp::StoreFrom:
        if (op_.integer("rotates") != 0) return check_rotated(1, 7);
        return check_vector(1, op_.operands.size() - 2, false);
      case FinalOp::CopyTo:
        return check_copy();
      case FinalOp::Lines:
        return require(op_.integers("files").size() == op_.integers("numbers").size(),
                       "has a file for each line");
    }
  }

 private:
  void check_array() const {
    require(result().is_array(), "gives an array");
    require(op_.integer("count") > 0, "an array has at least one element");
    const bool is_variable = result().space == Space::Registers;
    const bool is_on_stack = result().space == Space::Stack;
    require(op_.operands.size() <= (is_variable || is_on_stack ? 1 : 0),
            "a variable has at most one initial value, other arrays none");
    require(!is_variable || op_.integer("count") == 1, "a variable has one element");
    if (!op_.operands.empty())
      require(operand(0) == result().element(), "the initial value has the element's type");
    require(op_.integer("unset") == 0 || (is_variable && op_.operands.empty()),
            "a variable without an initial value alone may be unset");
    if (is_on_stack && !op_.operands.empty())
      require(is_zero(op_.operands[0]), "an array on the stack begins as zeros or as nothing");
    check_offset(result().space);
    const std::int64_t slots = op_.integer("slots", 1);
    require(slots > 0 && op_.integer("count") % slots == 0 &&
                (slots == 1 || result().space == Space::Shared),
            "an array in shared memory alone has slots, all of one size");
  }

  void check_offset(Space space) const {
    require((op_.find("offset") != nullptr) == (space == Space::Arena || space == Space::Shared),
            "an array of the arena has an offset, and one in shared memory, no other has");
    require(op_.integer("offset") >= 0, "an offset is not negative");
  }

  bool is_zero(Value value) const {
    const Op* maker = kernel_.maker(value);
    if (!maker || maker->kind != OpKind::Constant) return false;
    return kernel_.type(value).is_float() ? maker->number("value", 1) == 0
                                          : maker->integer("value", 1) == 0;
  }

  void check_group() const {
    require(op_.results.size() > 1 && op_.integer("count") > 0,
            "a group has two arrays or more of at least one element");
    for (const Value value : op_.results) {
      const Space space = kernel_.type(value).space;
      require(space == result().space &&
                  (space == Space::Registers || space == Space::Stack || space == Space::Shared),
              "the arrays of a group are variables, on the stack or in shared memory, all of them");
    }
    require(result().space != Space::Registers || op_.integer("count") == 1,
            "a variable has one element");
    require(is_identifier(op_.text("type")), "rule F8: the type of a group is an identifier");
    check_offset(result().space);
  }

  void check_place() const {
    require(operand(0).is_array(), "the first operand is an array");
    require(is_index(operand(1)), "the index is an integer");
  }

  void check_write() const {
    require(op_.operands.size() == 3 || op_.operands.size() == 4,
            "needs an array, an index, a value and perhaps a condition");
    check_place();
    require(operand(2) == operand(0).element(), "the value has the element's type");
    if (op_.operands.size() == 4)
      require(operand(3) == Type::scalar(b1), "the condition is a bool");
  }

  // Operands 0 and 1 are the array and the pointer, or the other way round; `guards` conditions and
  // perhaps another value follow.
  void check_vector(std::size_t array, std::size_t guards, bool has_other) const {
    if (op_.operands.size() == 2) guards = 0;
    require(
        op_.operands.size() >= 2 && guards <= 2 && (op_.operands.size() != 3 || !has_other), "{}",
        has_other ? "needs an array, a pointer, and a condition or two bounds with another value"
                  : "needs a pointer, an array and perhaps a condition or two bounds");
    const Type& pointer = operand(1 - array);
    require(operand(array).is_array(), "operand {} is an array", array);
    const bool is_array = pointer.is_array();
    require((pointer.is_pointer && !is_array) || (is_array && guards == 0),
            "operand {} is a pointer, or without guards an array", 1 - array);
    const Type element = operand(array).element();
    const Type other = is_array ? pointer.element() : pointer.pointee();
    require(element.element_bytes() == other.element_bytes(),
            "the array has elements of those in memory");
    for (std::size_t k = 2; k < 2 + guards; ++k)
      require(guards == 1 ? operand(k) == Type::scalar(b1) : is_index(operand(k)), "{}",
              guards == 1 ? "the condition is a bool" : "the bounds are integers");
    if (has_other && guards > 0)
      require(operand(2 + guards) == element, "the other value has the element's type");
    require(op_.integer("parts") == 0 || (guards == 2 && op_.find("adds") == nullptr),
            "a vector that moves in parts has two bounds and is not added");
    check_width(array);
    if (op_.integer("copies") == 0) return;
    const auto bytes = op_.integer("count") * static_cast<std::int64_t>(element.element_bytes());
    require(has_other && !is_array && guards > 0 && (bytes == 4 || bytes == 8 || bytes == 16) &&
                op_.integer("width") == op_.integer("count"),
            "a copy moves 4, 8 or 16 bytes of memory where a condition or two bounds hold");
    require(is_of_row(op_.operands[0]), "a copy goes to the thread's own row");
  }

  void check_width(std::size_t array) const {
    const std::int64_t count = op_.integer("count"), width = op_.integer("width");
    require(width > 0 && count > 0 && count % width == 0, "the count is a multiple of the width");
    const Op* made = kernel_.maker(op_.operands[array]);
    require(!made || made->kind != OpKind::Array || count <= made->integer("count"),
            "rule F2: the vector is longer than the array");
  }

  // Whether the value is a part of the thread's own row.
  bool is_of_row(Value value) const {
    const Op* made = kernel_.maker(value);
    while (made && made->kind == OpKind::ArrayView) made = kernel_.maker(made->operands[0]);
    return made && calls(*made, LibraryKind::OwnRow);
  }

  // A vector of a tile that is turned round.
  void check_rotated(std::size_t array, std::size_t operands) const {
    require(op_.operands.size() == operands,
            "a vector of a row that is turned round has two slots, a shift and bounds");
    const Type& pointer = operand(1 - array);
    require(operand(array).is_array() && pointer.is_pointer && !pointer.is_array() &&
                operand(array).element().element_bytes() == pointer.pointee().element_bytes(),
            "it moves between an array and memory of its elements");
    for (std::size_t k = 2; k < 7; ++k)
      require(is_index(operand(k)), "slots and bounds are integers");
    require(operands == 7 || operand(7) == operand(array).element(),
            "the other value has the element's type");
    const std::int64_t size = op_.integer("rotates");
    require(size > 0 && (size & (size - 1)) == 0 && size >= op_.integer("count"),
            "the row's size is a power of two and not below the vector's");
    require(op_.integer("parts") == 0 && op_.integer("copies") == 0 && op_.find("adds") == nullptr,
            "a vector of a row that is turned round is loaded or stored as such");
    check_width(array);
  }

  void check_copy() const {
    require(op_.operands.size() >= 2 && op_.operands.size() <= 4,
            "needs an array, a pointer and perhaps whether it is wanted, and starts");
    const Type &array = operand(0), &pointer = operand(1);
    require(array.is_array() && array.space == Space::Shared,
            "the first operand is a shared array");
    require(pointer.is_pointer && !pointer.is_array() &&
                pointer.pointee().element_bytes() == array.element().element_bytes(),
            "the second operand is a pointer to elements of the array's size");
    for (std::size_t k = 2; k < op_.operands.size(); ++k)
      require(operand(k) == Type::scalar(b1), "the conditions are bools");
    const std::int64_t bytes =
        op_.integer("count") * static_cast<std::int64_t>(array.element().element_bytes());
    require(bytes == 4 || bytes == 8 || bytes == 16, "a copy moves 4, 8 or 16 bytes");
  }

  void check_linear() const {
    const std::vector<std::int64_t> factors = op_.integers("factors");
    const auto strides =
        static_cast<std::size_t>(std::count(factors.begin(), factors.end(), std::int64_t{0}));
    require(op_.operands.size() == factors.size() + strides,
            "needs an index for each factor and a stride for each that is 0");
    for (std::size_t k = 0; k < op_.operands.size(); ++k)
      require(is_index(operand(k)), "indices and strides are integers");
    require(is_index(result()), "gives an integer");
  }

  void check_digit() const {
    require(is_index(operand(0)) && is_index(result()), "takes and gives an integer");
    require(op_.integer("over") > 0 && op_.integer("of", 1) > 0, "divisors are above 0");
  }

  void check_programs() const {
    const std::vector<Value>& arguments = op_.regions[0].arguments;
    bool fit = arguments.size() == op_.operands.size();
    for (std::size_t k = 0; fit && k < arguments.size(); ++k)
      fit = kernel_.type(arguments[k]) == operand(k);
    require(fit, "the region has an argument of its type for each value");
    require(op_.regions[0].ops.back()->operands.empty(), "programs yield nothing");
  }
};

}  // namespace

void verify_final_types(const Kernel& kernel, const Op& op) { FinalTypes(kernel, op).check(); }

}  // namespace tilewright::ir
