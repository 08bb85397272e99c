// SPDX-License-Identifier: Apache-2.0
// graph/eager/eager.cpp — formulas of earlier calls; checks; row operations.
#include "graph/eager/eager.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include <fmt/format.h>

#include "graph/op.h"
#include "graph/trace/tracer.h"
#include "tensor/shape.h"
#include "tilewright/error.h"

namespace tilewright::graph {
namespace {

struct KnownFormula {
  std::uint64_t key = 0;
  Formula formula;
  KnownFormula* next = nullptr;
};
std::atomic<KnownFormula*> known_formulas[256];

const KnownFormula* find_formula(int operation, std::uint64_t key) {
  const KnownFormula* known = known_formulas[operation].load(std::memory_order_acquire);
  while (known != nullptr && known->key != key) known = known->next;
  return known;
}

}  // namespace

const Formula& eager_formula(int operation, std::uint64_t key, MakeFormula make,
                             const void* context) {
  if (const KnownFormula* known = find_formula(operation, key)) return known->formula;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (const KnownFormula* known = find_formula(operation, key)) return known->formula;
  auto made = std::make_unique<KnownFormula>();
  made->key = key;
  make(made->formula, context);
  made->next = known_formulas[operation].load(std::memory_order_relaxed);
  known_formulas[operation].store(made.get(), std::memory_order_release);
  return made.release()->formula;  // lives as long as the process, like the kernels it has
}

std::string tensor_text(const Tensor& x) {
  return fmt::format("{}{}", name_of(x.dtype()), shape_text(x.shape()));
}

void check_one_device(std::string_view call, const Tensor& a, const Tensor& b) {
  if (a.device() == b.device()) return;
  throw ArgumentError(
      fmt::format("{}({}, {}): the first is on {}, the second on {}: move one with to()", call,
                  tensor_text(a), tensor_text(b), a.device().name(), b.device().name()));
}

void check_rank(std::string_view call, const Tensor& x) {
  if (x.rank() <= max_rank) return;
  throw ArgumentError(fmt::format("{}({}): tensors of up to {} dimensions can be computed with",
                                  call, tensor_text(x), max_rank));
}

void check_floating(std::string_view call, const Tensor& x) {
  if (is_floating(x.dtype())) return;
  throw ArgumentError(fmt::format(
      "{}({}) needs a tensor of floats: convert it with to(tw::f32) first", call, tensor_text(x)));
}

Shape broadcast_shapes(std::string_view call, const Shape& a, const Shape& b) {
  if (a == b) return a;
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape result = longer;
  const std::size_t missing = longer.size() - shorter.size();
  for (std::size_t d = 0; d < shorter.size(); ++d) {
    std::int64_t& size = result[missing + d];
    if (size == shorter[d] || shorter[d] == 1) continue;
    if (size != 1)
      throw ArgumentError(
          fmt::format("{}: shapes {} and {} do not broadcast: sizes {} and {} of dimension {} "
                      "differ and neither is 1",
                      call, shape_text(a), shape_text(b), size, shorter[d], missing + d));
    size = shorter[d];
  }
  return result;
}

Shape broadcast_shape(std::string_view call, const Tensor& a, const Tensor& b) {
  return broadcast_shapes(call, a.shape(), b.shape());
}

int dimension_of(std::string_view call, const Tensor& x, int axis) {
  if (axis >= -x.rank() && axis < x.rank()) return axis < 0 ? axis + x.rank() : axis;
  throw ArgumentError(fmt::format("{}({}) has no dimension {}: there are {}", call, tensor_text(x),
                                  axis, x.rank()));
}

std::int64_t count_windows(std::string_view call, std::initializer_list<const Tensor*> operands,
                           std::int64_t size, const Windows& w) {
  const auto refuse = [&](const std::string& reason) {
    std::string text(call);
    for (const Tensor* operand : operands)
      text += (operand == *operands.begin() ? "(" : ", ") + tensor_text(*operand);
    throw ArgumentError(text + "): " + reason);
  };
  std::int64_t length = 0, padded = 0;
  if (__builtin_mul_overflow(w.window - 1, w.dilation, &length) ||
      __builtin_add_overflow(length, 1, &length) || __builtin_mul_overflow(w.padding, 2, &padded) ||
      __builtin_add_overflow(padded, size, &padded))
    refuse(fmt::format("a window of {} with dilation {} and padding {} reaches beyond 64 bits",
                       w.window, w.dilation, w.padding));
  if (w.window < 1 || length > padded)
    refuse(
        fmt::format("a window of {} does not fit {} elements", w.window < 1 ? 0 : length, padded));
  return (padded - length) / w.stride + 1;
}

std::uint32_t axes_mask(std::string_view call, const Tensor& x, const Axes& axes) {
  check_rank(call, x);
  if (axes.list().empty()) return (1u << x.rank()) - 1;
  std::uint32_t mask = 0;
  for (const int axis : axes.list()) {
    const int rank = std::max(x.rank(), 1);  // dimension 0 of a single number is allowed
    const int wrapped = axis < 0 ? axis + rank : axis;
    if (wrapped < 0 || wrapped >= rank)
      throw ArgumentError(fmt::format("{}({}) has no dimension {}: there are {}", call,
                                      tensor_text(x), axis, x.rank()));
    if ((mask >> wrapped & 1) != 0)
      throw ArgumentError(
          fmt::format("{}({}) was given dimension {} twice", call, tensor_text(x), axis));
    mask |= 1u << wrapped;
  }
  return x.rank() == 0 ? 0 : mask;
}

std::int64_t reduced_count(const Tensor& x, std::uint32_t mask) {
  std::int64_t count = 1;
  for (int d = 0; d < x.rank(); ++d)
    if ((mask >> d & 1) != 0) count *= x.shape()[static_cast<std::size_t>(d)];
  return count;
}

Shape kept_shape(const Shape& shape, std::uint32_t mask, bool keepdim) {
  Shape kept;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const bool is_reduced = (mask >> d & 1) != 0;
    if (!is_reduced) kept.push_back(shape[d]);
    else if (keepdim) kept.push_back(1);
  }
  return kept;
}

Tensor with_rows_together(const Tensor& x, std::uint32_t reduced) {
  std::vector<int> order, back(static_cast<std::size_t>(x.rank()));
  for (int d = 0; d < x.rank(); ++d)
    if ((reduced >> d & 1) == 0) order.push_back(d);
  for (int d = 0; d < x.rank(); ++d)
    if ((reduced >> d & 1) != 0) order.push_back(d);
  for (std::size_t i = 0; i < order.size(); ++i)
    back[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
  return x.permute(order).clone().permute(back);
}

namespace {

void fill_walk(Walk& walk, const RowCall& call, std::span<const Tensor* const> read,
               const Tensor& out) {
  const Tensor& x = *read[0];
  walk.set_sizes(x.shape());
  walk.add_operand(x.shape(), x.strides());
  for (std::size_t i = 0; i < call.others.size(); ++i) {
    const Tensor& other = *read[i + 1];
    if (call.formula.leaves[i + 1].is_per_row)
      walk.add_kept_operand(other.strides(), call.reduced, false);
    else walk.add_operand(other.shape(), other.strides());
  }
  if (call.formula.outputs[0].is_per_row)
    walk.add_kept_operand(out.strides(), call.reduced, call.keepdim);
  else walk.add_operand(out.shape(), out.strides());
}

}  // namespace

Tensor run_rows(const RowCall& call) {
  check_rank(call.name, call.x);
  for (const Tensor* other : call.others) check_one_device(call.name, call.x, *other);
  Tracer* tracer = tracer_of(call.x);
  for (const Tensor* other : call.others)
    if (Tracer* const found = tracer_of(*other)) tracer = found;
  if (tracer != nullptr)
    return tracer->record_rows(
        {call.formula, call.x, call.reduced, call.keepdim, call.others, call.numbers});
  const Output& output = call.formula.outputs[0];
  const Tensor out = empty(
      output.is_per_row ? kept_shape(call.x.shape(), call.reduced, call.keepdim) : call.x.shape(),
      {output.dtype, call.x.device()});
  if (out.numel() == 0) return out;
  const DeviceKind device = emulated_target() != nullptr ? DeviceKind::Cuda : call.x.device().kind;
  const Tensor* read[max_operands] = {&call.x};
  std::size_t count = 1;
  for (const Tensor* other : call.others) read[count++] = other;
  const std::span<const Tensor* const> all(read, count);
  std::vector<Tensor> copies;  // live until the launch
  Walk walk;
  fill_walk(walk, call, all, out);
  if (!walk.finish(call.reduced, true, device)) {
    note_foreign_call();  // copies are no launches
    copies.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      if (call.formula.leaves[i].is_per_row) continue;
      // One with fewer dimensions has the last ones.
      const bool has_all = read[i]->rank() == call.x.rank();
      copies.push_back(has_all ? with_rows_together(*read[i], call.reduced)
                               : read[i]->contiguous());
      read[i] = &copies.back();
    }
    fill_walk(walk, call, all, out);
    if (!walk.finish(call.reduced, true, device))
      throw ArgumentError(
          fmt::format("{}({}): its operands cannot be walked together: make them "
                      "contiguous first",
                      call.name, tensor_text(call.x)));
  }
  Argument operands[max_operands];
  for (std::size_t i = 0; i < count; ++i) operands[i] = *read[i];
  operands[count++] = out;
  run_group(call.formula, walk, {operands, count}, call.numbers);
  return out;
}

}  // namespace tilewright::graph
