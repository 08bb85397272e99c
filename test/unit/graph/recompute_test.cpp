// SPDX-License-Identifier: Apache-2.0
// graph/recompute_test.cpp — what a compiled function keeps in memory: values that are cheaper
// computed again, and arguments that are moved into a call.
#include "graph/group/recompute.h"

#include <algorithm>

#include <gmock/gmock.h>

#include "tilewright/compile.h"
#include "tilewright/grad.h"
#include "tilewright/ops.h"

namespace tilewright {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const Device cpu = Device::cpu();

Tensor random(Shape shape, std::uint64_t seed = 3) {
  return randn(std::move(shape), RandomOptions(f32, cpu).with_seed(seed));
}

// Value and derivatives are those of kernels that keep everything.
template <class Loss>
std::string explained(Loss loss, const std::vector<Tensor>& arguments) {
  const auto both = [loss](std::vector<Tensor> by) { return value_and_grad(loss)(by); };
  const auto fused = compile(both, {.name = "fused"});
  const auto plain = compile(both, {.name = "plain", .fuses = false});
  const auto found = fused(arguments), expected = plain(arguments);
  EXPECT_TRUE(allclose(found.first, expected.first, {.relative = 1e-5}));
  for (std::size_t i = 0; i < arguments.size(); ++i)
    EXPECT_TRUE(allclose(found.second[i], expected.second[i], {.relative = 1e-4, .absolute = 1e-5}))
        << i << fused.explain();
  return fused.explain();
}

// The product is in memory anyway: its functions are not kept for the derivative.
TEST(Recompute, FunctionsOfAProduct) {
  const std::string text = explained(
      [](std::vector<Tensor> v) {
        const Tensor x = matmul(v[0], v[1]);
        const Tensor y = 0.5 * x * (1 + tanh(0.79788456 * (x + 0.044715 * x * x * x)));
        return sum(square(matmul(y, v[2])));
      },
      {random({6, 5}), random({5, 8}, 4), random({8, 3}, 5)});
  EXPECT_THAT(text, HasSubstr("computed again: "));
  // 6 x 8 floats in, and out: nothing but y.
  EXPECT_THAT(text, HasSubstr("reads 192 bytes, writes 192\n"));
}

// What is read through a view as well cannot be computed at the reader's place.
TEST(Recompute, NotWhatIsReadThroughAView) {
  explained(
      [](std::vector<Tensor> v) {
        const Tensor x = matmul(v[0], v[1]);
        const Tensor y = x * 2.0, z = tanh(y);
        const Tensor later = matmul(z, v[1]);
        return sum(later * y.t() + later * z * y + z.t() * later);
      },
      {random({6, 6}), random({6, 6}, 4)});
}

// Rows: the norm's input and one number a row, not the normalised rows.
TEST(Recompute, NormsKeepOneNumberARow) {
  const std::string text = explained(
      [](std::vector<Tensor> v) {
        const Tensor x = matmul(v[0], v[1]);
        return sum(square(matmul(layer_norm(x, v[3], v[4]), v[2])));
      },
      {random({6, 5}), random({5, 8}, 4), random({8, 3}, 5), random({8}, 6), random({8}, 7)});
  EXPECT_THAT(text, HasSubstr("computed again: "));
}

// Of many functions one after the other most are kept: the last ones would cost all before them.
TEST(Recompute, NotWhatCostsMoreThanMemory) {
  const std::string text = explained(
      [](std::vector<Tensor> v) {
        Tensor x = matmul(v[0], v[1]);
        for (int i = 0; i < 4; ++i) x = sin(exp(cos(x)));
        return sum(square(matmul(x, v[1])));
      },
      {random({6, 6}), random({6, 6}, 5)});
  const std::size_t line = text.find("computed again: ");
  const auto names =
      line == std::string::npos
          ? 0
          : std::count(text.begin() + static_cast<std::ptrdiff_t>(line),
                       text.begin() + static_cast<std::ptrdiff_t>(text.find(" for ", line)), '%');
  EXPECT_LT(names, 8) << text;
}

// ---- Arguments that are moved in.

Tensor noted(std::vector<std::string>& order, const char* name, std::vector<float>& memory) {
  return from_blob(memory.data(), {4, 4}, {f32, cpu}, [&order, name] { order.emplace_back(name); });
}

TEST(MovedArguments, GiveTheirMemoryBackWhenTheyAreReadLast) {
  const auto f = compile([](Tensor a, Tensor b, Tensor c) { return matmul(matmul(c, b), a); });
  std::vector<float> memory(16, 1.0F);
  std::vector<std::string> order;
  for (int call = 0; call < 2; ++call) {
    order.clear();
    Tensor a = noted(order, "a", memory), b = noted(order, "b", memory),
           c = noted(order, "c", memory);
    const Tensor made = f(std::move(a), b, std::move(c));
    EXPECT_THAT(order, ElementsAre("c", "a"));  // and b is the caller's still
    EXPECT_EQ(made.to_vector<float>()[0], 16.0F);
    EXPECT_EQ(b.to_vector<float>()[0], 1.0F);
  }
}

}  // namespace
}  // namespace tilewright
