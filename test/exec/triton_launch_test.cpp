// SPDX-License-Identifier: Apache-2.0
// exec/triton_launch_test.cpp — load_triton from C++: launches, specialisation, grids, configs,
// heuristics, and the sentence for every wrong launch.
#include <thread>

#include <gtest/gtest.h>

#include "base/settings.h"
#include "passes/passes.h"
#include "tilewright/error.h"
#include "tilewright/triton.h"

namespace tw = tilewright;

namespace {

constexpr const char* add_source = R"(import triton
import triton.language as tl

@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=mask) + tl.load(y_ptr + i, mask=mask), mask=mask)

@triton.heuristics({"HAS_BIAS": lambda args: args["bias_ptr"] is not None})
@triton.autotune(configs=[triton.Config({"BLOCK": 3}), triton.Config({"BLOCK": 32}, num_warps=2)],
                 key=["n"])
@triton.jit
def scale(x_ptr, bias_ptr, n, factor, HAS_BIAS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n) * factor
    if HAS_BIAS:
        x += tl.load(bias_ptr + i, mask=i < n)
    tl.store(x_ptr + i, x, mask=i < n)

@triton.heuristics({"BLOCK": lambda args: triton.next_power_of_2(args["n"])})
@triton.jit
def fill(x_ptr, n, value, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x_ptr + i, value, mask=i < n)

@triton.jit
def precise(x_ptr, n: tl.int64, MODE: tl.constexpr, T: tl.constexpr):
    if MODE == "double":
        tl.store(x_ptr, (n * 2).to(T))
    else:
        tl.store(x_ptr, n.to(T))

@triton.jit
def checked(x_ptr, n):
    tl.device_assert(n < 10, "n is too large")
    tl.store(x_ptr, n)

@triton.jit
def sum_of(outs, ins, scales, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for k in tl.static_range(len(ins)):
        total += tl.load(ins[k] + i, mask=i < n, other=0.0) * scales[k]
    tl.store(outs[0] + i, total, mask=i < n)
    if len(outs) > 1:
        tl.store(outs[1] + i, -total, mask=i < n)

@triton.jit
def of_shape(out, SHAPE: tl.constexpr):
    tl.store(out, SHAPE[0] * 10 + SHAPE[1])

@triton.jit
def transpose_blocks(from_desc, to_desc, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    r = tl.program_id(0) * ROWS
    c = tl.program_id(1) * COLUMNS
    to_desc.store([c, r], from_desc.load([r, c]).T)
)";

// Everything here runs on the interpreter and, where there is one, on the compiled CPU code.
class TritonLaunch : public ::testing::TestWithParam<bool> {
 protected:
  tw::TritonKernel load(const char* name) { return tw::load_triton_source(add_source, name); }
  tw::TritonLaunch on(tw::Grid grid) { return {.grid = grid, .interpret = GetParam()}; }
  std::string error(const std::function<void()>& call) {
    try {
      call();
    } catch (const tw::Error& e) {
      return e.what();
    }
    return "no error";
  }
};

TEST_P(TritonLaunch, AddsOverOddSizes) {
  const auto add = load("add");
  for (const std::int64_t n : {1, 7, 64, 1000}) {
    const auto x = tw::randn({n}, tw::TensorOptions(tw::Device::cpu()).device.value());
    const auto y = tw::ones({n}, tw::Device::cpu());
    const auto out = tw::zeros({n}, tw::Device::cpu());
    add[on(tw::cdiv(n, 64))](x, y, out, n, tw::constant("BLOCK", 64));
    for (std::int64_t i = 0; i < n; ++i)
      ASSERT_EQ(out[i].item<float>(), x[i].item<float>() + 1.0f) << i;
  }
}

TEST_P(TritonLaunch, ValuesOfOneKindShareTheirCode) {
  const auto add = load("add");
  const auto run = [&](std::int64_t n) {
    const auto x = tw::ones({256}, tw::Device::cpu());
    const auto out = tw::zeros({256}, tw::Device::cpu());
    add[on(tw::cdiv(n, 64))](x, x, out, n, tw::constant("BLOCK", 64));
  };
  run(33);
  run(35);
  EXPECT_EQ(add.specializations(), 1u);
  run(48);
  run(64);
  EXPECT_EQ(add.specializations(), 2u);
  run(1);
  EXPECT_EQ(add.specializations(), 3u);
}

TEST_P(TritonLaunch, GridsOfEveryForm) {
  const auto add = load("add");
  const auto x = tw::ones({100}, tw::Device::cpu());
  const auto ran = [&](const tw::TritonLaunch& launch) {
    const auto out = tw::zeros({100}, tw::Device::cpu());
    add[launch](x, x, out, 100, tw::constant("BLOCK", 32));
    return tw::allclose(out, tw::full({100}, 2, tw::Device::cpu()));
  };
  EXPECT_TRUE(ran(on(4)));
  EXPECT_TRUE(ran(on(tw::Dim3(4, 1))));
  EXPECT_TRUE(ran(on({4, 1, 1})));
  EXPECT_TRUE(ran(on([](const tw::Meta& meta) { return tw::cdiv(meta["n"], meta["BLOCK"]); })));
  EXPECT_FALSE(ran(on(3)));
  EXPECT_FALSE(ran(on(0)));  // no launch
}

TEST_P(TritonLaunch, GridsKnowDefaults) {
  const auto fill = tw::load_triton_source(R"(
import triton
import triton.language as tl
@triton.jit
def fill(out, n, value=3.0, BLOCK: tl.constexpr = 4 * 8):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, value, mask=i < n)
)",
                                           "fill");
  const auto out = tw::zeros({100}, tw::Device::cpu());
  fill[on([](const tw::Meta& meta) { return tw::cdiv(meta["n"], meta["BLOCK"]); })](out, 100);
  EXPECT_TRUE(tw::allclose(out, tw::full({100}, 3, tw::Device::cpu())));
}

TEST_P(TritonLaunch, ConfigsAndHeuristicsFillIn) {
  const auto scale = load("scale");
  const auto x = tw::ones({50}, tw::Device::cpu());
  const auto bias = tw::ones({50}, tw::Device::cpu());
  const auto grid = [](const tw::Meta& meta) { return tw::cdiv(50, meta["BLOCK"]); };
  // The first config is no power of two: the second is taken.
  scale[on(grid)](x, bias, 50, 3.0);
  EXPECT_TRUE(tw::allclose(x, tw::full({50}, 4, tw::Device::cpu())));
  scale[on(grid)](x, tw::none, 50, 0.5f);
  EXPECT_TRUE(tw::allclose(x, tw::full({50}, 2, tw::Device::cpu())));
}

TEST_P(TritonLaunch, HeuristicsThatReadValues) {
  const auto fill = load("fill");
  for (const int n : {5, 6, 100, 5}) {
    const auto x = tw::zeros({128}, tw::Device::cpu());
    fill[on(1)](x, n, 2.5);
    EXPECT_EQ(x[n - 1].item<float>(), 2.5f);
    EXPECT_EQ(x[n].item<float>(), 0.0f);
  }
  EXPECT_EQ(fill.specializations(), 2u);
}

TEST_P(TritonLaunch, TextAndTypesAreConstants) {
  const auto precise = load("precise");
  const auto x = tw::zeros({1}, tw::TensorOptions(tw::i64, tw::Device::cpu()));
  precise[on(1)](x, 21, "double", tw::i64);
  EXPECT_EQ(x.item<std::int64_t>(), 42);
  precise[on(1)](x, std::int64_t{1} << 40, tw::constant("T", tw::i64), tw::constant("MODE", "one"));
  EXPECT_EQ(x.item<std::int64_t>(), std::int64_t{1} << 40);
}

TEST_P(TritonLaunch, WrongArguments) {
  const auto add = load("add");
  const auto x = tw::ones({4}, tw::Device::cpu());
  const auto block = tw::constant("BLOCK", 4);
  EXPECT_EQ(error([&] { add[on(1)](x, x, x, 4, 4, 4); }),
            "kernel 'add' takes 5 arguments (x_ptr, y_ptr, out_ptr, n, BLOCK), but was given 6");
  EXPECT_EQ(error([&] { add[on(1)](x, x, x, 4, tw::constant("BLOK", 4)); }),
            "kernel 'add' has no parameter 'BLOK'; did you mean 'BLOCK'?");
  EXPECT_EQ(error([&] { add[on(1)](x, x, x, 4); }),
            "kernel 'add' needs a value for 'BLOCK', a tl.constexpr; pass tw::constant(\"BLOCK\", "
            "...), on the command line BLOCK=...");
  EXPECT_EQ(error([&] { add[on(1)](x, x, x, block); }), "kernel 'add' needs an argument for 'n'");
  EXPECT_EQ(error([&] { add[on(1)](x, x, x, 4, 4, block); }),
            "parameter 'BLOCK' of kernel 'add' is given twice");
  EXPECT_EQ(error([&] { add[on(1)](x, x, x, "four", block); }),
            "parameter 'n' of kernel 'add' is no tl.constexpr and cannot take the text 'four'");
  EXPECT_EQ(error([&] { add[on(1)](x, x, x, 4, x); }),
            "parameter 'BLOCK' of kernel 'add' is a tl.constexpr and takes a number, text, type or "
            "none, not a tensor or pointer");
  EXPECT_EQ(error([&] { add[on(1)](tw::Tensor(), x, x, 4, block); }),
            "parameter 'x_ptr' of kernel 'add' was given a tensor that is not defined");
  EXPECT_EQ(error([&] { add[on(-1)](x, x, x, 4, block); }),
            "the grid of kernel 'add' is -1 x 1 x 1; no size may be negative");
  EXPECT_EQ(error([&] { add[{.grid = 1, .num_warps = 3}](x, x, x, 4, block); }),
            "num_warps of kernel 'add' must be 1, 2, 4, 8, 16 or 32, not 3");
  EXPECT_EQ(error([&] { add[{.grid = 1, .num_ctas = 3}](x, x, x, 4, block); }),
            "num_ctas of kernel 'add' must be 1, 2, 4, 8 or 16, not 3");
  EXPECT_EQ(error([&] { load("precise")[on(1)](x, x, "a", tw::f32); }),
            "parameter 'n' of kernel 'precise' is annotated as int64 and cannot take a tensor or "
            "pointer");
  EXPECT_EQ(error([&] { load("scale")[on(1)](x, x, 4, 1.0, tw::constant("BLOCK", 8)); }),
            "'BLOCK' is set by the triton.autotune of kernel 'scale' and cannot be given at the "
            "launch as well");
  EXPECT_EQ(error([&] { load("ad"); }), "<source> has no kernel 'ad'; did you mean 'add'?");
  EXPECT_EQ(error([&] { add[on(1)](x, x, x, 4, tw::constant("BLOCK", 3)); }).substr(0, 14),
            "<source>:6:36:");
}

TEST_P(TritonLaunch, LeftOutPassesChangeNoResult) {
  for (const tw::PassEntry& pass : tw::all_passes()) {
    tw::Settings changed = tw::settings();
    changed.skipped_passes = std::string(pass.name);
    const tw::SettingsOverride guard(changed);
    const auto x = tw::full({10}, 2.0, tw::Device::cpu());
    const auto out = tw::zeros({10}, tw::Device::cpu());
    load("sum_of")[on(1)](tw::tuple(out), tw::tuple(x, x, x), tw::tuple(1, 2, 0.5), 9,
                          tw::constant("BLOCK", 16));
    EXPECT_EQ(out[8].item<float>(), 7.0f) << pass.name;
    EXPECT_EQ(out[9].item<float>(), 0.0f) << pass.name;
  }
  tw::Settings changed = tw::settings();
  changed.skipped_passes = "canonicalize,pipeline_loop";
  const tw::SettingsOverride guard(changed);
  const auto x = tw::zeros({4}, tw::Device::cpu());
  EXPECT_EQ(error([&] { load("add")[on(1)](x, x, x, 4, tw::constant("BLOCK", 4)); }),
            "TILEWRIGHT_SKIP_PASSES: there is no pass 'pipeline_loop'; did you mean "
            "'pipeline_loops'?");
}

TEST_P(TritonLaunch, TuplesAreArguments) {
  const auto sum = load("sum_of");
  const auto x = tw::full({10}, 2.0, tw::Device::cpu());
  const auto y = tw::full({10}, 3.0, tw::Device::cpu());
  const auto a = tw::zeros({10}, tw::Device::cpu());
  const auto b = tw::zeros({10}, tw::Device::cpu());
  const auto block = tw::constant("BLOCK", 16);
  sum[on(1)](tw::tuple(a), tw::tuple(x, y), tw::tuple(1, 0.5), 10, block);
  EXPECT_EQ(a[9].item<float>(), 3.5f);
  sum[on(1)](tw::tuple(a, b), tw::tuple(x, y, x), tw::tuple(1, 2, 7), 9, block);
  EXPECT_EQ(a[8].item<float>(), 22.0f);
  EXPECT_EQ(b[8].item<float>(), -22.0f);
  EXPECT_EQ(a[9].item<float>(), 3.5f);
  EXPECT_EQ(sum.specializations(), 2u);
  // Other values of the same kinds run the same code.
  sum[on(1)](tw::tuple(b, a), tw::tuple(y, y, x), tw::tuple(1, 3, 5), 9, block);
  EXPECT_EQ(sum.specializations(), 2u);
  EXPECT_EQ(b[0].item<float>(), 22.0f);

  const auto out = tw::zeros({1}, tw::TensorOptions(tw::i32, tw::Device::cpu()));
  load("of_shape")[on(1)](out, tw::tuple(4, 2));
  EXPECT_EQ(out.item<int>(), 42);

  EXPECT_EQ(
      error([&] { sum[on(1)](tw::tuple(a), tw::tuple(tw::tuple(x)), tw::tuple(1), 10, block); }),
      "parameter 'ins' of kernel 'sum_of' cannot take a tuple or descriptor inside a tuple");
  EXPECT_EQ(error([&] { sum[on(1)](tw::tuple(a), tw::tuple(tw::Tensor()), 1, 10, block); }),
            "parameter 'ins' of kernel 'sum_of' was given a tensor that is not defined");
}

TEST_P(TritonLaunch, TensorDescriptorsAreArguments) {
  const auto transpose = load("transpose_blocks");
  const auto x =
      tw::arange(0, 20 * 12, 1, tw::TensorOptions(tw::f32, tw::Device::cpu())).reshape({20, 12});
  const auto y = tw::zeros({12, 20}, tw::Device::cpu());
  transpose[on(tw::Grid(3, 2))](tw::TensorDescriptor(x, {8, 8}), tw::TensorDescriptor(y, {8, 8}), 8,
                                8);
  EXPECT_EQ(tw::max_abs_error(y, x.transpose(0, 1).contiguous()), 0.0);
  // A view with a stride of its own, and blocks of another shape.
  const auto part = x.slice(1, 0, 8);
  const auto z = tw::zeros({8, 20}, tw::Device::cpu());
  transpose[on(tw::Grid(5, 1))](tw::TensorDescriptor(part, {4, 8}), tw::TensorDescriptor(z, {8, 4}),
                                4, 8);
  EXPECT_EQ(tw::max_abs_error(z, part.transpose(0, 1).contiguous()), 0.0);
  EXPECT_EQ(transpose.specializations(), 2u);
}

TEST_P(TritonLaunch, BadTensorDescriptors) {
  const auto x = tw::zeros({4, 8}, tw::Device::cpu());
  EXPECT_EQ(error([&] { tw::TensorDescriptor(x, {4}); }),
            "a tensor descriptor needs one block size for each of the tensor's 2 dimensions, not "
            "[4]");
  EXPECT_EQ(error([&] {
              tw::TensorDescriptor(x, {4, 3});
            }),
            "the block sizes of a tensor descriptor are powers of two, not [4, 3]");
  EXPECT_EQ(error([&] {
              tw::TensorDescriptor(x.transpose(0, 1), {4, 4});
            }),
            "the last dimension of a tensor descriptor must be contiguous, but its stride is 8; "
            "pass tensor.contiguous()");
  EXPECT_EQ(error([&] { tw::TensorDescriptor(tw::Tensor(), {4}); }),
            "a tensor descriptor needs a tensor that is defined");
  const auto out = tw::zeros({1}, tw::TensorOptions(tw::i32, tw::Device::cpu()));
  EXPECT_EQ(error([&] {
              load("of_shape")[on(1)](out, tw::TensorDescriptor(x, {4, 4}));
            }),
            "parameter 'SHAPE' of kernel 'of_shape' is a tl.constexpr and takes a number, text, "
            "type or none, not a tensor or pointer");
}

TEST_P(TritonLaunch, AssertsFireOnlyWhenDebugging) {
  const auto checked = load("checked");
  const auto x = tw::zeros({1}, tw::TensorOptions(tw::i32, tw::Device::cpu()));
  checked[on(1)](x, 11);
  EXPECT_EQ(x.item<int>(), 11);
  tw::TritonLaunch debugging = on(1);
  debugging.debug = true;
  const std::string what = error([&] { checked[debugging](x, 12); });
  EXPECT_NE(what.find("n is too large"), std::string::npos) << what;
}

TEST_P(TritonLaunch, ManyThreads) {
  const auto add = load("add");
  const auto work = [&] {
    for (int i = 1; i < 20; ++i) {
      const auto x = tw::ones({64}, tw::Device::cpu());
      const auto out = tw::zeros({64}, tw::Device::cpu());
      add[on(tw::cdiv(3 * i, 16))](x, x, out, 3 * i, tw::constant("BLOCK", 16));
      ASSERT_EQ(out[3 * i - 1].item<float>(), 2.0f);
    }
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
}

TEST(TritonInterpreter, FindsAccessesOutOfBounds) {
  const auto add = tw::load_triton_source(add_source, "add");
  const auto x = tw::ones({10}, tw::Device::cpu());
  try {
    add[{.grid = 1, .interpret = true}](x, x, x, 11, tw::constant("BLOCK", 16));
    FAIL();
  } catch (const tw::UserError& e) {
    EXPECT_NE(std::string(e.what()).find("x_ptr"), std::string::npos) << e.what();
  }
}

constexpr const char* cancel_source = R"(
import triton
import triton.language as tl

@triton.jit
def cancel(x_ptr, out_ptr, same_ptr):
    x = tl.load(x_ptr)
    tl.store(out_ptr, (x + 1.0) - x)
    tl.store(same_ptr + 1, tl.load(out_ptr) * 1e-12 + 1.0)
    tl.store(out_ptr + 2, (tl.load(same_ptr + 1) - 1.0) * 1e12)
)";

TEST(TritonInterpreter, Float64RoundsOnceAtTheEnd) {
  const auto cancel = tw::load_triton_source(cancel_source, "cancel");
  const auto x = tw::full({1}, 1e8, tw::Device::cpu());
  const auto out = tw::zeros({3}, tw::Device::cpu());
  cancel[{.grid = 1, .interpret = true}](x, out, out);
  EXPECT_EQ(out.to_vector<float>(), (std::vector<float>{0, 1, 0}));
  cancel[{.grid = 1, .interpret = true, .float64 = true}](x, out, out);
  EXPECT_EQ(out.to_vector<float>(), (std::vector<float>{1, 1, 1.0000889f}));
}

constexpr const char* options_source = R"(
import triton
import triton.language as tl

@triton.autotune(configs=[triton.Config({'SCALE': 2})], key=[])
@triton.heuristics({'num_warps': lambda args: 8})
@triton.jit
def options(out_ptr, SCALE: tl.constexpr, num_warps: tl.constexpr):
    tl.store(out_ptr, SCALE * 100 + num_warps)
)";

TEST(TritonInterpreter, OptionsCanBeConstantsAndTunedValuesGiven) {
  const auto options = tw::load_triton_source(options_source, "options");
  const auto out = tw::zeros({1}, {tw::i32, tw::Device::cpu()});
  options[{.grid = 1, .interpret = true}](out);
  EXPECT_EQ(out.item<int>(), 208);
  options[{.grid = 1, .num_warps = 2, .interpret = true}](out);
  EXPECT_EQ(out.item<int>(), 202);
  options[{.grid = 1, .interpret = true, .bare = true}](out, tw::constant("SCALE", 5));
  EXPECT_EQ(out.item<int>(), 504);
}

INSTANTIATE_TEST_SUITE_P(, TritonLaunch, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "Interpreter" : "Cpu"; });

}  // namespace
