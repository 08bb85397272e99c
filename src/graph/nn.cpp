// SPDX-License-Identifier: Apache-2.0
// graph/nn.cpp — layers and optimisers, by tensor operations alone.
#include "tilewright/nn.h"

#include <cmath>

#include <fmt/format.h>

#include "graph/eager/eager.h"
#include "tilewright/error.h"

namespace tilewright::nn {
namespace {

// Uniform in +-bound. Each tensor of one seed has a stream of its own.
Tensor uniform(Shape shape, double bound, RandomOptions options, std::uint64_t stream) {
  if (options.seed) options.seed = *options.seed + stream;
  return (rand(std::move(shape), options) * 2 - 1) * bound;
}

// What reads nothing begins with 0.
double bound_of(std::int64_t reads) {
  return reads > 0 ? 1 / std::sqrt(static_cast<double>(reads)) : 0;
}

}  // namespace

Linear::Linear(std::int64_t in, std::int64_t out, RandomOptions options)
    : weight(uniform({out, in}, bound_of(in), options, 0)),
      bias(uniform({out}, bound_of(in), options, 1)) {}

Conv2d::Conv2d(std::int64_t in, std::int64_t out, const Pair2d& window, ConvOptions chosen,
               RandomOptions random)
    : options(chosen) {
  if (chosen.groups < 1 || in % chosen.groups != 0)
    throw ArgumentError(
        fmt::format("a Conv2d of {} channels cannot have {} groups", in, chosen.groups));
  const std::int64_t per_group = in / chosen.groups;
  const double bound = bound_of(per_group * window.height * window.width);
  weight = uniform({out, per_group, window.height, window.width}, bound, random, 0);
  bias = uniform({out}, bound, random, 1);
}

Mlp::Mlp(const std::vector<std::int64_t>& sizes, RandomOptions options) {
  if (sizes.size() < 2)
    throw ArgumentError("an Mlp needs the sizes of its input and its output at least");
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
    RandomOptions own = options;
    if (own.seed) own.seed = *own.seed + 2 * i;
    layers.emplace_back(sizes[i], sizes[i + 1], own);
  }
}

Tensor Mlp::operator()(Tensor x) const {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    x = layers[i](x);
    if (i + 1 < layers.size()) x = gelu(x);
  }
  return x;
}

void check_update(std::string_view optimiser, std::span<Tensor* const> parameters,
                  std::string_view what, std::span<Tensor* const> others) {
  if (parameters.size() != others.size())
    throw ArgumentError(
        fmt::format("{} was given {} parameters and {} {}s: there must be one for each", optimiser,
                    parameters.size(), others.size(), what));
  for (std::size_t i = 0; i < others.size(); ++i) {
    const Tensor &to = *parameters[i], &by = *others[i];
    if (to.shape() == by.shape() && to.dtype() == by.dtype()) continue;
    throw ArgumentError(fmt::format("{}: parameter {} is {}, but its {} is {}", optimiser, i,
                                    graph::tensor_text(to), what, graph::tensor_text(by)));
  }
}

Tensor total_norm(std::span<Tensor* const> tensors) {
  if (tensors.empty()) throw ArgumentError("the norm of no tensor was asked for");
  Tensor total;
  for (const Tensor* tensor : tensors) {
    const bool is_double = tensor->dtype() == DType::Float64;
    const Tensor squares = sum(square(to(*tensor, is_double ? DType::Float64 : DType::Float32)));
    total = total.is_defined() ? total + squares : squares;
  }
  return sqrt(total);
}

// 1 - beta^steps would have few digits of a beta near 1. In float64, which parameters may have.
AdamWCorrections adamw_corrections(const AdamWOptions& options, const Tensor& steps) {
  const Tensor count = to(steps, DType::Float64);
  const auto lacking = [&](double beta) { return -expm1(count * std::log(beta)); };
  return {lacking(options.beta1), sqrt(lacking(options.beta2))};
}

void adamw_update(const AdamWOptions& options, const AdamWCorrections& corrections,
                  const Tensor& gradient, Tensor& parameter, Tensor& first, Tensor& second) {
  first = options.beta1 * first + (1 - options.beta1) * gradient;
  second = options.beta2 * second + (1 - options.beta2) * square(gradient);
  const Tensor size = sqrt(second) / corrections.second + options.eps;
  const Tensor step = options.rate * (first / corrections.first) / size;
  // The corrections weigh as much as a parameter without dimensions, and are wider.
  parameter = to(parameter * (1 - options.rate * options.decay) - step, parameter.dtype());
}

}  // namespace tilewright::nn
