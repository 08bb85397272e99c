// SPDX-License-Identifier: Apache-2.0
// exec/inline_on.h — one test body for inline CUDA on the CPU (emulated) and on a GPU.
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tilewright/error.h"
#include "tilewright/load_inline.h"

namespace tilewright {

inline void PrintTo(DeviceKind kind, std::ostream* out) {
  *out << (kind == DeviceKind::Cuda ? "cuda" : "cpu");
}

class InlineOn : public testing::TestWithParam<DeviceKind> {
 protected:
  void SetUp() override {
    if (GetParam() == DeviceKind::Cuda && cuda_device_count() == 0) GTEST_SKIP() << why_no_cuda();
  }
  Device device() const { return GetParam() == DeviceKind::Cuda ? Device::cuda() : Device::cpu(); }

  InlineModule load(const std::string& cuda, std::vector<std::string> functions = {}) const {
    InlineOptions options;
    options.cuda_sources = {cuda};
    options.functions = std::move(functions);
    options.name = "inline_test";
    options.device = device();
    return load_inline(options);
  }
  Tensor random(Shape shape, DType dtype = f32, std::uint64_t seed = 7) const {
    return randn(std::move(shape), RandomOptions(f32, device()).with_seed(seed)).to(dtype);
  }
  Tensor on_device(const std::vector<float>& values) const { return tensor(values, device()); }
};

inline std::string device_name(const testing::TestParamInfo<DeviceKind>& info) {
  return info.param == DeviceKind::Cuda ? "cuda" : "cpu";
}

#define TW_INLINE_ON_ALL(suite)                                                                \
  INSTANTIATE_TEST_SUITE_P(Devices, suite, testing::Values(DeviceKind::Cpu, DeviceKind::Cuda), \
                           device_name)

// As float64 on the host.
inline std::vector<double> numbers(const Tensor& tensor) {
  return tensor.cpu().to(f64).to_vector<double>();
}

inline void expect_near(const Tensor& result, const std::vector<double>& expected,
                        double tolerance) {
  const std::vector<double> values = numbers(result);
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_NEAR(values[i], expected[i], tolerance * (1 + std::abs(expected[i]))) << "element " << i;
}

inline std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// The first line of the error of type E that `body` throws.
template <class E>
std::string message_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const E& error) {
    return first_line(error.what());
  } catch (const std::exception& error) {
    return std::string("another error: ") + error.what();
  }
  return "no error";
}

}  // namespace tilewright
