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

#include "compiler/triton/resolve.h"

namespace tilewright {

// Parameters through which the kernel writes memory, and those through which it reads it as well,
// by index.
std::vector<std::size_t> written_parameters(const KernelDraft& draft);
std::vector<std::size_t> updated_parameters(const KernelDraft& draft);

class SavedMemory {
 public:
  // Throws ArgumentError when one of them was given as an address, whose size nobody knows, and
  // OutOfMemory.
  SavedMemory(const LaunchView& view, const Stream& stream,
              const std::vector<std::size_t>& restored, const std::vector<std::size_t>& zeroed);

  void before_run() const;  // queues the copies and fills
  void bring_back() const;  // and waits
  bool is_empty() const { return parts_.empty(); }

 private:
  struct Part {
    Buffer buffer;
    Buffer copy;
    bool is_zeroed = false;
  };
  void add(const std::string& name, const TritonArgument& argument, bool is_zeroed);

  Stream stream_;
  std::vector<Part> parts_;
};

}  // namespace tilewright
