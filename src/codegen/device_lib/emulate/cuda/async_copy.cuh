// SPDX-License-Identifier: Apache-2.0
// device_lib/emulate/cuda/async_copy.cuh — the functions of device_lib/cuda/async_copy.cuh on a CPU:
// what a copy brings is there when it has been waited for, never before.

namespace tw {

template <int Bytes>
TW_DEVICE void copy_async(void* shared, const void* global, bool is_wanted,
                          int line = __builtin_LINE()) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "a copy moves 4, 8 or 16 bytes");
  tw_emulate::start_copy(shared, is_wanted ? global : nullptr, Bytes, line);
}
template <int Bytes>
TW_DEVICE void copy_async(void* shared, const void* global, int line = __builtin_LINE()) {
  copy_async<Bytes>(shared, global, true, line);
}
template <int Bytes>
TW_DEVICE void copy_async_if(void* shared, const void* global, bool starts, bool is_wanted,
                             int line = __builtin_LINE()) {
  if (starts) copy_async<Bytes>(shared, global, is_wanted, line);
}
TW_DEVICE int settled(int number) { return number; }
template <class T>
TW_DEVICE const T* advanced(const T* pointer, long long count) {
  return pointer + count;
}
constexpr bool lingering = true;
template <int Count, bool Lingers = false, class T>
TW_DEVICE void copy_whole(T* shared, const T* global, bool is_wanted, T other,
                          int line = __builtin_LINE()) {
  if (is_wanted) return copy_async<Count * int(sizeof(T))>(shared, global, line);
  for (int i = 0; i < Count; ++i) shared[i] = other;
}
template <int Count, bool Lingers = false, class T>
TW_DEVICE void copy_guarded(T* shared, const T* global, long long first, long long end, T other,
                            int line = __builtin_LINE()) {
  if (first <= 0 && end >= Count)
    return copy_async<Count * int(sizeof(T))>(shared, global, line);
  for (int i = 0; i < Count; ++i) shared[i] = first <= i && i < end ? global[i] : other;
}
TW_DEVICE void commit_copies() { tw_emulate::commit_copies(); }
template <int Pending>
TW_DEVICE void wait_copies() {
  tw_emulate::wait_copies(Pending);
}

}  // namespace tw
