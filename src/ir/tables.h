// SPDX-License-Identifier: Apache-2.0
// ir/tables.h — what is decided for a whole kernel, printed before its ops: how programs lie on
// threads, who holds which element, where tiles live.
//
//   shape {warps = 4}
//   layout #0 [64, 64] {register = [1, 2, ..], lane = [4, 8, ..], warp = [1024, 2048], vector = 4}
//   buffer @x : f32[64, 64] {space = "registers", layout = "0"}
//   buffer @a_buffer : f16[64, 32] {slots = 3, space = "shared", order = [1, 2, ..], offset = 0}
//   buffer @sum_scratch : i64[4] {scratch = 1, space = "shared", offset = 12288}
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/attribute.h"
#include "ir/type.h"
#include "layout/layout.h"

namespace tilewright::ir {

// How programs of a Laid kernel lie on the threads of a machine that has them.
struct KernelShape {
  int warps = 0;     // of a program in each of its blocks, a power of two; 0: it is not decided
  int programs = 1;  // that share a block at most, where none of them needs it for itself
  int cluster = 1;   // blocks over which one program is spread
  int resident = 0;  // blocks that registers must suffice for on a multiprocessor; 0: any number

  bool is_decided() const { return warps > 0; }
  friend bool operator==(const KernelShape&, const KernelShape&) = default;
};

// Who holds which element of tiles of a shape, and how a thread's loop goes over those it holds.
struct KernelLayout {
  std::string name;
  Type shape;                // only its sizes count
  Layout layout;             // the warps are those of all blocks of a program
  int vector = 1;            // elements of the lowest registers that a loop handles as one
  int along = 0;             // the dimension of their neighbours
  bool is_unrolled = false;  // loops over it are, however many registers there are

  friend bool operator==(const KernelLayout&, const KernelLayout&) = default;
};

// Where a buffer's tiles are.
enum class BufferSpace : std::uint8_t { Undecided, Registers, Shared };

// Memory of a program: `slots` tiles of one type that asynchronous copies write to, or, without
// slots, where tiles of a Laid kernel live from one sweep to another, one after the other. Scratch
// holds no tile: the threads of a program meet in it while they run the op that names it.
struct KernelBuffer {
  static constexpr int least_align = 16;

  std::string name;
  Type type;
  int slots = 1;
  BufferSpace space = BufferSpace::Undecided;
  std::string layout = {};  // in which tiles are written and read; none of slots
  // Of shared memory: the place of each bit of an element's index; none: row-major order.
  std::vector<std::int64_t> order = {};
  // Of registers: a bit of the lane's number and one of the register's, in turns. Lanes exchange
  // these when the tile is written (layout/convert.h), and so it is read.
  std::vector<std::int64_t> swaps = {};
  int align = least_align;   // bytes; asynchronous products want more
  bool is_private = false;   // of shared memory: a thread touches its own vectors only
  int scratch = 0;           // how many times the type an op needs for itself; 0: a place for tiles
  std::int64_t offset = -1;  // of shared memory: bytes from its begin; below 0: it is not decided

  bool has_slots() const { return slots > 0; }
  bool is_scratch() const { return scratch > 0; }
  bool is_shared() const { return space == BufferSpace::Shared; }
  // Whether it has a place among those of the block, which private rows lie beside.
  bool has_place() const { return is_shared() && !is_private; }
  std::int64_t bytes() const;  // of all slots
  // Whether they have a byte in common; both have offsets.
  bool overlaps(const KernelBuffer& other) const {
    return offset < other.offset + other.bytes() && other.offset < offset + bytes();
  }
  friend bool operator==(const KernelBuffer&, const KernelBuffer&) = default;
};

// What stands in braces behind a row, without what is as it always is.
std::vector<Attribute> facts_of(const KernelShape& shape);
std::vector<Attribute> facts_of(const KernelLayout& layout);
std::vector<Attribute> facts_of(const KernelBuffer& buffer);

// The other way. Returns what is wrong with them, or "".
std::string take_facts(const std::vector<Attribute>& facts, KernelShape& shape);
std::string take_facts(const std::vector<Attribute>& facts, KernelLayout& layout);
std::string take_facts(const std::vector<Attribute>& facts, KernelBuffer& buffer);

}  // namespace tilewright::ir
