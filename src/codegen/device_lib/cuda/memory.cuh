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
  else if constexpr (How == Cache::Together) ptx::store_whole(p, value);
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
    // The compiler takes vectors of 32-bit elements apart where these are computed one by one. Smaller
    // ones are packed into words first and stay whole; they would only cost more registers.
    constexpr bool comes_apart = How == Cache::Default && sizeof(T) == 4;
    store_word<comes_apart ? Cache::Together : How>(reinterpret_cast<W*>(p + i), word);
  }
}
// To shared memory.
template <int Count, class T>
TW_DEVICE void store_shared(T* p, const T* values) {
  using W = typename Word<Count * int(sizeof(T))>::type;
  W word;
  memcpy(&word, values, sizeof word);
  *reinterpret_cast<W*>(p) = word;
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

// All of the vector or nothing of it. The choice is made of whole words: made of elements, the
// compiler would take small ones apart and put them together again.
template <int Count, int Width = Count, Cache How = Cache::Default, class T>
TW_DEVICE void load_whole(T* out, const T* p, bool inside, T other) {
  using W = typename Word<Width * int(sizeof(T))>::type;
#pragma unroll
  for (int i = 0; i < Count; ++i) out[i] = other;
#pragma unroll
  for (int i = 0; i < Count; i += Width) {
    W word;
    memcpy(&word, out + i, sizeof word);
    const W* const from = reinterpret_cast<const W*>(p + i);
    if constexpr (How == Cache::Linger) ptx::load_lingering(word, from, inside);
    else if (inside) word = load_word<How>(from);
    ptx::keep_whole(word);
    memcpy(out + i, &word, sizeof word);
  }
}
template <int Count, int Width = Count, Cache How = Cache::Default, class T>
TW_DEVICE void store_whole(T* p, const T* values, bool inside) {
  if constexpr (How == Cache::Together) {
    using W = typename Word<Width * int(sizeof(T))>::type;
#pragma unroll
    for (int i = 0; i < Count; i += Width) {
      W word;
      memcpy(&word, values + i, sizeof word);
      ptx::store_whole_if(reinterpret_cast<W*>(p + i), word, inside);
    }
  } else if (inside) {
    store<Count, Width, How>(p, values);
  }
}

// The parts of `Width` elements from `first` to before `end`, which are multiples of that; the others
// become `other`.
template <int Count, int Width, Cache How = Cache::Default, class T>
TW_DEVICE void load_parts(T* out, const T* p, i64 first, i64 end, T other) {
#pragma unroll
  for (int i = 0; i < Count; i += Width)
    load_whole<Width, Width, How>(out + i, p + i, first <= i && i < end, other);
}
template <int Count, int Width, Cache How = Cache::Default, class T>
TW_DEVICE void store_parts(T* p, const T* values, i64 first, i64 end) {
#pragma unroll
  for (int i = 0; i < Count; i += Width)
    store_whole<Width, Width, How>(p + i, values + i, first <= i && i < end);
}

// ---- Tiles that are turned round, so that rows which begin anywhere are moved in vectors: slot i
// holds element (i - shift) % Size of a row, with a shift of less than 16. A slot is given as what
// the thread and what unrolled loops add, and elements from `first` to before `end` are inside.
template <int Size>
TW_DEVICE i32 rotated(i32 slot, i32 shift) {
  return (slot - shift) & (Size - 1);
}

// Of a vector of slots: those from `begin` to before `end` hold elements inside, and so do those
// from `from` to before `last`, where the row's last elements have come round.
struct Inside {
  i32 begin, end, from, last;
};
template <int Size, class First, class End>
TW_DEVICE Inside inside(i32 thread, i32 loops, i32 shift, First first, End end) {
  const i32 low = i32(min(max(first, First(0)), First(Size)));
  const i32 high = i32(min(max(end, End(0)), End(Size)));
  const i32 before = shift - thread - loops;
  const bool is_first = loops < 16;  // of all others it is known without a look at the shift
  return {is_first || low > 0 ? low + before : 0, high + before, low + before - Size,
          is_first ? high + before - Size : 0};
}

// Before the vector itself, so that nothing waits for a load when there is nothing to do.
template <int Size, int Count, Cache How, class T>
TW_DEVICE void load_last(T* out, const T* p, const Inside& part, T other) {
#pragma unroll
  for (int i = 0; i < Count; ++i) out[i] = other;
  if (part.last <= 0) return;
  constexpr Cache how = How == Cache::Linger ? Cache::Default : How;  // behind a branch
#pragma unroll
  for (int i = 0; i < Count; ++i)
    if (part.from <= i && i < part.last) load<1, 1, how>(out + i, p + i + Size);
}

// out[first .. end), the others stay as they are. A word is read whole when some of it is inside:
// memory is never taken away in smaller pieces.
template <int Count, int Width, Cache How, class T>
TW_DEVICE void load_within(T* out, const T* p, i32 first, i32 end) {
  if constexpr (!ptx::reads_whole_words) {
    for (int i = 0; i < Count; ++i)
      if (first <= i && i < end) load<1, 1, How>(out + i, p + i);
  } else {
    T values[Count];
#pragma unroll
    for (int i = 0; i < Count; i += Width)
      load_whole<Width, Width, How>(values + i, p + i,
                                    first < i + Width && end > i && first < end, T{});
#pragma unroll
    for (int i = 0; i < Count; ++i) out[i] = first <= i && i < end ? values[i] : out[i];
  }
}
// The same where p is `apart` bytes behind a word: those around the vector, moved together.
template <int Count, Cache How, class T>
TW_DEVICE void load_between(T* out, const T* p, u32 apart, i32 first, i32 end) {
  constexpr int bytes = Count * int(sizeof(T)) < 16 ? Count * int(sizeof(T)) : 16;
  constexpr int width = bytes / int(sizeof(T));
  if constexpr (!ptx::reads_whole_words || bytes < 4) {
    load_within<Count, 1, How>(out, p, first, end);
  } else {
    constexpr int count = (Count + width) * int(sizeof(T)) / 4;
    const i32 skipped = i32(apart / sizeof(T));
    const i32 last = min(end, Count) + skipped;
    u32 words[count];
#pragma unroll
    for (int i = 0; i < Count + width; i += width)
      load_whole<width, width, How>(reinterpret_cast<T*>(words) + i, p - skipped + i,
                                    first + skipped < i + width && last > i && first < end, T{});
#pragma unroll
    for (int step = bytes / 8; step > 0; step /= 2)
#pragma unroll
      for (int i = 0; i + step < count; ++i)
        words[i] = (apart & step * 4) != 0 ? words[i + step] : words[i];
#pragma unroll
    for (int i = 0; sizeof(T) < 4 && i + 1 < count; ++i)
      words[i] = u32((u64(words[i + 1]) << 32 | words[i]) >> apart % 4 * 8);
    T values[Count];
    memcpy(values, words, sizeof values);
#pragma unroll
    for (int i = 0; i < Count; ++i) out[i] = first <= i && i < end ? values[i] : out[i];
  }
}

template <int Size, int Count, int Width = Count, Cache How = Cache::Default, class T, class First,
          class End>
TW_DEVICE void load_rotated(T* out, const T* row, i32 thread, i32 loops, i32 shift, First first,
                            End end, T other) {
  const Inside part = inside<Size>(thread, loops, shift, first, end);
  const T* const p = row - shift + thread + loops;
  load_last<Size, Count, How>(out, p, part, other);
  load_within<Count, Width, How>(out, p, part.begin, part.end);
}
// Of a row that begins at another place in its word.
template <int Size, int Count, int Width = Count, Cache How = Cache::Default, class T, class First,
          class End>
TW_DEVICE void load_apart(T* out, const T* row, i32 thread, i32 loops, i32 shift, First first,
                          End end, T other) {
  constexpr int bytes = Count * int(sizeof(T)) < 16 ? Count * int(sizeof(T)) : 16;
  const u32 apart = u32(reinterpret_cast<u64>(row - shift) % bytes);
  const Inside part = inside<Size>(thread, loops, shift, first, end);
  const T* const p = row - shift + thread + loops;
  load_last<Size, Count, How>(out, p, part, other);
  load_between<Count, How>(out, p, apart, part.begin, part.end);
}
// The same elements, from words that the compiler makes at once: pairs of small floats are rounded
// by one instruction when nothing else reads them.
template <int Count, class T>
TW_DEVICE void pack(T* out, const T* values) {
  if constexpr (Count * sizeof(T) % 4 != 0) {
#pragma unroll
    for (int i = 0; i < Count; ++i) out[i] = values[i];
  } else {
    u32 words[Count * sizeof(T) / 4];
    memcpy(words, values, sizeof words);
#pragma unroll
    for (u32& word : words) word = u32(ptx::opaque(i32(word)));
    memcpy(out, words, sizeof words);
  }
}
template <int Size, int Count, int Width = Count, Cache How = Cache::Default, class T, class First,
          class End>
TW_DEVICE void store_rotated(T* row, i32 thread, i32 loops, i32 shift, First first, End end,
                             const T* values) {
  // Conditions of loads are not worth the registers to be kept until here.
  const Inside part = inside<Size>(thread, loops, ptx::opaque(shift), first, end);
  T* const p = ptx::opaque(row - shift + thread + loops);
  T packed[Count];
  pack<Count>(packed, values);
  if (part.begin <= 0 && part.end >= Count)
    return store<Count, Width, How == Cache::Default ? Cache::Together : How>(p, packed);
#pragma unroll
  for (int i = 0; i < Count; ++i)
    if (part.begin <= i && i < part.end) store<1, 1, How>(p + i, packed + i);
  if (part.last <= 0) return;
#pragma unroll
  for (int i = 0; i < Count; ++i)
    if (part.from <= i && i < part.last) store<1, 1, How>(p + i + Size, packed + i);
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
