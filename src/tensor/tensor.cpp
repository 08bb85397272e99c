// SPDX-License-Identifier: Apache-2.0
// tensor/tensor.cpp — what a tensor is made of, and questions to it.
#include "tilewright/tensor.h"

#include <atomic>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "base/chunks.h"
#include "tensor/op_provider.h"
#include "tensor/shape.h"
#include "tensor/traced.h"
#include "tilewright/error.h"

namespace tilewright {

namespace {

// Tensors whose elements are known, by where their buffer begins, with the trace that made them.
// Memory that is shown to somebody, on any thread, may be written.
class KnownContents {
 public:
  bool is_empty() const { return count_.load(std::memory_order_relaxed) == 0; }
  void set(const void* memory, MadeContents contents, std::uint64_t trace) {
    const std::lock_guard lock(mutex_);
    known_.insert_or_assign(memory, Known{contents, trace});
    count_ = known_.size();
  }
  std::optional<MadeContents> find(const void* memory, std::uint64_t trace) const {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(memory);
    if (found == known_.end() || found->second.trace != trace) return std::nullopt;
    return found->second.contents;
  }
  void forget(const void* memory) {
    const std::lock_guard lock(mutex_);
    known_.erase(memory);
    count_ = known_.size();
  }
  void forget_trace(std::uint64_t trace) {
    const std::lock_guard lock(mutex_);
    std::erase_if(known_, [&](const auto& entry) { return entry.second.trace == trace; });
    count_ = known_.size();
  }

 private:
  struct Known {
    MadeContents contents;
    std::uint64_t trace = 0;
  };
  mutable std::mutex mutex_;
  std::unordered_map<const void*, Known> known_;
  std::atomic<std::size_t> count_ = 0;  // a thread that was handed a tensor sees that it is there
};
KnownContents known_contents;
// Where memory begins that the graph of this thread's trace reads.
thread_local constinit std::unordered_set<const void*>* read_by_trace = nullptr;
thread_local constinit bool is_only_compared = false;
// By where memory begins; the tensor keeps the memory, so that no other one lies there.
struct Promoted {
  Tensor flat;
  const Traced* traced;
};
thread_local constinit std::unordered_map<const void*, Promoted>* promoted = nullptr;
TracedMemory current_memory = nullptr;  // set before main

void show_memory(const Buffer& buffer) {
  if (!known_contents.is_empty() && !is_only_compared) [[unlikely]]
    known_contents.forget(buffer.data());
}

}  // namespace

// Immutable and shared by copies of the handle.
struct Tensor::State {
  Argument argument;  // what launches see, made once
  Buffer buffer;
  Device device;
  DType dtype = DType::Float32;
  bool is_contiguous = true;
  std::int64_t numel = 0;
  std::int64_t offset = 0;
  void* data = nullptr;
  Shape shape;
  Shape strides;
  // Without memory it stands for a value of a trace. A state that is not in the store keeps it.
  const Traced* traced = nullptr;
  TracedStore* store = nullptr;
  std::shared_ptr<const State> keeps;
  std::uint64_t trace = current_trace();  // in which its memory was made; 0 for none

  State(Buffer memory, DType type, Shape sizes, Shape steps, std::int64_t first)
      : buffer(std::move(memory)),
        device(buffer.device()),
        dtype(type),
        numel(checked_numel(sizes, size_of(type))),
        offset(first),
        shape(std::move(sizes)),
        strides(std::move(steps)) {
    // Without elements nothing has a place: no stride or offset may lead later arithmetic astray.
    if (numel == 0) {
      strides = contiguous_strides(shape);
      offset = 0;
    }
    is_contiguous = tilewright::is_contiguous(shape, strides);
    if (buffer.data() != nullptr)
      data = static_cast<std::byte*>(buffer.data()) +
             offset * static_cast<std::int64_t>(size_of(dtype));
    argument.kind = Argument::Kind::Memory;
    argument.dtype = dtype;
    argument.is_contiguous = is_contiguous;
    argument.device = device;
    argument.bits = reinterpret_cast<std::uintptr_t>(data);
    argument.buffer = &buffer;
  }
  State(TracedStore* in, const Traced& of, const TracedLayout& layout)
      : device(layout.device),
        dtype(layout.dtype),
        numel(checked_numel(layout.shape, size_of(layout.dtype))),
        offset(numel == 0 ? 0 : layout.offset),
        shape(layout.shape),
        strides(numel == 0 ? contiguous_strides(layout.shape) : layout.strides),
        traced(&of),
        store(in) {
    is_contiguous = tilewright::is_contiguous(shape, strides);
    argument.is_defined = false;
  }
  State(const State&) = delete;  // the argument points to the buffer
  State& operator=(const State&) = delete;
};

struct TracedStore::States {
  Chunks<Tensor::State> all;
};
TracedStore::TracedStore() : states_(std::make_unique<States>()) {}
TracedStore::~TracedStore() = default;

Tensor::Tensor(Buffer buffer, DType dtype, Shape shape, Shape strides, std::int64_t offset) {
  if (shape.size() != strides.size())
    throw ArgumentError(
        fmt::format("shape {} and strides {} must have as many entries as each other",
                    shape_text(shape), shape_text(strides)));
  const std::int64_t numel = checked_numel(shape, size_of(dtype));
  const Reach reach = reach_of(shape, strides, size_of(dtype));
  const auto capacity = static_cast<std::int64_t>(buffer.size() / size_of(dtype));
  if (numel > 0 && (offset < -reach.low || offset >= capacity || reach.high >= capacity - offset))
    throw ArgumentError(fmt::format(
        "a tensor of shape {}, strides {} and offset {} does not fit a buffer of {} {} elements",
        shape_text(shape), shape_text(strides), offset, capacity, name_of(dtype)));
  show_memory(buffer);  // new memory may lie where known elements were
  state_ = std::make_shared<const State>(std::move(buffer), dtype, std::move(shape),
                                         std::move(strides), offset);
}

Tensor Tensor::with_layout(Shape shape, Shape strides, std::int64_t offset) const {
  const State& s = defined();
  if (s.traced != nullptr) {
    const TracedLayout layout{s.dtype, s.device, shape, strides, offset};
    if (s.trace == current_trace())
      return Tensor(std::shared_ptr<const State>(
          state_, &s.store->states_->all.emplace_back(s.store, *s.traced, layout)));
    // Of a trace that is over, or another thread's.
    auto made = std::make_shared<State>(s.store, *s.traced, layout);
    made->trace = s.trace;
    made->keeps = state_;
    return Tensor(std::shared_ptr<const State>(std::move(made)));
  }
  auto made =
      std::make_shared<State>(s.buffer, s.dtype, std::move(shape), std::move(strides), offset);
  made->trace = s.trace;
  return Tensor(std::shared_ptr<const State>(std::move(made)));
}

const Tensor::State& Tensor::defined() const {
  if (state_ == nullptr)
    throw ArgumentError("the tensor is undefined: assign one to it before using it");
  return *state_;
}

DType Tensor::dtype() const { return defined().dtype; }
Device Tensor::device() const { return defined().device; }
// Launches ask for these: no call inside of a call.
const Shape& Tensor::shape() const { return state_ ? state_->shape : defined().shape; }
const Shape& Tensor::strides() const { return state_ ? state_->strides : defined().strides; }
int Tensor::rank() const { return static_cast<int>(defined().shape.size()); }
std::int64_t Tensor::size(int dimension) const {
  return shape()[wrap_dimension(dimension, rank())];
}
std::int64_t Tensor::stride(int dimension) const {
  return strides()[wrap_dimension(dimension, rank())];
}
std::int64_t Tensor::numel() const { return state_ ? state_->numel : defined().numel; }
std::size_t Tensor::nbytes() const { return static_cast<std::size_t>(numel()) * size_of(dtype()); }
std::int64_t Tensor::offset() const { return defined().offset; }
const Buffer& Tensor::buffer() const {
  if (!is_only_compared && traced_of(*this)) throw_traced("buffer()", *this);
  show_memory(state_->buffer);
  return defined().buffer;
}
bool Tensor::is_contiguous() const { return defined().is_contiguous; }
void* Tensor::data() const {
  if (!is_only_compared && traced_of(*this)) throw_traced("data()", *this);
  show_memory(state_->buffer);
  return defined().data;
}

void Tensor::check_dtype(DType expected) const {
  if (dtype() != expected)
    throw ArgumentError(
        fmt::format("the tensor has {} elements, not {}: convert it with to() first",
                    name_of(dtype()), name_of(expected)));
}

Tensor::operator Argument() const {
  if (state_ != nullptr) [[likely]] {
    if (traced_of(*this)) throw_traced("a launch", *this);
    show_memory(state_->buffer);
    return state_->argument;
  }
  Argument undefined;
  undefined.kind = Argument::Kind::Memory;
  undefined.is_defined = false;
  return undefined;
}

// ---- Tracing.

Tensor make_traced(const std::shared_ptr<TracedStore>& store, const Traced& traced,
                   const TracedLayout& layout) {
  return Tensor(std::shared_ptr<const Tensor::State>(
      store, &store->states_->all.emplace_back(store.get(), traced, layout)));
}

const Traced* traced_of(const Tensor& tensor) {
  const Tensor::State& state = tensor.defined();
  if (state.trace == 0 || state.traced != nullptr || promoted == nullptr ||
      state.trace != current_trace()) [[likely]]
    return state.traced;
  const auto found = promoted->find(state.buffer.data());
  return found != promoted->end() ? found->second.traced : state.traced;
}

static void promote(const Tensor& tensor) {
  const OnlyAddresses only;
  const Buffer& buffer = tensor.buffer();
  const auto count = static_cast<std::int64_t>(buffer.size() / size_of(tensor.dtype()));
  const Tensor flat(buffer, tensor.dtype(), {count}, {1});
  const Traced* const traced = current_memory(flat);
  if (promoted == nullptr) promoted = new std::unordered_map<const void*, Promoted>;
  promoted->insert_or_assign(buffer.data(), Promoted{flat, traced});
}

void for_promoted(const std::function<void(const Tensor& flat)>& visit) {
  if (promoted == nullptr) return;
  for (const auto& [memory, entry] : *promoted) visit(entry.flat);
}

bool is_write_recorded(const Tensor& destination, bool is_source_traced) {
  if (traced_of(destination)) return true;
  if (!is_tracing()) return false;
  check_written(destination);
  const bool is_read =
      read_by_trace != nullptr && read_by_trace->contains(destination.defined().buffer.data());
  if ((!is_read && !is_source_traced) || destination.numel() == 0) return false;
  promote(destination);
  return true;
}

void set_contents(const Tensor& tensor, MadeContents contents) {
  const OnlyAddresses only;
  if (is_tracing() && tensor.numel() > 0)
    known_contents.set(tensor.buffer().data(), contents, current_trace());
}

std::optional<MadeContents> contents_of(const Tensor& tensor) {
  if (!is_tracing() || known_contents.is_empty()) return std::nullopt;
  const OnlyAddresses only;
  return known_contents.find(tensor.buffer().data(), current_trace());
}

void set_read(const Tensor& tensor) {
  const OnlyAddresses only;
  if (read_by_trace != nullptr && tensor.numel() > 0) read_by_trace->insert(tensor.buffer().data());
}

OnlyAddresses::OnlyAddresses() : before_(is_only_compared) { is_only_compared = true; }
OnlyAddresses::~OnlyAddresses() { is_only_compared = before_; }

void throw_traced(const std::string& what, const Tensor& tensor) {
  if (!is_tracing())
    throw ArgumentError(fmt::format(
        "{} needs the elements of a {}{} of a function that was traced, which is used outside of "
        "it: such tensors have no elements; return them from the function instead of storing them",
        what, name_of(tensor.dtype()), shape_text(tensor.shape())));
  throw ArgumentError(fmt::format(
      "{} needs the elements of a {}{} that is being traced, which are not computed yet: choose "
      "between values with tw::where, or leave this part out of the compiled function",
      what, name_of(tensor.dtype()), shape_text(tensor.shape())));
}

namespace {
thread_local int tracing_depth = 0;
thread_local std::uint64_t trace_number = 0;
thread_local Device trace_device;
CapturedCopy current_copy = nullptr;  // set before main
}  // namespace
namespace {
TracedDraw current_draw = nullptr;  // set before main
}
namespace {
OpProvider current_provider = nullptr;  // set before main
}
void set_op_provider(OpProvider provider) { current_provider = provider; }
OpProvider op_provider() { return current_provider; }

void set_traced_memory(TracedMemory make) { current_memory = make; }
void set_traced_draw(TracedDraw draw) { current_draw = draw; }
TracedDraw traced_draw() { return current_draw; }

bool is_tracing() { return tracing_depth > 0; }
TracingScope::TracingScope(Device device) {
  trace_device = device;
  static std::atomic<std::uint64_t> traces{0};
  if (tracing_depth++ == 0) read_by_trace = new std::unordered_set<const void*>;
  trace_number = ++traces;
}
TracingScope::~TracingScope() {
  known_contents.forget_trace(trace_number);
  trace_number = 0;
  if (--tracing_depth > 0) return;
  delete std::exchange(read_by_trace, nullptr);
  delete std::exchange(promoted, nullptr);
}
std::uint64_t current_trace() { return trace_number; }

Looking::Looking(const char* what, const Tensor& tensor)
    : depth_(tracing_depth), trace_(trace_number) {
  if (traced_of(tensor)) throw_traced(what, tensor);
  tracing_depth = 0;
  trace_number = 0;
}
Looking::~Looking() {
  tracing_depth = depth_;
  trace_number = trace_;
}

bool is_captured(const Tensor& tensor) {
  if (!is_tracing()) return false;
  const Tensor::State& state = tensor.defined();
  return state.traced == nullptr && state.trace != current_trace() && state.device == trace_device;
}
void set_captured_copy(CapturedCopy copy) { current_copy = copy; }
Tensor captured_copy(const Tensor& tensor, DType dtype) { return current_copy(tensor, dtype); }

void check_written(const Tensor& tensor) {
  if (!is_tracing()) return;
  if (tensor.defined().trace != current_trace())
    throw ArgumentError(fmt::format(
        "a {}{} that a traced function refers to is written to in it, which would happen when it "
        "is traced and never again: return the new value and write it outside",
        name_of(tensor.dtype()), shape_text(tensor.shape())));
}

}  // namespace tilewright
