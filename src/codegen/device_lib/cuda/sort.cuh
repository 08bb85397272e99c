// SPDX-License-Identifier: Apache-2.0
// device_lib/cuda/sort.cuh — stages of a bitonic sorting network over an array in shared memory, of
// which each thread takes consecutive elements into registers.
//
// Stage s merges runs of 2^s elements, rising ones where bit s of the index is 0, falling ones where it
// is 1; the last stage in the order given. A step compares elements whose indices differ in one bit:
// both are registers of a thread, or of two lanes (shuffles), or of two warps. For the last, threads
// exchange elements through the array, so that several such steps are within threads. Where runs fall,
// elements are flipped so that their order is reversed: then all runs rise.

namespace tw {

enum class SortOrder { alternating, ascending, descending };

// log2 of the elements that a thread has.
TW_DEVICE constexpr int log_sorted(int log_count, int log_threads) {
  const int least = log_count < 2 ? log_count : 2;
  return log_count - log_threads > least ? log_count - log_threads : least;
}
// With more than these per thread the steps go through shared memory one by one.
constexpr int most_log_sorted = 6;
enum : int { bank_count = 32 };  // of shared memory

// Where element `index` of the array stands: exchanged so that lanes meet no bank twice, whether they
// have neighbours or runs of neighbours.
template <int LogCount, int LogThreads>
TW_DEVICE int sort_place(int index) {
  constexpr int log_own = log_sorted(LogCount, LogThreads);
  return log_own > most_log_sorted ? index : index ^ (index >> log_own & (bank_count - 1));
}

// An element whose order among others is the reverse where `all` is ~0; 0 leaves it as it is. NaN stays
// NaN. By arithmetic: a branch on it would be moved around shuffles, which then wait for both sides.
template <class T>
TW_DEVICE T flipped(T x, u32 all) {
  return T(x ^ T(i32(all)));
}
TW_DEVICE bool flipped(bool x, u32 all) { return x != (all != 0); }
TW_DEVICE f64 flipped(f64 x, u32 all) { return bit_cast<f64>(bit_cast<u64>(x) ^ u64(all & 1) << 63); }
TW_DEVICE f32 flipped(f32 x, u32 all) { return bit_cast<f32>(bit_cast<u32>(x) ^ all << 31); }
TW_DEVICE f16 flipped(f16 x, u32 all) { return f16{u16(x.bits ^ (all & 0x8000))}; }
TW_DEVICE bf16 flipped(bf16 x, u32 all) { return bf16{u16(x.bits ^ (all & 0x8000))}; }
TW_DEVICE f8e4m3 flipped(f8e4m3 x, u32 all) { return f8e4m3{u8(x.bits ^ (all & 0x80))}; }
TW_DEVICE f8e5m2 flipped(f8e5m2 x, u32 all) { return f8e5m2{u8(x.bits ^ (all & 0x80))}; }

// ~0 where the bit is set.
TW_DEVICE u32 all_by_bit(int number, int bit) { return 0u - (u32(number) >> bit & 1); }

template <int Count, class T>
TW_DEVICE void flip_all(T* x, u32 all) {
#pragma unroll
  for (int i = 0; i < Count; ++i) x[i] = flipped(x[i], all);
}

// One step over bit `Bit` of the register's number. Equal elements and NaN stay where they are.
template <int Count, int Bit, class T>
TW_DEVICE void sort_registers(T* x) {
#pragma unroll
  for (int pair = 0; pair < Count / 2; ++pair) {
    const int low = (pair >> Bit << (Bit + 1)) + (pair & ((1 << Bit) - 1));
    const T a = x[low];
    const T b = x[low + (1 << Bit)];
    const bool swaps = b < a;
    x[low] = swaps ? b : a;
    x[low + (1 << Bit)] = swaps ? a : b;
  }
}
// Steps over the bits from `Bit` down to `Least`.
template <int Count, int Bit, int Least, class T>
TW_DEVICE void merge_registers(T* x) {
  if constexpr (Bit >= Least) {
    sort_registers<Count, Bit>(x);
    merge_registers<Count, Bit - 1, Least>(x);
  }
}

template <int Count, class T>
TW_DEVICE void sort_lanes(T* x, int lane, int bit) {
  const u32 is_high = all_by_bit(lane, bit);
#pragma unroll
  for (int i = 0; i < Count; ++i) {
    const T other = shuffle_xor(x[i], 1 << bit);
    const bool takes = flipped(other, is_high) < flipped(x[i], is_high);
    x[i] = takes ? other : x[i];
  }
}

// How the thread's registers are numbered in the array: its own run of elements, with the highest
// `Moved` bits of a register's number exchanged for those from bit `From` of the index on, which
// otherwise tell warps apart.
template <int LogOwn, int Moved, int From>
TW_DEVICE int sorted_index(int worker, int i) {
  constexpr int mask = (1 << Moved) - 1;
  const int index = (worker << LogOwn) + i;
  const int high = index >> (LogOwn - Moved) & mask;
  const int warps = index >> From & mask;
  return (index ^ high << (LogOwn - Moved) ^ warps << From) | warps << (LogOwn - Moved) | high << From;
}

// The part of a network that one thread works on.
template <class T, int LogCount, int LogThreads>
struct SortedRun {
  static constexpr int log_own = log_sorted(LogCount, LogThreads);
  static constexpr int count = 1 << log_own;
  static constexpr int workers = 1 << (LogCount - log_own);
  static constexpr int first_warp = log_own + log_lanes;  // the first bit of an index that tells warps apart
  T* array;
  int worker;
  T x[count];

  // Threads beyond the workers go along with what they have, which nobody sees.
  __device__ bool is_worker() const {
    return workers == 1 << LogThreads || int(threadIdx.x) < workers;
  }

  // Places are linear in the bits of the thread's and the register's number: what a register adds is
  // known when the text is compiled.
  template <int Moved, int From>
  static __device__ int bytes_of(int of_worker, int i) {
    const int index = sorted_index<log_own, Moved, From>(of_worker, i);
    return sort_place<LogCount, LogThreads>(index) * int(sizeof(T));
  }
  __device__ T& at(int bytes) const {
    return *reinterpret_cast<T*>(reinterpret_cast<char*>(array) + bytes);
  }
  template <int Moved, int From>
  __device__ void read() {
    const int first = bytes_of<Moved, From>(worker, 0);
#pragma unroll
    for (int i = 0; i < count; ++i)
      x[i] = is_worker() ? at(first ^ bytes_of<Moved, From>(0, i)) : T{};
  }
  template <int Moved, int From>
  __device__ void write() const {
    const int first = bytes_of<Moved, From>(worker, 0);
#pragma unroll
    for (int i = 0; i < count; ++i)
      if (is_worker()) at(first ^ bytes_of<Moved, From>(0, i)) = x[i];
  }

  // Runs of registers that fall where bit `Stage` of their number is set.
  template <int Stage>
  __device__ void merge_alternating() {
    const auto flip_falling = [&] {
#pragma unroll
      for (int i = 0; i < count; ++i)
        if (i >> Stage & 1) x[i] = flipped(x[i], ~0u);
    };
    flip_falling();
    merge_registers<count, Stage - 1, 0>(x);
    flip_falling();
  }

  // Steps over the index bits from Top - 1 down to that of the first warp, as many at a time as a
  // thread's registers can stand for. A place is written by the thread that read it last.
  template <int Top>
  __device__ void merge_warps() {
    if constexpr (Top > first_warp) {
      constexpr int moved = Top - first_warp < log_own ? Top - first_warp : log_own;
      constexpr int from = Top - moved;
      write<0, 0>();
      __syncthreads();
      read<moved, from>();
      merge_registers<count, log_own - 1, log_own - moved>(x);
      write<moved, from>();
      __syncthreads();
      read<0, 0>();
      merge_warps<from>();
    }
  }
  __device__ void merge_lanes(int lane_bits) {
#pragma unroll 1
    for (int bit = lane_bits - 1; bit >= 0; --bit) sort_lanes<count>(x, worker, bit);
    merge_registers<count, log_own - 1, 0>(x);
  }
  __device__ u32 falls(int stage) const { return all_by_bit(worker, stage - log_own); }

  // The stages in which runs begin and end at a thread's own, the last one apart.
  template <int First, int Last>
  __device__ void alternating_stages() {
    if constexpr (First > Last) return;
    else if constexpr (First < log_own) {
      merge_alternating<First>();
      alternating_stages<First + 1, Last>();
    } else if constexpr (First <= first_warp) {
      constexpr int last = Last < first_warp ? Last : first_warp;
#pragma unroll 1
      for (int stage = First; stage <= last; ++stage) {
        flip_all<count>(x, falls(stage));
        merge_lanes(stage - log_own);
        flip_all<count>(x, falls(stage));
      }
      alternating_stages<last + 1, Last>();
    } else {
      flip_all<count>(x, falls(First));
      merge_warps<First>();
      merge_lanes(log_lanes);
      flip_all<count>(x, falls(First));
      alternating_stages<First + 1, Last>();
    }
  }
  template <int Stage>
  __device__ void last_stage(u32 is_falling) {
    flip_all<count>(x, is_falling);
    merge_warps<Stage>();
    if constexpr (Stage >= log_own) merge_lanes(Stage < first_warp ? Stage - log_own : log_lanes);
    else merge_registers<count, Stage - 1, 0>(x);
    flip_all<count>(x, is_falling);
  }
};

// With more elements per thread than registers can hold: one step after the other in the array.
template <int First, int Last, SortOrder LastOrder, class T>
TW_DEVICE void merge_runs_in_memory(T* x, int count) {
#pragma unroll 1
  for (int stage = First; stage <= Last; ++stage) {
#pragma unroll 1
    for (int bit = stage - 1; bit >= 0; --bit) {
      for (int pair = int(threadIdx.x); pair < count / 2; pair += int(blockDim.x)) {
        const int low = (pair >> bit << (bit + 1)) + (pair & ((1 << bit) - 1));
        const T a = x[low];
        const T b = x[low + (1 << bit)];
        const bool alternates = stage < Last || LastOrder == SortOrder::alternating;
        const bool falls = alternates ? (low >> stage & 1) != 0 : LastOrder == SortOrder::descending;
        if (falls ? a < b : a > b) {
          x[low] = b;
          x[low + (1 << bit)] = a;
        }
      }
      // The pairs of a warp are in the same elements, twice as many, in every step of a lower bit.
      if (bit <= log_lanes && bit > 0) __syncwarp();
      else __syncthreads();
    }
  }
}

// All threads of the block take part; `x` must be there for all before, in the places of sort_place,
// and is afterwards.
template <int First, int Last, SortOrder LastOrder, int LogCount, int LogThreads, class T>
TW_DEVICE void merge_runs(T* x) {
  if constexpr (log_sorted(LogCount, LogThreads) > most_log_sorted) {
    merge_runs_in_memory<First, Last, LastOrder>(x, 1 << LogCount);
  } else {
    using Run = SortedRun<T, LogCount, LogThreads>;
    Run run;
    run.array = x;
    run.worker = int(threadIdx.x) % Run::workers;
    run.template read<0, 0>();
    constexpr bool alternates = LastOrder == SortOrder::alternating;
    run.template alternating_stages<First, alternates ? Last : Last - 1>();
    if constexpr (!alternates) run.template last_stage<Last>(LastOrder == SortOrder::descending ? ~0u : 0u);
    run.template write<0, 0>();
    __syncthreads();
  }
}

}  // namespace tw
