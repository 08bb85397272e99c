// SPDX-License-Identifier: Apache-2.0
// base/recycled.cpp — the lists of a thread, which end with it.
#include "base/recycled.h"

#include <cstdint>
#include <new>
#include <utility>

namespace tilewright {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool recycles = false;  // reads of freed memory are to be found
#else
constexpr bool recycles = true;
#endif

constexpr std::size_t grain = 128, kinds = 6;
// What traces of about a thousand operations leave behind, at most a MiB or so.
constexpr std::uint32_t most[kinds] = {0, 1024, 512, 512, 256, 32};

// 0: none of ours.
std::size_t kind_of(std::size_t bytes) {
  if (bytes <= grain * (kinds - 2)) return (bytes + grain - 1) / grain;
  return bytes == recycled_block ? kinds - 1 : 0;
}
std::size_t size_of_kind(std::size_t kind) {
  return kind == kinds - 1 ? recycled_block : kind * grain;
}

struct Free {
  Free* next;
};
struct Lists {
  Free* first[kinds];
  std::uint32_t count[kinds];
  bool is_over;  // the thread ends: what is freed now goes to the heap
};
// Without a destructor, so that it is there to the end; the other one empties it.
constinit thread_local Lists lists{};
struct Emptied {
  bool is_begun = false;
  ~Emptied() {
    lists.is_over = true;
    for (Free*& first : lists.first)
      while (first != nullptr) ::operator delete(std::exchange(first, first->next));
  }
};
thread_local Emptied emptied;

}  // namespace

void* allocate_recycled(std::size_t bytes) {
  const std::size_t kind = kind_of(bytes);
  if (!recycles || kind == 0) return ::operator new(bytes);
  Lists& own = lists;
  Free* const found = own.first[kind];
  if (found == nullptr) return ::operator new(size_of_kind(kind));
  own.first[kind] = found->next;
  --own.count[kind];
  return found;
}

void free_recycled(void* memory, std::size_t bytes) noexcept {
  const std::size_t kind = kind_of(bytes);
  Lists& own = lists;
  if (!recycles || kind == 0 || own.is_over || own.count[kind] == most[kind])
    return ::operator delete(memory);
  if (own.count[kind]++ == 0) emptied.is_begun = true;  // its destructor will run
  own.first[kind] = new (memory) Free{own.first[kind]};
}

}  // namespace tilewright
