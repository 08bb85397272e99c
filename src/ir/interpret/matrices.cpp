// SPDX-License-Identifier: Apache-2.0
// ir/interpret/matrices.cpp — calls of stage Final in which the lanes of a warp read matrices from
// shared memory and multiply them (layout/mma.h says who holds what).
//
// A read counts as that of the lane which names the row: what another thread has written there
// since all threads met is a finding, as with any other access.
#include <array>
#include <cstring>
#include <vector>

#include "ir/interpret/program.h"
#include "machine/units.h"

namespace tilewright::ir {
namespace {

constexpr std::size_t row_bytes = 16;
using Row = std::array<unsigned char, row_bytes>;

std::uint32_t word_at(const Row& row, std::size_t byte) {
  std::uint32_t out = 0;
  std::memcpy(&out, row.data() + byte, sizeof(out));
  return out;
}

std::uint32_t half_at(const Row& row, std::size_t byte) {
  std::uint16_t out = 0;
  std::memcpy(&out, row.data() + byte, sizeof(out));
  return out;
}

// Bytes 0 and 2 of two words, or 1 and 3.
std::uint32_t every_other_byte(std::uint32_t a, std::uint32_t b, int odd) {
  a >>= 8 * odd;
  b >>= 8 * odd;
  return (a & 0xff) | (a >> 8 & 0xff00) | (b & 0xff) << 16 | (b & 0xff0000) << 8;
}

// What a lane gets of the rows that its warp names.
std::vector<std::uint32_t> words_of(const Row* rows, std::size_t lane, std::size_t count,
                                    std::int64_t how) {
  std::vector<std::uint32_t> out;
  for (std::size_t m = 0; m < count; ++m) {
    if (how == 0) {
      out.push_back(word_at(rows[8 * m + lane / 4], lane % 4 * 4));
      continue;
    }
    const Row* pair = rows + 8 * m + lane % 4 * 2;
    out.push_back(half_at(pair[0], lane / 4 * 2) | half_at(pair[1], lane / 4 * 2) << 16);
  }
  if (how < 2) return out;
  const std::vector<std::uint32_t> pairs = out;
  const auto next = static_cast<std::size_t>(how - 1);
  out[0] = every_other_byte(pairs[0], pairs[1], 0);
  out[next] = every_other_byte(pairs[0], pairs[1], 1);
  out[3 - next] = every_other_byte(pairs[2], pairs[3], 0);
  out[3] = every_other_byte(pairs[2], pairs[3], 1);
  return out;
}

// The operand of an instruction as one of its lanes has it.
struct Fragments {
  const MmaShape& shape;
  DType dtype;
  bool cuts_tf32 = false;                        // the instruction reads no more of an f32
  std::vector<std::vector<Element>> words = {};  // by lane

  // Of row or column `line`; `lines` of the instruction's rows or columns.
  Element at(std::size_t line, std::size_t lines, std::size_t depth) const {
    const std::size_t number = depth >> shape.log_word;
    const Element word = words[line % 8 * 4 + number % 4][line / 8 + number / 4 * (lines / 8)];
    if (dtype == DType::Float64) return word;
    const auto bytes = size_of(dtype);
    auto bits = static_cast<std::uint32_t>(word.i) >>
                (depth % (std::size_t{1} << shape.log_word) * bytes * 8);
    if (cuts_tf32) bits &= 0xffffe000u;
    return read_element(dtype, &bits);
  }
};

}  // namespace

std::int64_t Matrices::word_of(const Op& op) const {
  Row bytes = {};
  const bool is_array = kernel_.type(op.operands[0]).is_array();
  const DType dtype = kernel_.type(op.operands[0]).dtype;
  const std::size_t each = size_of(dtype);
  for (std::size_t k = 0; k < 4 / each; ++k)
    write_element(
        dtype,
        is_array ? read_array(op, 0, static_cast<std::int64_t>(k)) : operand(op, k).elements[0],
        bytes.data() + k * each);
  return word_at(bytes, 0);
}

void Matrices::load_matrices(const Op& op) {
  const std::vector<std::int64_t> numbers = op.integers("numbers");
  const DType dtype = kernel_.type(op.operands[1]).dtype;
  const std::size_t each = size_of(dtype);
  std::vector<Row> rows(threads_.size());
  for_each_thread([&] {
    if (thread_ % lanes_ >= 8 * numbers[0]) return;  // what these name is not read
    for (std::size_t k = 0; k < row_bytes / each; ++k)
      write_element(dtype, read_array(op, 1, static_cast<std::int64_t>(k)),
                    rows[static_cast<std::size_t>(thread_)].data() + k * each);
  });
  for_each_thread([&] {
    const std::vector<std::uint32_t> words = words_of(
        rows.data() + thread_ / lanes_ * lanes_, static_cast<std::size_t>(thread_ % lanes_),
        static_cast<std::size_t>(numbers[0]), numbers[1]);
    for (std::size_t k = 0; k < words.size(); ++k)
      write_array(op, 0, static_cast<std::int64_t>(k), {.i = words[k]});
  });
}

void Matrices::multiply_matrices(const Op& op) {
  const ProductUnit& unit = *unit_named(op.text("unit"));
  const MmaShape& shape = unit.shape;
  const std::size_t rows = std::size_t{1} << shape.log_rows,
                    depth = std::size_t{1} << shape.log_depth;
  const std::int64_t of_line = std::int64_t{1} << (shape.log_depth - shape.log_word - 2);
  const bool cuts = unit.precision == "tf32";
  std::vector<std::vector<Element>> left(threads_.size()), right = left;
  for_each_thread([&] {
    const auto t = static_cast<std::size_t>(thread_);
    for (std::int64_t k = 0; k < of_line * static_cast<std::int64_t>(rows / 8); ++k)
      left[t].push_back(read_array(op, 1, k));
    for (std::int64_t k = 0; k < of_line; ++k) right[t].push_back(read_array(op, 2, k));
  });
  const DType sum = kernel_.type(op.operands[0]).dtype;
  const auto lanes = static_cast<std::size_t>(lanes_);
  for_each_thread([&] {
    const auto lane = static_cast<std::size_t>(thread_) % lanes;
    const auto warp =
        static_cast<std::ptrdiff_t>(static_cast<std::size_t>(thread_) / lanes * lanes);
    const Fragments a{shape, unit.left, cuts, {left.begin() + warp, left.begin() + warp + lanes_}};
    const Fragments b{
        shape, unit.right, cuts, {right.begin() + warp, right.begin() + warp + lanes_}};
    for (std::size_t i = 0; i < rows / 4; ++i) {
      Element total = read_array(op, 0, static_cast<std::int64_t>(i));
      for (std::size_t d = 0; d < depth; ++d) {
        const Element x = a.at(lane / 4 + i / 2 * 8, rows, d), y = b.at(lane % 4 * 2 + i % 2, 8, d);
        if (is_floating(sum)) total.f += x.f * y.f;
        else total.i += x.i * y.i;
      }
      if (is_floating(sum)) total.f = options_.float64 ? total.f : round_to(sum, total.f);
      else total.i = wrap(sum, total.i);
      write_array(op, 0, static_cast<std::int64_t>(i), total);
    }
  });
}

// Lanes with the bit give those of their elements without it.
void Matrices::swap_lanes(const Op& op) {
  const std::vector<std::int64_t> numbers = op.integers("numbers");
  const std::int64_t count = numbers[0], lane = numbers[1], bit = numbers[2];
  std::vector<std::vector<Element>> all(threads_.size());
  for_each_thread([&] {
    for (std::int64_t i = 0; i < count; ++i)
      all[static_cast<std::size_t>(thread_)].push_back(read_array(op, 0, i));
  });
  for_each_thread([&] {
    const bool has_bit = (thread_ >> lane & 1) != 0;
    const auto other = static_cast<std::size_t>(thread_ ^ std::int64_t{1} << lane);
    for (std::int64_t i = 0; i < count; ++i)
      if (((i >> bit & 1) != 0) != has_bit)
        write_array(op, 0, i, all[other][static_cast<std::size_t>(i ^ std::int64_t{1} << bit)]);
  });
}

}  // namespace tilewright::ir
