// SPDX-License-Identifier: Apache-2.0
// tensor/views_test.cpp — chains of random views against a model that moves values index by index.
#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "cpu_device.h"
#include "expect_error.h"
#include "tilewright/tensor.h"

namespace tilewright {
namespace {

// A tensor as plain values in row-major order; every view is a new list of values.
struct Model {
  Shape shape;
  std::vector<std::int64_t> values;

  std::int64_t at(const Shape& index) const {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) place = place * shape[d] + index[d];
    return values[static_cast<std::size_t>(place)];
  }
};

// The model of shape `shape` whose value at an index is `model`'s at source(index).
Model gather(const Model& model, Shape shape, const std::function<Shape(const Shape&)>& source) {
  Model out{std::move(shape), {}};
  const std::int64_t count =
      std::accumulate(out.shape.begin(), out.shape.end(), std::int64_t{1}, std::multiplies<>());
  for (std::int64_t i = 0; i < count; ++i) {
    Shape index(out.shape.size());
    std::int64_t rest = i;
    for (std::size_t d = out.shape.size(); d-- > 0;) {
      index[d] = rest % out.shape[d];
      rest /= out.shape[d];
    }
    out.values.push_back(model.at(source(index)));
  }
  return out;
}

// What Python's range(*slice(begin, end, step).indices(size)) gives, step by step.
std::vector<std::int64_t> sliced_positions(std::int64_t size, std::int64_t begin, std::int64_t end,
                                           std::int64_t step) {
  const auto wrapped = [&](std::int64_t i) { return i < 0 ? i + size : i; };
  std::vector<std::int64_t> out;
  if (step > 0) {
    for (std::int64_t i = std::max<std::int64_t>(wrapped(begin), 0);
         i < std::min(wrapped(end), size); i += step)
      out.push_back(i);
  } else {
    for (std::int64_t i = std::min(wrapped(begin), size - 1);
         i > std::max<std::int64_t>(wrapped(end), -1); i += step)
      out.push_back(i);
  }
  return out;
}

class RandomViews {
 public:
  explicit RandomViews(unsigned seed) : random_(seed) {}

  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }

  // One random view of both; returns its description.
  std::string step(Tensor& t, Model& m) {
    switch (pick(0, 7)) {
      case 0:
        return slice(t, m);
      case 1:
        return t.rank() > 1 ? select(t, m) : slice(t, m);
      case 2:
        return permute(t, m);
      case 3:
        return transpose(t, m);
      case 4:
        return unsqueeze(t, m);
      case 5:
        return broadcast(t, m);
      case 6:
        return reshape(t, m);
      default:
        return squeeze(t, m);
    }
  }

 private:
  int dimension(const Tensor& t) { return static_cast<int>(pick(0, t.rank() - 1)); }

  std::string slice(Tensor& t, Model& m) {
    if (t.rank() == 0) return "nothing";
    const int d = dimension(t);
    const std::int64_t size = t.size(d);
    const std::int64_t begin = pick(-size - 2, size + 2), end = pick(-size - 2, size + 2);
    std::int64_t step = pick(-3, 3);
    if (step == 0) step = 1;
    const std::vector<std::int64_t> positions = sliced_positions(size, begin, end, step);
    if (positions.empty())
      return "nothing";  // keeps the chain going; empty slices have their own test
    t = t.slice(d - (pick(0, 1) ? t.rank() : 0), begin, end, step);
    Shape shape = m.shape;
    shape[d] = static_cast<std::int64_t>(positions.size());
    m = gather(m, shape, [&](Shape i) {
      i[d] = positions[static_cast<std::size_t>(i[d])];
      return i;
    });
    return "slice";
  }
  std::string select(Tensor& t, Model& m) {
    const int d = dimension(t);
    const std::int64_t size = t.size(d);
    const std::int64_t index = pick(-size, size - 1);
    t = t.select(d, index);
    Shape shape = m.shape;
    shape.erase(shape.begin() + d);
    m = gather(m, shape, [&](Shape i) {
      i.insert(i.begin() + d, index < 0 ? index + size : index);
      return i;
    });
    return "select";
  }
  std::string permute(Tensor& t, Model& m) {
    std::vector<int> order(static_cast<std::size_t>(t.rank()));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random_);
    t = t.permute(order);
    Shape shape;
    for (const int d : order) shape.push_back(m.shape[d]);
    m = gather(m, shape, [&](const Shape& i) {
      Shape source(i.size());
      for (std::size_t d = 0; d < i.size(); ++d) source[order[d]] = i[d];
      return source;
    });
    return "permute";
  }
  std::string transpose(Tensor& t, Model& m) {
    if (t.rank() == 0) return "nothing";
    const int a = dimension(t), b = dimension(t);
    t = t.transpose(a, b - t.rank());
    Shape shape = m.shape;
    std::swap(shape[a], shape[b]);
    m = gather(m, shape, [&](Shape i) {
      std::swap(i[a], i[b]);
      return i;
    });
    return "transpose";
  }
  std::string unsqueeze(Tensor& t, Model& m) {
    const int d = static_cast<int>(pick(0, t.rank()));
    t = t.unsqueeze(d);
    m.shape.insert(m.shape.begin() + d, 1);
    return "unsqueeze";
  }
  std::string squeeze(Tensor& t, Model& m) {
    const auto one = std::find(m.shape.begin(), m.shape.end(), 1);
    if (one == m.shape.end()) return "nothing";
    t = t.squeeze(static_cast<int>(one - m.shape.begin()));
    m.shape.erase(one);
    return "squeeze";
  }
  std::string broadcast(Tensor& t, Model& m) {
    if (t.numel() > 400) return "nothing";
    Shape shape = m.shape;
    for (std::int64_t& size : shape)
      if (size == 1) size = pick(1, 3);
    const bool adds = pick(0, 2) == 0;
    if (adds) shape.insert(shape.begin(), pick(1, 3));
    t = t.broadcast_to(shape);
    const Model old = m;
    m = gather(old, shape, [&](Shape i) {
      if (adds) i.erase(i.begin());
      for (std::size_t d = 0; d < i.size(); ++d)
        if (old.shape[d] == 1) i[d] = 0;
      return i;
    });
    return "broadcast";
  }
  std::string reshape(Tensor& t, Model& m) {
    Shape shape;
    std::int64_t rest = t.numel();
    while (rest > 1 && pick(0, 3) > 0) {
      std::int64_t factor = 2;
      while (rest % factor != 0) ++factor;
      shape.push_back(factor);
      rest /= factor;
    }
    shape.push_back(rest);
    Shape asked = shape;
    if (t.numel() > 0)
      asked[static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(asked.size()) - 1))] = -1;
    t = t.reshape(asked);
    m.shape = shape;
    return "reshape";
  }

  std::mt19937 random_;
};

TEST(Views, RandomChainsAgreeWithTheModel) {
  RandomViews random(20240611);
  for (int chain = 0; chain < 400; ++chain) {
    Model model{{random.pick(1, 5), random.pick(1, 6), random.pick(1, 7)}, {}};
    const std::int64_t count = model.shape[0] * model.shape[1] * model.shape[2];
    model.values.resize(static_cast<std::size_t>(count));
    std::iota(model.values.begin(), model.values.end(), 0);
    Tensor t = arange(count, {DType::Int64, cpu}).view(model.shape);
    std::string trail;
    for (int step = 0; step < 8; ++step) {
      trail += random.step(t, model) + " ";
      ASSERT_EQ(t.shape(), model.shape) << trail;
      ASSERT_EQ(t.to_vector<std::int64_t>(), model.values) << trail;
      ASSERT_EQ(t.clone().to_vector<std::int64_t>(), model.values) << trail;
    }
  }
}

TEST(Views, SlicesClampAsInPython) {
  const Tensor t = arange(10, {DType::Int64, cpu});
  using List = std::vector<std::int64_t>;
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(t.slice(0, 2, -2, 3).to_vector<std::int64_t>(), (List{2, 5}));
  EXPECT_EQ(t.slice(0, -3, 99).to_vector<std::int64_t>(), (List{7, 8, 9}));
  EXPECT_EQ(t.slice(0, -1, -11, -4).to_vector<std::int64_t>(), (List{9, 5, 1}));
  EXPECT_EQ(t.slice(0, most, least, -9).to_vector<std::int64_t>(), (List{9, 0}));
  EXPECT_EQ(t.slice(0, 3, most, most).to_vector<std::int64_t>(), List{3});
  EXPECT_EQ(t.slice(0, 3, least, least).to_vector<std::int64_t>(), List{3});
  EXPECT_EQ(t.slice(0, 5, 5).numel(), 0);
  EXPECT_EQ(t.slice(0, 6, 2).numel(), 0);
  EXPECT_EQ(t.slice(0, 0, 0, -1).numel(), 0);
  EXPECT_EQ(t.slice(0, 4, 4).slice(0, 0, 9, 2).shape(), Shape{0});
  expect_error<ArgumentError>([&] { t.slice(0, 0, 5, 0); }, "a slice needs a step that is not 0");
}

TEST(Views, ShareTheMemory) {
  const Tensor t = zeros({3, 4}, cpu);
  t.t()[1].fill(5);
  EXPECT_EQ(t.to_vector<float>(), (std::vector<float>{0, 5, 0, 0, 0, 5, 0, 0, 0, 5, 0, 0}));
  EXPECT_EQ(t.view({2, 6}).data(), t.data());
  EXPECT_EQ(t.reshape({12}).data(), t.data());
  EXPECT_NE(t.t().reshape({12}).data(), t.data());
  EXPECT_EQ(t.contiguous().data(), t.data());
}

TEST(Views, ErrorsNameTheShapes) {
  const Tensor t = zeros({2, 3}, cpu);
  expect_error<ArgumentError>(
      [&] { t.select(1, 3); },
      "index 3 is out of range for dimension 1 of size 3 of a tensor of shape [2, 3]");
  expect_error<ArgumentError>(
      [&] { t[-3]; },
      "index -3 is out of range for dimension 0 of size 2 of a tensor of shape [2, 3]");
  expect_error<ArgumentError>([&] { t[0][0][0]; },
                              "dimension 0 is out of range for a tensor of rank 0");
  expect_error<ArgumentError>([&] { t.transpose(0, 2); },
                              "dimension 2 is out of range for a tensor of rank 2");
  expect_error<ArgumentError>([&] { t.t().view({6}); },
                              "a tensor of shape [3, 2] and strides [1, 3] has no view of shape "
                              "[6]: use reshape, which copies");
  expect_error<ArgumentError>(
      [&] {
        t.view({4, -1});
      },
      "shape [4, -1] does not fit a tensor of 6 elements");
  expect_error<ArgumentError>(
      [&] { t.permute({0}); },
      "permute([0]) of a tensor of rank 2: every dimension must be named exactly once");
  expect_error<ArgumentError>(
      [&] {
        t.permute({1, 1});
      },
      "permute([1, 1]) of a tensor of rank 2: every dimension must be named exactly once");
  expect_error<ArgumentError>(
      [&] { t.squeeze(0); },
      "dimension 0 of a tensor of shape [2, 3] has size 2: only one of size 1 can be squeezed");
  expect_error<ArgumentError>(
      [&] {
        t.broadcast_to({2, 4});
      },
      "shape [2, 3] cannot be broadcast to [2, 4]: sizes must be equal or 1, counted from the end");
}

TEST(Views, WorkWithoutElements) {
  const Tensor t = zeros({0, 3, 4}, cpu);
  EXPECT_EQ(t.select(1, 2).shape(), (Shape{0, 4}));
  EXPECT_EQ(t.slice(2, 3, 0, -1).shape(), (Shape{0, 3, 3}));
  EXPECT_EQ(t.permute({2, 0, 1}).shape(), (Shape{4, 0, 3}));
  EXPECT_EQ(t.view({4, 0}).shape(), (Shape{4, 0}));
  EXPECT_EQ(t.broadcast_to({5, 0, 3, 4}).numel(), 0);
  EXPECT_EQ(t.unsqueeze(1).squeeze(1).shape(), t.shape());
  EXPECT_THROW(t.select(0, 0), ArgumentError);
}

}  // namespace
}  // namespace tilewright
