// SPDX-License-Identifier: Apache-2.0
// graph/eager/pool.cpp — the largest or the mean of windows over the last two dimensions.
#include <array>

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

constexpr std::string_view pool_file = "templates/pool.py";
constexpr std::int64_t pool_block = 256;

// What a pool is recorded with, in this order: window, stride, padding, dilation (heights before
// widths), whether padding counts; of derivatives then the input's height and width.
struct PoolNumbers {
  std::array<std::int64_t, 9> numbers;
  std::int64_t window(std::size_t d) const { return numbers[d]; }
  std::int64_t stride(std::size_t d) const { return numbers[2 + d]; }
  std::int64_t padding(std::size_t d) const { return numbers[4 + d]; }
  std::int64_t dilation(std::size_t d) const { return numbers[6 + d]; }
};

PoolNumbers pool_numbers(const Pair2d& window, const PoolOptions& options) {
  const auto chosen = [](std::int64_t given, std::int64_t size) {
    return given == 0 ? size : given;
  };
  const Pair2d stride(chosen(options.stride.height, window.height),
                      chosen(options.stride.width, window.width));
  return {{window.height, window.width, stride.height, stride.width, options.padding.height,
           options.padding.width, options.dilation.height, options.dilation.width,
           options.count_include_pad}};
}

Shape pooled_shape(std::string_view call, const Tensor& x, const PoolNumbers& n) {
  check_floating(call, x);
  if (x.rank() != 3 && x.rank() != 4)
    throw ArgumentError(
        fmt::format("{}({}) needs planes: [channels, height, width] or [batch, "
                    "channels, height, width]",
                    call, tensor_text(x)));
  Shape shape = x.shape();
  if (x.size(-1) == 0 || x.size(-2) == 0)
    throw ArgumentError(fmt::format("{}({}): the planes have no elements", call, tensor_text(x)));
  for (const std::size_t d : {0u, 1u}) {
    if (n.window(d) < 1 || n.stride(d) < 1 || n.dilation(d) < 1 || n.padding(d) < 0 ||
        n.padding(d) > n.window(d) / 2)
      throw ArgumentError(
          fmt::format("{}({}): window {}, stride {} and dilation {} must be at least 1, padding {} "
                      "at most half "
                      "of the window",
                      call, tensor_text(x), n.window(d), n.stride(d), n.dilation(d), n.padding(d)));
    std::int64_t& size = shape[shape.size() - 2 + d];
    size = count_windows(call, {&x}, size, {n.window(d), n.stride(d), n.padding(d), n.dilation(d)});
  }
  return shape;
}

struct Sizes2d {
  std::int64_t height, width;
};
Sizes2d last_two(const Shape& shape) { return {shape[shape.size() - 2], shape.back()}; }

// Sizes of x and of the result, then what the windows are.
std::vector<Argument> pool_arguments(const Tensor& out, Sizes2d in, Sizes2d made,
                                     std::span<const std::int64_t> numbers, std::size_t used) {
  std::vector<Argument> arguments = {out.numel(), in.height, in.width, made.height, made.width};
  for (std::size_t i = 0; i < used; ++i) arguments.emplace_back(numbers[i]);
  return arguments;
}

std::string integers(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += ", i64";
  return text;
}

Tensor run_max(const CallInputs& inputs, bool gives_places) {
  const Tensor x = inputs.tensors[0].contiguous();
  const Tensor out = empty(inputs.shape, {inputs.dtype, inputs.device});
  if (out.numel() == 0) return out;
  std::vector<Argument> arguments =
      pool_arguments(out, last_two(x.shape()), last_two(inputs.shape), inputs.numbers, 8);
  arguments.insert(arguments.begin(), {x, out});
  run_template(
      {pool_file, "max_pool2d_kernel",
       fmt::format("{}, {}{}, {}, {}", pointer_text(x.dtype(), true),
                   pointer_text(out.dtype(), false), integers(13), gives_places, pool_block),
       cdiv(out.numel(), pool_block)},
      arguments);
  return out;
}

}  // namespace

Tensor run_max_pool2d(const CallInputs& inputs) { return run_max(inputs, false); }
Tensor run_max_pool2d_places(const CallInputs& inputs) { return run_max(inputs, true); }

Tensor run_max_pool2d_backward(const CallInputs& inputs) {
  const Tensor g = inputs.tensors[0].contiguous(), places = inputs.tensors[1].contiguous();
  const Tensor out = empty(inputs.shape, {inputs.dtype, inputs.device});
  if (out.numel() == 0) return out;
  std::vector<Argument> arguments =
      pool_arguments(out, last_two(inputs.shape), last_two(g.shape()), inputs.numbers, 8);
  arguments.insert(arguments.begin(), {g, places, out});
  run_template({pool_file, "max_pool2d_backward_kernel",
                fmt::format("{}, {}, {}{}, {}, {}", pointer_text(g.dtype(), true),
                            pointer_text(places.dtype(), true), pointer_text(out.dtype(), false),
                            integers(13), type_text(compute_dtype(g.dtype())), pool_block),
                cdiv(out.numel(), pool_block)},
               arguments);
  return out;
}

std::vector<Tensor> derive_max_pool2d(const Derivation& d) {
  const Tensor places = apply_call("max_pool2d_places", std::array{d.in[0]}, d.node.attributes,
                                   {DType::Int64, d.node.shape});
  return {apply_call("max_pool2d_backward", std::array{d.g, places}, d.node.attributes,
                     {d.in[0].dtype(), d.in[0].shape()})};
}

static Tensor run_avg(const CallInputs& inputs, std::string_view kernel, Sizes2d in, Sizes2d made) {
  const Tensor x = inputs.tensors[0].contiguous();
  const Tensor out = empty(inputs.shape, {inputs.dtype, inputs.device});
  if (out.numel() == 0) return out;
  std::vector<Argument> arguments = pool_arguments(out, in, made, inputs.numbers, 6);
  arguments.insert(arguments.begin(), {x, out});
  run_template({pool_file, kernel,
                fmt::format("{}, {}{}, {}, {}, {}", pointer_text(x.dtype(), true),
                            pointer_text(out.dtype(), false), integers(11), inputs.numbers[8] != 0,
                            type_text(compute_dtype(x.dtype())), pool_block),
                cdiv(out.numel(), pool_block)},
               arguments);
  return out;
}

Tensor run_avg_pool2d(const CallInputs& inputs) {
  return run_avg(inputs, "avg_pool2d_kernel", last_two(inputs.tensors[0].shape()),
                 last_two(inputs.shape));
}

Tensor run_avg_pool2d_backward(const CallInputs& inputs) {
  return run_avg(inputs, "avg_pool2d_backward_kernel", last_two(inputs.shape),
                 last_two(inputs.tensors[0].shape()));
}

std::vector<Tensor> derive_avg_pool2d(const Derivation& d) {
  return {apply_call("avg_pool2d_backward", std::array{d.g}, d.node.attributes,
                     {d.in[0].dtype(), d.in[0].shape()})};
}

}  // namespace graph

Tensor max_pool2d(const Tensor& x, const Pair2d& window, const PoolOptions& options) {
  const graph::PoolNumbers n = graph::pool_numbers(window, options);
  return graph::apply_call("max_pool2d", std::array{x}, n.numbers,
                           {x.dtype(), graph::pooled_shape("max_pool2d", x, n)});
}

Tensor avg_pool2d(const Tensor& x, const Pair2d& window, const PoolOptions& options) {
  const graph::PoolNumbers n = graph::pool_numbers(window, options);
  if (n.dilation(0) != 1 || n.dilation(1) != 1)
    throw ArgumentError(
        fmt::format("avg_pool2d({}) has no dilation: leave it at 1", graph::tensor_text(x)));
  return graph::apply_call("avg_pool2d", std::array{x}, n.numbers,
                           {x.dtype(), graph::pooled_shape("avg_pool2d", x, n)});
}

}  // namespace tilewright
