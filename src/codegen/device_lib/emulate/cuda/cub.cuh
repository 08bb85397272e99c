// SPDX-License-Identifier: Apache-2.0
// device_lib/emulate/cuda/cub.cuh — CUB's collectives of a block and a warp: reductions and scans.

namespace cub {

struct Sum {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return a + b;
  }
};
struct Max {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return a < b ? b : a;
  }
};
struct Min {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return b < a ? b : a;
  }
};

enum BlockReduceAlgorithm {
  BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
  BLOCK_REDUCE_RAKING,
  BLOCK_REDUCE_WARP_REDUCTIONS
};
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

// Every thread leaves its value in shared memory and reads those of all others, in order.
template <class T, int Threads>
struct TwExchange {
  struct TempStorage {
    T values[Threads];
  };
  // `storage` may be used again after a barrier of the caller's, as with CUB.
  template <class Op>
  static T fold(TempStorage& storage, T value, int first, int count, Op op) {
    storage.values[tw_emulate::thread_number] = value;
    __syncthreads();
    T result = storage.values[first];
    for (int i = 1; i < count; ++i) result = op(result, storage.values[first + i]);
    return result;
  }
};

template <class T, int X, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1, int Z = 1>
class BlockReduce {
  using Exchange = TwExchange<T, X * Y * Z>;

 public:
  using TempStorage = typename Exchange::TempStorage;
  BlockReduce(TempStorage& storage) : storage_(storage) {}
  // The result is thread 0's; the others get a value of no meaning.
  template <class Op>
  T Reduce(T value, Op op, int valid = X * Y * Z) {
    return Exchange::fold(storage_, value, 0, tw_emulate::thread_number == 0 ? valid : 1, op);
  }
  template <int N, class Op>
  T Reduce(T (&values)[N], Op op) {
    T own = values[0];
    for (int i = 1; i < N; ++i) own = op(own, values[i]);
    return Reduce(own, op);
  }
  T Sum(T value, int valid = X * Y * Z) { return Reduce(value, cub::Sum(), valid); }
  template <int N>
  T Sum(T (&values)[N]) {
    return Reduce(values, cub::Sum());
  }

 private:
  TempStorage& storage_;
};

template <class T, int X, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1>
class BlockScan {
  using Exchange = TwExchange<T, X * Y * Z>;

 public:
  using TempStorage = typename Exchange::TempStorage;
  BlockScan(TempStorage& storage) : storage_(storage) {}
  template <class Op>
  void InclusiveScan(T value, T& out, Op op) {
    out = Exchange::fold(storage_, value, 0, rank() + 1, op);
  }
  template <class Op>
  void InclusiveScan(T value, T& out, Op op, T& total) {
    InclusiveScan(value, out, op);
    total = fold_again(X * Y * Z, op);
  }
  template <class Op>
  void ExclusiveScan(T value, T& out, T initial, Op op) {
    const T before = Exchange::fold(storage_, value, 0, rank() > 0 ? rank() : 1, op);
    out = rank() == 0 ? initial : op(initial, before);
  }
  template <class Op>
  void ExclusiveScan(T value, T& out, T initial, Op op, T& total) {
    ExclusiveScan(value, out, initial, op);
    total = fold_again(X * Y * Z, op);
  }
  void InclusiveSum(T value, T& out) { InclusiveScan(value, out, cub::Sum()); }
  void InclusiveSum(T value, T& out, T& total) { InclusiveScan(value, out, cub::Sum(), total); }
  void ExclusiveSum(T value, T& out) { ExclusiveScan(value, out, T(), cub::Sum()); }
  void ExclusiveSum(T value, T& out, T& total) {
    ExclusiveScan(value, out, T(), cub::Sum(), total);
  }

 private:
  static int rank() { return int(tw_emulate::thread_number); }
  template <class Op>
  T fold_again(int count, Op op) {
    T result = storage_.values[0];
    for (int i = 1; i < count; ++i) result = op(result, storage_.values[i]);
    return result;
  }
  TempStorage& storage_;
};

template <class T, int Lanes = 32>
class WarpReduce {
 public:
  struct TempStorage {};
  WarpReduce(TempStorage&) {}
  template <class Op>
  T Reduce(T value, Op op, int valid = Lanes) {
    const unsigned first = tw_emulate::lane() / Lanes * Lanes;
    const unsigned mask = (Lanes == 32 ? ~0u : (1u << Lanes % 32) - 1) << first;
    T result = tw_emulate::shuffle("cub::WarpReduce", __builtin_LINE(), mask, value, first);
    for (int i = 1; i < valid; ++i)
      result = op(result, tw_emulate::shuffle("cub::WarpReduce", __builtin_LINE(), mask, value,
                                              first + unsigned(i)));
    return result;
  }
  T Sum(T value, int valid = Lanes) { return Reduce(value, cub::Sum(), valid); }
};

}  // namespace cub
