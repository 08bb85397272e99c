// SPDX-License-Identifier: Apache-2.0
// device_lib/emulate/cuda/ring.cuh — the functions of device_lib/cuda/ring.cuh on a CPU. A word of a ring has what an mbarrier
// has: a phase, arrivals that are missing, bytes that are missing. A copy arrives when somebody waits for its word, or, by the
// seed, at once; until then its place holds a poison.

namespace tw {

// As the CPU backend encodes it (runtime/cpu/tensor_map.cpp): sizes in elements, strides and boxes from fastest to slowest.
struct MapFacts {
  const unsigned char* address;
  unsigned element_bytes, rank;
  unsigned long sizes[5];
  unsigned long strides[4];  // in bytes, without the fastest
  unsigned short box[5];
  unsigned short swizzle_bytes;
  unsigned short rounds_to_tf32;
};
struct alignas(64) TensorMap : MapFacts {};
static_assert(sizeof(TensorMap) == 128, "as large as on a GPU");

namespace emulated {

struct RingWord {
  int bytes;               // that are missing
  unsigned phase : 1, is_set_up : 15;
  unsigned missing : 8, arrivals : 8;

  TW_UNSEEN static RingWord& at(unsigned long long* word, const char* what) {
    RingWord& self = *(RingWord*)word;
    if (self.is_set_up != 0x1a2b) tw_emulate::fault(what);
    return self;
  }
  TW_UNSEEN void end_phase() {
    if (missing != 0 || bytes != 0) return;
    phase ^= 1;
    missing = arrivals;
  }
  TW_UNSEEN void arrive() {
    if (missing == 0) tw_emulate::fault("a slot of a ring is released or acquired more often than it has warps");
    tw_emulate::emulation->meet_at_word(this, true);
    missing -= 1;
    end_phase();
  }
};

// With checks: the lines of memory that a copy reads or a store writes, as far as they are inside.
TW_UNSEEN static void touch_box(const MapFacts& map, const int* at, const void* word, bool is_store, bool adds, int line) {
#ifdef TW_EMULATE_CHECK
  const unsigned char* from = map.address;
  for (unsigned d = 2; d < map.rank; ++d) {
    if (at[d] < 0 || (unsigned long)at[d] >= map.sizes[d]) return;
    from += at[d] * (long)map.strides[d - 1];
  }
  const long end_x = at[0] + (long)map.box[0], width = (long)map.sizes[0];
  const long first = at[0] < 0 ? 0 : at[0], last = end_x < width ? end_x : width;
  if (first >= last) return;
  for (long y = at[1]; y < at[1] + (long)map.box[1]; ++y)
    if (y >= 0 && y < (long)map.sizes[1])
      tw_emulate::touch_later(from + y * (long)map.strides[0] + first * map.element_bytes, (last - first) * map.element_bytes,
                              adds       ? tw_emulate::UntilMapAdded
                              : is_store ? tw_emulate::UntilMapStored
                                         : tw_emulate::UntilMapCopied,
                              word, unsigned(line));
#else
  (void)map, (void)at, (void)word, (void)is_store, (void)adds, (void)line;
#endif
}

struct MapCopy {
  unsigned char* to;
  MapFacts map;  // the thread that started the copy may have ended
  unsigned long long* word;
  int at[5];

  // The box, line by line, in chunks of 16 bytes that are exchanged as the map says.
  TW_UNSEEN static void run(const void* closure) {
    const MapCopy& self = *(const MapCopy*)closure;
    const MapFacts& map = self.map;
    const unsigned line_bytes = map.box[0] * map.element_bytes;
    bool is_there = true;  // in dimensions of which the box has one
    const unsigned char* from = map.address;
    for (unsigned d = 2; d < map.rank; ++d) {
      is_there = is_there && self.at[d] >= 0 && (unsigned long)self.at[d] < map.sizes[d];
      from += self.at[d] * (long)map.strides[d - 1];
    }
    for (unsigned row = 0; row < map.box[1]; ++row)
      for (unsigned i = 0; i < map.box[0]; ++i) {
        unsigned long to = (unsigned long)self.to + row * line_bytes + i * map.element_bytes;
        if (map.swizzle_bytes != 0) to ^= (to >> 7 & (map.swizzle_bytes / 16 - 1)) << 4;
        const long at_x = (long)self.at[0] + i, at_y = (long)self.at[1] + row;
        const bool is_inside = is_there && at_x >= 0 && at_x < (long)map.sizes[0] && at_y >= 0 && at_y < (long)map.sizes[1];
        if (is_inside && map.rounds_to_tf32) {
          unsigned bits;  // to the nearest: 13 bits are cut off, the larger half of them counts
          __builtin_memcpy(&bits, from + at_y * (long)map.strides[0] + at_x * 4, 4);
          const bool is_finite = (bits & 0x7f800000) != 0x7f800000;
          if (is_finite) bits = (bits + 0x1000) & ~0x1fffu;
          __builtin_memcpy((void*)to, &bits, 4);
        } else if (is_inside)
          __builtin_memcpy((void*)to, from + at_y * (long)map.strides[0] + at_x * map.element_bytes, map.element_bytes);
        else __builtin_memset((void*)to, 0, map.element_bytes);
      }
    RingWord& word = RingWord::at(self.word, "a copy of a tensor map arrives at a word that is not set up");
    word.bytes -= int(line_bytes * map.box[1]);
    if (word.bytes < 0) tw_emulate::fault("more bytes arrive in a slot of a ring than were announced");
    word.end_phase();
  }
};

TW_UNSEEN static void wait_phase(unsigned long long* word, unsigned parity, int line) {
  RingWord& self = RingWord::at(word, "a word of a ring is waited for before it is set up");
  for (;;) {
    tw_emulate::emulation->land_copies(word);
    if (self.phase != parity) return tw_emulate::emulation->meet_at_word(word, false);
    tw_emulate::suspended([] { tw_emulate::emulation->yield(); });
  }
  (void)line;
}

}  // namespace emulated

TW_DEVICE int here(int number) { return number; }

template <int Slots>
TW_UNSEEN void set_up_ring(unsigned long long* words, int consumer_warps) {
  if (threadIdx.x != 0) return;
  for (int i = 0; i < 2 * Slots; ++i) {
    emulated::RingWord& word = *(emulated::RingWord*)(words + i);
    word.bytes = 0;
    word.phase = 0;
    word.is_set_up = 0x1a2b;
    word.missing = word.arrivals = i < Slots ? 1 : consumer_warps;
  }
}
template <int Slots>
TW_UNSEEN void acquire(unsigned long long* words, unsigned position, unsigned bytes, int line = __builtin_LINE()) {
  emulated::wait_phase(words + Slots + position % Slots, (position / Slots & 1) ^ 1, line);
  emulated::RingWord& word = emulated::RingWord::at(words + position % Slots, "a slot of a ring is acquired before it is set up");
  word.bytes += int(bytes);
  word.arrive();
}
template <int Slots>
TW_UNSEEN void await(unsigned long long* words, unsigned position, int line = __builtin_LINE()) {
  emulated::wait_phase(words + position % Slots, position / Slots & 1, line);
}
// Lanes wait for their products together on a GPU; here each one does for itself.
template <int Slots>
TW_UNSEEN void release(unsigned long long* words, unsigned position, bool is_wanted, int line = __builtin_LINE()) {
  tw_emulate::meet("release", line, tw_emulate::WaitWarp, 0xffffffffu);
  if (!is_wanted || threadIdx.x % lane_count != 0) return;
  emulated::RingWord::at(words + Slots + position % Slots, "a slot of a ring is released before it is set up").arrive();
}
struct Coordinates {
  int at[5];
  unsigned rank;
};
// Where a call stands; no number is taken for it.
struct CallLine {
  int line;
};
TW_UNSEEN static void copy_map_at(void* to, const TensorMap& map, unsigned long long* full, const Coordinates& coordinates, int line) {
  const unsigned bytes = map.box[0] * map.box[1] * map.element_bytes;
  if ((unsigned long)to % 128 != 0 || (map.swizzle_bytes != 0 && (unsigned long)to % (8 * map.swizzle_bytes) != 0))
    tw_emulate::fault("a copy of a tensor map goes to a place that is not aligned to its pattern");
  if (map.rank != coordinates.rank) tw_emulate::fault("a copy has other coordinates than its tensor map has dimensions");
  if (coordinates.at[0] * (long)map.element_bytes % 16 != 0)
    tw_emulate::fault("a copy by a tensor map begins at an element that is not aligned to 16 bytes of its row");
  emulated::MapCopy copy{(unsigned char*)to, map, full, {}};
  for (unsigned d = 0; d < 5; ++d) copy.at[d] = coordinates.at[d];
  emulated::touch_box(map, copy.at, full, false, false, line);
  tw_emulate::emulation->start_map_copy(emulated::MapCopy::run, &copy, sizeof copy, to, bytes, full, unsigned(line));
}
TW_DEVICE void copy_map(void* to, const TensorMap& map, unsigned long long* full, int x, int y,
                        CallLine from = {__builtin_LINE()}) {
  copy_map_at(to, map, full, {{x, y, 0, 0, 0}, 2}, from.line);
}
TW_DEVICE void copy_map(void* to, const TensorMap& map, unsigned long long* full, int x, int y, int z,
                        CallLine from = {__builtin_LINE()}) {
  copy_map_at(to, map, full, {{x, y, z, 0, 0}, 3}, from.line);
}
TW_DEVICE void copy_map(void* to, const TensorMap& map, unsigned long long* full, int x, int y, int z, int u,
                        CallLine from = {__builtin_LINE()}) {
  copy_map_at(to, map, full, {{x, y, z, u, 0}, 4}, from.line);
}
TW_DEVICE void copy_map(void* to, const TensorMap& map, unsigned long long* full, int x, int y, int z, int u, int w,
                        CallLine from = {__builtin_LINE()}) {
  copy_map_at(to, map, full, {{x, y, z, u, w}, 5}, from.line);
}

namespace emulated {

// A box that goes to memory, from what the warp's first lane has read of shared memory.
struct MapStore {
  const unsigned char* from;
  MapFacts map;
  int at[5];
  bool adds;

  TW_UNSEEN static void run(const void* closure, const unsigned char* read) {
    const MapStore& self = *(const MapStore*)closure;
    const MapFacts& map = self.map;
    const unsigned line_bytes = map.box[0] * map.element_bytes;
    unsigned char* to = (unsigned char*)map.address;
    for (unsigned d = 2; d < map.rank; ++d) {
      if ((unsigned long)self.at[d] >= map.sizes[d]) return;
      to += self.at[d] * (long)map.strides[d - 1];
    }
    for (unsigned row = 0; row < map.box[1]; ++row)
      for (unsigned i = 0; i < map.box[0]; ++i) {
        unsigned long from = (unsigned long)self.from + row * line_bytes + i * map.element_bytes;
        if (map.swizzle_bytes != 0) from ^= (from >> 7 & (map.swizzle_bytes / 16 - 1)) << 4;
        const long at_x = (long)self.at[0] + i, at_y = (long)self.at[1] + row;
        if (at_x >= (long)map.sizes[0] || at_y >= (long)map.sizes[1]) continue;
        void* element = to + at_y * (long)map.strides[0] + at_x * map.element_bytes;
        const unsigned char* value = read + (from - (unsigned long)self.from);
        if (!self.adds) {
          __builtin_memcpy(element, value, map.element_bytes);
          continue;
        }
        float term;
        __builtin_memcpy(&term, value, 4);
        unsigned before = __atomic_load_n((unsigned*)element, __ATOMIC_RELAXED), after;
        do {
          float sum;
          __builtin_memcpy(&sum, &before, 4);
          sum += term;
          __builtin_memcpy(&after, &sum, 4);
        } while (!__atomic_compare_exchange_n((unsigned*)element, &before, after, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
      }
  }
};

TW_UNSEEN static void store_map_at(const void* from, const TensorMap& map, const Coordinates& coordinates, bool adds, int line) {
  if (threadIdx.x % lane_count != 0) return;
  if ((unsigned long)from % 128 != 0 || (map.swizzle_bytes != 0 && (unsigned long)from % (8 * map.swizzle_bytes) != 0))
    tw_emulate::fault("a store by a tensor map reads a place that is not aligned to its pattern");
  if (map.rank != coordinates.rank) tw_emulate::fault("a store has other coordinates than its tensor map has dimensions");
  if (coordinates.at[0] * (long)map.element_bytes % 16 != 0)
    tw_emulate::fault("a store by a tensor map begins at an element that is not aligned to 16 bytes of its row");
  MapStore store{(const unsigned char*)from, map, {}, adds};
  for (unsigned d = 0; d < 5; ++d) {
    store.at[d] = coordinates.at[d];
    if (store.at[d] < 0) tw_emulate::fault("a store by a tensor map begins in front of its tensor");
  }
  touch_box(map, store.at, nullptr, true, adds, line);
  tw_emulate::emulation->start_map_store(MapStore::run, &store, sizeof store, from,
                                         map.box[0] * map.box[1] * map.element_bytes, unsigned(line));
}

}  // namespace emulated

#define TW_STORE_BOXES(name, adds)                                                                                       \
  TW_DEVICE void name(const void* from, const TensorMap& map, int x, int y, CallLine at = {__builtin_LINE()}) {          \
    emulated::store_map_at(from, map, {{x, y, 0, 0, 0}, 2}, adds, at.line);                                              \
  }                                                                                                                      \
  TW_DEVICE void name(const void* from, const TensorMap& map, int x, int y, int z, CallLine at = {__builtin_LINE()}) {   \
    emulated::store_map_at(from, map, {{x, y, z, 0, 0}, 3}, adds, at.line);                                              \
  }                                                                                                                      \
  TW_DEVICE void name(const void* from, const TensorMap& map, int x, int y, int z, int u,                                \
                      CallLine at = {__builtin_LINE()}) {                                                                \
    emulated::store_map_at(from, map, {{x, y, z, u, 0}, 4}, adds, at.line);                                              \
  }                                                                                                                      \
  TW_DEVICE void name(const void* from, const TensorMap& map, int x, int y, int z, int u, int w,                         \
                      CallLine at = {__builtin_LINE()}) {                                                                \
    emulated::store_map_at(from, map, {{x, y, z, u, w}, 5}, adds, at.line);                                              \
  }
TW_STORE_BOXES(store_map, false)
TW_STORE_BOXES(add_map, true)
#undef TW_STORE_BOXES
template <int InMemory>
TW_DEVICE void wait_stores() {
  tw_emulate::emulation->wait_map_stores(InMemory);
}

TW_DEVICE void prefetch_map(const TensorMap&) {}
template <int Count>
TW_DEVICE void fewer_registers() {}
template <int Count>
TW_DEVICE void more_registers() {}
template <int Threads>
TW_DEVICE void meet_consumers(int line = __builtin_LINE()) {
  tw_emulate::meet("bar.sync 1", line, tw_emulate::WaitConsumers, Threads);
}

}  // namespace tw
