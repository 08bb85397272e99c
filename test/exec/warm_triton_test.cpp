// SPDX-License-Identifier: Apache-2.0
// exec/warm_triton_test.cpp — a warm launch of a Triton kernel allocates nothing: many arguments,
// and one whose config was tuned.
#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

#include "tilewright/triton.h"

// The sanitizers have allocation functions of their own.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace {
thread_local long allocations = 0;
}

void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* const data = std::malloc(bytes)) return data;
  throw std::bad_alloc();
}
void operator delete(void* data) noexcept { std::free(data); }
void operator delete(void* data, std::size_t) noexcept { std::free(data); }

namespace tw = tilewright;

namespace {

constexpr const char* source = R"(
import triton
import triton.language as tl

@triton.jit
def twenty(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, BLOCK: tl.constexpr):
    x = tl.arange(0, BLOCK)
    tl.store(h + x, tl.load(a + x) + i + j + k + l + m + n + o + p + q + r + s + t)

@triton.autotune(configs=[triton.Config({'BLOCK': 16}), triton.Config({'BLOCK': 32})], key=['n'])
@triton.jit
def tuned(x, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, 1.0, mask=i < n)
)";

template <class Launch>
long allocations_of(const Launch& launch) {
  launch();
  const long before = allocations;
  for (int i = 0; i < 10; ++i) launch();
  return allocations - before;
}

TEST(WarmTriton, TwentyArguments) {
  const auto kernel = tw::load_triton_source(source, "twenty");
  const auto x = tw::zeros({16}, tw::Device::cpu());
  EXPECT_EQ(allocations_of([&] {
              kernel[1](x, x, x, x, x, x, x, x, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
                        tw::constant("BLOCK", 16));
            }),
            0);
}

TEST(WarmTriton, AnAutotunedKernel) {
  const auto kernel = tw::load_triton_source(source, "tuned");
  const auto x = tw::zeros({16}, tw::Device::cpu());
  EXPECT_EQ(allocations_of([&] { kernel[1](x, 16); }), 0);
  EXPECT_EQ(x[15].item<float>(), 1.0f);
}

}  // namespace

#endif
