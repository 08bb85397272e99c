// SPDX-License-Identifier: Apache-2.0
// graph/eager/gather.cpp — embedding, and tensors put together.
#include <algorithm>
#include <array>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "graph/eager/eager.h"
#include "graph/lower/gather.h"
#include "graph/trace/tracer.h"
#include "tensor/shape.h"
#include "tilewright/error.h"
#include "tilewright/ops.h"

namespace tilewright {
namespace graph {
namespace {

IrKernel gather_kernel(DType table, DType index, int log_block) {
  static std::mutex mutex;
  static std::map<std::array<int, 3>, IrKernel> known;
  const std::lock_guard lock(mutex);
  const std::array<int, 3> key = {static_cast<int>(table), static_cast<int>(index), log_block};
  auto found = known.find(key);
  if (found == known.end())
    found = known.emplace(key, load_ir(lower_gather(table, index, log_block), false)).first;
  return found->second;
}

void check_embedding(const Tensor& weight, const Tensor& index) {
  if (weight.rank() != 2 || (index.dtype() != DType::Int64 && index.dtype() != DType::Int32))
    throw ArgumentError(fmt::format(
        "embedding({}, {}): the table is a matrix of rows x features, indices are int64 or int32",
        tensor_text(weight), tensor_text(index)));
  check_one_device("embedding", weight, index);
  check_index_range("embedding", index, weight.size(0));
}

DType common_of(std::string_view call, std::span<const Tensor> tensors) {
  if (tensors.empty()) throw ArgumentError(fmt::format("{} needs at least one tensor", call));
  DType dtype = tensors[0].dtype();
  for (const Tensor& tensor : tensors) {
    check_one_device(call, tensors[0], tensor);
    dtype = promote(dtype, tensor.dtype());
  }
  return dtype;
}

}  // namespace
}  // namespace graph

Tensor embedding(const Tensor& weight, const Tensor& index) {
  graph::check_embedding(weight, index);
  Shape shape = index.shape();
  shape.push_back(weight.size(1));
  if (graph::Tracer* const tracer = graph::tracer_of({&weight, &index}))
    return tracer->record({.kind = graph::Node::Kind::Gather,
                           .dtype = weight.dtype(),
                           .shape = shape,
                           .operands = {tracer->value_of(weight), tracer->value_of(index)}});
  const Tensor out = empty(std::move(shape), {weight.dtype(), weight.device()});
  if (out.numel() == 0) return out;
  const Tensor places = index.contiguous();
  const std::int64_t n = weight.size(1);
  const int log_block = n > 256 ? 10 : n > 64 ? 8 : 6;
  const std::int64_t blocks = cdiv(n, std::int64_t{1} << log_block);
  const std::array<Argument, 7> arguments = {
      weight, places, out, weight.size(0), n, weight.stride(0), weight.stride(1)};
  graph::gather_kernel(weight.dtype(), index.dtype(), log_block)
      .launch({.grid = index.numel() * blocks, .emulate = graph::emulated_target()}, arguments);
  return out;
}

Tensor cat(std::span<const Tensor> tensors, int axis) {
  const DType dtype = graph::common_of("cat", tensors);
  const Tensor& first = tensors[0];
  if (first.rank() == 0)
    throw ArgumentError("cat needs tensors with dimensions: stack puts single numbers together");
  const int d = graph::dimension_of("cat", first, axis);
  Shape shape = first.shape();
  shape[static_cast<std::size_t>(d)] = 0;
  for (const Tensor& tensor : tensors) {
    Shape other = tensor.shape();
    const bool has_rank = tensor.rank() == first.rank();
    if (has_rank) other[static_cast<std::size_t>(d)] = first.size(d);
    if (!has_rank || other != first.shape())
      throw ArgumentError(
          fmt::format("cat({}, {}) along dimension {}: all other sizes must be equal",
                      graph::tensor_text(first), graph::tensor_text(tensor), d));
    shape[static_cast<std::size_t>(d)] += tensor.size(d);
  }
  graph::Tracer* tracer = nullptr;
  for (const Tensor& tensor : tensors)
    if (graph::Tracer* const found = graph::tracer_of(tensor)) tracer = found;
  if (tracer != nullptr) {
    graph::Node node{.kind = graph::Node::Kind::Join, .dtype = dtype, .shape = shape, .axis = d};
    for (const Tensor& tensor : tensors) node.operands.push_back(tracer->value_of(tensor));
    return tracer->record(std::move(node));
  }
  const Tensor out = empty(std::move(shape), {dtype, first.device()});
  std::int64_t from = 0;
  for (const Tensor& tensor : tensors) {
    const std::int64_t to = from + tensor.size(d);
    out.slice(d, from, to).copy_from(tensor);
    from = to;
  }
  return out;
}

Tensor stack(std::span<const Tensor> tensors, int axis) {
  graph::common_of("stack", tensors);
  const int rank = tensors[0].rank();
  if (axis < -rank - 1 || axis > rank)
    throw ArgumentError(fmt::format("stack({}) has no place for a dimension {}: there are {}",
                                    graph::tensor_text(tensors[0]), axis, rank + 1));
  std::vector<Tensor> parts;
  for (const Tensor& tensor : tensors) {
    if (tensor.shape() != tensors[0].shape())
      throw ArgumentError(fmt::format("stack({}, {}): all shapes must be equal",
                                      graph::tensor_text(tensors[0]), graph::tensor_text(tensor)));
    parts.push_back(tensor.unsqueeze(axis));
  }
  return cat(parts, axis < 0 ? axis + rank + 1 : axis);
}

}  // namespace tilewright
