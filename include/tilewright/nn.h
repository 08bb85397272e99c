// SPDX-License-Identifier: Apache-2.0
// tilewright/nn.h — layers and optimisers: structs of tensors (compile.h), so that they are
// arguments and results of compiled functions.
//
//   auto step = tw::compile([](tw::nn::Mlp net, tw::nn::AdamW<tw::nn::Mlp> adam, tw::Tensor x,
//   tw::Tensor t) {
//     auto [loss, g] = tw::value_and_grad(loss_of)(net, x, t);
//     adam.update(net, g);
//     return std::tuple(loss, net, adam);
//   });
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "tilewright/compile.h"
#include "tilewright/ops.h"

namespace tilewright::nn {

// x @ weight^T + bias.
struct Linear {
  Tensor weight, bias;
  TW_TREE(weight, bias)

  Linear() = default;
  // Uniform in +-1/sqrt(in), as PyTorch begins.
  Linear(std::int64_t in, std::int64_t out, RandomOptions options = {});
  Tensor operator()(const Tensor& x) const { return linear(x, weight, bias); }
};

struct LayerNorm {
  Tensor weight, bias;
  TW_TREE(weight, bias)

  LayerNorm() = default;
  explicit LayerNorm(std::int64_t size, TensorOptions options = {})
      : weight(ones({size}, options)), bias(zeros({size}, options)) {}
  Tensor operator()(const Tensor& x) const { return layer_norm(x, weight, bias); }
};

struct RmsNorm {
  Tensor weight;
  TW_TREE(weight)

  RmsNorm() = default;
  explicit RmsNorm(std::int64_t size, TensorOptions options = {}) : weight(ones({size}, options)) {}
  Tensor operator()(const Tensor& x) const { return rms_norm(x, weight); }
};

// Rows of a table by index.
struct Embedding {
  Tensor weight;
  TW_TREE(weight)

  Embedding() = default;
  Embedding(std::int64_t count, std::int64_t size, RandomOptions options = {})
      : weight(randn({count, size}, options)) {}  // as PyTorch begins
  Tensor operator()(const Tensor& index) const { return embedding(weight, index); }
};

struct Conv2d {
  Tensor weight, bias;
  ConvOptions options;
  TW_TREE(weight, bias)

  Conv2d() = default;
  // Uniform in +-1/sqrt(in / groups * window), as PyTorch begins.
  Conv2d(std::int64_t in, std::int64_t out, const Pair2d& window, ConvOptions chosen = {},
         RandomOptions random = {});
  Tensor operator()(const Tensor& x) const { return conv2d(x, weight, bias, options); }
};

struct GroupNorm {
  Tensor weight, bias;
  std::int64_t groups = 1;
  TW_TREE(weight, bias)

  GroupNorm() = default;
  GroupNorm(std::int64_t count, std::int64_t channels, TensorOptions options = {})
      : weight(ones({channels}, options)), bias(zeros({channels}, options)), groups(count) {}
  Tensor operator()(const Tensor& x) const { return group_norm(x, groups, weight, bias); }
};

// Layers with GELU between them.
struct Mlp {
  std::vector<Linear> layers;
  TW_TREE(layers)

  Mlp() = default;
  // From `sizes[i]` to `sizes[i + 1]` features.
  explicit Mlp(const std::vector<std::int64_t>& sizes, RandomOptions options = {});
  Tensor operator()(Tensor x) const;
};

// The tensors of a tree, in order.
template <class Tree>
std::vector<Tensor*> tensors_of(Tree& tree) {
  std::vector<Tensor*> all;
  visit_tensors(tree, [&](Tensor& tensor) { all.push_back(&tensor); });
  return all;
}

// The length of all of them together as one vector.
Tensor total_norm(std::span<Tensor* const> tensors);
// Scaled so that they are together no longer than `most`.
template <class Tree>
void clip_grad_norm(Tree& gradients, double most) {
  const std::vector<Tensor*> all = tensors_of(gradients);
  const Tensor scale = clamp(most / (total_norm(all) + 1e-6), {}, 1.0);
  for (Tensor* tensor : all) *tensor = to(*tensor * scale, tensor->dtype());
}

// Throws ArgumentError unless each parameter has another tensor of its shape and dtype: `what` is
// what the others are.
void check_update(std::string_view optimiser, std::span<Tensor* const> parameters,
                  std::string_view what, std::span<Tensor* const> others);

// parameter - rate * gradient.
template <class Tree>
void sgd(Tree& parameters, Tree gradients, double rate) {
  const std::vector<Tensor*> to = tensors_of(parameters), by = tensors_of(gradients);
  check_update("sgd", to, "gradient", by);
  for (std::size_t i = 0; i < to.size(); ++i) *to[i] = *to[i] - rate * *by[i];
}

struct AdamWOptions {
  double rate = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, decay = 0.01;
};
// What the moments lack after so many steps, since they began at 0: 1 - beta1^steps, and the root
// of 1 - beta2^steps. The same for all parameters.
struct AdamWCorrections {
  Tensor first, second;
};
AdamWCorrections adamw_corrections(const AdamWOptions& options, const Tensor& steps);
void adamw_update(const AdamWOptions& options, const AdamWCorrections& corrections,
                  const Tensor& gradient, Tensor& parameter, Tensor& first, Tensor& second);

// Adam with decoupled decay, as PyTorch's AdamW. Its state is a tree of tensors; its options are
// those of the call that was traced, when a compiled function updates with it.
template <class Tree>
struct AdamW {
  Tensor steps;
  Tree first, second;
  AdamWOptions options;
  TW_TREE(steps, first, second)

  AdamW() = default;
  explicit AdamW(Tree parameters, AdamWOptions chosen = {})
      : first(parameters), second(std::move(parameters)), options(chosen) {
    for (Tree* moments : {&first, &second})
      for (Tensor* tensor : tensors_of(*moments)) {
        steps = zeros({}, {DType::Float32, tensor->device()});
        *tensor = zeros(tensor->shape(), {tensor->dtype(), tensor->device()});
      }
  }

  void update(Tree& parameters, Tree gradients) {
    const std::vector<Tensor*> to = tensors_of(parameters), by = tensors_of(gradients);
    const std::vector<Tensor*> m = tensors_of(first), v = tensors_of(second);
    check_update("AdamW", to, "gradient", by);
    check_update("AdamW", to, "moment", m);
    check_update("AdamW", to, "moment", v);
    steps = steps + 1;
    const AdamWCorrections corrections = adamw_corrections(options, steps);
    for (std::size_t i = 0; i < to.size(); ++i)
      adamw_update(options, corrections, *by[i], *to[i], *m[i], *v[i]);
  }
};

}  // namespace tilewright::nn
