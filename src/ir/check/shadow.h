// SPDX-License-Identifier: Apache-2.0
// ir/check/shadow.h — a record for every element of the launch's memory: who wrote and read it
// last.
//
// Programs run one after another, but on a device all at once. Two accesses of different programs
// to one element, one of them a write, are a race unless both are atomic or one is known to come
// first: a program that reads an atomic's result knows what its writer did before it (a clock per
// program, which counts the atomics that others may learn from).
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "ir/interpret/interpret.h"
#include "ir/interpret/tile.h"
#include "ir/kernel.h"

namespace tilewright::ir {

struct ShadowCell {
  std::uint32_t writer = 0;  // program + 1
  std::uint32_t reader = 0;
  std::uint32_t writer_clock = 0;
  std::uint32_t reader_clock = 0;
  std::uint32_t store = 0;  // the execution of a store that wrote it last
  std::uint16_t writer_op = 0;
  std::uint16_t reader_op = 0;
  std::uint8_t flags = 0;

  enum Flag : std::uint8_t {
    Unwritten = 1,  // by the kernel so far, and before
    WrittenAtomically = 2,
    ReadAtomically = 4,
    Changed = 8,  // by the last write, which gave it another value
    SeveralReaders = 16,
  };
  bool has(Flag flag) const { return (flags & flag) != 0; }
  void set(Flag flag, bool on) {
    flags = static_cast<std::uint8_t>(on ? flags | flag : flags & ~flag);
  }
};

// Memory without a value at the start: what `empty` made.
struct UnwrittenRange {
  const void* data = nullptr;
  std::size_t bytes = 0;
};

class Shadow {
 public:
  Shadow(const Kernel& kernel, std::span<const InterpretBuffer> buffers,
         std::span<const UnwrittenRange> unwritten, std::int64_t programs);

  void begin_program(std::int64_t number);
  // Whether `bytes` at the pointer are in its buffer.
  bool is_inside(std::int64_t pointer, std::size_t bytes) const;
  // The records of these bytes; empty when they are in no buffer of the launch.
  std::span<ShadowCell> cells(std::int64_t pointer, std::size_t bytes);

  std::uint32_t program() const { return program_; }  // number + 1
  std::uint32_t clock() const { return clock_; }
  // Does what `program` did at `clock` come before what happens now?
  bool comes_before(std::uint32_t program, std::uint32_t clock) const;

  // An atomic at the address: what it learns of others, and what others may learn of it.
  void acquire(std::uint64_t address);
  void release(std::uint64_t address);
  // Too many programs for clocks: kernels that synchronise are then not checked for races.
  bool is_blind() const { return is_blind_; }
  bool uses_clocks() const { return uses_clocks_; }

 private:
  struct Region {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::unique_ptr<ShadowCell[], decltype(&std::free)> cells{nullptr, &std::free};
  };
  Region* region_at(std::uint64_t address);

  std::span<const InterpretBuffer> buffers_;
  std::uint64_t granule_ = 8;  // bytes per record: the smallest element of the kernel
  std::vector<Region> regions_;
  std::uint32_t program_ = 0;
  std::uint32_t clock_ = 1;
  bool uses_clocks_ = false;
  bool is_blind_ = false;
  std::vector<std::uint32_t> known_;  // by program: up to which clock this program knows it
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> released_;
};

}  // namespace tilewright::ir
