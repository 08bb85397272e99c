// SPDX-License-Identifier: Apache-2.0
// graph/eager/indices.cpp — elements and slices by index along one dimension: read, written, added.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "graph/call.h"
#include "graph/eager/eager.h"
#include "graph/lower/template.h"
#include "tensor/shape.h"
#include "tilewright/error.h"
#include "tilewright/ops.h"

namespace tilewright {
namespace graph {
namespace {

constexpr std::string_view indices_file = "templates/gather.py";

// A contiguous tensor as [rows, axis, inner].
struct Planes {
  std::int64_t rows = 1, axis = 1, inner = 1;
};
Planes planes_of(const Shape& shape, int axis) {
  Planes planes;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const int at = static_cast<int>(d);
    (at < axis ? planes.rows : at == axis ? planes.axis : planes.inner) *= shape[d];
  }
  return planes;
}

// Of an index or of values over [rows, picks, inner].
struct PlaneStrides {
  std::int64_t row = 0, pick = 0, inner = 0;
};
PlaneStrides dense_strides(const Planes& planes) {
  return {planes.axis * planes.inner, planes.inner, 1};
}

void check_index(std::string_view call, const Tensor& x, const Tensor& index) {
  if (index.dtype() == DType::Int64 || index.dtype() == DType::Int32) return;
  throw ArgumentError(fmt::format("{}({}, {}): indices are int64 or int32", call, tensor_text(x),
                                  tensor_text(index)));
}

// Along all other dimensions the index may be shorter.
void check_index_shape(std::string_view call, const Tensor& x, int axis, const Tensor& index) {
  bool fits = index.rank() == x.rank();
  for (int d = 0; fits && d < x.rank(); ++d) fits = d == axis || index.size(d) <= x.size(d);
  if (!fits)
    throw ArgumentError(
        fmt::format("{}({}, {}) along dimension {}: the index has as many dimensions, none of the "
                    "others longer",
                    call, tensor_text(x), tensor_text(index), axis));
}

void check_one_index(std::string_view call, const Tensor& x, const Tensor& index) {
  check_index(call, x, index);
  if (index.rank() > 1)
    throw ArgumentError(fmt::format("{}({}, {}): the index has one dimension", call, tensor_text(x),
                                    tensor_text(index)));
}

void check_values(std::string_view call, const Tensor& x, const Tensor& values,
                  const Shape& wanted) {
  bool fits = values.rank() == static_cast<int>(wanted.size());
  for (std::size_t d = 0; fits && d < wanted.size(); ++d) fits = values.shape()[d] >= wanted[d];
  if (!fits || values.dtype() != x.dtype())
    throw ArgumentError(fmt::format("{}({}, values {}): values must be {}{}", call, tensor_text(x),
                                    tensor_text(values), name_of(x.dtype()), shape_text(wanted)));
}

Tensor cut_to(Tensor x, const Shape& shape, int but = -1) {
  for (int d = 0; d < x.rank(); ++d)
    if (d != but && x.size(d) != shape[static_cast<std::size_t>(d)])
      x = x.slice(d, 0, shape[static_cast<std::size_t>(d)]);
  return x;
}

struct PickCall {
  const Tensor& index;
  PlaneStrides index_strides;
  Planes picked;  // of the result: `axis` is how many are picked
};

Tensor pick(const Tensor& x, int axis, const PickCall& call, const Shape& shape) {
  const Tensor out = empty(shape, {x.dtype(), x.device()});
  if (out.numel() == 0) return out;
  constexpr std::int64_t block = 1024;
  const Tensor from = x.contiguous();
  const PlaneStrides& strides = call.index_strides;
  const std::array<Argument, 10> arguments = {
      from,         call.index,  out,          out.numel(),  call.picked.inner, call.picked.axis,
      x.size(axis), strides.row, strides.pick, strides.inner};
  run_template({indices_file, "gather_kernel",
                fmt::format("{}, {}, {}, i64, i64, i64, i64, i64, i64, i64, {}, {}",
                            pointer_text(x.dtype(), true), pointer_text(call.index.dtype(), true),
                            pointer_text(x.dtype(), false), is_floating(x.dtype()), block),
                cdiv(out.numel(), block)},
               arguments);
  return out;
}

struct PutCall {
  const Tensor& index;
  PlaneStrides index_strides;
  const Tensor& values;
  PlaneStrides value_strides;
  std::int64_t picks = 0;
  bool adds = false;
};

// As many programs as keep the device busy, each with places of its own.
std::int64_t ranges_for(const Tensor& out, std::int64_t blocks, std::int64_t axis,
                        std::int64_t picks) {
  const std::int64_t wanted = out.device().is_cuda() ? 256 : 2 * out.device().target().processors;
  if (picks < 256) return 1;
  return std::clamp<std::int64_t>(wanted / blocks, 1, std::max<std::int64_t>(axis, 1));
}

// Into `out`, which is contiguous.
void put(const Tensor& out, int axis, const PutCall& call) {
  const Planes planes = planes_of(out.shape(), axis);
  const std::int64_t columns = planes.rows * planes.inner;
  if (columns == 0 || call.picks == 0 || planes.axis == 0) return;
  const std::int64_t block = columns >= 256 ? 256 : 64, blocks = cdiv(columns, block);
  const std::int64_t ranges = ranges_for(out, blocks, planes.axis, call.picks);
  const PlaneStrides &at = call.index_strides, &from = call.value_strides;
  const std::array<Argument, 14> arguments = {out,          call.index,
                                              call.values,  columns,
                                              planes.inner, call.picks,
                                              planes.axis,  at.row,
                                              at.pick,      at.inner,
                                              from.row,     from.pick,
                                              from.inner,   cdiv(planes.axis, ranges)};
  run_template(
      {indices_file,
       "scatter_kernel",
       fmt::format("{}, {}, {}, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, {}, {}, {}",
                   pointer_text(out.dtype(), false), pointer_text(call.index.dtype(), true),
                   pointer_text(call.values.dtype(), true), call.adds, is_floating(out.dtype()),
                   block),
       {blocks, ranges}},
      arguments);
}

// A copy of x to write into; sums of small floats are made in float32, of bools (or) by counting.
Tensor begin_put(const Tensor& x, bool adds) {
  DType dtype = x.dtype();
  if (adds) dtype = dtype == DType::Bool ? DType::Int32 : compute_dtype(dtype);
  return dtype == x.dtype() ? x.clone() : x.to(dtype);
}

Tensor run_put(const CallInputs& inputs, bool adds) {
  const Tensor &x = inputs.tensors[0], &values = inputs.tensors[2];
  const Tensor index = inputs.tensors[1].contiguous();
  const int axis = static_cast<int>(inputs.numbers[0]);
  check_index_range(adds ? "scatter_add" : "scatter", index, x.size(axis));
  // The other dimensions may be shorter than those of x: then a part of a copy is written.
  const Tensor out = begin_put(x, adds);
  const Tensor part = cut_to(out, index.shape(), axis);
  const Tensor into = part.contiguous();
  const bool is_one_value =
      std::all_of(values.strides().begin(), values.strides().end(), [](auto s) { return s == 0; });
  const Planes planes = planes_of(index.shape(), axis);
  const Tensor from = is_one_value ? values : values.contiguous();
  put(into, axis,
      {index, dense_strides(planes), from, is_one_value ? PlaneStrides{} : dense_strides(planes),
       planes.axis, adds});
  if (into.data() != part.data()) part.copy_from(into);
  return out.to(x.dtype());
}

Tensor zeros_of(const Tensor& x) { return zeros(x.shape(), {x.dtype(), x.device()}); }

int axis_of(const Derivation& d) { return static_cast<int>(d.node.attributes[0]); }

}  // namespace

Tensor run_gather(const CallInputs& inputs) {
  const int axis = static_cast<int>(inputs.numbers[0]);
  const Tensor index = inputs.tensors[1].contiguous();
  check_index_range("gather", index, inputs.tensors[0].size(axis));
  const Planes planes = planes_of(index.shape(), axis);
  return pick(cut_to(inputs.tensors[0], index.shape(), axis), axis,
              {index, dense_strides(planes), planes}, inputs.shape);
}

std::vector<Tensor> derive_gather(const Derivation& d) {
  return {scatter_add(zeros_of(d.in[0]), axis_of(d), d.in[1], d.g), {}};
}

Tensor run_index_select(const CallInputs& inputs) {
  const Tensor &x = inputs.tensors[0], &index = inputs.tensors[1];
  const int axis = static_cast<int>(inputs.numbers[0]);
  check_index_range("index_select", index, x.size(axis));
  return pick(
      x, axis,
      {index, {.pick = index.rank() == 0 ? 0 : index.stride(0)}, planes_of(inputs.shape, axis)},
      inputs.shape);
}

std::vector<Tensor> derive_index_select(const Derivation& d) {
  return {index_add(zeros_of(d.in[0]), axis_of(d), d.in[1], d.g), {}};
}

Tensor run_scatter(const CallInputs& inputs) { return run_put(inputs, false); }
Tensor run_scatter_add(const CallInputs& inputs) { return run_put(inputs, true); }

std::vector<Tensor> derive_scatter(const Derivation& d) {
  return {scatter(d.g, axis_of(d), d.in[1], 0.0), {}, gather(d.g, axis_of(d), d.in[1])};
}

std::vector<Tensor> derive_scatter_add(const Derivation& d) {
  return {d.g, {}, gather(d.g, axis_of(d), d.in[1])};
}

Tensor run_index_add(const CallInputs& inputs) {
  const Tensor &x = inputs.tensors[0], &index = inputs.tensors[1];
  const int axis = static_cast<int>(inputs.numbers[0]);
  check_index_range("index_add", index, x.size(axis));
  const Tensor values = inputs.tensors[2].contiguous(), out = begin_put(x, true);
  const Planes planes = planes_of(values.shape(), axis);
  put(out, axis,
      {index,
       {.pick = index.rank() == 0 ? 0 : index.stride(0)},
       values,
       dense_strides(planes),
       planes.axis,
       true});
  return out.to(x.dtype());
}

std::vector<Tensor> derive_index_add(const Derivation& d) {
  return {d.g, {}, index_select(d.g, axis_of(d), d.in[1])};
}

}  // namespace graph

using graph::apply_call;

Tensor gather(const Tensor& x, int axis, const Tensor& index) {
  graph::check_index("gather", x, index);
  if (x.rank() == 0 && index.rank() == 0)
    return gather(x.reshape({1}), 0, index.reshape({1})).reshape({});
  const std::int64_t d = graph::dimension_of("gather", x, axis);
  graph::check_index_shape("gather", x, static_cast<int>(d), index);
  return apply_call("gather", std::array{x, index}, std::array{d}, {x.dtype(), index.shape()});
}

Tensor index_select(const Tensor& x, int axis, const Tensor& index) {
  graph::check_one_index("index_select", x, index);
  const std::int64_t d = graph::dimension_of("index_select", x, axis);
  Shape shape = x.shape();
  shape[static_cast<std::size_t>(d)] = index.numel();
  return apply_call("index_select", std::array{x, index}, std::array{d},
                    {x.dtype(), std::move(shape)});
}

static Tensor put_values(std::string_view call, const Tensor& x, int axis, const Tensor& index,
                         const Tensor& values) {
  graph::check_index(call, x, index);
  if (x.rank() == 0 && index.rank() == 0)
    return put_values(call, x.reshape({1}), 0, index.reshape({1}), values.reshape({1})).reshape({});
  const std::int64_t d = graph::dimension_of(call, x, axis);
  graph::check_index_shape(call, x, static_cast<int>(d), index);
  graph::check_values(call, x, values, index.shape());
  return apply_call(call, std::array{x, index, graph::cut_to(values, index.shape())}, std::array{d},
                    {x.dtype(), x.shape()});
}

Tensor scatter(const Tensor& x, int axis, const Tensor& index, const Operand& values) {
  if (values.tensor() != nullptr) return put_values("scatter", x, axis, index, *values.tensor());
  const Scalar& number = values.number();
  if (is_integer(x.dtype()) && !graph::is_number_of(x.dtype(), number))
    throw ArgumentError(fmt::format("scatter({}): {} is no {}: convert the tensor with to() first",
                                    graph::tensor_text(x), number.integer(), name_of(x.dtype())));
  const bool is_exact = std::abs(number.real()) < 0x1p53;  // as a float64, which `full` takes
  const Tensor one =
      number.dtype() != DType::Int64 || is_exact
          ? full({}, number.real(), {x.dtype(), x.device()})
          : tensor<std::int64_t>({number.integer()}, x.device()).to(x.dtype()).reshape({});
  return put_values("scatter", x, axis, index, one.broadcast_to(index.shape()));
}

Tensor scatter_add(const Tensor& x, int axis, const Tensor& index, const Tensor& values) {
  return put_values("scatter_add", x, axis, index, values);
}

Tensor index_add(const Tensor& x, int axis, const Tensor& index, const Tensor& values) {
  graph::check_one_index("index_add", x, index);
  const std::int64_t d = graph::dimension_of("index_add", x, axis);
  Shape wanted = x.shape();
  wanted[static_cast<std::size_t>(d)] = index.numel();
  if (values.shape() != wanted || values.dtype() != x.dtype())
    throw ArgumentError(fmt::format("index_add({}, {}, values {}): values must be {}{}",
                                    graph::tensor_text(x), graph::tensor_text(index),
                                    graph::tensor_text(values), name_of(x.dtype()),
                                    shape_text(wanted)));
  return apply_call("index_add", std::array{x, index, values}, std::array{d},
                    {x.dtype(), x.shape()});
}

}  // namespace tilewright
