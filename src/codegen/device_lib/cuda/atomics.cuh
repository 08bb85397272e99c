// SPDX-License-Identifier: Apache-2.0
// device_lib/cuda/atomics.cuh — atomic operations on global memory by element type, order and scope.

namespace tw {

// Ordered: other accesses stay on their side of it. Acquire: those after it do.
enum class Order { Relaxed, Acquire, Ordered };
enum class Scope { Block, Device, System };

// What was read and written before is seen by whoever sees what is written after.
template <Scope S>
TW_DEVICE void fence() {
  ptx::fence<int(S)>();
}

// The unsigned integer of a type's size.
template <int Bytes>
struct Bits;
template <>
struct Bits<2> {
  using type = unsigned short;
};
template <>
struct Bits<4> {
  using type = unsigned;
};
template <>
struct Bits<8> {
  using type = unsigned long long;
};
template <class T>
using bits_type = typename Bits<int(sizeof(T))>::type;

#define TW_ATOMIC_CALL(name, function)                                              \
  template <Order O, Scope S, class T>                                              \
  TW_DEVICE T name##_word(T* p, T value) {                                          \
    if constexpr (O != Order::Relaxed) return ptx::atom_##name<int(S)>(p, value);   \
    else if constexpr (S == Scope::Block) return function##_block(p, value);        \
    else if constexpr (S == Scope::System) return function##_system(p, value);      \
    else return function(p, value);                                                 \
  }
TW_ATOMIC_CALL(add, atomicAdd)
TW_ATOMIC_CALL(min, atomicMin)
TW_ATOMIC_CALL(max, atomicMax)
TW_ATOMIC_CALL(and, atomicAnd)
TW_ATOMIC_CALL(or, atomicOr)
TW_ATOMIC_CALL(xor, atomicXor)
TW_ATOMIC_CALL(exch, atomicExch)
#undef TW_ATOMIC_CALL

template <Order O, Scope S, class T>
TW_DEVICE T atomic_cas(T* p, T expected, T value) {
  using B = bits_type<T>;
  B* const at = reinterpret_cast<B*>(p);
  if constexpr (O == Order::Acquire)
    return bit_cast<T>(ptx::acquire_cas<int(S)>(at, bit_cast<B>(expected), bit_cast<B>(value)));
  else if constexpr (O == Order::Ordered || sizeof(T) == 2)
    return bit_cast<T>(ptx::atom_cas<int(S)>(at, bit_cast<B>(expected), bit_cast<B>(value)));
  else return bit_cast<T>(atomicCAS(at, bit_cast<B>(expected), bit_cast<B>(value)));
}

// By compare and exchange, for what no instruction does.
template <Order O, Scope S, class T, class Change>
TW_DEVICE T atomic_update(T* p, Change change) {
  using B = bits_type<T>;
  B seen = *reinterpret_cast<volatile B*>(p);
  while (true) {
    const B next = bit_cast<B>(change(bit_cast<T>(seen)));
    const B found = atomic_cas<O, S>(reinterpret_cast<B*>(p), seen, next);
    if (found == seen) return bit_cast<T>(seen);
    seen = found;
  }
}

template <Order O, Scope S, class T>
TW_DEVICE T atomic_add(T* p, T value) {
  using B = bits_type<T>;
  if constexpr (is_same<T, f32> || is_same<T, f64>) return add_word<O, S>(p, value);
  else if constexpr (IsShort<T>::value) {
    const auto by_exchange = [&] {
      return atomic_update<O, S>(p, [&](T old) { return old + value; });
    };
    const auto bits = [&] { return by_exchange().bits; };
    const auto at = reinterpret_cast<unsigned short*>(p);
    constexpr bool is_ordered = O != Order::Relaxed;
    if constexpr (is_same<T, f16>)
      return {ptx::add_one_f16<int(S), is_ordered>(at, value.bits, bits)};
    else if constexpr (is_same<T, bf16>)
      return {ptx::add_one_bf16<int(S), is_ordered>(at, value.bits, bits)};
    else return by_exchange();
  }
  else return T(add_word<O, S>(reinterpret_cast<B*>(p), B(value)));
}

// values[0 .. Count) onto p[0 .. Count), `Width` of them by one instruction; p is aligned to that.
// The old values are nobody's.
template <Order O, Scope S, int Count, int Width, class T>
TW_DEVICE void add_vector(T* p, const T* values) {
  if constexpr (O != Order::Relaxed) fence<S>();
#pragma unroll
  for (int i = 0; i < Count; i += Width) {
    const auto one = [&](int k) { atomic_add<Order::Relaxed, S>(p + i + k, values[i + k]); };
    if constexpr (is_same<T, f32>) ptx::add_f32<int(S), Width>(p + i, values + i, one);
    else {
      const auto at = reinterpret_cast<unsigned short*>(p + i);
      const auto bits = reinterpret_cast<const unsigned short*>(values + i);
      if constexpr (is_same<T, f16>) ptx::add_f16<int(S), Width>(at, bits, one);
      else ptx::add_bf16<int(S), Width>(at, bits, one);
    }
  }
}
// All of the vector or nothing of it.
template <Order O, Scope S, int Count, int Width, class T>
TW_DEVICE void add_vector_whole(T* p, const T* values, bool inside) {
  if (inside) add_vector<O, S, Count, Width>(p, values);
}
// The elements from `first` to before `end` only.
template <Order O, Scope S, int Count, int Width, class T>
TW_DEVICE void add_vector_guarded(T* p, const T* values, i64 first, i64 end) {
  if (first <= 0 && end >= Count) return add_vector<O, S, Count, Width>(p, values);
#pragma unroll
  for (int i = 0; i < Count; ++i)
    if (first <= i && i < end) atomic_add<O, S>(p + i, values[i]);
}

// The order of floats is that of their bits: as signed integers without the sign bit, the other way
// round as unsigned ones with it.
template <Order O, Scope S, class T>
TW_DEVICE T atomic_max(T* p, T value) {
  if constexpr (is_same<T, f32>) {
    if (bit_cast<i32>(value) >= 0)
      return bit_cast<f32>(max_word<O, S>(reinterpret_cast<i32*>(p), bit_cast<i32>(value)));
    return bit_cast<f32>(min_word<O, S>(reinterpret_cast<u32*>(p), bit_cast<u32>(value)));
  } else if constexpr (is_same<T, f64>) {
    if (bit_cast<i64>(value) >= 0)
      return bit_cast<f64>(max_word<O, S>(reinterpret_cast<i64*>(p), bit_cast<i64>(value)));
    return bit_cast<f64>(min_word<O, S>(reinterpret_cast<u64*>(p), bit_cast<u64>(value)));
  } else return max_word<O, S>(p, value);
}
template <Order O, Scope S, class T>
TW_DEVICE T atomic_min(T* p, T value) {
  if constexpr (is_same<T, f32>) {
    if (bit_cast<i32>(value) >= 0)
      return bit_cast<f32>(min_word<O, S>(reinterpret_cast<i32*>(p), bit_cast<i32>(value)));
    return bit_cast<f32>(max_word<O, S>(reinterpret_cast<u32*>(p), bit_cast<u32>(value)));
  } else if constexpr (is_same<T, f64>) {
    if (bit_cast<i64>(value) >= 0)
      return bit_cast<f64>(min_word<O, S>(reinterpret_cast<i64*>(p), bit_cast<i64>(value)));
    return bit_cast<f64>(max_word<O, S>(reinterpret_cast<u64*>(p), bit_cast<u64>(value)));
  } else return min_word<O, S>(p, value);
}

#define TW_ATOMIC_BITS(name, word)                                                              \
  template <Order O, Scope S, class T>                                                          \
  TW_DEVICE T atomic_##name(T* p, T value) {                                                    \
    using B = bits_type<T>;                                                                     \
    return bit_cast<T>(word##_word<O, S>(reinterpret_cast<B*>(p), bit_cast<B>(value)));         \
  }
TW_ATOMIC_BITS(and, and)
TW_ATOMIC_BITS(or, or)
TW_ATOMIC_BITS(xor, xor)
TW_ATOMIC_BITS(xchg, exch)
#undef TW_ATOMIC_BITS

}  // namespace tw
