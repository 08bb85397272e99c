// SPDX-License-Identifier: Apache-2.0
// ir/interpret/shared.h — memory that the threads of a program use between two of their meetings:
// arrays in shared memory, with a shadow of its bytes, and a shadow of the launch's memory.
//
// An access whose result depends on which of two threads comes first is a finding, in whichever
// order they have run.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/interpret/arrays.h"
#include "ir/kernel.h"

namespace tilewright::ir {

// What happened to a byte or an element since all threads met last.
struct ThreadUse {
  static constexpr std::int64_t several = -2;
  std::int64_t written = -1, read = -1;  // in which stretch between meetings
  std::int64_t writer = -1, reader = -1;
  const Op* op = nullptr;  // that has written it

  bool is_written_by_other(std::int64_t stretch, std::int64_t thread) const {
    return written == stretch && writer != thread;
  }
  bool is_read_by_other(std::int64_t stretch, std::int64_t thread) const {
    return read == stretch && reader != thread;
  }
  void note_read(std::int64_t stretch, std::int64_t thread) {
    reader = read == stretch && reader != thread ? several : thread;
    read = stretch;
  }
  void note_write(std::int64_t stretch, std::int64_t thread, const Op& by) {
    written = stretch;
    writer = thread;
    op = &by;
  }
};

class SharedArrays {
 public:
  // Of an `array` or a member of a `group`, with elements of so many bytes; one for all threads.
  std::int64_t make(const Op& op, std::size_t member, std::int64_t bytes);
  // All threads have met: what comes now sees what was before.
  void meet() { ++stretch_; }

  // What is wrong with the access of a thread; empty: nothing, and it is noted.
  std::string note_read(std::int64_t handle, std::int64_t index, std::int64_t thread);
  std::string note_write(std::int64_t handle, std::int64_t index, std::int64_t thread,
                         const Op& op);
  // Of one that adds to the element, which others may do by the same op.
  std::string note_add(std::int64_t handle, std::int64_t index, std::int64_t thread, const Op& op);
  // A copy into the element starts, and is done: nobody touches it between.
  std::string note_copy(std::int64_t handle, std::int64_t index, std::int64_t thread, const Op& op);
  void note_copied(std::int64_t handle, std::int64_t index, std::int64_t thread, const Op& op);
  Element read(std::int64_t handle, std::int64_t index) const {
    return arrays_.read(handle, index);
  }
  void write(std::int64_t handle, std::int64_t index, Element element) {
    arrays_.write(handle, index, element);
  }
  // The same of an element of memory; several may write it by one op, whose last one is open.
  std::string note_memory_read(std::uint64_t address, std::int64_t thread);
  std::string note_memory_write(std::uint64_t address, std::int64_t thread, const Op& op);

 private:
  struct Byte : ThreadUse {
    std::uint32_t owner = Value::none;  // the array that was written there
    bool is_under_way = false;          // a copy
  };
  struct Place {
    std::int64_t first = 0, step = 0, bytes = 0;
  };
  struct Range {
    std::uint32_t owner;
    std::size_t first, end;
  };
  std::string problem(std::int64_t handle, std::int64_t index, bool reads) const;
  Range range(std::int64_t handle, std::int64_t index) const;  // the bytes of an element

  Arrays arrays_;
  std::unordered_map<std::uint32_t, Place> places_;
  std::vector<Byte> bytes_;
  std::unordered_map<std::uint64_t, ThreadUse> memory_;
  std::int64_t stretch_ = 0;
};

}  // namespace tilewright::ir
