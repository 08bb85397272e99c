// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/noted_blocks.h — which blocks of host memory are in use, for who wants to know which
// memory an emulated launch may touch.
#pragma once

#include <cstddef>
#include <vector>

#include "base/cpu_entry.h"

namespace tilewright {

// While one lives, blocks are noted that are allocated from now on. One at a time.
class NotesBlocks {
 public:
  NotesBlocks();
  ~NotesBlocks();
  NotesBlocks(const NotesBlocks&) = delete;
  NotesBlocks& operator=(const NotesBlocks&) = delete;
};

// Of the allocator.
void note_block(const void* data, std::size_t bytes);
void forget_block(const void* data) noexcept;

bool notes_blocks();
std::vector<TwMemory> noted_blocks();

}  // namespace tilewright
