// SPDX-License-Identifier: Apache-2.0
// codegen/device_lib/emulate/shadow.h — a shadow of an emulated block's shared memory: who touched
// which byte last, and what ordered it.
//
// Two threads that touch the same byte, one of them writing, must be in an order (block_order.h):
// they have met at a barrier in between. Shuffles and votes order nothing. Atomic (and volatile)
// accesses do not race with each other. A byte must have been written before it is read, and nobody
// touches the destination of an asynchronous copy before the thread that started it has waited for
// it. What an asynchronous product reads has been shown to products by the thread that wrote it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/device_lib/emulate/block_order.h"
#include "codegen/device_lib/emulate/copies.h"
#include "codegen/device_lib/emulate/source_map.h"

namespace tilewright {

class Shadow {
 public:
  // device_lib/emulate/cuda/check.cuh has the same numbers.
  enum class Kind : std::uint32_t { Read, Write, AtomicRead, AtomicWrite, AtomicUpdate };

  struct Access {
    std::uintptr_t address = 0;
    std::uint64_t bytes = 0;
    Kind kind = Kind::Read;
    std::uint32_t thread = 0;
    std::uint32_t line = 0;
  };
  // One of the block's arrays; messages count its elements.
  struct Array {
    std::string name;
    std::uintptr_t address = 0;
    std::uint64_t bytes = 0;
    std::uint64_t element_bytes = 1;
  };
  // What is wrong, for threads of these numbers; `first` was there first. Empty: nothing.
  struct Finding {
    std::string message;
    bool has_two_threads = false;
    std::uint32_t first = 0;
    std::uint32_t second = 0;
    bool is_unwritten = false;  // nobody wrote it: perhaps because a thread ended early
    explicit operator bool() const { return !message.empty(); }
  };

  explicit Shadow(const BlockOrder& order) : order_(order) {}

  // All memory counts as unwritten, and no array is known.
  void start_block(std::uint32_t threads);
  void add_array(const Array& array);
  // Where the lines of accesses come from; may be null.
  void set_source(const TwSourceMap* source) { source_ = source; }
  // A pointer into an array under a name of its own.
  void add_name(const Array& part);

  Finding touch(const Access& access);
  Finding start_copy(std::uint32_t thread, const CopyQueue::Copy& copy);
  void copy_arrives(std::uint32_t thread, const CopyQueue::Copy& copy);
  // Of a tensor map: the words of rings order it, which fault by themselves; what arrives all
  // threads and products may read.
  void start_map_copy(std::uint32_t thread, const void* to, std::uint32_t bytes,
                      std::uint32_t line);
  void map_copy_arrives(const void* to, std::uint32_t bytes);

  // Asynchronous products see what a thread wrote before it last showed them its writes; while they
  // read, `is_product`.
  void show_to_products(std::uint32_t thread) { ++shows_[thread]; }
  void set_product(bool is_product) { is_product_ = is_product; }

 private:
  struct Moment {
    BlockOrder::Moment at;
    std::uint32_t line = 0;
    std::uint16_t shows = 0;  // of the thread before it, by their low bits
    bool is_atomic = false;
  };
  struct Cell {
    enum class State : std::uint8_t { Unwritten, Written, Arriving, Arrived };
    std::uint32_t generation = 0;  // of another block: unwritten
    State state = State::Unwritten;
    std::uint8_t reads = 0;  // of `readers` that count
    Moment write;
    Moment readers[2];  // since that write, of two warps where there were two
  };
  struct Tracked {
    Array array;
    std::vector<Cell> cells;
  };
  struct Name {
    Array part;
    bool is_ambiguous = false;  // threads gave it different places
  };
  Tracked* find(std::uintptr_t address);
  Cell& cell_at(Tracked& tracked, std::uintptr_t address);
  Moment now(const Access& access) const;
  bool is_race(const Moment& before, const Moment& after) const;
  void note_read(Cell& cell, const Moment& moment);
  Finding check(const Cell& cell, const Access& access, const Moment& moment, std::uintptr_t at);
  Finding race(const Moment& before, const char* did, const Access& after, std::uintptr_t at) const;
  std::string element_name(std::uintptr_t address) const;

  std::vector<Tracked> tracked_;  // the first `count_` are of this block
  std::size_t count_ = 0;
  std::vector<Name> names_;
  const BlockOrder& order_;
  std::vector<std::uint16_t> shows_;  // by thread: how often it showed products what it wrote
  std::uint32_t generation_ = 0;
  bool is_product_ = false;
  const TwSourceMap* source_ = nullptr;
};

}  // namespace tilewright
