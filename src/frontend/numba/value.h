// SPDX-License-Identifier: Apache-2.0
// frontend/numba/value.h — what an expression of a kernel is in the C++ text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "frontend/numba/types.h"
#include "frontend/python/module_loader.h"

namespace tilewright::numba {

using Number = std::variant<std::int64_t, double>;

// How a value changes along a row of a block, from threadIdx.x = 0 on.
enum class AlongRow : std::uint8_t {
  Unknown,
  Same,
  Rising,  // never becomes smaller
  Prefix,  // a condition that holds for the first threads and not behind them
  Suffix,  // the other way round
};

// Which of CUDA's variables a value is: blockIdx.x * blockDim.x is bounded by the grid.
struct GridPart {
  enum class Kind : std::uint8_t { None, BlockIdx, BlockDim, GridDim };
  Kind kind = Kind::None;
  int axis = 0;

  friend bool operator==(const GridPart&, const GridPart&) = default;
};

// Launches up to here count in 32 bits: elements of an array, threads of a grid, integers.
inline constexpr std::int64_t most_of_narrow = std::int64_t{1} << 30;

struct Value {
  Type type;
  std::string text;       // of a scalar; of an array the pointer to its first element
  bool is_simple = true;  // may stand beside any operator without parentheses
  bool is_nonnegative = false;
  std::int64_t least = 0;  // of an integer that is not negative: it is no less than this
  // Of an integer: its size without the sign is no more than this, and its text is an int whatever
  // its type. Known in narrow kernels only.
  std::optional<std::int64_t> most = {};
  GridPart grid_part = {};
  bool is_stable = false;  // the same wherever it stands in the function
  std::optional<Number> constant = {};
  AlongRow row = AlongRow::Unknown;

  // Of an array: sizes and distances in elements, as expressions; those of a contiguous one are
  // made from its sizes.
  std::vector<std::string> shape = {};
  std::vector<std::string> strides = {};
  bool is_declared = false;  // T name[8][16], indexed as such
  bool is_frozen = false;    // a constant of the module, which nothing is stored to

  std::vector<Value> items = {};  // of a tuple
  bool is_packed = false;         // its items are members of the struct `text`

  // Of Type::Kind::Constant.
  std::string external = {};  // "numba.cuda.grid", "numpy.float32", "math"
  python::Binding binding = {};

  // An int64 whose text is an int: C++ would compute with it in 32 bits.
  bool is_narrow() const { return most && !constant && type.dtype == DType::Int64; }
  std::optional<std::int64_t> integer() const {
    if (!constant || !std::holds_alternative<std::int64_t>(*constant)) return {};
    return std::get<std::int64_t>(*constant);
  }
};

// `a + b` => `(a + b)`
std::string in_parentheses(const Value& value);

Value scalar_value(DType dtype, std::string text, bool is_simple = true);
Value integer_constant(std::int64_t value, DType dtype = DType::Int64);
Value float_constant(double value, DType dtype = DType::Float64);
Value tuple_value(std::vector<Value> items);
Value external_value(std::string name);
// Parts of this type; a real number has the imaginary part 0 (complex.cpp).
Value complex_value(const Value& real, const Value& imaginary, DType part);
Value as_complex(const Value& value, DType part);

// How large an int64 or int32 that is an int in the text can be, without its sign.
std::optional<std::int64_t> most_of(const Value& value);

// The value as a C++ expression of exactly this type.
Value converted(const Value& value, DType dtype);
// The same as text whose C++ type is that one even for a literal: 5ll.
std::string typed_text(const Value& value, DType dtype);
// As a condition.
Value truth_of(const Value& value);

}  // namespace tilewright::numba
