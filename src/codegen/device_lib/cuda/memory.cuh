// SPDX-License-Identifier: Apache-2.0
// device_lib/cuda/memory.cuh — loads and stores of vectors of 1 to 16 bytes, whole or up to a bound.

namespace tw {

// How a load or store treats the caches; `Linger` is a load of what is read once, whose line leaves
// L2 last; `Together` is a store as usual, in one piece.
enum class Cache { Default, Ca, Cg, Cs, Cv, Wb, Wt, EvictFirst, EvictLast, Linger, Together };

// The type that moves this many bytes at a time.
template <int Bytes>
struct Word;
template <>
struct Word<1> {
  using type = unsigned char;
};
template <>
struct Word<2> {
  using type = unsigned short;
};
template <>
struct Word<4> {
  using type = unsigned;
};
template <>
struct Word<8> {
  using type = uint2;
};
template <>
struct Word<16> {
  using type = uint4;
};

template <Cache How, class T>
TW_DEVICE T load_word(const T* p) {
  if constexpr (How == Cache::Ca) return __ldca(p);
  else if constexpr (How == Cache::Cg) return __ldcg(p);
  else if constexpr (How == Cache::Cs) return __ldcs(p);
  else if constexpr (How == Cache::Cv) return __ldcv(p);
  else if constexpr (How == Cache::EvictFirst) return ptx::load_evict_first(p);
  else if constexpr (How == Cache::EvictLast) return ptx::load_evict_last(p);
  else if constexpr (How == Cache::Linger) {
    T value;
    ptx::load_lingering(value, p, true);
    return value;
  }
  else return *p;
}
template <Cache How, class T>
TW_DEVICE void store_word(T* p, T value) {
  if constexpr (How == Cache::Cg) __stcg(p, value);
  else if constexpr (How == Cache::Cs || How == Cache::EvictFirst) __stcs(p, value);
  else if constexpr (How == Cache::Wb) __stwb(p, value);
  else if constexpr (How == Cache::Wt) __stwt(p, value);
  else if constexpr (How == Cache::Together) ptx::store_together(p, value);
  else *p = value;
}

// out[0 .. Count): elements from p on, moved `Width` at a time; p is aligned to that.
template <int Count, int Width = Count, Cache How = Cache::Default, class T>
TW_DEVICE void load(T* out, const T* p) {
  using W = typename Word<Width * int(sizeof(T))>::type;
#pragma unroll
  for (int i = 0; i < Count; i += Width) {
    const W word = load_word<How>(reinterpret_cast<const W*>(p + i));
    memcpy(out + i, &word, sizeof word);
  }
}
template <int Count, int Width = Count, Cache How = Cache::Default, class T>
TW_DEVICE void store(T* p, const T* values) {
  using W = typename Word<Width * int(sizeof(T))>::type;
#pragma unroll
  for (int i = 0; i < Count; i += Width) {
    W word;
    memcpy(&word, values + i, sizeof word);
    store_word<How>(reinterpret_cast<W*>(p + i), word);
  }
}

// The elements from `first` to before `end` only; the others become `other`. Whole vectors inside
// the bounds move as such.
template <int Count, int Width = Count, Cache How = Cache::Default, class T>
TW_DEVICE void load_guarded(T* out, const T* p, i64 first, i64 end, T other) {
  if (first <= 0 && end >= Count) return load<Count, Width, How>(out, p);
#pragma unroll
  for (int i = 0; i < Count; ++i) {
    out[i] = other;
    if (first <= i && i < end) load<1, 1, How>(out + i, p + i);
  }
}
template <int Count, int Width = Count, Cache How = Cache::Default, class T>
TW_DEVICE void store_guarded(T* p, const T* values, i64 first, i64 end) {
  if (first <= 0 && end >= Count) return store<Count, Width, How>(p, values);
#pragma unroll
  for (int i = 0; i < Count; ++i)
    if (first <= i && i < end) store<1, 1, How>(p + i, values + i);
}

// All of the vector or nothing of it.
template <int Count, int Width = Count, Cache How = Cache::Default, class T>
TW_DEVICE void load_whole(T* out, const T* p, bool inside, T other) {
#pragma unroll
  for (int i = 0; i < Count; ++i) out[i] = other;
  if constexpr (How == Cache::Linger) {
    using W = typename Word<Width * int(sizeof(T))>::type;
#pragma unroll
    for (int i = 0; i < Count; i += Width) {
      W word;
      memcpy(&word, out + i, sizeof word);
      ptx::load_lingering(word, reinterpret_cast<const W*>(p + i), inside);
      memcpy(out + i, &word, sizeof word);
    }
  } else if (inside) {
    load<Count, Width, How>(out, p);
  }
}
template <int Count, int Width = Count, Cache How = Cache::Default, class T>
TW_DEVICE void store_whole(T* p, const T* values, bool inside) {
  if (inside) store<Count, Width, How>(p, values);
}

// One element.
template <Cache How = Cache::Default, class T>
TW_DEVICE T load_one(const T* p) {
  T value;
  load<1, 1, How>(&value, p);
  return value;
}
template <Cache How = Cache::Default, class T>
TW_DEVICE T load_if(bool inside, const T* p, T other) {
  load_whole<1, 1, How>(&other, p, inside, other);
  return other;
}
template <Cache How = Cache::Default, class T>
TW_DEVICE void store_one(T* p, T value) {
  store<1, 1, How>(p, &value);
}
template <Cache How = Cache::Default, class T>
TW_DEVICE void store_if(bool inside, T* p, T value) {
  if (inside) store<1, 1, How>(p, &value);
}
template <class T>
TW_DEVICE T load_volatile(const T* p) {
  using W = typename Word<sizeof(T) == 8 ? 4 : int(sizeof(T))>::type;
  if constexpr (sizeof(T) == 8) return bit_cast<T>(*reinterpret_cast<const volatile u64*>(p));
  else return bit_cast<T>(W(*reinterpret_cast<const volatile W*>(p)));
}

}  // namespace tw
