// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/shared_memory.h — arrays in a block's shared memory, and where barriers must stand.
//
// The kernel's table of buffers says where each lies; arrays that are never alive together may have
// the same place. A barrier is needed between a write and a read by another thread, between such a
// read and the next write, and before the first write to an array whose place another one had. Each
// array remembers what happened to it since the last barrier; the emitter asks before each access.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ir/tables.h"

namespace tilewright {

class SharedMemory {
 public:
  static constexpr std::int64_t most_static =
      48 * 1024;  // bytes without asking the launch for them

  struct Array {
    std::string name;
    std::string element;  // its C++ type
    std::int64_t count = 0;
    std::int64_t bytes = 0;
    std::int64_t offset = 0;
    std::int64_t alignment = 16;
    bool is_of_warps = false;  // each warp has a part of its own, of all arrays in this place

    bool is_placed_as(const Array& other) const {
      return name == other.name && offset == other.offset && bytes == other.bytes;
    }
  };

  // In a loop a new array counts as read by others, since the iteration before did that, unless a
  // barrier came since the loop's begin.
  void add(const std::string& name, const std::string& element, std::int64_t count,
           const ir::KernelBuffer& buffer, bool is_in_loop);
  // Whether an array was written since the last barrier.
  bool has_written() const;
  // Names that were written since this was asked last.
  std::set<std::string> take_written();
  // Another name for (a part of) an array.
  void add_view(const std::string& name, const std::string& array) { views_[name] = array; }

  // Whether a barrier must come first.
  bool read_needs_barrier(const std::string& name) const {
    return states_.at(array_of(name)).is_written;
  }
  bool write_needs_barrier(const std::string& name) const;
  // Of an array whose parts warps have for themselves it is enough that the lanes of each warp meet.
  void part_by_warps(const std::string& name);
  bool is_of_warps(const std::string& name) const;
  void note_warp_barrier();
  void note_read(const std::string& name);
  void note_write(const std::string& name);
  // A thread reads what it has written itself, or a copy is under way.
  void note_use(const std::string& name) {
    State& state = states_.at(array_of(name));
    state.is_used = state.is_loose = true;
  }
  void note_barrier();
  // Copies that whoever reads the array has waited for.
  void note_arrival(const std::string& name) { states_.at(array_of(name)) = {}; }
  // Anything may have happened: at the begin of a loop's body, and after it.
  void forget();
  // The same for a loop whose end may be known from another run of the emitter: at its begin,
  // nothing has happened but what did before the loop or until its end.
  void begin_loop(int order);
  void end_loop(int order);

  struct State {
    bool is_written = false;
    bool is_read = false;   // by a thread that did not write it
    bool is_used = false;   // in any way
    bool is_loose = false;  // used since its warps met
    bool is_within(const State& other) const {
      return is_written <= other.is_written && is_read <= other.is_read &&
             is_used <= other.is_used && is_loose <= other.is_loose;
    }
  };
  using States = std::map<std::string, State>;
  using LoopStates = std::map<int, States>;  // at the end of a loop's body
  // What another run of the emitter found: how loops end, and where all arrays lie, those too that
  // come later in the text but were used in a round before.
  void assume(const SharedMemory& other) {
    assumed_ = other.loop_ends_;
    planned_ = other.arrays_;
  }
  bool has_quiet_ends() const;  // an array that nobody has used since the loop's last barrier
  bool holds_assumed() const;   // whether the loops did end as assumed, or with less
  const States& states() const { return states_; }
  void restore(const States& states);  // those arrays only
  void merge(const States& states);    // what may have happened on the other branch

  std::int64_t bytes() const { return bytes_; }
  // Declarations: an array each; one for all, and pointers into it, when arrays share places or
  // there is too much for static memory.
  std::vector<std::string> declarations() const;
  bool is_dynamic() const { return bytes_ > most_static; }

 private:
  const std::string& array_of(const std::string& name) const {
    const auto found = views_.find(name);
    return found == views_.end() ? name : found->second;
  }
  bool shares_used_place(const std::string& name) const;
  const Array* find_array(const std::string& name) const;

  std::vector<Array> arrays_;
  std::vector<Array> planned_;  // of the run that is assumed
  States states_ = {{"", {}}};  // "": of arrays that are still to come
  LoopStates assumed_;
  LoopStates loop_ends_;
  std::map<std::string, std::string> views_;
  std::set<std::string> written_;
  std::int64_t alignment_ = 16;  // of all
  std::int64_t bytes_ = 0;
  bool has_shared_places_ = false;
};

}  // namespace tilewright
