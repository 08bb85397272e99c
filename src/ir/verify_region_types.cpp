// SPDX-License-Identifier: Apache-2.0
// ir/verify_region_types.cpp — what regions take and yield.
#include <cstdint>
#include <vector>

#include "ir/type_rules.h"

namespace tilewright::ir {
namespace {

class RegionTypes : TypeRules {
 public:
  using TypeRules::TypeRules;

  void check() const {
    if (op_.kind == OpKind::Reduce) return check_reduce();
    if (op_.kind == OpKind::Scan) return check_scan();
    switch (control_op(op_.kind)) {
      case ControlOp::For:
        return check_for();
      case ControlOp::While:
        return check_while();
      case ControlOp::If:
        return check_if();
      case ControlOp::Sweep:
        return check_sweep();
    }
  }

 private:
  const Op& last(std::size_t region) const { return *op_.regions[region].ops.back(); }

  // The region takes `arguments` and ends in `kind` with `values` after `skip` operands of its own.
  void check_region_types(std::size_t region, const std::vector<Type>& arguments,
                          const std::vector<Type>& values) const {
    const Region& body = op_.regions[region];
    require(body.arguments.size() == arguments.size(), "region {} needs {} arguments, has {}",
            region, arguments.size(), body.arguments.size());
    for (std::size_t i = 0; i < arguments.size(); ++i)
      require_type(kernel_.type(body.arguments[i]), arguments[i], "a region argument");
    const Op& end = last(region);
    const std::size_t skip = end.kind == OpKind::Condition ? 1 : 0;
    require(end.operands.size() == values.size() + skip,
            "region {} must yield {} values, yields {}", region, values.size(),
            end.operands.size() - skip);
    for (std::size_t i = 0; i < values.size(); ++i)
      require_type(kernel_.type(end.operands[i + skip]), values[i], "a yielded value");
  }

  std::vector<Type> types_of(const std::vector<Value>& values, std::size_t from = 0) const {
    std::vector<Type> types;
    for (std::size_t i = from; i < values.size(); ++i) types.push_back(kernel_.type(values[i]));
    return types;
  }

  void check_combine() const {
    require(!op_.operands.empty() && op_.operands.size() == op_.results.size(),
            "needs as many results as operands, at least one");
    check_axis(operand(0));
    std::vector<Type> elements;
    for (const Value value : op_.operands) {
      require(same_shape(kernel_.type(value), operand(0)), "operands must have one shape");
      elements.push_back(kernel_.type(value).element());
    }
    std::vector<Type> arguments = elements;
    arguments.insert(arguments.end(), elements.begin(), elements.end());
    check_region_types(0, arguments, elements);
    require(last(0).kind == OpKind::Yield, "the region must end in yield");
  }

  void check_reduce() const {
    check_combine();
    std::vector<std::int64_t> shape = operand(0).shape();
    const std::int64_t axis = op_.integer("axis"), parts = op_.integer("parts");
    const std::int64_t length = operand(0).size(static_cast<int>(axis));
    require(!op_.find("parts") || (parts > 1 && parts < length && length % parts == 0),
            "parts is a power of two, more than 1 and less than the axis has elements");
    if (parts != 0) shape[static_cast<std::size_t>(axis)] = parts;
    else shape.erase(shape.begin() + axis);
    for (std::size_t i = 0; i < op_.results.size(); ++i)
      require_type(result(i), operand(i).with_shape(shape), "a result");
  }

  void check_scan() const {
    check_combine();
    for (std::size_t i = 0; i < op_.results.size(); ++i)
      require_type(result(i), operand(i), "a result");
  }

  void check_for() const {
    require(op_.operands.size() >= 3, "needs from, to and step");
    const Type index = operand(0);
    require(index.is_scalar() && index.is_int(), "bounds must be integer scalars");
    for (std::size_t i : {1u, 2u}) require_type(operand(i), index, "a bound");
    const std::vector<Type> carried = types_of(op_.operands, 3);
    require(types_of(op_.results) == carried, "results must have the types of the initial values");
    std::vector<Type> arguments = {index};
    arguments.insert(arguments.end(), carried.begin(), carried.end());
    check_region_types(0, arguments, carried);
    require(last(0).kind == OpKind::Yield, "the body must end in yield");
  }

  void check_while() const {
    const std::vector<Type> carried = types_of(op_.operands);
    require(types_of(op_.results) == carried, "results must have the types of the initial values");
    require(last(0).kind == OpKind::Condition, "region 0 must end in condition");
    require(!last(0).operands.empty(), "condition needs a bool");
    require_type(kernel_.type(last(0).operands[0]), Type::scalar(b1), "the condition");
    check_region_types(0, carried, carried);
    check_region_types(1, carried, carried);
    require(last(1).kind == OpKind::Yield, "region 1 must end in yield");
  }

  void check_if() const {
    require_type(operand(0), Type::scalar(b1), "the condition");
    for (std::size_t region : {0u, 1u}) {
      check_region_types(region, {}, types_of(op_.results));
      require(last(region).kind == OpKind::Yield, "a branch must end in yield");
    }
  }

  void check_sweep() const {
    check_region_types(0, {}, types_of(op_.results));
    require(last(0).kind == OpKind::Yield, "a sweep must end in yield");
  }
};

}  // namespace

void verify_region_types(const Kernel& kernel, const Op& op) { RegionTypes(kernel, op).check(); }

}  // namespace tilewright::ir
