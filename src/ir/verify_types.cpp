// SPDX-License-Identifier: Apache-2.0
// ir/verify_types.cpp — the type rule of each op, family by family: here those of values, of
// elements one by one, and of elements that meet others.
#include "ir/verify_types.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "ir/type_rules.h"
#include "ir/verify.h"

namespace tilewright::ir {
namespace {

class ElementTypes : TypeRules {
 public:
  using TypeRules::TypeRules;

  void check_one_shape() const {
    for (const Value value : op_.operands)
      if (!same_shape(kernel_.type(value), result()))
        require(false, "operands and result must have one shape; {} and {}",
                kernel_.type(value).to_string(), result().to_string());
  }

  void check_source() const {
    switch (source_op(op_.kind)) {
      case SourceOp::Constant:
        return check_constant();
      case SourceOp::ProgramId:
      case SourceOp::NumPrograms:
        return check_grid_axis();
      case SourceOp::NumBlocks:
        return require(result() == Type::scalar(i32), "gives an i32");
      case SourceOp::IsProducer:
        return require(result() == Type::scalar(b1) && op_.integer("warps") > 0,
                       "gives a bool, for at least one warp");
      case SourceOp::Arange:
        return require(result().rank == 1 && result().element() == Type::scalar(i32),
                       "gives a rank-1 tile of i32");
    }
  }

  void check_view() const {
    switch (view_op(op_.kind)) {
      case ViewOp::Splat:
        return check_splat();
      case ViewOp::Broadcast:
        return check_broadcast();
      case ViewOp::Reshape:
        return check_reshape();
      case ViewOp::Permute:
        return check_permute();
      case ViewOp::Join:
        return check_join();
      case ViewOp::Split:
        return check_split();
      case ViewOp::Affine:
        return check_affine();
      case ViewOp::Bounds:
        return check_bounds();
      case ViewOp::Hint:
        return check_same(true, "");
    }
  }

  void check_elementwise() const {
    switch (elementwise_op(op_.kind)) {
      case ElementwiseOp::Add:
      case ElementwiseOp::Subtract:
      case ElementwiseOp::Multiply:
      case ElementwiseOp::Divide:
      case ElementwiseOp::Remainder:
      case ElementwiseOp::Minimum:
      case ElementwiseOp::Maximum:
      case ElementwiseOp::Negate:
      case ElementwiseOp::Absolute:
      case ElementwiseOp::Fma:
        return check_same(is_number(result()), "numbers");
      case ElementwiseOp::MultiplyHigh:
      case ElementwiseOp::ShiftLeft:
      case ElementwiseOp::ShiftRight:
        return check_same(result().is_int(), "integers");
      case ElementwiseOp::And:
      case ElementwiseOp::Or:
      case ElementwiseOp::Xor:
        return check_same(result().is_int() || result().is_bool(), "integers or bools");
      case ElementwiseOp::Math:
        return check_math();
      case ElementwiseOp::InlineAsm:
        return require(is_number(result()) && !op_.operands.empty() && op_.operands.size() < 16,
                       "1 to 15 operands must give a number");
      case ElementwiseOp::Compare:
        return check_compare();
      case ElementwiseOp::Select:
        return check_select();
      case ElementwiseOp::Cast:
        return check_cast();
      case ElementwiseOp::Bitcast:
        return require(operand(0).element_bytes() == result().element_bytes(),
                       "both types must have one width");
      case ElementwiseOp::Offset:
        return check_offset();
    }
  }

  void check_condition() const {
    switch (check_op(op_.kind)) {
      case CheckOp::Assert:
        return require(!op_.operands.empty() && operand(0).is_bool(), "needs a bool condition");
      case CheckOp::Assume:
        return require_type(operand(0), Type::scalar(b1), "the condition");
    }
  }

 private:
  static bool is_number(const Type& type) { return type.is_int() || type.is_float(); }

  void check_same(bool is_right_kind, std::string_view kind) const {
    if (!is_right_kind) require(false, "works on {}, not on {}", kind, result().to_string());
    for (const Value value : op_.operands)
      require_type(kernel_.type(value), result(), "an operand");
  }

  // ---- Values from nothing

  void check_constant() const {
    const bool is_float = std::holds_alternative<double>(*op_.find("value"));
    require(is_float == result().is_float(), "a value of {} is needed",
            result().is_float() ? "float" : "integer");
    require(!result().is_pointer || op_.integer("value") == 0, "the only constant pointer is 0");
  }

  void check_grid_axis() const {
    require_type(result(), Type::scalar(i32), "the result");
    require(op_.integer("axis") >= 0 && op_.integer("axis") <= 2, "axis is 0, 1 or 2");
  }

  // ---- Views

  void check_splat() const {
    require(operand(0).is_scalar() && result().is_tile(), "takes a scalar, gives a tile");
    require_type(result().element(), operand(0), "the element");
  }

  void check_broadcast() const {
    const Type& from = operand(0);
    const Type& to = result();
    require_type(to.element(), from.element(), "the element");
    require(from.rank == to.rank, "ranks must be equal");
    for (int d = 0; d < to.rank; ++d)
      require(from.size(d) == to.size(d) || from.size(d) == 1,
              "dimension {} is {}, cannot become {}", d, from.size(d), to.size(d));
  }

  void check_reshape() const {
    require_type(result().element(), operand(0).element(), "the element");
    require(result().numel() == operand(0).numel(), "the number of elements must stay");
  }

  void check_permute() const {
    std::vector<std::int64_t> order = op_.integers("order");
    const Type& from = operand(0);
    require(order.size() == from.rank && result().rank == from.rank,
            "order must name every dimension");
    std::vector<std::int64_t> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t d = 0; d < order.size(); ++d) {
      require(sorted[d] == static_cast<std::int64_t>(d), "order must name every dimension once");
      require(result().size(static_cast<int>(d)) == from.size(static_cast<int>(order[d])),
              "the result's shape does not fit the order");
    }
    require_type(result().element(), from.element(), "the element");
  }

  void check_join() const {
    std::vector<std::int64_t> shape = operand(0).shape();
    shape.push_back(2);
    require_type(operand(1), operand(0), "the second operand");
    require_type(result(), operand(0).with_shape(shape), "the result");
  }

  void check_split() const {
    std::vector<std::int64_t> shape = operand(0).shape();
    require(!shape.empty() && shape.back() == 2, "the last dimension must be 2");
    shape.pop_back();
    for (std::size_t i = 0; i < 2; ++i)
      require_type(result(i), operand(0).with_shape(shape), "a result");
  }

  // From operand `first` on there are `count` scalars of i64.
  void check_scalars(std::size_t first, int count, std::string_view what) const {
    require(op_.operands.size() == first + static_cast<std::size_t>(count),
            "needs {} operands for a tile of rank {}, has {}",
            first + static_cast<std::size_t>(count), result().rank, op_.operands.size());
    for (std::size_t i = first; i < op_.operands.size(); ++i)
      require_type(operand(i), Type::scalar(i64), what);
  }

  void check_affine() const {
    require(result().is_tile(), "gives a tile");
    check_scalars(1, result().rank, "a stride");
    require(operand(0).is_pointer || operand(0).is_int(),
            "the base must be a pointer or an integer");
    require_type(operand(0), result().element(), "the base");
  }

  void check_bounds() const {
    require(result().is_tile() && result().is_bool(), "gives a tile of bools");
    check_scalars(0, 2 * result().rank, "a bound");
  }

  // ---- Element by element

  void check_math() const {
    const MathFacts* function = math_function(op_.text("function"));
    require(function != nullptr, "there is no math function '{}'", op_.text("function"));
    require(op_.operands.size() == static_cast<std::size_t>(function->operands),
            "{} takes {} operands", function->name, function->operands);
    for (const Value value : op_.operands)
      require(kernel_.type(value) == operand(0), "operands must have one type");
  }

  void check_compare() const {
    static constexpr std::string_view predicates[] = {"eq", "ne", "lt", "le", "gt", "ge"};
    require(std::find(std::begin(predicates), std::end(predicates), op_.text("is")) !=
                std::end(predicates),
            "is must be eq, ne, lt, le, gt or ge");
    // Of loops' indices and bounds at stage Final the narrower is widened, as C++ does it.
    const auto is_wide = [&](const Type& type) {
      return type == Type::scalar(i32) || type == Type::scalar(i64);
    };
    const bool widens = kernel_.stage == Stage::Final && is_wide(operand(0)) && is_wide(operand(1));
    if (!widens) require_type(operand(1), operand(0), "the second operand");
    require_type(result(), operand(0).with_element(b1), "the result");
  }

  void check_select() const {
    require(operand(0).is_bool(), "the condition must be a bool");
    require_type(operand(1), result(), "the second operand");
    require_type(operand(2), result(), "the third operand");
  }

  void check_cast() const {
    const auto is_address = [](const Type& type) {
      return type.is_pointer || type.element() == Type::scalar(i64) ||
             type.element() == Type::scalar(u64);
    };
    const bool has_pointer = operand(0).is_pointer || result().is_pointer;
    require(!has_pointer || (is_address(operand(0)) && is_address(result())),
            "a pointer casts only to i64, u64 or another pointer");
    const std::string_view rounding = op_.text("rounding");
    const bool narrows = operand(0).is_float() && operand(0).element_bytes() > 1 &&
                         result().is_float() && result().element_bytes() == 1;
    require(rounding.empty() || rounding == "rtz" || rounding == "saturate",
            "rounds as \"rtz\" or \"saturate\"");
    require(rounding != "saturate" || narrows, "saturates from wider floats to 8-bit floats only");
  }

  void check_offset() const {
    require(operand(0).is_pointer && operand(1).is_int(), "moves pointers by integers");
    require_type(result(), operand(0), "the result");
  }
};

class AcrossTypes : TypeRules {
 public:
  using TypeRules::TypeRules;

  void check() const {
    switch (across_op(op_.kind)) {
      case AcrossOp::Concatenate:
        return check_concatenate();
      case AcrossOp::Gather:
        return check_gather();
      case AcrossOp::Dot:
        return check_dot();
      case AcrossOp::Sort:
        return check_sort();
      case AcrossOp::Histogram:
        return check_histogram();
      case AcrossOp::Scan:
        return verify_region_types(kernel_, op_);
      case AcrossOp::ReadBuffer:
      case AcrossOp::StoreMap:
        return verify_access_types(kernel_, op_);
      case AcrossOp::Print:
        return;
    }
  }

 private:
  void check_concatenate() const {
    check_axis(operand(0));
    std::vector<std::int64_t> shape = operand(0).shape();
    shape[static_cast<std::size_t>(op_.integer("axis"))] *= 2;
    require_type(operand(1), operand(0), "the second operand");
    require_type(result(), operand(0).with_shape(shape), "the result");
  }

  void check_gather() const {
    check_axis(operand(0));
    require(operand(1).is_int(), "the index must be an integer");
    require_type(result(), operand(0).with_shape_of(operand(1)), "the result");
    for (int d = 0; d < operand(0).rank; ++d)
      require(d == op_.integer("axis") || operand(0).size(d) == operand(1).size(d),
              "other dimensions must be equal");
  }

  void check_dot() const {
    const Type& a = operand(0);
    const Type& b = operand(1);
    require((a.rank == 2 || a.rank == 3) && b.rank == a.rank, "operands must have rank 2 or 3");
    const int m = a.rank - 2;
    require(a.size(m + 1) == b.size(m), "the inner sizes must be equal");
    std::vector<std::int64_t> shape = a.shape();
    shape.back() = b.size(m + 1);
    require_type(result(), result().with_shape(shape), "the result");
    require_type(operand(2), result(), "the accumulator");
  }

  void check_sort() const {
    require_type(result(), operand(0), "the result");
    require(operand(0).is_tile() && !operand(0).is_pointer, "takes a tile of numbers");
    const std::int64_t first = op_.integer("first"), last = op_.integer("last");
    require(1 <= first && first <= last && (std::int64_t{1} << last) <= result().numel(),
            "the stages must be from 1 to the number of the index's bits");
    const std::string_view order = op_.text("order");
    require(order == "alternating" || order == "ascending" || order == "descending",
            "the order is alternating, ascending or descending");
  }

  void check_histogram() const {
    require(
        !op_.operands.empty() && operand(0).rank == 1 && operand(0).is_int() && result().rank == 1,
        "takes and gives a rank-1 integer tile");
    check_mask(1, operand(0));
  }
};

}  // namespace

void verify_types(const Kernel& kernel, const Op& op) {
  const ElementTypes elements(kernel, op);
  if (op.facts().has(Elementwise)) elements.check_one_shape();
  switch (op.facts().family) {
    case Family::Source:
      return elements.check_source();
    case Family::View:
      return elements.check_view();
    case Family::Elementwise:
      return elements.check_elementwise();
    case Family::Check:
      return elements.check_condition();
    case Family::Across:
      return AcrossTypes(kernel, op).check();
    case Family::Access:
    case Family::Sync:
      return verify_access_types(kernel, op);
    case Family::Reduction:
    case Family::Control:
      return verify_region_types(kernel, op);
    case Family::Final:
      return verify_final_types(kernel, op);
    case Family::Ends:
      return;  // checked with the op that owns the region
  }
}

// ---- What all type rules ask

void TypeRules::require_type(const Type& found, const Type& wanted, std::string_view what) const {
  if (found == wanted) return;
  require(false, "{} must be {}, is {}", what, wanted.to_string(), found.to_string());
}

void TypeRules::check_axis(const Type& tile) const {
  const std::int64_t axis = op_.integer("axis");
  require(axis >= 0 && axis < tile.rank, "axis {} of a tile of rank {}", axis, tile.rank);
}

void TypeRules::check_mask(std::size_t i, const Type& shape) const {
  if (op_.operands.size() <= i) return;
  require_type(operand(i), shape.with_element(b1), "the mask");
}

void fail_verification(const Kernel& kernel, const Op* op, const std::string& rule) {
  if (!op)
    throw VerificationError(fmt::format("kernel '{}' is not valid: {}", kernel.name, rule), op,
                            rule);
  throw VerificationError(fmt::format("kernel '{}' is not valid at op '{}' (source line {}): {}",
                                      kernel.name, op->facts().name, op->location.line, rule),
                          op, rule);
}

}  // namespace tilewright::ir
