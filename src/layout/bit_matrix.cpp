// SPDX-License-Identifier: Apache-2.0
// layout/bit_matrix.cpp — products and Gaussian elimination over two elements.
#include "layout/bit_matrix.h"

#include <bit>

#include "base/check.h"

namespace tilewright {
namespace {

// An echelon basis of the columns; each entry remembers which columns it is made of.
class Basis {
 public:
  explicit Basis(std::span<const std::uint64_t> columns) {
    for (std::size_t j = 0; j < columns.size(); ++j) {
      std::uint64_t made_of = std::uint64_t{1} << j;
      const std::uint64_t rest = reduce(columns[j], made_of);
      if (rest == 0) continue;
      const auto top = static_cast<std::size_t>(63 - std::countl_zero(rest));
      vectors_[top] = rest;
      made_of_[top] = made_of;
      ++rank_;
    }
  }

  int rank() const { return rank_; }

  // What is left of y; `made_of` gains the columns that were taken away.
  std::uint64_t reduce(std::uint64_t y, std::uint64_t& made_of) const {
    for (std::size_t bit = 64; bit-- > 0 && y != 0;) {
      if ((y >> bit & 1) == 0 || vectors_[bit] == 0) continue;
      y ^= vectors_[bit];
      made_of ^= made_of_[bit];
    }
    return y;
  }

 private:
  std::uint64_t vectors_[64] = {};
  std::uint64_t made_of_[64] = {};
  int rank_ = 0;
};

}  // namespace

BitMatrix::BitMatrix(int rows, std::vector<std::uint64_t> columns)
    : rows_(rows), columns_(std::move(columns)) {
  TW_CHECK(rows >= 0 && rows <= 64 && columns_.size() <= 64, "a bit matrix of {} x {}", rows,
           columns_.size());
  for (std::uint64_t column : columns_)
    TW_CHECK(rows == 64 || column >> rows == 0, "column {:#x} has more than {} bits", column, rows);
}

BitMatrix BitMatrix::identity(int bits) {
  std::vector<std::uint64_t> columns(static_cast<std::size_t>(bits));
  for (std::size_t j = 0; j < columns.size(); ++j) columns[j] = std::uint64_t{1} << j;
  return {bits, std::move(columns)};
}

BitMatrix BitMatrix::zero(int rows, int columns) {
  return {rows, std::vector<std::uint64_t>(static_cast<std::size_t>(columns))};
}

std::uint64_t BitMatrix::operator()(std::uint64_t x) const {
  std::uint64_t y = 0;
  for (std::size_t j = 0; j < columns_.size() && x != 0; ++j, x >>= 1)
    if (x & 1) y ^= columns_[j];
  return y;
}

BitMatrix operator*(const BitMatrix& a, const BitMatrix& b) {
  TW_CHECK(a.columns() == b.rows(), "a product of bit matrices of {} columns and {} rows",
           a.columns(), b.rows());
  std::vector<std::uint64_t> columns;
  columns.reserve(b.columns_.size());
  for (std::uint64_t column : b.columns_) columns.push_back(a(column));
  return {a.rows_, std::move(columns)};
}

int BitMatrix::rank() const { return Basis(columns_).rank(); }

bool BitMatrix::is_bit_selection() const {
  std::uint64_t seen = 0;
  for (std::uint64_t column : columns_) {
    if ((column & (column - 1)) != 0 || (seen & column) != 0) return false;
    seen |= column;
  }
  return true;
}

std::optional<std::uint64_t> BitMatrix::solve(std::uint64_t y) const {
  std::uint64_t made_of = 0;
  if (Basis(columns_).reduce(y, made_of) != 0) return std::nullopt;
  return made_of;
}

std::optional<BitMatrix> BitMatrix::solve(const BitMatrix& y) const {
  const Basis basis(columns_);
  std::vector<std::uint64_t> out;
  out.reserve(y.columns_.size());
  for (const std::uint64_t column : y.columns_) {
    std::uint64_t made_of = 0;
    if (basis.reduce(column, made_of) != 0) return std::nullopt;
    out.push_back(made_of);
  }
  return BitMatrix(columns(), std::move(out));
}

std::optional<BitMatrix> BitMatrix::right_inverse() const { return solve(identity(rows_)); }

BitMatrix beside(const BitMatrix& left, const BitMatrix& right) {
  TW_CHECK(left.rows_ == right.rows_, "bit matrices of {} and {} rows side by side", left.rows_,
           right.rows_);
  std::vector<std::uint64_t> columns = left.columns_;
  columns.insert(columns.end(), right.columns_.begin(), right.columns_.end());
  return {left.rows_, std::move(columns)};
}

std::string BitMatrix::to_string() const {
  std::string out;
  for (int row = rows_; row-- > 0;) {
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      if (j > 0) out += ' ';
      out += (columns_[j] >> row & 1) != 0 ? '1' : '0';
    }
    out += '\n';
  }
  return out;
}

}  // namespace tilewright
