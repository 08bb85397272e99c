// SPDX-License-Identifier: Apache-2.0
// layout/layout.h — which register of which lane of which warp holds which element of a tile.
//
// A layout is a linear map from the bits of (register, lane, warp) to the bits of the element's
// row-major index. A zero column is a copy: the two halves of the threads (or registers) that the
// bit tells apart hold the same elements. Every element of the tile is held somewhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "layout/bit_matrix.h"
#include "layout/index_map.h"

namespace tilewright {

struct Place {
  std::uint64_t reg = 0;
  std::uint64_t lane = 0;
  std::uint64_t warp = 0;
  friend bool operator==(const Place&, const Place&) = default;
};

class Layout {
 public:
  Layout() = default;
  Layout(BitMatrix registers, BitMatrix lanes, BitMatrix warps);

  // Elements of a tile dealt out in the order of `order` (the fastest dimension first): a thread's
  // vector of 2^log_vector elements along order[0], then the lanes, then the warps; what is left
  // goes to further registers, and bits that find no element left are copies.
  struct Blocked {
    std::vector<std::uint8_t> log_sizes;
    std::vector<int> order;
    int log_vector = 0;
    int log_lanes = 0;
    int log_warps = 2;
  };
  static Layout blocked(const Blocked& blocked);

  const BitMatrix& registers() const { return registers_; }
  const BitMatrix& lanes() const { return lanes_; }
  const BitMatrix& warps() const { return warps_; }
  int element_bits() const { return registers_.rows(); }
  int register_count() const { return 1 << registers_.columns(); }
  int thread_bits() const { return lanes_.columns() + warps_.columns(); }

  // All columns: registers lowest, then lanes, then warps.
  BitMatrix matrix() const { return beside(registers_, thread_matrix()); }
  // Lanes lowest, then warps: the bits of the thread's number in its block.
  BitMatrix thread_matrix() const { return beside(lanes_, warps_); }

  std::uint64_t element(const Place& place) const;
  // One place of an element: the one whose copies' bits are all zero.
  Place owner(std::uint64_t element) const;
  // Bits of the thread number that only tell copies apart: a thread owns its elements when all of
  // them are zero. Meant for layouts whose dependent columns are zero columns, as all of ours are.
  std::uint64_t copy_bits() const;
  bool covers_all() const { return matrix().is_surjective(); }

  // log2 of the elements from register 0 on that are consecutive in memory order.
  int log_vector() const;

  // The layout of a view of this tile in which every thread holds the elements that it holds here:
  // `to_result` takes an index of this tile to an index of the result. Slices drop index bits,
  // which leaves copies behind.
  Layout through(const BitMatrix& to_result) const;
  // The layout of a part of this tile, in which every thread holds what it holds here: element i of
  // the part is element view(i) here. None where a part of the threads would hold nothing of it.
  std::optional<Layout> part(const IndexMap& view) const;
  // Each warp's elements dealt out to its lanes along the row-major index, vectors of 2^log_vector
  // first. None where the warps do not part the tile by bits of the index.
  std::optional<Layout> rows_within_warps(int log_vector) const;
  // The lowest 2^log_vector elements of a row in registers of one thread: columns that lanes have of
  // those change places with the next ones of registers. None where they are not a lane's.
  std::optional<Layout> lines_in_registers(int log_vector) const;
  // Without registers that are copies: slices leave several of them. The registers that stay keep
  // their order.
  Layout without_register_copies() const;

  // "register 1 2 4 | lane 8 16 .. | warp 256 512": the columns.
  std::string to_string() const;
  friend bool operator==(const Layout&, const Layout&) = default;

 private:
  BitMatrix registers_;
  BitMatrix lanes_;
  BitMatrix warps_;
};

}  // namespace tilewright
