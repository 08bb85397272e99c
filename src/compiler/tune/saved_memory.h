// SPDX-License-Identifier: Apache-2.0
// compiler/tune/saved_memory.h — a kernel runs many times while it is tuned, and the caller must
// not see it.
//
// Saved and brought back before each timed run: what restore_value names, and what the kernel reads
// as well as writes (a result in place, a counter), also where its author did not name it. Zeroed
// before each timed run: what reset_to_zero names. At the end all of them are as they were before
// the launch.
#pragma once

#include <string>
#include <vector>

#include "tilewright/module.h"

namespace tilewright {

// An argument of a launch with the name of its parameter.
struct NamedArgument {
  std::string name;
  const Argument* value = nullptr;
};

class SavedMemory {
 public:
  // Scalars and null pointers among them are passed over. Throws ArgumentError when one of them was
  // given as an address, whose size nobody knows, and OutOfMemory.
  SavedMemory(const Stream& stream, const std::vector<NamedArgument>& restored,
              const std::vector<NamedArgument>& zeroed = {});

  void before_run() const;  // queues the copies and fills
  void bring_back() const;  // and waits
  bool is_empty() const { return parts_.empty(); }

 private:
  struct Part {
    Buffer buffer;
    Buffer copy;
    bool is_zeroed = false;
  };
  void add(const NamedArgument& argument, bool is_zeroed);

  Stream stream_;
  std::vector<Part> parts_;
};

}  // namespace tilewright
