// SPDX-License-Identifier: Apache-2.0
// load_inline/host_tensor.cpp — the operations that torch-shaped host functions ask for.
#include "load_inline/host_tensor.h"

#include <atomic>
#include <limits>
#include <map>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "tensor/op_provider.h"

namespace tilewright {
namespace {

// An operation with its parts at hand.
struct Request {
  const TwOperation& operation;
  const HostContext& context;

  const Tensor& tensor(long i) const {
    TW_CHECK(i < operation.tensor_count, "operation '{}' has {} tensors", operation.name,
             operation.tensor_count);
    return tensor_of(operation.tensors[i]);
  }
  long integer(long i) const {
    TW_CHECK(i < operation.integer_count, "operation '{}' has {} integers", operation.name,
             operation.integer_count);
    return operation.integers[i];
  }
  int small(long i) const { return static_cast<int>(integer(i)); }
  double number() const { return operation.numbers[0]; }
  Shape shape(long from = 0) const {
    return Shape(operation.integers + from, operation.integers + operation.integer_count);
  }
  bool is_told_cuda() const { return operation.tensors[0]->device_type == 1; }
  Device device(long type, long index) const {
    if (context.is_emulated || type == 0) return Device::cpu();
    return index >= 0                 ? Device::cuda(static_cast<int>(index))
           : context.device.is_cuda() ? context.device
                                      : Device::cuda();
  }
};

using Operation = HostTensor* (*)(const Request&);

HostTensor* give(const Request& r, Tensor tensor) {
  return make_host_tensor(std::move(tensor), r.is_told_cuda());
}

// ---- Creation: dtype, device type and index, then the sizes.

HostTensor* create(const Request& r, Tensor (*make)(const Request&, TensorOptions)) {
  const auto dtype = static_cast<DType>(r.integer(0));
  return make_host_tensor(make(r, TensorOptions(dtype, r.device(r.integer(1), r.integer(2)))),
                          r.integer(1) == 1);
}
HostTensor* make_empty(const Request& r) {
  return create(r, [](const Request& q, TensorOptions o) { return empty(q.shape(3), o); });
}
HostTensor* make_full(const Request& r) {
  return create(r,
                [](const Request& q, TensorOptions o) { return full(q.shape(3), q.number(), o); });
}
HostTensor* make_arange(const Request& r) {
  return create(r, [](const Request& q, TensorOptions o) { return arange(q.integer(3), o); });
}

// ---- Views and copies.

HostTensor* to_device(const Request& r) {
  const bool to_cuda = r.integer(0) == 1;
  // Emulated devices share one memory; a copy to the other "device" is still a copy.
  if (r.context.is_emulated)
    return make_host_tensor(to_cuda == r.is_told_cuda() ? r.tensor(0) : r.tensor(0).clone(),
                            to_cuda);
  const Tensor& x = r.tensor(0);
  if (to_cuda && r.integer(1) < 0 && x.device().is_cuda()) return make_host_tensor(x, true);
  return make_host_tensor(x.to(r.device(r.integer(0), r.integer(1))), to_cuda);
}
HostTensor* slice(const Request& r) {
  const std::int64_t end = r.integer(2) == std::numeric_limits<std::int64_t>::max()
                               ? r.tensor(0).size(r.small(0))
                               : r.integer(2);
  return give(r, r.tensor(0).slice(r.small(0), r.integer(1), end, r.integer(3)));
}
HostTensor* permute(const Request& r) {
  return give(r, r.tensor(0).permute(std::vector<int>(
                     r.operation.integers, r.operation.integers + r.operation.integer_count)));
}
HostTensor* expand(const Request& r) {
  Shape sizes = r.shape();
  const Shape& own = r.tensor(0).shape();
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] == -1 && sizes.size() - i <= own.size())
      sizes[i] = own[own.size() - (sizes.size() - i)];
  return give(r, r.tensor(0).broadcast_to(sizes));
}
HostTensor* copy_into(const Request& r) {
  r.tensor(0).copy_from(r.tensor(1));
  return give(r, r.tensor(0));
}
HostTensor* fill_with(const Request& r) {
  r.tensor(0).fill(r.number());
  return give(r, r.tensor(0));
}

// What is not done here is an operation of tw::.
HostTensor* provided_operation(const Request& r) {
  std::vector<Tensor> tensors;
  for (long i = 0; i < r.operation.tensor_count; ++i)
    tensors.push_back(r.tensor(i));
  const std::vector<std::int64_t> integers(r.operation.integers,
                                           r.operation.integers + r.operation.integer_count);
  const Tensor made =
      op_provider()({r.operation.name,
                     tensors,
                     integers,
                     {r.operation.numbers, static_cast<std::size_t>(r.operation.number_count)}});
  TW_CHECK(made.is_defined(), "there is no tensor operation '{}'", r.operation.name);
  return give(r, made);
}

const std::map<std::string_view, Operation>& operations() {
  static const std::map<std::string_view, Operation> table = {
      {"empty", make_empty},
      {"full", make_full},
      {"arange", make_arange},
      {"contiguous", [](const Request& r) { return give(r, r.tensor(0).contiguous()); }},
      {"clone", [](const Request& r) { return give(r, r.tensor(0).clone()); }},
      {"view", [](const Request& r) { return give(r, r.tensor(0).view(r.shape())); }},
      {"reshape", [](const Request& r) { return give(r, r.tensor(0).reshape(r.shape())); }},
      {"transpose",
       [](const Request& r) { return give(r, r.tensor(0).transpose(r.small(0), r.small(1))); }},
      {"unsqueeze", [](const Request& r) { return give(r, r.tensor(0).unsqueeze(r.small(0))); }},
      {"squeeze", [](const Request& r) { return give(r, r.tensor(0).squeeze(r.small(0))); }},
      {"select",
       [](const Request& r) { return give(r, r.tensor(0).select(r.small(0), r.integer(1))); }},
      {"to_dtype",
       [](const Request& r) { return give(r, r.tensor(0).to(static_cast<DType>(r.integer(0)))); }},
      {"permute", permute},
      {"expand", expand},
      {"slice", slice},
      {"to_device", to_device},
      {"copy_", copy_into},
      {"fill_", fill_with},
  };
  return table;
}

}  // namespace

HostTensor* make_host_tensor(Tensor tensor, bool is_cuda) {
  auto* box = new HostTensor;
  box->tensor = std::move(tensor);
  const Tensor& t = box->tensor;
  box->refs = 1;
  box->data = t.data();
  box->sizes = t.shape().data();
  box->strides = t.strides().data();
  box->numel = t.numel();
  box->rank = t.rank();
  box->dtype = static_cast<int>(t.dtype());
  box->device_type = is_cuda ? 1 : 0;
  box->device_index = t.device().index;
  box->is_contiguous = t.is_contiguous();
  return box;
}

void release_host_tensor(TwTensor* handle) {
  if (__atomic_sub_fetch(&handle->refs, 1, __ATOMIC_ACQ_REL) == 0)
    delete static_cast<HostTensor*>(handle);
}

HostTensor* operate(const TwOperation& operation, const HostContext& context) {
  const auto found = operations().find(operation.name);
  return found == operations().end() ? provided_operation({operation, context})
                                     : found->second({operation, context});
}

}  // namespace tilewright
