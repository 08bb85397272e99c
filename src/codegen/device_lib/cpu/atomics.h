// SPDX-License-Identifier: Apache-2.0
// device_lib/cpu/atomics.h — atomic updates of memory that several programs share. Each gives the
// old value. Floats go through compare-and-swap of their bits.
#pragma once

namespace tw {

template <int size>
struct BitsOf;
template <>
struct BitsOf<1> {
  typedef u8 type;
};
template <>
struct BitsOf<2> {
  typedef u16 type;
};
template <>
struct BitsOf<4> {
  typedef u32 type;
};
template <>
struct BitsOf<8> {
  typedef u64 type;
};

template <class T>
constexpr bool is_int = false;
template <>
inline constexpr bool is_int<i8> = true;
template <>
inline constexpr bool is_int<i16> = true;
template <>
inline constexpr bool is_int<i32> = true;
template <>
inline constexpr bool is_int<i64> = true;
template <>
inline constexpr bool is_int<u8> = true;
template <>
inline constexpr bool is_int<u16> = true;
template <>
inline constexpr bool is_int<u32> = true;
template <>
inline constexpr bool is_int<u64> = true;

template <class T>
inline T load_volatile(const T* p) {
  typedef typename BitsOf<sizeof(T)>::type Bits;
  return bit_cast<T>(__atomic_load_n((const Bits*)p, __ATOMIC_ACQUIRE));
}

template <class T, class Next>
inline T atomic_update(T* p, Next next) {
  typedef typename BitsOf<sizeof(T)>::type Bits;
  Bits old = __atomic_load_n((Bits*)p, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n((Bits*)p, &old, bit_cast<Bits>(next(bit_cast<T>(old))), true,
                                      __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
  }
  return bit_cast<T>(old);
}

template <class T>
inline T atomic_add(T* p, T value) {
  if constexpr (is_int<T>) return __atomic_fetch_add(p, value, __ATOMIC_ACQ_REL);
  else return atomic_update(p, [=](T old) { return T(old + value); });
}
template <class T>
inline T atomic_min(T* p, T value) {
  return atomic_update(p, [=](T old) {
    if constexpr (is_int<T>) return min(old, value);
    else return min_number(old, value);
  });
}
template <class T>
inline T atomic_max(T* p, T value) {
  return atomic_update(p, [=](T old) {
    if constexpr (is_int<T>) return max(old, value);
    else return max_number(old, value);
  });
}
template <class T>
inline T atomic_and(T* p, T value) {
  return __atomic_fetch_and(p, value, __ATOMIC_ACQ_REL);
}
template <class T>
inline T atomic_or(T* p, T value) {
  return __atomic_fetch_or(p, value, __ATOMIC_ACQ_REL);
}
template <class T>
inline T atomic_xor(T* p, T value) {
  return __atomic_fetch_xor(p, value, __ATOMIC_ACQ_REL);
}
template <class T>
inline T atomic_xchg(T* p, T value) {
  typedef typename BitsOf<sizeof(T)>::type Bits;
  return bit_cast<T>(__atomic_exchange_n((Bits*)p, bit_cast<Bits>(value), __ATOMIC_ACQ_REL));
}
template <class T>
inline T atomic_cas(T* p, T expected, T value) {
  typedef typename BitsOf<sizeof(T)>::type Bits;
  Bits old = bit_cast<Bits>(expected);
  __atomic_compare_exchange_n((Bits*)p, &old, bit_cast<Bits>(value), false, __ATOMIC_ACQ_REL,
                              __ATOMIC_ACQUIRE);
  return bit_cast<T>(old);
}

}  // namespace tw
