// SPDX-License-Identifier: Apache-2.0
// frontend/numba/types.cpp — unification and the types of results.
#include "frontend/numba/types.h"

#include <algorithm>

#include <fmt/format.h>

namespace tilewright::numba {
namespace {

int bits_of(DType dtype) { return static_cast<int>(size_of(dtype)) * 8; }

bool is_signed_integer(DType dtype) { return is_integer(dtype) && is_signed(dtype); }

// Does every integer of the type have its float32?
bool fits_float32(DType dtype) {
  return dtype == DType::Bool || dtype == DType::Int8 || dtype == DType::UInt8 ||
         dtype == DType::Int16;
}

// Of variables: values of both without loss, as far as there is such a type.
DType unify_scalars(DType a, DType b) {
  if (a == b) return a;
  if (is_floating(a) || is_floating(b)) return arithmetic_type(a, b);
  if (a == DType::Bool) return b;
  if (b == DType::Bool) return a;
  if (is_signed(a) == is_signed(b)) return bits_of(a) > bits_of(b) ? a : b;
  const DType unsigned_one = is_signed(a) ? b : a, signed_one = is_signed(a) ? a : b;
  if (bits_of(unsigned_one) < bits_of(signed_one)) return signed_one;
  switch (unsigned_one) {
    case DType::UInt8:
      return DType::Int16;
    case DType::UInt16:
      return DType::Int32;
    case DType::UInt32:
      return DType::Int64;
    default:
      return DType::Float64;
  }
}

}  // namespace

bool Type::is_unknown() const {
  return kind == Kind::Unknown || std::any_of(items.begin(), items.end(),
                                              [](const Type& item) { return item.is_unknown(); });
}

std::string text_of(const Type& type) {
  switch (type.kind) {
    case Type::Kind::Unknown:
      return "unknown";
    case Type::Kind::None:
      return "None";
    case Type::Kind::Scalar:
      return std::string(name_of(type.dtype));
    case Type::Kind::Array:
      return fmt::format("array({}, {}d, {})", name_of(type.dtype), type.ndim,
                         type.is_contiguous ? "C" : "A");
    case Type::Kind::Constant:
      return "a name of a module";
    case Type::Kind::Tuple:
      break;
  }
  if (type.is_complex) return type.items[0].dtype == DType::Float32 ? "complex64" : "complex128";
  std::string items;
  for (const Type& item : type.items) items += (items.empty() ? "" : ", ") + text_of(item);
  return fmt::format("tuple({})", items);
}

std::string cpp_type(DType dtype) {
  switch (dtype) {
    case DType::Float64:
      return "double";
    case DType::Float32:
      return "float";
    case DType::Float16:
      return "__half";
    case DType::Int8:
      return "signed char";
    case DType::Int16:
      return "short";
    case DType::Int32:
      return "int";
    case DType::UInt8:
      return "unsigned char";
    case DType::UInt16:
      return "unsigned short";
    case DType::UInt32:
      return "unsigned";
    case DType::UInt64:
      return "unsigned long long";
    case DType::Bool:
      return "bool";
    default:
      return "long long";
  }
}

bool is_supported(DType dtype) {
  return dtype == DType::Float64 || dtype == DType::Float32 || dtype == DType::Float16 ||
         !is_floating(dtype);
}

std::optional<Type> unify(const Type& a, const Type& b) {
  if (a.kind == Type::Kind::Unknown) return b;
  if (b.kind == Type::Kind::Unknown || a == b) return a;
  if (a.is_scalar() && b.is_scalar()) return Type::scalar(unify_scalars(a.dtype, b.dtype));
  if (a.is_array() && b.is_array() && a.dtype == b.dtype && a.ndim == b.ndim)
    return Type::array(a.dtype, a.ndim, a.is_contiguous && b.is_contiguous);
  if (a.is_complex && b.is_scalar()) return unify(a, complex_type(b.dtype));
  if (b.is_complex && a.is_scalar()) return unify(complex_type(a.dtype), b);
  if (a.is_complex != b.is_complex) return {};
  if (!a.is_tuple() || !b.is_tuple() || a.items.size() != b.items.size()) return {};
  Type result = a;
  for (std::size_t i = 0; i < a.items.size(); ++i) {
    const std::optional<Type> item = unify(a.items[i], b.items[i]);
    if (!item) return {};
    result.items[i] = *item;
  }
  return result;
}

Type complex_type(DType part) {
  const Type real = Type::scalar(part == DType::Float32 ? part : DType::Float64);
  Type type = Type::tuple({real, real});
  type.is_complex = true;
  return type;
}

DType arithmetic_type(DType a, DType b) {
  if (!is_floating(a) && !is_floating(b))
    return is_signed_integer(a) || is_signed_integer(b) || (a == DType::Bool && b == DType::Bool)
               ? DType::Int64
               : DType::UInt64;
  if (is_floating(a) && is_floating(b)) return size_of(a) > size_of(b) ? a : b;
  const DType real = is_floating(a) ? a : b, integer = is_floating(a) ? b : a;
  if (real == DType::Float16)
    return size_of(integer) == 1   ? DType::Float16
           : size_of(integer) == 2 ? DType::Float32
                                   : DType::Float64;
  return real == DType::Float32 && fits_float32(integer) ? DType::Float32 : DType::Float64;
}

DType division_type(DType a, DType b) {
  return is_floating(a) || is_floating(b) ? arithmetic_type(a, b) : DType::Float64;
}

DType math_type(DType a) { return a == DType::Float32 || a == DType::Float16 ? a : DType::Float64; }

DType computed_type(DType dtype) { return dtype == DType::Float16 ? DType::Float32 : dtype; }

}  // namespace tilewright::numba
