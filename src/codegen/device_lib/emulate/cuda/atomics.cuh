// SPDX-License-Identifier: Apache-2.0
// device_lib/emulate/cuda/atomics.cuh — atomic functions: real ones, since blocks run on several
// threads.

namespace tw_emulate {

template <class T>
inline T load_atomic(T* address) {
  T value;
  __atomic_load(address, &value, __ATOMIC_RELAXED);
  return value;
}

// value = change(value), in one step; returns what was there.
template <class T, class Change>
inline T update(T* address, Change change) {
  T old = load_atomic(address);
  while (true) {
    T next = change(old);
    if (__atomic_compare_exchange(address, &old, &next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      return old;
  }
}

template <class T>
struct Plain {
  using type = T;
};

}  // namespace tw_emulate

// The value's type is not deduced, so that atomicAdd(float*, 1) and atomicMin(int*, unsigned)
// convert as in CUDA.
#define TW_ATOMIC(name, ...)                                                             \
  template <class T>                                                                     \
  static inline T name(T* address, typename tw_emulate::Plain<T>::type value) {          \
    __VA_ARGS__                                                                          \
  }                                                                                      \
  template <class T>                                                                     \
  static inline T name##_block(T* address, typename tw_emulate::Plain<T>::type value) {  \
    return name(address, value);                                                         \
  }                                                                                      \
  template <class T>                                                                     \
  static inline T name##_system(T* address, typename tw_emulate::Plain<T>::type value) { \
    return name(address, value);                                                         \
  }

TW_ATOMIC(atomicAdd,
          if constexpr (tw_emulate::Integer<T>) return __atomic_fetch_add(address, value,
                                                                          __ATOMIC_RELAXED);
          else return tw_emulate::update(address, [&](T old) -> T { return old + value; });)
TW_ATOMIC(atomicSub, return __atomic_fetch_sub(address, value, __ATOMIC_RELAXED);)
TW_ATOMIC(atomicAnd, return __atomic_fetch_and(address, value, __ATOMIC_RELAXED);)
TW_ATOMIC(atomicOr, return __atomic_fetch_or(address, value, __ATOMIC_RELAXED);)
TW_ATOMIC(atomicXor, return __atomic_fetch_xor(address, value, __ATOMIC_RELAXED);)
TW_ATOMIC(atomicMin,
          return tw_emulate::update(address, [&](T old) { return value < old ? value : old; });)
TW_ATOMIC(atomicMax,
          return tw_emulate::update(address, [&](T old) { return old < value ? value : old; });)
TW_ATOMIC(atomicInc, return tw_emulate::update(address, [&](T old) -> T {
            return old >= value ? 0 : old + 1;
          });)
TW_ATOMIC(atomicDec, return tw_emulate::update(address, [&](T old) -> T {
            return old == 0 || old > value ? value : old - 1;
          });)
TW_ATOMIC(atomicExch, tw_emulate::relax(); T old;
          __atomic_exchange(address, &value, &old, __ATOMIC_SEQ_CST); return old;)
#undef TW_ATOMIC

template <class T>
static inline T atomicCAS(T* address, typename tw_emulate::Plain<T>::type compare,
                          typename tw_emulate::Plain<T>::type value) {
  tw_emulate::relax();
  __atomic_compare_exchange(address, &compare, &value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return compare;
}
template <class T>
static inline T atomicCAS_block(T* address, typename tw_emulate::Plain<T>::type compare,
                                typename tw_emulate::Plain<T>::type value) {
  return atomicCAS(address, compare, value);
}
template <class T>
static inline T atomicCAS_system(T* address, typename tw_emulate::Plain<T>::type compare,
                                 typename tw_emulate::Plain<T>::type value) {
  return atomicCAS(address, compare, value);
}
