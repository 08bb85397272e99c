// SPDX-License-Identifier: Apache-2.0
// frontend/numba/expressions.cpp — names, literals, attributes and choices.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "frontend/numba/externals.h"
#include "frontend/numba/function.h"

namespace tilewright::numba {

using namespace python;

namespace {

std::string expression_name(Kind kind) {
  switch (kind) {
    case Kind::Lambda:
      return "a lambda";
    case Kind::ListComp:
    case Kind::SetComp:
    case Kind::DictComp:
    case Kind::GeneratorExp:
      return "a comprehension";
    case Kind::List:
      return "a list";
    case Kind::Dict:
      return "a dictionary";
    case Kind::Set:
      return "a set";
    case Kind::JoinedStr:
    case Kind::StrLiteral:
    case Kind::BytesLiteral:
      return "a string";
    case Kind::ImaginaryLiteral:
      return "a complex number";
    case Kind::NamedExpr:
      return "':='";
    case Kind::Starred:
      return "'*' in front of a value";
    case Kind::NoneLiteral:
      return "None as a value";
    default:
      return fmt::format("the expression {}", name_of(kind));
  }
}

}  // namespace

Value FunctionWriter::expression(const Node* node) {
  switch (node->kind) {
    case Kind::Name:
      return name(cast<Name>(node));
    case Kind::IntLiteral:
    case Kind::FloatLiteral:
    case Kind::BoolLiteral:
      return literal(node);
    case Kind::Attribute:
      return attribute(cast<Attribute>(node));
    case Kind::Subscript:
      return subscript(cast<Subscript>(node));
    case Kind::Call:
      return call(cast<Call>(node));
    case Kind::BinOp: {
      const auto& operation = cast<BinOp>(node);
      const Value left = expression(operation.left), right = expression(operation.right);
      return binary(operation.op, left, right, *node);
    }
    case Kind::UnaryOp:
      return unary(cast<UnaryOp>(node));
    case Kind::Compare:
      return comparison(cast<Compare>(node));
    case Kind::BoolOp:
      return bool_operation(cast<BoolOp>(node));
    case Kind::IfExp:
      return conditional_value(cast<IfExp>(node));
    case Kind::Tuple: {
      std::vector<Value> items;
      for (const Node* element : cast<Tuple>(node).elements) items.push_back(expression(element));
      return tuple_value(std::move(items));
    }
    case Kind::ImaginaryLiteral:
      return complex_value(float_constant(0), float_constant(cast<ImaginaryLiteral>(node).value),
                           DType::Float64);
    case Kind::List:
      if (is_reading_lists_) {
        std::vector<Value> items;
        for (const Node* element : cast<List>(node).elements) items.push_back(expression(element));
        return tuple_value(std::move(items));
      }
      [[fallthrough]];
    default:
      missing(*node, expression_name(node->kind));
  }
}

Value FunctionWriter::literal(const Node* node) {
  if (const auto* boolean = cast_if<BoolLiteral>(node))
    return integer_constant(boolean->value, DType::Bool);
  if (const auto* real = cast_if<FloatLiteral>(node)) return float_constant(real->value);
  const Integer& value = cast<IntLiteral>(node).value;
  if (value.too_large || value.value > std::numeric_limits<std::uint64_t>::max())
    fail(*node, "the integer has more than 64 bits");
  const auto bits = static_cast<std::uint64_t>(value.value);
  const bool is_signed = bits <= std::uint64_t(std::numeric_limits<std::int64_t>::max());
  return integer_constant(static_cast<std::int64_t>(bits),
                          is_signed ? DType::Int64 : DType::UInt64);
}

// ---- Names.

Value FunctionWriter::name(const Name& node) {
  const auto found = webs_.of_use.find(&node);
  if (found == webs_.of_use.end()) return module_name(node);
  seen_webs_.insert(found->second);
  const WebState& state = states_[static_cast<std::size_t>(found->second)];
  if (state.is_alias) return state.alias;
  Value value;
  if (is_final_ && state.variable >= 0) {
    value = variables_[static_cast<std::size_t>(state.variable)].value;
  } else {
    value.type = state.type;
    value.text = "v";
    for (const Type& item : state.type.items) value.items.push_back(scalar_value(item.dtype, "v"));
    for (std::size_t i = 0; i < value.items.size(); ++i) value.items[i].type = state.type.items[i];
    value.shape.resize(static_cast<std::size_t>(state.type.ndim), "n");
    if (!state.type.is_contiguous) value.strides = value.shape;
  }
  if (state.type.is_scalar()) value.is_nonnegative |= state.is_nonnegative;
  value.row = state.row;
  if (state.type.is_integer()) value.most = state.most;
  value.grid_part = state.grid_part;
  for (Value& item : value.items) item.is_nonnegative |= state.is_nonnegative;
  return value;
}

Value FunctionWriter::module_name(const Name& node) {
  return bound_value(program_.loader.lookup(module_, node.id), &node, node.id);
}

Value FunctionWriter::bound_value(const Binding& binding, const Node* place,
                                  std::string_view name) {
  switch (binding.kind) {
    case Binding::Kind::External:
      return external_value(binding.external);
    case Binding::Kind::Constant:
      return module_constant(binding, place, name);
    case Binding::Kind::Function:
    case Binding::Kind::Class:
    case Binding::Kind::Submodule: {
      Value value = external_value({});
      value.binding = binding;
      return value;
    }
    case Binding::Kind::Unresolved:
      break;
  }
  fail(*place, fmt::format("'{}' is not defined{}", name,
                           binding.reason.empty() ? "" : ": " + binding.reason));
}

// A number, a tuple of numbers, or another name of the module: the expression is that of its file.
Value FunctionWriter::module_constant(const Binding& binding, const Node* place,
                                      std::string_view name) {
  if (std::find(program_.constants.begin(), program_.constants.end(), binding.node) !=
      program_.constants.end())
    fail(*place, fmt::format("the value of '{}' depends on itself", name));
  if (std::optional<Value> array = frozen_value(binding, name)) return *array;
  program_.constants.push_back(binding.node);
  static constexpr NodeList no_nodes;
  FunctionDef nothing{};
  nothing.kind = Kind::FunctionDef;
  nothing.parameters = nothing.body = no_nodes;
  FunctionWriter reader(program_, *binding.module, nothing, {}, {});
  Value value = reader.expression(binding.node);
  program_.constants.pop_back();
  const auto is_known = [](const Value& each) {
    return each.constant.has_value() || each.type.kind == Type::Kind::Constant;
  };
  bool is_fixed = is_known(value);
  if (value.type.is_tuple()) {
    is_fixed = true;
    for (const Value& item : value.items) is_fixed &= is_known(item);
  }
  if (!is_fixed)
    fail(*place,
         fmt::format("the value of '{}' of the module is not known when the kernel is compiled",
                     name),
         "make it a number or pass it as an argument");
  return value;
}

// ---- Attributes.

Value FunctionWriter::attribute(const Attribute& node) {
  const Value owner = expression(node.value);
  if (owner.type.is_array()) return array_attribute(owner, node);
  if (owner.type.is_complex) return complex_attribute(owner, node);
  if (owner.type.kind == Type::Kind::Unknown) return {};
  if (owner.type.kind != Type::Kind::Constant)
    fail(node, fmt::format("{} has no attribute '{}'", text_of(owner.type), node.name));
  if (!owner.external.empty()) {
    Value value = external_value(fmt::format("{}.{}", owner.external, node.name));
    return external_constant(value, &node);
  }
  return bound_value(program_.loader.resolve(module_, &node), &node, dotted_name(&node));
}

// threadIdx.x, math.pi: what has a value; all else stays a name.
Value FunctionWriter::external_constant(const Value& value, const Node*) {
  const std::string_view name = value.external;
  const std::string short_name = without_package(name);
  for (const char* const each : {"threadIdx", "blockIdx", "blockDim", "gridDim"})
    for (int axis = 0; axis < 3; ++axis)
      if (short_name == fmt::format("cuda.{}.{}", each, "xyz"[axis])) return grid_axis(each, axis);
  if (short_name == "cuda.laneid" || short_name == "cuda.warpsize") {
    need_threads();
    Value lane = short_name == "cuda.warpsize"
                     ? integer_constant(32, DType::Int32)
                     : scalar_value(DType::Int32, helper("tw_laneid") + "()");
    lane.is_nonnegative = true;
    return lane;
  }
  if (const std::optional<double> number = number_named(name)) return float_constant(*number);
  return value;
}

Value FunctionWriter::array_attribute(const Value& array, const Attribute& node) {
  const std::string_view name = node.name;
  const auto bytes = static_cast<std::int64_t>(size_of(array.type.dtype));
  const auto size = [&](const std::string& text) { return size_value(array, text); };
  if (name == "ndim") return integer_constant(array.type.ndim);
  if (name == "itemsize") return integer_constant(bytes);
  if (name == "dtype") return external_value(fmt::format("numpy.{}", name_of(array.type.dtype)));
  if (!array.shape.empty() && array.shape[0].empty() && (name == "shape" || name == "size"))
    missing(node, fmt::format("'{}' of an array in dynamic shared memory", name));
  if (name == "shape" || name == "strides") {
    std::vector<Value> items;
    for (std::size_t i = 0; i < array.shape.size(); ++i) {
      Value item = size(name == "shape" ? array.shape[i] : stride_text(array, i));
      if (name == "strides") {
        item = binary(BinaryOperator::Multiply, item, integer_constant(bytes), node);
        item.is_nonnegative = array.type.is_contiguous;
      }
      items.push_back(item);
    }
    return tuple_value(std::move(items));
  }
  if (name == "size") {
    if (array.shape.empty()) return integer_constant(1);
    Value all = size(array.shape[0]);
    for (std::size_t i = 1; i < array.shape.size(); ++i)
      all = binary(BinaryOperator::Multiply, all, size(array.shape[i]), node);
    return all;
  }
  if (name == "T") {
    Value turned = pointer_array(array);
    std::vector<std::string> strides;
    for (std::size_t i = 0; i < array.shape.size(); ++i) strides.push_back(stride_text(array, i));
    turned.shape.assign(array.shape.rbegin(), array.shape.rend());
    turned.strides.assign(strides.rbegin(), strides.rend());
    turned.type.is_contiguous = array.type.ndim < 2;
    return turned;
  }
  fail(node, fmt::format("'{}' of an array is not supported in @cuda.jit functions here; there are "
                         "shape, strides, size, ndim, itemsize, dtype and T",
                         name));
}

// A size or stride of an array, whose text is a name, a number, a product, or a call of a helper.
Value FunctionWriter::size_value(const Value& array, const std::string& text) const {
  if (is_number(text)) return integer_constant(std::stoll(text));
  Value value = scalar_value(DType::Int64, text, text.find(' ') == std::string::npos);
  value.is_nonnegative = true;
  value.is_stable = array.is_stable;
  if (array.is_stable && is_kernel_) value.row = AlongRow::Same;
  // A product of sizes is a stride, which is no more than the elements of the array.
  const std::set<std::string, std::less<>> parts = identifiers_in(text);
  const bool is_narrow = !parts.empty() && std::all_of(parts.begin(), parts.end(), [&](auto& part) {
    return narrow_names_.contains(part) || is_number(part);
  });
  if (is_narrow) value.most = most_of_narrow;
  return value;
}

// ---- Choices.

Value FunctionWriter::conditional_value(const IfExp& node) {
  const Value test = expression(node.test);
  const Value yes = expression(node.body), no = expression(node.otherwise);
  if (test.type.is_unknown()) return {};
  if (yes.type.is_unknown() || no.type.is_unknown()) return yes.type.is_unknown() ? no : yes;
  const std::optional<Type> type = unify(yes.type, no.type);
  if (type && type->is_complex && !yes.is_packed && !no.is_packed) {
    const DType part = type->items[0].dtype;
    const Value a = as_complex(yes, part), b = as_complex(no, part);
    const std::string choice = in_parentheses(truth_of(expect_scalar(test, "a condition", node)));
    const auto chosen = [&](std::size_t i) {
      return scalar_value(part,
                          fmt::format("({} ? {} : {})", choice, a.items[i].text, b.items[i].text));
    };
    return complex_value(chosen(0), chosen(1), part);
  }
  if (!type || !type->is_scalar())
    fail(node, fmt::format("the two values of 'if else' are {} and {}; they must be numbers",
                           text_of(yes.type), text_of(no.type)));
  const Value condition = truth_of(expect_scalar(test, "a condition", *node.test));
  if (condition.constant) return converted(*condition.integer() != 0 ? yes : no, type->dtype);
  Value value = scalar_value(type->dtype,
                             fmt::format("{} ? {} : {}", in_parentheses(condition),
                                         typed_text(yes, type->dtype), typed_text(no, type->dtype)),
                             false);
  value.is_nonnegative |= yes.is_nonnegative && no.is_nonnegative;
  return value;
}

// `a and b` is b where a is true, else a.
Value FunctionWriter::bool_operation(const BoolOp& node) {
  const bool is_and = node.op == BoolOperator::And;
  std::vector<Value> values;
  for (const Node* each : node.values) {
    values.push_back(expression(each));
    if (!values.back().type.is_unknown())
      expect_scalar(values.back(), is_and ? "a side of 'and'" : "a side of 'or'", *each);
  }
  Type type;
  for (const Value& value : values) {
    if (value.type.is_unknown()) return {};
    type = *unify(type, value.type);
  }
  Value result = values.back();
  const auto is_all = [&](AlongRow row) {
    return std::all_of(values.begin(), values.end(), [&](const Value& value) {
      return value.row == AlongRow::Same || value.row == row;
    });
  };
  const AlongRow row = is_all(AlongRow::Same)                ? AlongRow::Same
                       : is_and && is_all(AlongRow::Prefix)  ? AlongRow::Prefix
                       : !is_and && is_all(AlongRow::Suffix) ? AlongRow::Suffix
                                                             : AlongRow::Unknown;
  for (std::size_t i = values.size() - 1; i-- > 0;) {
    const Value& left = values[i];
    const Value test = truth_of(left);
    std::string text;
    if (type.is_bool()) {
      text = fmt::format("{} {} {}", in_parentheses(test), is_and ? "&&" : "||",
                         in_parentheses(result));
    } else {
      const std::string a = typed_text(left, type.dtype);
      const std::string b = typed_text(result, type.dtype);
      text = fmt::format("{} ? {} : {}", in_parentheses(test), is_and ? b : a, is_and ? a : b);
    }
    result = scalar_value(type.dtype, text, false);
  }
  result.row = row;
  return result;
}

}  // namespace tilewright::numba
