// SPDX-License-Identifier: Apache-2.0
// frontend/numba/types.h — the types of thread-level Python, and Numba's rules for them.
//
// Integers compute in 64 bits: int32 + int32 is an int64, and a result is signed when an operand
// is. float32 stays float32 beside float32 and beside integers that it holds exactly (up to 16
// bits); beside wider ones, and beside a float literal, the result is a float64. float16 does so up
// to 8 bits, and is a float32 beside 16.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tilewright/dtype.h"

namespace tilewright::numba {

struct Type {
  enum class Kind {
    Unknown,  // not inferred yet
    None,
    Scalar,
    Array,
    Tuple,     // of scalars
    Constant,  // a name that has no value at run time: a module, a function, a dtype
  };
  Kind kind = Kind::Unknown;
  DType dtype = DType::Int64;  // of Scalar; the elements of Array
  int ndim = 0;                // of Array
  bool is_contiguous = true;   // of Array: row-major without gaps
  std::vector<Type> items = {};
  bool is_complex = false;  // a Tuple of the real and the imaginary part

  static Type none() { return {Kind::None}; }
  static Type constant() { return {Kind::Constant}; }
  static Type scalar(DType dtype) { return {Kind::Scalar, dtype}; }
  static Type array(DType dtype, int ndim, bool is_contiguous) {
    return {Kind::Array, dtype, ndim, is_contiguous};
  }
  static Type tuple(std::vector<Type> items) {
    Type type{Kind::Tuple};
    type.items = std::move(items);
    return type;
  }

  bool is_unknown() const;
  bool is_scalar() const { return kind == Kind::Scalar; }
  bool is_array() const { return kind == Kind::Array; }
  bool is_tuple() const { return kind == Kind::Tuple; }
  bool is_bool() const { return is_scalar() && dtype == DType::Bool; }
  bool is_float() const { return is_scalar() && is_floating(dtype); }
  // A bool counts, as in Python.
  bool is_integer() const { return is_scalar() && !is_floating(dtype); }

  friend bool operator==(const Type&, const Type&) = default;
};

// "float32", "array(float32, 2d, C)", "tuple(int64, float32)".
std::string text_of(const Type& type);
// The C++ type of a scalar: "float", "long long".
std::string cpp_type(DType dtype);
// Element types that kernels can compute with.
bool is_supported(DType dtype);

// complex64 of float32, else complex128.
Type complex_type(DType part);

// The type of a variable that is assigned both; empty when there is none.
std::optional<Type> unify(const Type& a, const Type& b);

// The result of +, -, *, //, % and of comparisons' operands.
DType arithmetic_type(DType a, DType b);
// The result of `/`.
DType division_type(DType a, DType b);
// The result of a function of the math module.
DType math_type(DType a);
// What the text computes values of a type in: float32 for float16, which is rounded afterwards. One
// operation and two roundings give what one rounding would.
DType computed_type(DType dtype);

}  // namespace tilewright::numba
