// SPDX-License-Identifier: Apache-2.0
// device_lib/emulate/cuda/cooperative_groups.cuh — cooperative groups of a block: the block itself,
// tiles of a warp, and the threads that are active together.

namespace cooperative_groups {

template <class T>
struct plus {
  T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct less {
  T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
  T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
  T operator()(T a, T b) const { return a & b; }
};
template <class T>
struct bit_or {
  T operator()(T a, T b) const { return a | b; }
};
template <class T>
struct bit_xor {
  T operator()(T a, T b) const { return a ^ b; }
};

// Lanes of one warp; what the groups below are made of.
class tw_lanes {
 public:
  constexpr explicit tw_lanes(unsigned mask) : mask_(mask) {}
  void sync() const { __syncwarp(mask_); }
  unsigned thread_rank() const {
    return unsigned(__builtin_popcount(mask_ & ((1u << tw_emulate::lane()) - 1)));
  }
  unsigned size() const { return unsigned(__builtin_popcount(mask_)); }
  unsigned long long num_threads() const { return size(); }
  template <class T>
  T shfl(T value, unsigned rank) const {
    return tw_emulate::shuffle("shfl", __builtin_LINE(), mask_, value, lane_of(rank % size()));
  }
  template <class T>
  T shfl_up(T value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return shfl(value, rank >= delta ? rank - delta : rank);
  }
  template <class T>
  T shfl_down(T value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return shfl(value, rank + delta < size() ? rank + delta : rank);
  }
  template <class T>
  T shfl_xor(T value, unsigned bits) const {
    const unsigned other = thread_rank() ^ bits;
    return shfl(value, other < size() ? other : thread_rank());
  }
  int any(int predicate) const { return __any_sync(mask_, predicate); }
  int all(int predicate) const { return __all_sync(mask_, predicate); }
  unsigned ballot(int predicate) const { return packed(__ballot_sync(mask_, predicate)); }
  template <class T>
  unsigned match_any(T value) const {
    return packed(__match_any_sync(mask_, value));
  }
  template <class T>
  unsigned match_all(T value, int& is_same) const {
    return packed(__match_all_sync(mask_, value, &is_same));
  }

 protected:
  unsigned lane_of(unsigned rank) const {
    unsigned lanes = mask_;
    for (; rank > 0; --rank) lanes &= lanes - 1;
    return unsigned(__builtin_ctz(lanes));
  }
  // Bits of lanes as bits of ranks.
  unsigned packed(unsigned lanes) const {
    unsigned out = 0, at = 0;
    for (unsigned i = 0; i < 32; ++i)
      if (mask_ >> i & 1) out |= (lanes >> i & 1) << at++;
    return out;
  }
  unsigned mask_;
};

class thread_block {
 public:
  static void sync() { __syncthreads(); }
  static unsigned thread_rank() { return tw_emulate::thread_number; }
  static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned num_threads() { return size(); }
  static dim3 group_index() { return dim3(blockIdx); }
  static dim3 thread_index() { return dim3(threadIdx); }
  static dim3 group_dim() { return blockDim; }
  static dim3 dim_threads() { return blockDim; }
};
inline thread_block this_thread_block() { return {}; }

template <unsigned Size, class Parent = void>
class thread_block_tile : public tw_lanes {
  static_assert(Size > 0 && Size <= 32 && (Size & (Size - 1)) == 0,
                "emulation has tiles of 1, 2, 4, 8, 16 and 32 threads");

 public:
  thread_block_tile()
      : tw_lanes((Size == 32 ? ~0u : (1u << Size % 32) - 1)
                 << (tw_emulate::lane() & ~(Size - 1))) {}
  static constexpr unsigned size() { return Size; }
  static constexpr unsigned num_threads() { return Size; }
  unsigned thread_rank() const { return tw_emulate::lane() % Size; }
  unsigned meta_group_rank() const { return tw_emulate::thread_number / Size; }
  unsigned meta_group_size() const { return (thread_block::size() + Size - 1) / Size; }
};
template <unsigned Size, class Parent>
thread_block_tile<Size> tiled_partition(const Parent&) {
  return {};
}

// Any group of this block, by value.
class thread_group {
 public:
  thread_group(const thread_block&) {}
  thread_group(const tw_lanes& lanes) : is_block_(false), lanes_(lanes) {}
  void sync() const {
    if (is_block_) __syncthreads();
    else lanes_.sync();
  }
  unsigned thread_rank() const {
    return is_block_ ? thread_block::thread_rank() : lanes_.thread_rank();
  }
  unsigned size() const { return is_block_ ? thread_block::size() : lanes_.size(); }
  unsigned num_threads() const { return size(); }

 private:
  bool is_block_ = true;
  tw_lanes lanes_{0};
};
template <class Parent>
thread_group tiled_partition(const Parent&, unsigned size) {
  if (size == 0 || size > 32 || (size & (size - 1)) != 0)
    tw_emulate::fault("emulation has tiles of 1, 2, 4, 8, 16 and 32 threads");
  const unsigned lanes = size >= 32 ? ~0u : (1u << size) - 1;
  return tw_lanes(lanes << (tw_emulate::lane() & ~(size - 1)));
}

class coalesced_group : public tw_lanes {
 public:
  explicit coalesced_group(unsigned mask) : tw_lanes(mask) {}
};
inline coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

template <class Group>
void sync(const Group& group) {
  group.sync();
}

// In the order of ranks, so that a result does not depend on how it was computed.
template <class Group, class T, class Op>
T reduce(const Group& group, T value, Op op) {
  T result = group.shfl(value, 0);
  for (unsigned i = 1; i < group.size(); ++i) result = op(result, group.shfl(value, i));
  return result;
}
template <class Group, class T, class Op>
T inclusive_scan(const Group& group, T value, Op op) {
  T result = group.shfl(value, 0);
  for (unsigned i = 1; i < group.size(); ++i) {
    const T next = group.shfl(value, i);
    if (i <= group.thread_rank()) result = op(result, next);
  }
  return result;
}
template <class Group, class T>
T inclusive_scan(const Group& group, T value) {
  return inclusive_scan(group, value, plus<T>());
}
template <class Group, class T, class Op>
T exclusive_scan(const Group& group, T value, Op op) {
  const T before = group.shfl_up(inclusive_scan(group, value, op), 1);
  return group.thread_rank() == 0 ? T() : before;
}
template <class Group, class T>
T exclusive_scan(const Group& group, T value) {
  return exclusive_scan(group, value, plus<T>());
}

}  // namespace cooperative_groups
