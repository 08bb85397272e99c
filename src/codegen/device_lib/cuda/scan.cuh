// SPDX-License-Identifier: Apache-2.0
// device_lib/cuda/scan.cuh — running combinations over threads: along the lanes of a warp, and along
// the warps of a block through shared memory.
//
// `combine(a, b)` combines what comes first with what comes after it, of any type T that can be
// copied as bytes.

namespace tw {

// A line is held by `Lanes` neighbouring lanes, or by all lanes of `Warps` neighbouring warps, and
// `value` combines what this thread has of it. Whether there is something before it in the line;
// `before` becomes the combination of that. `slots` is shared memory for one value per warp; what it
// held before must have been read by all. With several warps all threads of the block take part.
template <int Lanes, int Warps, class T, class Combine>
TW_DEVICE bool scan_before(T value, T& before, T* slots, Combine combine) {
  const int lane = int(threadIdx.x) % Lanes;
#pragma unroll
  for (int step = 1; step < Lanes; step *= 2) {
    const T other = shuffle_up(value, step);
    if (lane >= step) value = combine(other, value);
  }
  before = shuffle_up(value, 1);
  bool has_before = lane > 0;
  if constexpr (Warps > 1) {
    const int warp = int(threadIdx.x) / lane_count;
    if (lane == Lanes - 1) slots[warp] = value;
    __syncthreads();
    const int first = warp - warp % Warps;
    if (warp > first) {
      T all = slots[first];
      for (int w = first + 1; w < warp; ++w) all = combine(all, slots[w]);
      before = has_before ? combine(all, before) : all;
      has_before = true;
    }
  }
  return has_before;
}

// ---- Tiles in registers

// Which bits of a register's, lane's and warp's number go along the axis, in the order in which they
// do: inner registers first, outer ones last. Other bits tell lines apart, or copies.
template <int LogRegisters, int Inner, int Lanes, int Warps, int Outer>
struct ScanBits {
  static constexpr int inner = Inner, lanes = Lanes, warps = Warps, outer = Outer;
  static constexpr int lines = (1 << LogRegisters) - 1 - Inner - Outer;
};

TW_DEVICE constexpr int count_of(int mask) {
  int count = 1;
  for (; mask != 0; mask &= mask - 1) count *= 2;
  return count;
}
// Number `index` of those with bits of `Mask` only.
template <int Mask>
TW_DEVICE constexpr int spread(int index) {
  int out = 0;
  int at = 0;
#pragma unroll
  for (int bit = 0; bit < 10; ++bit)
    if (Mask >> bit & 1) out |= (index >> at++ & 1) << bit;
  return out;
}

// Something that may be there; what is added comes after it.
template <class T>
struct Before {
  T value;
  bool is_some = false;

  template <class Combine>
  __device__ void add(const T& next, bool is_next, Combine combine) {
    if (is_next) value = is_some ? combine(value, next) : next;
    is_some = is_some || is_next;
  }
};

// Combines `value` with those of the lanes before this one along the bits of `Lanes`.
template <int Lanes, bool IsReverse, class T, class Combine>
TW_DEVICE T scan_lanes(T value, int lane, Combine combine) {
#pragma unroll
  for (int bit = 1; bit < lane_count; bit *= 2) {
    if ((Lanes & bit) == 0) continue;
    const int lower = Lanes & (bit - 1);  // the last lane of the half before
    const T other = shuffle_from(value, IsReverse ? (lane | bit) & ~lower : (lane & ~bit) | lower);
    if (((lane & bit) != 0) != IsReverse) value = combine(other, value);
  }
  return value;
}

// What the warps before this one come to and what all of them do, of totals that `total(n)` reads: n
// is a warp's number along the axis. Each lane has one of them, so that four steps over lanes do for
// sixteen warps what every thread would else do alone. (A cumulative sum of 8192 by 16 warps, as in
// Liger's sparsemax, is 720 instructions instead of 1008 in all.)
template <int Warps, class T, class Total, class Combine>
TW_DEVICE void scan_warps(Before<T>& before, Before<T>& all, int own, Total total, Combine combine) {
  const int number = int(threadIdx.x) % Warps;
  T value = total(number);
#pragma unroll
  for (int step = 1; step < Warps; step *= 2) {
    const T other = shuffle_up(value, step);
    if (number >= step) value = combine(other, value);
  }
  all.add(shuffle_from(value, Warps - 1), true, combine);
  before.add(shuffle_from(value, (own - 1) & (Warps - 1)), own > 0, combine);
}

// Running combinations of a tile's elements in the registers `x`. `slots` is shared memory for the
// totals of all warps where Bits::warps is not 0; what it held before must have been read by all, and
// all threads of the block take part.
template <class Bits, bool IsReverse, class T, class Combine>
TW_DEVICE void scan_registers(T* x, T* slots, Combine combine) {
  constexpr int stretch = count_of(Bits::inner);
  constexpr int chunks = count_of(Bits::outer);
  constexpr int lines = count_of(Bits::lines);
  constexpr int per_warp = Bits::lanes == all_lane_bits ? 1 : lane_count;
  const int lane = int(threadIdx.x) % lane_count;
  const int warp = int(threadIdx.x) / lane_count;
  const int all_warps = int(blockDim.x) / lane_count;
  // Numbers along the axis: 0 comes first.
  const int rank = (IsReverse ? ~lane : lane) & Bits::lanes;
  const int step = IsReverse ? (lane | ~Bits::lanes) + 1 : (lane & Bits::lanes) - 1;
  const int previous = (lane & ~Bits::lanes) | (step & Bits::lanes);
  const auto first_of = [](int line, int chunk) {
    return spread<Bits::lines>(line) |
           spread<Bits::outer>(IsReverse ? chunks - 1 - chunk : chunk);
  };
  const auto inner = [](int i) { return spread<Bits::inner>(IsReverse ? stretch - 1 - i : i); };
  const auto slot = [&](int item, int of_warp) -> T& {
    return slots[(item * all_warps + of_warp) * per_warp + (lane & ~Bits::lanes)];
  };

  T until[lines * chunks];  // the end of each stretch, from the first lane on
#pragma unroll
  for (int item = 0; item < lines * chunks; ++item) {
    const int first = first_of(item / chunks, item % chunks);
#pragma unroll
    for (int i = 1; i < stretch; ++i)
      x[first | inner(i)] = combine(x[first | inner(i - 1)], x[first | inner(i)]);
    until[item] = scan_lanes<Bits::lanes, IsReverse>(x[first | inner(stretch - 1)], lane, combine);
    if (Bits::warps != 0 && rank == Bits::lanes) slot(item, warp) = until[item];
  }
  if constexpr (Bits::warps != 0) __syncthreads();

#pragma unroll
  for (int line = 0; line < lines; ++line) {
    Before<T> carried;  // all chunks before
#pragma unroll
    for (int chunk = 0; chunk < chunks; ++chunk) {
      const int item = line * chunks + chunk;
      Before<T> before = carried;
      Before<T> total;
      if constexpr (Bits::warps != 0) {
        Before<T> warps_before;
        constexpr int warps = count_of(Bits::warps);
        if constexpr (warps >= 8 && Bits::warps == warps - 1 && Bits::lanes == all_lane_bits) {
          const auto along = [&](int w) { return IsReverse ? warps - 1 - w : w; };
          const auto total_of = [&](int w) {
            return slot(item, (warp & ~Bits::warps) | along(w));
          };
          scan_warps<warps>(warps_before, total, along(warp & Bits::warps), total_of, combine);
        } else
#pragma unroll
        for (int w = 0; w < count_of(Bits::warps); ++w) {
          const int other = spread<Bits::warps>(IsReverse ? count_of(Bits::warps) - 1 - w : w);
          const T value = slot(item, (warp & ~Bits::warps) | other);
          const int own = warp & Bits::warps;
          warps_before.add(value, IsReverse ? other > own : other < own, combine);
          total.add(value, true, combine);
        }
        before.add(warps_before.value, warps_before.is_some, combine);
      } else if constexpr (chunks > 1) {
        const int last = IsReverse ? lane & ~Bits::lanes : lane | Bits::lanes;
        total.add(Bits::lanes == 0 ? until[item] : shuffle_from(until[item], last), true, combine);
      }
      // The last element of a stretch has what the lanes before come to already.
      const int first = first_of(line, chunk);
      T& last = x[first | inner(stretch - 1)];
      last = before.is_some ? combine(before.value, until[item]) : until[item];
      if constexpr (Bits::lanes != 0 && stretch > 1)
        before.add(shuffle_from(until[item], previous), rank != 0, combine);
      if (chunk + 1 < chunks) carried.add(total.value, true, combine);
#pragma unroll
      for (int i = 0; i < stretch - 1; ++i)
        if (before.is_some) x[first | inner(i)] = combine(before.value, x[first | inner(i)]);
    }
  }
}

}  // namespace tw
