// SPDX-License-Identifier: Apache-2.0
// tensor/traced.h — the one hook for tracing: a tensor may stand for a value that is not computed
// yet. It has dtype, device, shape and strides, and can be viewed; what needs its elements throws.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "tilewright/tensor.h"

namespace tilewright {

// What a traced tensor belongs to. Implemented by the layer that traces.
class Traced {
 public:
  virtual ~Traced() = default;
  // A contiguous copy with this dtype, recorded.
  virtual Tensor copied(const Tensor& tensor, DType dtype) const = 0;
  // The elements of the source, which is broadcast, become those of this view: recorded.
  virtual void write(const Tensor& destination, const Tensor& source) const = 0;
};

// What the tensors of a trace consist of, and what they belong to: all of it lives as long as one
// of them. An operation that is recorded makes a tensor or two, which must not be an allocation
// each.
class TracedStore {
 public:
  TracedStore();
  virtual ~TracedStore();
  TracedStore(const TracedStore&) = delete;
  TracedStore& operator=(const TracedStore&) = delete;

 private:
  friend class Tensor;
  friend Tensor make_traced(const std::shared_ptr<TracedStore>&, const Traced&,
                            const TracedLayout&);
  struct States;
  const std::unique_ptr<States> states_;
};

// For the length of a call.
struct TracedLayout {
  DType dtype = DType::Float32;
  Device device;
  const Shape& shape;
  const Shape& strides;
  std::int64_t offset = 0;
};
// `traced` is in the store. On the thread that traces alone.
Tensor make_traced(const std::shared_ptr<TracedStore>& store, const Traced& traced,
                   const TracedLayout& layout);
// Null for a tensor with memory. Views of a traced tensor belong to the same.
const Traced* traced_of(const Tensor& tensor);

// ---- Tensors with memory that a trace has made and that are written with its values: all tensors
// in that memory stand for values from then on, as long as the trace lasts.

// What a tensor over the whole buffer becomes. Set by the layer that traces.
using TracedMemory = const Traced* (*)(const Tensor& flat);
void set_traced_memory(TracedMemory make);
// Is a write of a source, which may stand for a value, recorded? Then the destination stands for a
// value. False where its memory can be written at once. Throws ArgumentError when a trace writes to
// memory that was there before it.
bool is_write_recorded(const Tensor& destination, bool is_source_traced);
void for_promoted(const std::function<void(const Tensor& flat)>& visit);

// Throws ArgumentError: `what` needs elements, which a traced tensor does not have.
[[noreturn]] void throw_traced(const std::string& what, const Tensor& tensor);

// `what` looks at elements of the tensor: throws as throw_traced does for one that has none. While
// it lives nothing is recorded, so that tensors with memory can be looked at in a traced function
// too.
class Looking {
 public:
  Looking(const char* what, const Tensor& tensor);
  ~Looking();
  Looking(const Looking&) = delete;
  Looking& operator=(const Looking&) = delete;

 private:
  int depth_;
  std::uint64_t trace_;
};

// How random numbers without a seed are drawn while a function is traced: `name` is rand or randn.
// Set by the layer that traces.
using TracedDraw = Tensor (*)(const char* name, const Shape& shape, const RandomOptions& options);
void set_traced_draw(TracedDraw draw);
TracedDraw traced_draw();

// What the elements of a tensor are that `full` or `arange` made in the trace of this thread, as
// long as nobody was shown its memory since: a graph computes them where it would read them.
struct MadeContents {
  enum class Kind : std::uint8_t {
    Constant,  // all are `value`
    Counting,  // the place in the buffer: 0, 1, ... below `value`
  };
  Kind kind = Kind::Constant;
  double value = 0;
};
// Does nothing while no function is traced.
void set_contents(const Tensor& tensor, MadeContents contents);
// Of a tensor or a view of it; empty where nothing is known, or not any more.
std::optional<MadeContents> contents_of(const Tensor& tensor);
// The graph of this thread's trace reads the tensor's memory when it runs: check_written looks for
// it.
void set_read(const Tensor& tensor);
// Looking at addresses while it lives shows nobody the memory.
class OnlyAddresses {
 public:
  OnlyAddresses();
  ~OnlyAddresses();
  OnlyAddresses(const OnlyAddresses&) = delete;
  OnlyAddresses& operator=(const OnlyAddresses&) = delete;

 private:
  bool before_;
};

// A tensor with memory from before this thread's trace, on the device that is traced: what is made
// of it is recorded, since its contents may be others when the graph runs.
bool is_captured(const Tensor& tensor);
// How a copy of such a tensor is recorded. Set by the layer that traces.
using CapturedCopy = Tensor (*)(const Tensor& tensor, DType dtype);
void set_captured_copy(CapturedCopy copy);
Tensor captured_copy(const Tensor& tensor, DType dtype);

// True while this thread traces a function: what must not become part of a trace asks.
bool is_tracing();
// A number of the trace that this thread makes; 0 without one.
std::uint64_t current_trace();
// Throws ArgumentError when a trace writes to memory that was there before it.
void check_written(const Tensor& tensor);
class TracingScope {
 public:
  explicit TracingScope(Device device = Device::cpu());
  ~TracingScope();
  TracingScope(const TracingScope&) = delete;
  TracingScope& operator=(const TracingScope&) = delete;
};

}  // namespace tilewright
