// SPDX-License-Identifier: Apache-2.0
// examples/layer_norm.cpp — loops over slices of a row; with a bias, and with none.
#include "check.h"

double error_of(const tw::Tensor& out, const tw::Tensor& x, const tw::Tensor& weight,
                const std::vector<float>& bias, double eps) {
  const auto values = x.cpu().to_vector<float>();
  const auto weights = weight.cpu().to_vector<float>();
  const std::size_t width = weights.size();
  std::vector<double> means(values.size() / width), scales(values.size() / width);
  for (std::size_t row = 0; row < means.size(); ++row) {
    double total = 0, squares = 0;
    for (std::size_t i = 0; i < width; ++i) total += values[row * width + i];
    means[row] = total / static_cast<double>(width);
    for (std::size_t i = 0; i < width; ++i)
      squares += std::pow(values[row * width + i] - means[row], 2);
    scales[row] = 1 / std::sqrt(squares / static_cast<double>(width) + eps);
  }
  return largest_error(out, [&](std::size_t i) {
    const std::size_t row = i / width;
    return (values[i] - means[row]) * scales[row] * weights[i % width] + bias[i % width];
  });
}

int run(const std::string& file) {
  const auto layer_norm = tw::load_triton(file, "layer_norm_kernel");
  const std::int64_t rows = 50, columns = 1000;
  const auto x = tw::randn({rows, columns});
  const auto weight = tw::rand({columns});
  const auto bias = tw::randn({columns});
  const auto out = tw::empty_like(x);
  const auto block = tw::constant("BLOCK", 256);
  layer_norm[rows](x, weight, bias, out, columns, 1e-5, block);
  const double with_bias = error_of(out, x, weight, bias.cpu().to_vector<float>(), 1e-5);

  layer_norm[rows](x, weight, tw::none, out, columns, 1e-5, block);
  const std::vector<float> no_bias(static_cast<std::size_t>(columns), 0.0f);
  const double without = error_of(out, x, weight, no_bias, 1e-5);
  return report("layer norm", out, std::max(with_bias, without), 2e-6);
}

int main(int count, char** arguments) {
  return guarded([&] { return run(python_file(count, arguments, "layer_norm.py")); });
}
