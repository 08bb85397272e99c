// SPDX-License-Identifier: Apache-2.0
// exec/grad_reference.h — derivatives by differences in float64, in the interpreter.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ops_reference.h"
#include "tilewright/grad.h"

namespace tilewright {

using Fn = std::function<Tensor(Tensor)>;

class Grad : public testing::Test {
 protected:
  static Settings interpreting() {
    Settings changed = settings();
    changed.interpret = true;
    return changed;
  }
  static Tensor values(Shape shape, std::uint64_t seed, double shift = 0) {
    return randn(std::move(shape), RandomOptions(f64, Device::cpu()).with_seed(seed)) + shift;
  }

  // The sum of f(x) times weights that are all different, by x.
  static void expect_derivative(const std::string& name, const Fn& f, const Tensor& x) {
    SCOPED_TRACE(name);
    const auto loss = [f](Tensor v) {
      const Tensor y = f(v);
      const Tensor weights =
          arange(1.0, 1.0 + 0.25 * static_cast<double>(y.numel()), 0.25, {f64, Device::cpu()});
      return sum(y * weights.view(y.shape()));
    };
    const Tensor found = grad(loss)(x);
    ASSERT_EQ(found.shape(), x.shape());
    const std::vector<double> derivative = found.to_vector<double>();
    const std::vector<double> at = x.contiguous().to_vector<double>();
    constexpr double h = 1e-6;
    for (std::size_t i = 0; i < at.size(); ++i) {
      std::vector<double> above = at, below = at;
      above[i] += h;
      below[i] -= h;
      const double difference = loss(tensor(above, x.shape(), Device::cpu())).item<double>() -
                                loss(tensor(below, x.shape(), Device::cpu())).item<double>();
      ASSERT_NEAR(derivative[i], difference / (2 * h), 2e-6 * (1 + std::abs(derivative[i])))
          << "element " << i;
    }
  }

 private:
  SettingsOverride interpreted_{interpreting()};
};

}  // namespace tilewright
