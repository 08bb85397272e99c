// SPDX-License-Identifier: Apache-2.0
// exec/compile_modes_test.cpp — modes of tw::compile give the results of the default one; what they
// record, time and keep; and how much is compiled for many shapes.
#include <cstdlib>
#include <filesystem>
#include <random>
#include <thread>

#include <gmock/gmock.h>

#include "graph/launch.h"
#include "graph/plan/tune.h"
#include "ops_reference.h"
#include "runtime/compile.h"
#include "tilewright/compile.h"
#include "tilewright/error.h"
#include "tilewright/grad.h"
#include "tilewright/nn.h"

namespace tilewright {
namespace {

using testing::HasSubstr;

Tensor softmax_of_gelu(Tensor x, Tensor w) {
  const Tensor y = gelu(x * w + 0.5);
  const Tensor power = exp(y - max(y, -1, true));
  return power / sum(power, -1, true);
}

Tensor uniform_rows(Shape shape, std::uint64_t seed = 1) {
  return randn(std::move(shape), RandomOptions(f32, Device::cpu()).with_seed(seed));
}

std::vector<float> floats_of(const Tensor& x) { return x.cpu().contiguous().to_vector<float>(); }

// ---- Every mode computes the same.

class Modes : public OpsTest {};

TEST_P(Modes, GiveTheResultsOfTheDefault) {
  const auto network = [](Tensor x, nn::Mlp net) {
    const auto loss = [](nn::Mlp n, Tensor in) { return mean(square(n(in))); };
    auto [value, g] = value_and_grad(loss)(net, x);
    return std::tuple(value, g, softmax(net(x)));
  };
  const nn::Mlp net({24, 8}, RandomOptions(f32, device()).with_seed(5));
  const auto plain = compile(network);
  for (const Mode mode : {Mode::ReduceOverhead, Mode::MaxAutotune, Mode::MaxAutotuneNoGraphs}) {
    const auto other = compile(network, {.name = "network", .mode = mode});
    for (std::uint64_t call = 0; call < 3; ++call) {
      const Tensor x = random({10, 24}, f32, call);
      auto [loss, g, y] = other(x, net);
      auto [loss_expected, g_expected, y_expected] = plain(x, net);
      // Products of other blocks, whichever win, have their sums in another order.
      expect_near(loss, doubles_of(loss_expected), 1e-5, std::string(name_of(mode)));
      expect_near(y, doubles_of(y_expected), 1e-5);
      for (std::size_t i = 0; i < g.layers.size(); ++i)
        expect_near(g.layers[i].weight, doubles_of(g_expected.layers[i].weight), 1e-5);
    }
    const bool replays = mode != Mode::MaxAutotuneNoGraphs;
    EXPECT_EQ(other.stats().replays, replays ? 2u : 0u) << other.explain();
    EXPECT_EQ(other.stats().traces, 1u);
    if (!replays) continue;
    EXPECT_THAT(other.explain(), HasSubstr("replayed: "));
  }
}

INSTANTIATE_TEST_SUITE_P(Everywhere, Modes,
                         testing::Values(OpsOn::Cpu, OpsOn::Interpreter, OpsOn::Emulated,
                                         OpsOn::Cuda),
                         ops_place_name);

// ---- Replays.

TEST(Replays, ResultsAreFreshAndInputsMayMove) {
  const auto f = compile(softmax_of_gelu, {.name = "f", .mode = Mode::ReduceOverhead});
  const Tensor w = uniform_rows({70}, 9);
  std::vector<Tensor> results, inputs;
  for (std::uint64_t i = 0; i < 4; ++i) {
    inputs.push_back(uniform_rows({6, 70}, i));
    results.push_back(f(inputs.back(), w));
  }
  EXPECT_EQ(f.stats().replays, 3u);
  for (std::size_t i = 0; i < 4; ++i) {
    expect_near(results[i], doubles_of(softmax_of_gelu(inputs[i], w)), 1e-6);
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(results[i].data(), results[j].data());
  }
}

// A graph with a value between kernels, one of which runs several times.
TEST(Replays, MemoryBetweenKernelsIsPlannedOnce) {
  const auto chain = [](Tensor x) {
    for (int i = 0; i < 6; ++i) x = softmax(x.t() * 2.0, 0).t().contiguous() + sum(x, 0);
    return x;
  };
  const auto f = compile(chain, {.name = "chain", .mode = Mode::ReduceOverhead});
  const Tensor x = uniform_rows({20, 30});
  const std::vector<float> expected = floats_of(compile(chain)(x));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(floats_of(f(x)), expected);
  EXPECT_EQ(f.stats().replays, 2u) << f.explain();
  EXPECT_GE(f.stats().launches, f.stats().kernels);
}

TEST(Replays, AddressesOfAnotherAlignmentRunThePlan) {
  const auto f =
      compile([](Tensor x) { return x * 2.0; }, {.name = "twice", .mode = Mode::ReduceOverhead});
  const Tensor x = uniform_rows({65});
  const Tensor whole = x.slice(0, 0, 64), moved = x.slice(0, 1, 65);
  f(whole);
  expect_near(f(moved), doubles_of(moved * 2.0), 0);
  EXPECT_EQ(f.stats().replays, 0u);
  expect_near(f(whole), doubles_of(whole * 2.0), 0);
  EXPECT_EQ(f.stats().replays, 1u);
}

TEST(Replays, ArgumentsInOneMemoryAreToldApartOrNotReplayed) {
  const auto f = compile([](Tensor x, Tensor y) { return x - 2.0 * y; },
                         {.name = "f", .mode = Mode::ReduceOverhead});
  const Tensor both = uniform_rows({128});
  const Tensor x = both.slice(0, 0, 64), y = both.slice(0, 64, 128);
  f(x, y);
  expect_near(f(y, x), doubles_of(y - 2.0 * x), 1e-6);
  EXPECT_EQ(f.stats().replays, 1u);
  const auto g = compile([](Tensor a, Tensor b) { return a - 2.0 * b; },
                         {.name = "g", .mode = Mode::ReduceOverhead});
  expect_near(g(x, x), doubles_of(-1.0 * x), 1e-6);
  expect_near(g(x, y), doubles_of(x - 2.0 * y), 1e-6);
  EXPECT_THAT(g.explain(), HasSubstr("not replayed: two of its arguments lie in the same memory"));
}

TEST(Replays, CallsFromManyThreads) {
  const auto f = compile(softmax_of_gelu, {.name = "f", .mode = Mode::ReduceOverhead});
  const Tensor w = uniform_rows({33}, 9);
  std::vector<std::thread> threads;
  std::vector<Tensor> found(8), inputs(8);
  for (std::size_t t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      inputs[t] = uniform_rows({40, 33}, t);
      for (int i = 0; i < 20; ++i) found[t] = f(inputs[t], w);
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t t = 0; t < 8; ++t)
    expect_near(found[t], doubles_of(softmax_of_gelu(inputs[t], w)), 1e-6);
  EXPECT_EQ(f.stats().calls, 160u);
}

// ---- One kernel for many tensors.

TEST_P(Modes, OptimisersUpdateAllParametersInOneKernel) {
  const auto update = [](nn::Mlp net, nn::AdamW<nn::Mlp> adam, nn::Mlp g) {
    adam.update(net, g);
    return std::pair(net, adam);
  };
  const RandomOptions options = RandomOptions(f32, device()).with_seed(5);
  const nn::Mlp net({20, 33, 7, 40}, options), g({20, 33, 7, 40}, options.with_seed(6));
  const nn::AdamW<nn::Mlp> adam(net, {.rate = 0.02});
  const auto merged = compile(update);
  const auto alone = compile(update, {.name = "alone", .fuses = false});
  const auto [found, state] = merged(net, adam, g);
  const auto [expected, expected_state] = alone(net, adam, g);
  for (std::size_t i = 0; i < net.layers.size(); ++i) {
    expect_near(found.layers[i].weight, doubles_of(expected.layers[i].weight), 1e-6);
    expect_near(found.layers[i].bias, doubles_of(expected.layers[i].bias), 1e-6);
    expect_near(state.second.layers[i].weight, doubles_of(expected_state.second.layers[i].weight),
                1e-6);
  }
  // Sizes are multiples of 16 or not: a kernel for each, and one for the number of steps.
  EXPECT_LE(merged.stats().kernels, 4u) << merged.explain();
  EXPECT_THAT(merged.explain(), HasSubstr("lists of tensors"));
}

TEST(Merging, ListsAreNoMoreThanAKernelTakes) {
  const auto many = [](std::vector<Tensor> all) {
    for (Tensor& one : all) one = one * 3.0 + 1.0;
    return all;
  };
  std::vector<Tensor> all;
  for (std::int64_t i = 0; i < 21; ++i)
    all.push_back(uniform_rows({1 + 5 * i}, static_cast<std::uint64_t>(i)));
  const auto f = compile(many);
  const std::vector<Tensor> found = f(all);
  for (std::size_t i = 0; i < all.size(); ++i)
    expect_near(found[i], doubles_of(all[i] * 3.0 + 1.0), 1e-6);
  EXPECT_LE(f.stats().kernels, 5u) << f.explain();
}

TEST(Merging, TensorsWithGapsHaveKernelsOfTheirOwn) {
  const auto both = [](Tensor x, Tensor y) { return std::pair(x * 3.0 + 1.0, y * 3.0 + 1.0); };
  const Tensor x = uniform_rows({40}).slice(0, 0, 40, 2);
  const Tensor y = uniform_rows({90}, 2).slice(0, -1, -1000, -3);
  const auto f = compile(both);
  const auto [found_x, found_y] = f(x, y);
  expect_near(found_x, doubles_of(x * 3.0 + 1.0), 1e-6);
  expect_near(found_y, doubles_of(y * 3.0 + 1.0), 1e-6);
  EXPECT_EQ(f.stats().kernels, 2u) << f.explain();
}

// ---- More leaves than a kernel has: views of one tensor count each.

TEST(Fusion, ALongRecurrenceIsSeveralKernels) {
  const auto loop = [](Tensor x) {
    Tensor row = x.select(0, 0);
    for (std::int64_t i = 1; i < x.size(0); ++i) row = row * 0.5 + x.select(0, i);
    return row;
  };
  const Tensor x = uniform_rows({60, 50});
  const auto f = compile(loop);
  expect_near(f(x), doubles_of(loop(x)), 1e-6);
  EXPECT_LE(f.stats().kernels, 8u);
}

TEST(Replays, OperationsThatAreNoKernelsAreMadeAnew) {
  const auto joined = [](Tensor x, Tensor y) { return cat({x * 2.0, y}) + 1.0; };
  const auto f = compile(joined, {.name = "joined", .mode = Mode::ReduceOverhead});
  for (std::uint64_t i = 0; i < 3; ++i) {
    const Tensor x = uniform_rows({5, 8}, i), y = uniform_rows({3, 8}, 10 + i);
    expect_near(f(x, y), doubles_of(joined(x, y)), 1e-6);
  }
  EXPECT_EQ(f.stats().replays, 2u) << f.explain();
}

// Rows along two dimensions, of which an operand has one: what no walk joins is copied first, by a
// kernel that a replay makes too.
TEST(Replays, RowsThatAreCopiedAreCopiedAnew) {
  const auto loss = [](Tensor x, Tensor w, Tensor b) {
    return mean(square(tanh(matmul(x, w) + b)));
  };
  const auto f = compile(loss, {.name = "loss", .mode = Mode::ReduceOverhead});
  for (std::uint64_t i = 0; i < 3; ++i) {
    const Tensor x = uniform_rows({6, 5}, i), w = uniform_rows({5, 3}, 10 + i);
    const Tensor b = uniform_rows({3}, 20 + i);
    expect_near(f(x, w, b), doubles_of(loss(x, w, b)), 1e-6);
  }
  EXPECT_EQ(f.stats().replays, 2u) << f.explain();
  // The copy is a kernel of the plan.
  EXPECT_THAT(f.output_code(), HasSubstr("def tw_copy"));
}

// Of an operand that is the same in each row, one row is copied; one that lies together is read
// where it is.
TEST(Replays, CopiesAreNoLargerThanWhatDiffers) {
  const auto weighed = [](Tensor x, Tensor w) { return sum(x * w, {0, 2}); };
  const auto f = compile(weighed, {.name = "weighed", .mode = Mode::ReduceOverhead});
  for (std::uint64_t i = 0; i < 3; ++i) {
    const Tensor x = uniform_rows({40, 30}, i).view({5, 8, 30}).permute({0, 2, 1});
    const Tensor w = uniform_rows({1, 8}, 10 + i);
    expect_near(f(x, w), doubles_of(weighed(x, w)), 1e-5);
  }
  EXPECT_EQ(f.stats().replays, 2u) << f.explain();
  EXPECT_THAT(f.explain(), HasSubstr("; reads 32 bytes, writes 160\n"));
}

// The first call runs twice, to record and to compare, and draws once.
TEST(Replays, RandomNumbersAreThoseOfEagerCalls) {
  const auto noisy = [](Tensor x) {
    return dropout(x, 0.3) * 2.0 + rand({5, 8}, Device::cpu()) + randn({8}, Device::cpu());
  };
  const Tensor x = uniform_rows({5, 8});
  const auto f = compile(noisy, {.name = "noisy", .mode = Mode::ReduceOverhead});
  std::vector<Tensor> eager, replayed;
  manual_seed(7);
  for (int i = 0; i < 3; ++i) eager.push_back(noisy(x));
  manual_seed(7);
  for (int i = 0; i < 3; ++i) replayed.push_back(f(x));
  for (std::size_t i = 0; i < 3; ++i) expect_near(replayed[i], doubles_of(eager[i]), 1e-6);
  EXPECT_EQ(f.stats().replays, 2u) << f.explain();
}

TEST(Replays, OfNoElements) {
  const auto joined = [](Tensor x, Tensor y) { return cat({tanh(x), y}) + sum(x); };
  const auto f = compile(joined, {.mode = Mode::ReduceOverhead});
  const Tensor x = empty({0, 8}, Device::cpu()), y = uniform_rows({3, 8});
  for (int i = 0; i < 2; ++i) expect_near(f(x, y), doubles_of(y), 0);
  EXPECT_EQ(f.stats().replays, 1u) << f.explain();
}

// ---- Tuning.

// With a cache of its own: what an earlier run of the tests has kept would leave nothing to time.
class Tuning : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder = testing::TempDir() + "tuning_XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    Settings changed = settings();
    changed.cache_folder = folder_ = folder;
    own_cache_ = std::make_unique<SettingsOverride>(changed);
  }
  void TearDown() override {
    own_cache_.reset();
    std::filesystem::remove_all(folder_);
  }
  static Tensor step(Tensor x, Tensor w) { return gelu(matmul(x, w)) * 0.5; }
  // Whichever variant won has its own order of the sums: 64 products of numbers around 1.
  CompileStats stats_of_call() {
    const Tensor x = uniform_rows({37, 64}), w = uniform_rows({64, 48}, 2);
    const auto f = compile(step, {.name = "step", .mode = Mode::MaxAutotuneNoGraphs});
    expect_near(f(x, w), doubles_of(step(x.to(f64), w.to(f64))), 1e-5);
    explained_ = f.explain();
    return f.stats();
  }

 private:
  std::string folder_;
  std::unique_ptr<SettingsOverride> own_cache_;

 protected:
  std::string explained_;
};

TEST_F(Tuning, WinnersAreKept) {
  const CompileStats first = stats_of_call();
  EXPECT_GE(first.variants, 4u) << "products and maps have variants";
  EXPECT_EQ(first.known, 0u);
  const CompileStats second = stats_of_call();
  EXPECT_EQ(second.variants, 0u) << "nothing is timed twice";
  graph::forget_winners();
  const CompileStats as_in_another_process = stats_of_call();
  EXPECT_EQ(as_in_another_process.variants, 0u) << "what was timed is on disk";
  EXPECT_EQ(as_in_another_process.known, 2u) << "the product and the map";
  // Who won, with times, whether it was timed now or before.
  EXPECT_THAT(explained_, testing::ContainsRegex("kernel 1: matmul.*\n  fastest of [0-9]+: .*our "
                                                 "kernel with .*blocks.* \\([0-9.]+ us\\)"));
}

// ---- How much is compiled.

TEST(Compilations, AreNoMoreThanClassesOfShapes) {
  const auto f =
      compile([](Tensor x, Tensor w) { return std::pair(softmax_of_gelu(x, w), sum(tanh(x), 0)); });
  std::mt19937_64 choose(7);
  const std::size_t classes_before = graph::group_kernels_made();
  const std::size_t sources_before = compiled_sources();
  for (int i = 0; i < 500; ++i) {
    const auto rows = static_cast<std::int64_t>(1 + choose() % 60);
    const auto columns = static_cast<std::int64_t>(1 + choose() % 300);
    const auto [y, total] =
        f(zeros({rows, columns}, Device::cpu()), ones({columns}, Device::cpu()));
    ASSERT_EQ(y.shape(), (Shape{rows, columns}));
    ASSERT_NEAR(y.select(0, 0).select(0, 0).item<float>(), 1.0 / static_cast<double>(columns),
                1e-5);
  }
  const std::size_t classes = graph::group_kernels_made() - classes_before;
  EXPECT_LE(compiled_sources() - sources_before, classes);
  // Rows: blocks of 8 to 512 (7), aligned or not, as long as the block or not, one row or more.
  EXPECT_LE(classes, 60u);
  EXPECT_GE(f.stats().traces, 490u);
}

// ---- TILEWRIGHT_CHECK_TRACE.

class CheckTrace : public testing::Test {
 protected:
  void SetUp() override {
    Settings changed = settings();
    changed.check_trace = true;
    checked_ = std::make_unique<SettingsOverride>(changed);
  }
  template <class Call>
  static std::string message(const Call& call) {
    try {
      call();
    } catch (const ArgumentError& error) {
      return error.what();
    }
    return "nothing was thrown";
  }

 private:
  std::unique_ptr<SettingsOverride> checked_;
};

// A tensor that the function makes of numbers is another one in each trace.
TEST_F(CheckTrace, TensorsOfNumbersAreComparedByTheirElements) {
  float scale = 2;
  const Tensor x = ones({3}, Device::cpu());
  const auto f = compile(
      [&](Tensor v) {
        return v * tensor<float>({1, scale, 3}, Device::cpu()) + zeros({3}, Device::cpu());
      },
      {.name = "weighted"});
  f(x);
  expect_near(f(x), {{3}, {1, 2, 3}}, 0);
  scale = 4;
  EXPECT_EQ(message([&] { f(x); }),
            "the compiled function 'weighted' makes %1, a float32[3], of other values than when it "
            "was traced: pass what changes as arguments");
  double shift = 1;
  const auto loop = compile(
      [&](Tensor v) {
        const Tensor y = empty({9}, Device::cpu());
        for (int i = 0; i < 9; ++i) y[i].copy_from(v[0] + shift * i);
        return y;
      },
      {.name = "loop"});
  loop(x);
  loop(x);
  shift = 2;
  EXPECT_THROW(loop(x), ArgumentError);
}

TEST_F(CheckTrace, NamesWhatNoGuardSees) {
  double scale = 2;
  const Tensor x = ones({3}, Device::cpu());
  const auto f = compile([&](Tensor v) { return v * scale; }, {.name = "scaled"});
  f(x);
  f(x);
  scale = 3;
  EXPECT_EQ(message([&] { f(x); }),
            "the compiled function 'scaled' does something else than when it was traced: '%1: "
            "float32[3] = mul(%0, 2)' is now '%1: float32[3] = mul(%0, 3)'; pass what it reads and "
            "what changes as arguments");
  Tensor weight = ones({3}, Device::cpu());
  const auto g = compile([&](Tensor v) { return v * weight; }, {.name = "weighted"});
  g(x);
  weight.fill(4);
  expect_near(g(x), {{3}, {4, 4, 4}}, 0);
  weight = ones({3}, Device::cpu());
  EXPECT_THAT(message([&] { g(x); }),
              HasSubstr("'weighted' refers to another tensor than when it was traced: %1, a "
                        "float32[3]; pass it as an argument"));
}

}  // namespace
}  // namespace tilewright
