// SPDX-License-Identifier: Apache-2.0
// layout/bit_matrix.h — linear maps on bits: matrices over the field of two elements.
//
// A matrix maps a number x of `columns()` bits to a number of `rows()` bits: bit j of x, when set,
// contributes column j, and contributions are combined by exclusive or. All tile sizes are powers
// of two, so that "which element does this thread hold", transposes, slices, broadcasts and
// swizzles are all such maps, and questions about them become algebra.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tilewright {

class BitMatrix {
 public:
  BitMatrix() = default;
  // Each column is a number of at most `rows` bits (at most 64).
  BitMatrix(int rows, std::vector<std::uint64_t> columns);

  static BitMatrix identity(int bits);
  static BitMatrix zero(int rows, int columns);

  int rows() const { return rows_; }
  int columns() const { return static_cast<int>(columns_.size()); }
  std::uint64_t column(int index) const { return columns_[static_cast<std::size_t>(index)]; }
  std::span<const std::uint64_t> all_columns() const { return columns_; }

  // The image of x.
  std::uint64_t operator()(std::uint64_t x) const;
  // (a * b)(x) = a(b(x)).
  friend BitMatrix operator*(const BitMatrix& a, const BitMatrix& b);
  friend bool operator==(const BitMatrix&, const BitMatrix&) = default;

  // The number of independent columns.
  int rank() const;
  bool is_surjective() const { return rank() == rows_; }
  bool is_invertible() const { return rows_ == columns() && is_surjective(); }
  // The same bits moved about: every column has at most one bit, and no two share one.
  bool is_bit_selection() const;

  // Some x with image y, made of as few and as low columns as elimination finds; none when y is no
  // image.
  std::optional<std::uint64_t> solve(std::uint64_t y) const;
  // The matrix r with (*this) * r = y, column by column; none where a column is no image.
  std::optional<BitMatrix> solve(const BitMatrix& y) const;
  // The matrix r with (*this) * r = identity; none unless surjective.
  std::optional<BitMatrix> right_inverse() const;

  // Columns of both, side by side; rows must be equal.
  friend BitMatrix beside(const BitMatrix& left, const BitMatrix& right);

  // One row per line, most significant first: "1 0 1\n0 1 0\n".
  std::string to_string() const;

 private:
  int rows_ = 0;
  std::vector<std::uint64_t> columns_;
};

}  // namespace tilewright
