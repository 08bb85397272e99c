// SPDX-License-Identifier: Apache-2.0
// exec/ops_reference.h — tensors of doubles with the plainest loops: what tensor operations must
// agree with. Also where a test of operations runs.
#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "base/settings.h"
#include "graph/launch.h"
#include "tilewright/ops.h"

namespace tilewright {

struct Doubles {
  Shape shape;
  std::vector<double> values;

  std::int64_t numel() const { return static_cast<std::int64_t>(values.size()); }
  // At an index of a larger shape, as broadcasting reads it.
  double at(const Shape& index) const {
    const std::size_t missing = index.size() - shape.size();
    std::int64_t place = 0;
    for (std::size_t d = 0; d < shape.size(); ++d)
      place = place * shape[d] + (shape[d] == 1 ? 0 : index[missing + d]);
    return values[static_cast<std::size_t>(place)];
  }
};

inline Doubles doubles_of(const Tensor& x) {
  return {x.shape(), x.cpu().to(f64).contiguous().to_vector<double>()};
}

inline Shape index_at(std::int64_t place, const Shape& shape) {
  Shape index(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {
    index[d] = place % shape[d];
    place /= shape[d];
  }
  return index;
}

inline Doubles make_doubles(const Shape& shape, const std::function<double(const Shape&)>& value) {
  std::int64_t numel = 1;
  for (const std::int64_t size : shape) numel *= size;
  Doubles made{shape, {}};
  for (std::int64_t i = 0; i < numel; ++i) made.values.push_back(value(index_at(i, shape)));
  return made;
}

// Every row along `axis`, to one value.
inline Doubles reduce_doubles(const Doubles& x, int axis,
                              const std::function<double(const std::vector<double>&)>& f) {
  Shape kept = x.shape;
  kept[static_cast<std::size_t>(axis)] = 1;
  return make_doubles(kept, [&](Shape index) {
    std::vector<double> row;
    for (std::int64_t i = 0; i < x.shape[static_cast<std::size_t>(axis)]; ++i) {
      index[static_cast<std::size_t>(axis)] = i;
      row.push_back(x.at(index));
    }
    return f(row);
  });
}

inline void expect_near(const Tensor& found, const Doubles& expected, double tolerance,
                        const std::string& what = "") {
  ASSERT_EQ(found.numel(), expected.numel()) << what;
  const Doubles got = doubles_of(found);
  for (std::size_t i = 0; i < got.values.size(); ++i) {
    const double x = got.values[i], y = expected.values[i];
    if (std::isnan(y)) {
      ASSERT_TRUE(std::isnan(x)) << what << ": element " << i << " is " << x;
    } else if (std::isinf(y)) {
      ASSERT_EQ(x, y) << what << ": element " << i;
    } else {
      ASSERT_NEAR(x, y, tolerance * (1 + std::abs(y))) << what << ": element " << i;
    }
  }
}

// ---- Where a test runs.

enum class OpsOn { Cpu, Interpreter, Emulated, Cuda };
inline void PrintTo(OpsOn place, std::ostream* out) {
  const char* const names[] = {"cpu", "interpreter", "emulated", "cuda"};
  *out << names[static_cast<int>(place)];
}

class OpsTest : public testing::TestWithParam<OpsOn> {
 protected:
  void SetUp() override {
    if (GetParam() == OpsOn::Cuda && cuda_device_count() == 0) GTEST_SKIP() << why_no_cuda();
    if (GetParam() == OpsOn::Emulated) emulated_ = std::make_unique<graph::EmulatedGroups>(target_);
    if (GetParam() == OpsOn::Interpreter) {
      Settings changed = settings();
      changed.interpret = true;
      interpreted_ = std::make_unique<SettingsOverride>(changed);
    }
  }
  void TearDown() override {
    emulated_.reset();
    interpreted_.reset();
  }
  Device device() const { return GetParam() == OpsOn::Cuda ? Device::cuda() : Device::cpu(); }
  Tensor random(Shape shape, DType dtype = f32, std::uint64_t seed = 1) const {
    return randn(std::move(shape), RandomOptions(f32, device()).with_seed(seed)).to(dtype);
  }

 private:
  Target target_ = Target::parse("sm_90a");
  std::unique_ptr<graph::EmulatedGroups> emulated_;
  std::unique_ptr<SettingsOverride> interpreted_;
};

inline std::string ops_place_name(const testing::TestParamInfo<OpsOn>& info) {
  return testing::PrintToString(info.param);
}

}  // namespace tilewright
