// SPDX-License-Identifier: Apache-2.0
// graph/eager/conv.cpp — convolution of planes as products of matrices: the windows of the input
// are a view, copied so that each is a column.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/events.h"
#include "base/settings.h"
#include "graph/call.h"
#include "graph/eager/eager.h"
#include "runtime/library_convolution.h"
#include "tensor/shape.h"
#include "tilewright/error.h"
#include "tilewright/ops.h"

namespace tilewright {
namespace graph {
namespace {

constexpr std::int64_t most_column_bytes = std::int64_t{256} << 20;  // of windows at a time

// What a convolution is recorded with: stride, padding, dilation (heights before widths), groups.
struct ConvNumbers {
  std::array<std::int64_t, 7> numbers;
  std::int64_t stride(std::size_t d) const { return numbers[d]; }
  std::int64_t padding(std::size_t d) const { return numbers[2 + d]; }
  std::int64_t dilation(std::size_t d) const { return numbers[4 + d]; }
  std::int64_t groups() const { return numbers[6]; }
};

ConvNumbers conv_numbers(std::span<const std::int64_t> numbers) {
  ConvNumbers made{};
  std::copy(numbers.begin(), numbers.end(), made.numbers.begin());
  return made;
}

ConvNumbers conv_numbers(const ConvOptions& o) {
  return {{o.stride.height, o.stride.width, o.padding.height, o.padding.width, o.dilation.height,
           o.dilation.width, o.groups}};
}

void check_conv(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvNumbers& n) {
  const auto refuse = [&](const std::string& reason) {
    throw ArgumentError(
        fmt::format("conv2d({}, {}): {}", tensor_text(x), tensor_text(weight), reason));
  };
  check_floating("conv2d", x);
  if (x.dtype() != weight.dtype()) refuse("both must have one dtype: convert one with to()");
  if (x.rank() != 4 || weight.rank() != 4)
    refuse(
        "the input is [batch, channels, height, width], the weight [out, in / groups, height, "
        "width]");
  if (n.groups() < 1 || x.size(1) % n.groups() != 0 || weight.size(0) % n.groups() != 0 ||
      weight.size(1) * n.groups() != x.size(1))
    refuse(fmt::format("{} channels in {} groups do not fit the weight's {} of each", x.size(1),
                       n.groups(), weight.size(1)));
  if (bias.is_defined() && (bias.shape() != Shape{weight.size(0)} || bias.dtype() != x.dtype()))
    refuse(fmt::format("bias {} must be {}[{}]", tensor_text(bias), name_of(x.dtype()),
                       weight.size(0)));
  for (const std::size_t d : {0u, 1u})
    if (n.stride(d) < 1 || n.dilation(d) < 1 || n.padding(d) < 0)
      refuse("stride and dilation must be at least 1, padding at least 0");
}

Shape conv_shape(const Tensor& x, const Tensor& weight, const ConvNumbers& n) {
  Shape shape = {x.size(0), weight.size(0), 0, 0};
  for (const std::size_t d : {0u, 1u})
    shape[2 + d] = count_windows("conv2d", {&x, &weight}, x.shape()[2 + d],
                                 {weight.shape()[2 + d], n.stride(d), n.padding(d), n.dilation(d)});
  return shape;
}

// Every window of a padded input, over [batch, groups, channels, height, width of the window,
// height, width of the result].
Tensor windows_of(const Tensor& x, const Shape& window, const Shape& made, const ConvNumbers& n) {
  const std::int64_t per_group = x.size(1) / n.groups();
  const Shape& s = x.strides();
  // The way to a next one that there is not may be too long for 64 bits.
  const auto way = [](std::int64_t count, std::int64_t stride, std::int64_t step) {
    return count == 1 ? 0 : stride * step;
  };
  return Tensor(x.buffer(), x.dtype(),
                {x.size(0), n.groups(), per_group, window[2], window[3], made[2], made[3]},
                {s[0], s[1] * per_group, s[1], way(window[2], s[2], n.dilation(0)),
                 way(window[3], s[3], n.dilation(1)), way(made[2], s[2], n.stride(0)),
                 way(made[3], s[3], n.stride(1))},
                x.offset());
}

Tensor padded(const Tensor& x, const ConvNumbers& n) {
  return padded_or_view(x, std::array{n.padding(1), n.padding(1), n.padding(0), n.padding(0)});
}

std::int64_t batch_of_columns(const Tensor& x, const Shape& window, const Shape& made) {
  const std::int64_t bytes = window[1] * window[2] * window[3] * made[2] * made[3] *
                             static_cast<std::int64_t>(size_of(x.dtype()));
  return std::clamp<std::int64_t>(most_column_bytes / std::max<std::int64_t>(bytes, 1), 1,
                                  std::max<std::int64_t>(x.size(0), 1));
}

bool convolved_by_library(const CallInputs& inputs, const ConvNumbers& n, const Tensor& out) {
  if (settings().interpret || emulated_target() != nullptr) return false;
  const Tensor x = inputs.tensors[0].contiguous(), weight = inputs.tensors[1].contiguous();
  const Shape &from = x.shape(), &window = weight.shape(), &made = out.shape();
  const LibraryConvolution convolution{.dtype = out.dtype(),
                                       .batch = from[0],
                                       .in = from[1],
                                       .height = from[2],
                                       .width = from[3],
                                       .out_channels = window[0],
                                       .window_h = window[2],
                                       .window_w = window[3],
                                       .out_height = made[2],
                                       .out_width = made[3],
                                       .stride_h = n.stride(0),
                                       .stride_w = n.stride(1),
                                       .pad_h = n.padding(0),
                                       .pad_w = n.padding(1),
                                       .dilation_h = n.dilation(0),
                                       .dilation_w = n.dilation(1),
                                       .groups = n.groups(),
                                       .x = x.data(),
                                       .weight = weight.data(),
                                       .out = out.data(),
                                       .allows_tf32 = is_tf32_allowed()};
  const Stream stream = current_stream(out.device());
  const EventScope event(EventKind::Tensor, "conv2d");
  if (!library_convolve(convolution, stream)) return false;
  for (const Tensor* operand : {&x, &weight, &out}) operand->buffer().record_use(stream);
  return true;
}

}  // namespace

Tensor run_conv2d(const CallInputs& inputs) {
  const ConvNumbers n = conv_numbers(inputs.numbers);
  const Tensor& weight = inputs.tensors[1];
  const Shape &window = weight.shape(), &made = inputs.shape;
  const Tensor out = empty(made, {inputs.dtype, inputs.device});
  if (out.numel() == 0) return out;
  if (window[1] > 0 && convolved_by_library(inputs, n, out)) return out;
  const Tensor x = padded(inputs.tensors[0], n);
  const std::int64_t g = n.groups(), depth = window[1] * window[2] * window[3];
  const std::int64_t plane = made[2] * made[3], step = batch_of_columns(x, window, made);
  const Tensor rows = weight.reshape({1, g, window[0] / g, depth});
  for (std::int64_t first = 0; first < x.size(0); first += step) {
    const Tensor part = x.slice(0, first, first + step);
    const Tensor columns =
        windows_of(part, window, made, n).reshape({part.size(0), g, depth, plane});
    const Tensor product = matmul(rows, columns);
    if (step >= x.size(0)) return product.view(made);
    out.slice(0, first, first + step)
        .copy_from(product.view({part.size(0), made[1], made[2], made[3]}));
  }
  return out;
}

// The derivative by the weight: of each group [out, all places] @ [all places, windows].
Tensor run_conv2d_weight(const CallInputs& inputs) {
  const ConvNumbers n = conv_numbers(inputs.numbers);
  const Tensor x = padded(inputs.tensors[0], n), &by_result = inputs.tensors[1];
  const Shape &window = inputs.shape, &made = by_result.shape();
  const std::int64_t g = n.groups(), depth = window[1] * window[2] * window[3];
  const std::int64_t plane = made[2] * made[3], step = batch_of_columns(x, window, made);
  Tensor total;
  for (std::int64_t first = 0; first < x.size(0); first += step) {
    const Tensor part = x.slice(0, first, first + step),
                 from = by_result.slice(0, first, first + step);
    const std::int64_t places = part.size(0) * plane;
    const Tensor columns = windows_of(part, window, made, n)
                               .permute({1, 2, 3, 4, 0, 5, 6})
                               .reshape({g, depth, places});
    const Tensor rows = from.reshape({part.size(0), g, window[0] / g, plane})
                            .permute({1, 2, 0, 3})
                            .reshape({g, window[0] / g, places});
    const Tensor product = matmul(rows, columns.transpose(-1, -2));
    if (step >= x.size(0)) return product.view(window);
    const Tensor wide = product.to(compute_dtype(inputs.dtype));
    total = total.is_defined() ? total + wide : wide;
  }
  if (!total.is_defined()) return zeros(window, {inputs.dtype, inputs.device});
  return total.to(inputs.dtype).view(window);
}

namespace {

// Elements of the last two dimensions with `stride - 1` zeros between them.
Tensor spread(const Tensor& g, const ConvNumbers& n) {
  const std::int64_t height = g.size(2), width = g.size(3);
  const std::int64_t down = height == 1 ? 1 : n.stride(0), across = width == 1 ? 1 : n.stride(1);
  if (down == 1 && across == 1) return g;
  const Tensor apart = pad(g.reshape({g.size(0), g.size(1), height, 1, width, 1}),
                           {0, across - 1, 0, 0, 0, down - 1});
  return apart.reshape({g.size(0), g.size(1), height * down, width * across})
      .slice(2, 0, (height - 1) * down + 1)
      .slice(3, 0, (width - 1) * across + 1);
}

// The derivative by the input is a convolution of what lies between, with the weight turned round.
Tensor derive_conv_input(const Derivation& d, const ConvNumbers& n) {
  const Tensor &x = d.in[0], &weight = d.in[1];
  const Shape& w = weight.shape();
  const std::int64_t g = n.groups();
  const Tensor turned = weight.slice(2, -1, -w[2] - 1, -1)
                            .slice(3, -1, -w[3] - 1, -1)
                            .clone()
                            .view({g, w[0] / g, w[1], w[2], w[3]})
                            .transpose(1, 2)
                            .reshape({g * w[1], w[0] / g, w[2], w[3]});
  const Tensor apart = spread(d.g, n);
  std::array<std::int64_t, 2> low{}, high{};
  for (const std::size_t s : {0u, 1u}) {
    const std::int64_t reach = n.dilation(s) * (w[2 + s] - 1);
    low[s] = reach - n.padding(s);
    high[s] = x.shape()[2 + s] + reach - low[s] - apart.shape()[2 + s];
  }
  ConvOptions options;
  options.dilation = {n.dilation(0), n.dilation(1)};
  options.groups = g;
  const Tensor reached = padded_or_view(apart, std::array{low[1], high[1], low[0], high[0]});
  return conv2d(reached, turned, {}, options);
}

}  // namespace

std::vector<Tensor> derive_conv2d(const Derivation& d) {
  const ConvNumbers n = conv_numbers(d.node.attributes);
  return {derive_conv_input(d, n),
          apply_call("conv2d_weight", std::array{d.in[0], d.g}, d.node.attributes,
                     {d.in[1].dtype(), d.in[1].shape()})};
}

}  // namespace graph

Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias,
              const ConvOptions& options) {
  if (x.rank() == 3) return conv2d(x.unsqueeze(0), weight, bias, options).squeeze(0);
  const graph::ConvNumbers n = graph::conv_numbers(options);
  graph::check_conv(x, weight, bias, n);
  const Tensor out = graph::apply_call("conv2d", std::array{x, weight}, n.numbers,
                                       {x.dtype(), graph::conv_shape(x, weight, n)});
  return bias.is_defined() ? out + bias.view({-1, 1, 1}) : out;
}

}  // namespace tilewright
