// SPDX-License-Identifier: Apache-2.0
// examples/train_mlp.cpp — a network learns to tell four classes apart: forward, backward and AdamW
// are one compiled function. Its loss must fall as PyTorch's does from the same weights.
//
//   train_mlp            trains on the GPU, or on the CPU where there is none
//   train_mlp FOLDER     also writes weights, data and losses there, for
//   test/differential/loss_curve.py
#include "check.h"

#include <tilewright/grad.h>
#include <tilewright/nn.h>

constexpr int steps = 60;
constexpr std::uint64_t seed = 7;

// PyTorch 2.11 from the weights and data of this program, float32 on a CPU: steps 1, 11, 21, ...
constexpr double pytorch_losses[] = {1.391435, 1.196387, 0.913289, 0.581193, 0.310420, 0.145600};

tw::Tensor loss_of(tw::nn::Mlp net, tw::Tensor x, tw::Tensor target) {
  return tw::cross_entropy(net(x), target);
}

// Inputs, and as their class the largest of four products with them.
struct Data {
  tw::Tensor x, target;
};
Data make_data(tw::RandomOptions options) {
  const tw::Tensor x = tw::randn({256, 16}, options.with_seed(seed + 100));
  const tw::Tensor teacher = tw::randn({16, 4}, options.with_seed(seed + 200));
  return {x, tw::argmax(tw::matmul(x, teacher), 1)};
}

void save_all(const std::string& folder, tw::nn::Mlp net, const Data& data) {
  std::size_t number = 0;
  for (tw::Tensor* tensor : tw::nn::tensors_of(net))
    tw::save_npy(folder + "/parameter" + std::to_string(number++) + ".npy", tensor->cpu());
  tw::save_npy(folder + "/x.npy", data.x.cpu());
  tw::save_npy(folder + "/target.npy", data.target.cpu());
}

int run(int count, char** arguments) {
  const tw::Device device = tw::default_device();
  const tw::RandomOptions options = tw::RandomOptions(tw::f32, device).with_seed(seed);
  const Data data = make_data(options);
  tw::nn::Mlp net({16, 64, 64, 4}, options);
  tw::nn::AdamW<tw::nn::Mlp> adam(net, {.rate = 0.002});
  if (count > 1) save_all(arguments[1], net, data);

  const auto step = tw::compile(
      [](tw::nn::Mlp n, tw::nn::AdamW<tw::nn::Mlp> a, tw::Tensor x, tw::Tensor target) {
        auto [loss, gradients] = tw::value_and_grad(loss_of)(n, x, target);
        a.update(n, gradients);
        return std::tuple(loss, n, a);
      },
      {.name = "step", .mode = tw::Mode::ReduceOverhead});

  std::vector<float> losses;
  for (int i = 0; i < steps; ++i) {
    tw::Tensor loss;
    std::tie(loss, net, adam) = step(std::move(net), std::move(adam), data.x, data.target);
    losses.push_back(loss.item<float>());
  }
  if (count > 1) {
    const tw::Tensor all = tw::empty({steps}, {tw::f32, tw::Device::cpu()});
    std::copy(losses.begin(), losses.end(), static_cast<float*>(all.data()));
    tw::save_npy(std::string(arguments[1]) + "/losses.npy", all);
  }

  double worst = 0;
  for (std::size_t i = 0; i < std::size(pytorch_losses); ++i) {
    std::printf("step %2zu: loss %.6f, PyTorch's %.6f\n", 10 * i + 1, double{losses[10 * i]},
                pytorch_losses[i]);
    worst = std::max(worst, std::abs(losses[10 * i] - pytorch_losses[i]) / pytorch_losses[i]);
  }
  std::printf("step %d: loss %.6f; %zu kernels a step, %zu of %zu calls replayed\n", steps,
              double{losses.back()}, step.stats().kernels, step.stats().replays,
              step.stats().calls);
  const bool is_right = losses.back() < 0.2 * losses.front() && worst < 2e-4;
  std::printf("training on %s: off PyTorch's losses by %.1g at most: %s\n", device.name().c_str(),
              worst, is_right ? "ok" : "WRONG");
  return is_right ? 0 : 1;
}

int main(int count, char** arguments) {
  try {
    return run(count, arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "train_mlp: %s\n", error.what());
    return 1;
  }
}
