// SPDX-License-Identifier: Apache-2.0
// frontend/python/arithmetic.cpp — operators, integer before float before containers.
#include "frontend/python/arithmetic.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace tilewright::python {
namespace {

[[noreturn]] void overflow() { throw Unsupported{"the integer result does not fit 64 bits"}; }
[[noreturn]] void division_by_zero() { throw Unsupported{"division by zero"}; }

std::int64_t multiply(std::int64_t left, std::int64_t right) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(left, right, &result)) overflow();
  return result;
}

std::int64_t power(std::int64_t base, std::int64_t exponent) {
  if (base == 0 || base == 1) return exponent == 0 ? 1 : base;
  if (base == -1) return exponent % 2 == 0 ? 1 : -1;
  std::int64_t result = 1;
  for (; exponent > 0; --exponent) result = multiply(result, base);  // overflows within 63 rounds
  return result;
}

std::int64_t shift_left(std::int64_t value, std::int64_t count) {
  if (count < 0) throw Unsupported{"negative shift count"};
  if (value == 0) return 0;
  if (count > 62) overflow();
  return multiply(value, std::int64_t{1} << count);
}

std::int64_t shift_right(std::int64_t value, std::int64_t count) {
  if (count < 0) throw Unsupported{"negative shift count"};
  return value >> std::min<std::int64_t>(count, 63);
}

[[noreturn]] void bad_operands(std::string_view op, const Value& left, const Value& right) {
  throw Unsupported{
      fmt::format("'{}' of {} and {} is not evaluated", op, type_name(left), type_name(right))};
}

Value integers(BinaryOperator op, std::int64_t left, std::int64_t right) {
  std::int64_t result = 0;
  switch (op) {
    case BinaryOperator::Add:
      return checked_add(left, right);
    case BinaryOperator::Subtract:
      if (__builtin_sub_overflow(left, right, &result)) overflow();
      return result;
    case BinaryOperator::Multiply:
      return multiply(left, right);
    case BinaryOperator::Divide:
      if (right == 0) division_by_zero();
      return static_cast<double>(left) / static_cast<double>(right);
    case BinaryOperator::FloorDivide:
      return floor_divide(left, right);
    case BinaryOperator::Modulo:
      return right == -1 ? std::int64_t{0} : left - floor_divide(left, right) * right;
    case BinaryOperator::Power:
      if (right < 0) return std::pow(static_cast<double>(left), static_cast<double>(right));
      return power(left, right);
    case BinaryOperator::ShiftLeft:
      return shift_left(left, right);
    case BinaryOperator::ShiftRight:
      return shift_right(left, right);
    case BinaryOperator::BitOr:
      return left | right;
    case BinaryOperator::BitXor:
      return left ^ right;
    case BinaryOperator::BitAnd:
      return left & right;
    case BinaryOperator::MatrixMultiply:
      break;
  }
  bad_operands(text_of(op), left, right);
}

Value floats(BinaryOperator op, double left, double right) {
  switch (op) {
    case BinaryOperator::Add:
      return left + right;
    case BinaryOperator::Subtract:
      return left - right;
    case BinaryOperator::Multiply:
      return left * right;
    case BinaryOperator::Divide:
      if (right == 0) division_by_zero();
      return left / right;
    case BinaryOperator::FloorDivide:
      if (right == 0) division_by_zero();
      return floor_divide(left, right);
    case BinaryOperator::Modulo:
      if (right == 0) division_by_zero();
      return floor_modulo(left, right);
    case BinaryOperator::Power:
      return std::pow(left, right);
    default:
      bad_operands(text_of(op), left, right);
  }
}

std::vector<Value> repeated(const std::vector<Value>& items, std::int64_t count) {
  if (count > 0 && items.size() > max_items / static_cast<std::size_t>(count))
    throw Unsupported{"the list is too long to be read"};
  std::vector<Value> result;
  for (; count > 0; --count) result.insert(result.end(), items.begin(), items.end());
  return result;
}

std::vector<Value> joined(const std::vector<Value>& left, const std::vector<Value>& right) {
  std::vector<Value> result = left;
  result.insert(result.end(), right.begin(), right.end());
  if (result.size() > max_items) throw Unsupported{"the list is too long to be read"};
  return result;
}

Value containers(BinaryOperator op, const Value& left, const Value& right) {
  const auto* text = left.get_if<std::string>();
  const auto* more = right.get_if<std::string>();
  if (op == BinaryOperator::Add) {
    if (text != nullptr && more != nullptr) {
      if (text->size() + more->size() > max_string_bytes)
        throw Unsupported{"the string is too long to be read"};
      return *text + *more;
    }
    if (left.list() != nullptr && right.list() != nullptr)
      return make_list(joined(left.list()->items, right.list()->items));
    if (left.tuple() != nullptr && right.tuple() != nullptr)
      return make_tuple(joined(left.tuple()->items, right.tuple()->items));
  }
  if (op == BinaryOperator::Multiply && right.integer()) {
    if (left.list() != nullptr) return make_list(repeated(left.list()->items, *right.integer()));
    if (left.tuple() != nullptr) return make_tuple(repeated(left.tuple()->items, *right.integer()));
  }
  if (op == BinaryOperator::BitOr && left.dict() != nullptr && right.dict() != nullptr) {
    std::vector<std::pair<Value, Value>> items = left.dict()->items;
    items.insert(items.end(), right.dict()->items.begin(), right.dict()->items.end());
    return make_dict(std::move(items));
  }
  bad_operands(text_of(op), left, right);
}

bool contains(const Value& container, const Value& item) {
  if (container.dict() != nullptr) return container.dict()->find(item) != nullptr;
  if (const auto* text = container.get_if<std::string>()) {
    const auto* part = item.get_if<std::string>();
    if (part == nullptr) bad_operands("in", item, container);
    return text->find(*part) != std::string::npos;
  }
  if (container.items() == nullptr) bad_operands("in", item, container);
  for (const Value& known : *container.items())
    if (equal(known, item)) return true;
  return false;
}

// None, True, False and external names are one object each; of other values, identity is not known.
bool identical(const Value& left, const Value& right) {
  const auto single = [](const Value& value) {
    return value.is_none() || value.is<bool>() || value.is<ExternalValue>();
  };
  if (single(left) || single(right))
    return left.storage().index() == right.storage().index() && equal(left, right);
  if (left.integer() && right.integer()) return equal(left, right);
  throw Unsupported{
      fmt::format("'is' of {} and {} is not evaluated", type_name(left), type_name(right))};
}

}  // namespace

std::int64_t checked_add(std::int64_t left, std::int64_t right) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(left, right, &result)) overflow();
  return result;
}

std::int64_t floor_divide(std::int64_t left, std::int64_t right) {
  if (right == 0) division_by_zero();
  if (right == -1 && left == std::numeric_limits<std::int64_t>::min()) overflow();
  const std::int64_t quotient = left / right;
  return left % right != 0 && (left < 0) != (right < 0) ? quotient - 1 : quotient;
}

double floor_divide(double left, double right) {
  const double rest = std::fmod(left, right);
  double quotient = (left - rest) / right;
  if (rest != 0 && (rest < 0) != (right < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(0.0, left / right);
  const double whole = std::floor(quotient);  // but for roundings it is the quotient
  return quotient - whole > 0.5 ? whole + 1 : whole;
}

double floor_modulo(double left, double right) {
  const double rest = std::fmod(left, right);
  if (rest == 0) return std::copysign(0.0, right);
  return (rest < 0) != (right < 0) ? rest + right : rest;
}

Value apply(BinaryOperator op, const Value& left, const Value& right) {
  const bool flags = left.is<bool>() && right.is<bool>();
  if (flags && op == BinaryOperator::BitOr) return truth(left) || truth(right);
  if (flags && op == BinaryOperator::BitAnd) return truth(left) && truth(right);
  if (flags && op == BinaryOperator::BitXor) return truth(left) != truth(right);
  if (left.integer() && right.integer()) return integers(op, *left.integer(), *right.integer());
  if (left.number() && right.number()) return floats(op, *left.number(), *right.number());
  return containers(op, left, right);
}

Value apply(UnaryOperator op, const Value& operand) {
  if (op == UnaryOperator::Not) return !truth(operand);
  if (const auto whole = operand.integer()) {
    if (op == UnaryOperator::Plus) return *whole;
    if (op == UnaryOperator::Invert) return ~*whole;
    return integers(BinaryOperator::Subtract, 0, *whole);
  }
  if (operand.number() && op != UnaryOperator::Invert)
    return op == UnaryOperator::Negate ? -*operand.number() : *operand.number();
  throw Unsupported{fmt::format("'{}' of {} is not evaluated", text_of(op), type_name(operand))};
}

bool less(const Value& left, const Value& right) {
  if (left.integer() && right.integer()) return *left.integer() < *right.integer();
  if (left.number() && right.number()) return *left.number() < *right.number();
  const auto* text = left.get_if<std::string>();
  const auto* other = right.get_if<std::string>();
  if (text != nullptr && other != nullptr) return *text < *other;
  const auto* version = left.get_if<VersionValue>();
  const auto* later = right.get_if<VersionValue>();
  if (version != nullptr && later != nullptr) return version->release < later->release;
  const bool sequences = (left.list() != nullptr && right.list() != nullptr) ||
                         (left.tuple() != nullptr && right.tuple() != nullptr);
  if (!sequences) bad_operands("<", left, right);
  const auto& first = *left.items();
  const auto& second = *right.items();
  for (std::size_t i = 0; i < first.size() && i < second.size(); ++i)
    if (!equal(first[i], second[i])) return less(first[i], second[i]);
  return first.size() < second.size();
}

bool compare(CompareOperator op, const Value& left, const Value& right) {
  switch (op) {
    case CompareOperator::Equal:
      return equal(left, right);
    case CompareOperator::NotEqual:
      return !equal(left, right);
    case CompareOperator::Less:
      return less(left, right);
    case CompareOperator::Greater:
      return less(right, left);
    case CompareOperator::LessEqual:
      return less(left, right) || equal(left, right);
    case CompareOperator::GreaterEqual:
      return less(right, left) || equal(left, right);
    case CompareOperator::Is:
      return identical(left, right);
    case CompareOperator::IsNot:
      return !identical(left, right);
    case CompareOperator::In:
      return contains(right, left);
    case CompareOperator::NotIn:
      return !contains(right, left);
  }
  return false;
}

Value element(const Value& value, const Value& index) {
  if (value.dict() != nullptr) {
    const Value* found = value.dict()->find(index);
    if (found == nullptr) throw Unsupported{fmt::format("there is no key {}", repr(index))};
    return *found;
  }
  const auto* text = value.get_if<std::string>();
  const bool ordered = text != nullptr || value.list() != nullptr || value.tuple() != nullptr;
  if (!ordered || !index.integer())
    throw Unsupported{
        fmt::format("{} cannot be indexed by {}", type_name(value), type_name(index))};
  const auto size =
      static_cast<std::int64_t>(text != nullptr ? text->size() : value.items()->size());
  const std::int64_t place = *index.integer() < 0 ? *index.integer() + size : *index.integer();
  if (place < 0 || place >= size)
    throw Unsupported{fmt::format("index {} is outside the {} of {} items", *index.integer(),
                                  type_name(value), size)};
  if (text != nullptr) return std::string(1, (*text)[static_cast<std::size_t>(place)]);
  return (*value.items())[static_cast<std::size_t>(place)];
}

}  // namespace tilewright::python
