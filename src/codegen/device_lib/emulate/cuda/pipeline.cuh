// SPDX-License-Identifier: Apache-2.0
// device_lib/emulate/cuda/pipeline.cuh — CUDA's asynchronous copies into shared memory
// (cuda_pipeline.h, and memcpy_async of cooperative groups): what they bring is there when it has
// been waited for, never before.

namespace tw_emulate {

// Bytes of `to` in pieces that all of the addresses are aligned to; the last `zeros` become 0.
inline void start_pieces(void* to, const void* from, unsigned long bytes, unsigned long zeros,
                         unsigned long piece, unsigned first, unsigned step, unsigned line) {
#ifdef TW_EMULATE_CHECK
  if (bytes > zeros) reaches_memory((unsigned long)from, bytes - zeros, Read);
#endif
  for (unsigned long at = first * piece; at < bytes; at += step * piece)
    start_copy((char*)to + at, at < bytes - zeros ? (const char*)from + at : nullptr,
               unsigned(piece), line);
}

}  // namespace tw_emulate

inline void __pipeline_memcpy_async(void* shared, const void* global, unsigned long bytes,
                                    unsigned long zeros = 0, int line = __builtin_LINE()) {
  if (bytes != 4 && bytes != 8 && bytes != 16)
    tw_emulate::fault("__pipeline_memcpy_async copies 4, 8 or 16 bytes");
  if (zeros > bytes) tw_emulate::fault("__pipeline_memcpy_async fills more than it copies");
  unsigned long piece = bytes;
  while (zeros % piece != 0) piece /= 2;
  tw_emulate::start_pieces(shared, global, bytes, zeros, piece, 0, 1, unsigned(line));
}
inline void __pipeline_commit() { tw_emulate::commit_copies(); }
inline void __pipeline_wait_prior(unsigned long pending) {
  tw_emulate::wait_copies(unsigned(pending));
}

#ifdef TW_EMULATE_GROUPS
namespace cooperative_groups {

// Threads of the group copy a part each.
template <class Group, class To, class From>
void memcpy_async(const Group& group, To* to, const From* from, unsigned long bytes,
                  int line = __builtin_LINE()) {
  unsigned long piece = 16;
  while (((unsigned long)to | (unsigned long)from | bytes) % piece != 0) piece /= 2;
  tw_emulate::start_pieces(to, from, bytes, 0, piece, group.thread_rank(), group.size(),
                           unsigned(line));
  tw_emulate::commit_copies();
}
// Layouts count elements.
template <class Group, class T>
void memcpy_async(const Group& group, T* to, unsigned long room, const T* from,
                  unsigned long count, int line = __builtin_LINE()) {
  memcpy_async(group, to, from, (room < count ? room : count) * sizeof(T), line);
}
template <unsigned Pending, class Group>
void wait_prior(const Group& group) {
  tw_emulate::wait_copies(Pending);
  group.sync();
}
template <class Group>
void wait(const Group& group) {
  wait_prior<0>(group);
}

}  // namespace cooperative_groups
#endif
