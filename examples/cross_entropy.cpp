// SPDX-License-Identifier: Apache-2.0
// examples/cross_entropy.cpp — loss and gradient of logits against labels, some of them ignored.
#include "check.h"

int run(const std::string& file) {
  const auto cross_entropy = tw::load_triton(file, "cross_entropy_kernel");
  const std::int64_t rows = 33, classes = 1500, ignored = -100;
  std::vector<std::int64_t> labels;
  for (std::int64_t row = 0; row < rows; ++row)
    labels.push_back(row % 7 == 3 ? ignored : row * 389 % classes);
  const auto logits = tw::randn({rows, classes});
  const auto loss = tw::empty({rows});
  const auto gradient = tw::empty_like(logits);
  cross_entropy[rows](logits, tw::tensor(labels), loss, gradient, logits.stride(0), classes,
                      ignored, tw::constant("BLOCK", 512));

  const auto x = logits.cpu().to_vector<float>();
  const auto width = static_cast<std::size_t>(classes);
  std::vector<double> log_sums(labels.size());
  for (std::size_t row = 0; row < labels.size(); ++row) {
    double total = 0;
    for (std::size_t i = 0; i < width; ++i) total += std::exp(double(x[row * width + i]));
    log_sums[row] = std::log(total);
  }
  const double loss_error = largest_error(loss, [&](std::size_t row) {
    if (labels[row] == ignored) return 0.0;
    return log_sums[row] - x[row * width + static_cast<std::size_t>(labels[row])];
  });
  const double gradient_error = largest_error(gradient, [&](std::size_t i) {
    const std::size_t row = i / width;
    if (labels[row] == ignored) return 0.0;
    const bool is_label = static_cast<std::size_t>(labels[row]) == i % width;
    return std::exp(x[i] - log_sums[row]) - (is_label ? 1 : 0);
  });
  return report("cross entropy", loss, loss_error, 2e-6) +
         report("its gradient", gradient, gradient_error, 2e-6);
}

int main(int count, char** arguments) {
  return guarded([&] { return run(python_file(count, arguments, "cross_entropy.py")); });
}
