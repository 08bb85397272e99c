// SPDX-License-Identifier: Apache-2.0
// unit/compiler/launch_key_test.cpp — launches whose arguments or options say different things of
// the code have different keys; those that say the same share one.
#include "compiler/triton/argument_key.h"

#include <gtest/gtest.h>

#include "base/settings.h"
#include "compiler/triton/place_arguments.h"
#include "compiler/triton/repeated_launch.h"
#include "compiler/triton/resolve.h"

namespace tilewright {
namespace {

constexpr const char* source = R"(
import triton
import triton.language as tl

@triton.autotune(configs=[triton.Config({})], key=['n'])
@triton.jit(do_not_specialize=['m'])
def k(x, y, n, m, C: tl.constexpr, D: tl.constexpr = 1):
    tl.store(x, n)

@triton.jit
def plain(x, y, n, m, C: tl.constexpr, D: tl.constexpr = 1):
    tl.store(x, n)

@triton.jit(do_not_specialize=['n'], do_not_specialize_on_alignment=['x'])
def unspecialized(x, y, n, m: tl.int64, C: tl.constexpr):
    tl.store(x, n)
)";

const Specialization nothing;

struct Key {
  KnownLaunch known;
  std::string signature;  // what the arguments say of the code

  bool operator==(const Key& other) const {
    return known.hash == other.known.hash && known.words == other.known.words;
  }
};

Key key_of(const TritonKernel& kernel, const std::vector<TritonArgument>& arguments,
           const TritonLaunch& launch = {}) {
  TritonKernel::State& state = *kernel.state();
  const TritonArgument* slots[max_slots];
  LaunchKey key(state.key_rules);
  LaunchPlace place;
  place_arguments(state, launch, arguments, slots, place, key);
  return {KnownLaunch(state.key_rules, key, place.device, nothing),
          signature_text(state.parameters, request_of(state, slots, launch, place).given)};
}

// Compared with another one as it is read, without a key of its own.
bool is_like(const Key& key, const TritonKernel& kernel,
             const std::vector<TritonArgument>& arguments, const TritonLaunch& launch = {}) {
  const TritonArgument* slots[max_slots];
  const Argument* passed[max_slots + 1];
  return repeats(key.known, *kernel.state(), launch, arguments, slots, passed);
}

class LaunchKeyTest : public ::testing::Test {
 protected:
  const TritonKernel plain = load_triton_source(source, "plain");
  const TritonKernel keyed = load_triton_source(source, "k");
  const TritonKernel unspecialized = load_triton_source(source, "unspecialized");
  const Tensor x = zeros({64}, {f32, Device::cpu()});
  const Tensor h = zeros({64}, {f16, Device::cpu()});
  const Tensor odd = x.slice(0, 1, 9);
};

TEST_F(LaunchKeyTest, DifferentCodeHasDifferentKeys) {
  alignas(16) static float memory[8];
  float* const null = nullptr;
  const std::int64_t large = std::int64_t{1} << 40;
  const std::uint64_t huge = std::uint64_t{1} << 63;
  const TritonTuple pair = tuple(x, 7), aligned = tuple(x, 16), triple = tuple(x, 7, 7);
  const TritonTuple constants = tuple(1, 2), others = tuple(1, 3), texts = tuple("a", "b");
  const Tensor matrix = zeros({8, 64}, {f32, Device::cpu()});
  const TensorDescriptor wide(matrix, {4, 32}), narrow(matrix, {4, 16});
  const TensorDescriptor padded(matrix, {4, 32}, TensorDescriptor::Padding::NaN);
  const TensorDescriptor half(matrix.to(f16), {4, 32});
  const std::vector<std::vector<TritonArgument>> launches = {
      {x, x, 7, 7, 4},
      {x, x, 7, 7, 5},
      {x, x, 16, 7, 4},
      {x, x, 1, 7, 4},
      {x, x, 7, 1, 4},
      {x, x, -1, 7, 4},
      {x, x, -16, 7, 4},
      {x, x, std::int64_t{-1}, 7, 4},
      {x, x, large + 1, 7, 4},
      {x, x, large, 7, 4},
      {x, x, std::uint32_t{7}, 7, 4},
      {x, x, std::uint32_t{0xfffffff1}, 7, 4},
      {x, x, std::uint64_t{7}, 7, 4},
      {x, x, huge, 7, 4},
      {x, x, ~std::uint64_t{0}, 7, 4},
      {x, x, std::uint8_t{16}, 7, 4},
      {x, x, 7.0, 7, 4},
      {x, x, 7.0f, 7, 4},
      {x, x, true, 7, 4},
      {x, h, 7, 7, 4},
      {h, x, 7, 7, 4},
      {x, odd, 7, 7, 4},
      {odd, x, 7, 7, 4},
      {x, none, 7, 7, 4},
      {x, null, 7, 7, 4},
      {x, &memory[0], 7, 7, 4},
      {x, &memory[1], 7, 7, 4},
      {x, x, 7, 7, 4.0},
      {x, x, 7, 7, 4.0f},
      {x, x, 7, 7, true},
      {x, x, 7, 7, false},
      {x, x, 7, 7, "four"},
      {x, x, 7, 7, "five"},
      {x, x, 7, 7, f32},
      {x, x, 7, 7, f16},
      {x, x, 7, 7, none},
      {x, x, 7, 7, null},
      {x, x, 7, 7, 4, 1},
      {x, x, 7, 7, 4, 2},
      {x, x, 7, 7, std::int64_t{4}},
      {x, x, 7, 7, large},
      {x, x, 7, 7, huge},
      {x, x, 7, 7, constants},
      {x, x, 7, 7, others},
      {x, x, 7, 7, texts},
      {x, pair, 7, 7, 4},
      {x, aligned, 7, 7, 4},
      {x, triple, 7, 7, 4},
      {x, wide, 7, 7, 4},
      {x, narrow, 7, 7, 4},
      {x, padded, 7, 7, 4},
      {x, half, 7, 7, 4}};
  std::vector<Key> keys;
  for (const auto& launch : launches) keys.push_back(key_of(plain, launch));
  for (std::size_t i = 0; i < keys.size(); ++i)
    for (const Key& other : keys) {
      EXPECT_TRUE(keys[i].signature == other.signature || !(keys[i] == other))
          << keys[i].signature << " and " << other.signature;
      EXPECT_EQ(is_like(other, plain, launches[i]), keys[i] == other)
          << keys[i].signature << " and " << other.signature;
    }
}

TEST_F(LaunchKeyTest, EqualCodeSharesAKey) {
  const Tensor other = zeros({64}, {f32, Device::cpu()});
  const std::int64_t large = std::int64_t{1} << 40;
  const Key key = key_of(plain, {x, other, 7, 7, 4});
  EXPECT_EQ(key, key_of(plain, {other, x, 9, -3, 4}));
  EXPECT_TRUE(is_like(key, plain, {other, x, 9, -3, 4}));
  EXPECT_NE(key, key_of(plain, {x, other, 32, 7, 4}));
  EXPECT_EQ(key_of(plain, {x, x, 16, 7, 4}), key_of(plain, {x, x, -32, 7, 4}));
  EXPECT_EQ(key_of(plain, {x, x, 16, 7, 4}), key_of(plain, {x, x, 0, 7, 4}));
  EXPECT_EQ(key_of(plain, {x, x, large + 1, 7, 4}), key_of(plain, {x, x, large + 2, 7, 4}));
  EXPECT_EQ(key_of(plain, {x, x, 0.5, 7, 4}), key_of(plain, {x, x, 0.1, 7, 4}));
  EXPECT_EQ(key_of(plain, {x, x, true, 7, 4}), key_of(plain, {x, x, false, 7, 4}));
  EXPECT_EQ(key_of(plain, {odd, x, 7, 7, 4}), key_of(plain, {x.slice(0, 2, 9), x, 7, 7, 4}));
}

TEST_F(LaunchKeyTest, HoldsWhichTensorsLieInTheSameMemory) {
  const Tensor other = x.clone();
  const Tensor part = x.slice(0, 16, 32);
  const Key apart = key_of(plain, {x, other, 7, 7, 4});
  const Key same = key_of(plain, {x, x, 7, 7, 4});
  const Key overlapping = key_of(plain, {x, part, 7, 7, 4});
  EXPECT_NE(apart, same);
  EXPECT_NE(apart, overlapping);
  EXPECT_NE(same, overlapping);
  EXPECT_EQ(same, key_of(plain, {other, other, 7, 7, 4}));
  EXPECT_EQ(overlapping, key_of(plain, {part, x, 7, 7, 4}));
  EXPECT_TRUE(is_like(same, plain, {other, other, 7, 7, 4}));
  EXPECT_FALSE(is_like(same, plain, {x, other, 7, 7, 4}));
  EXPECT_FALSE(is_like(apart, plain, {x, x, 7, 7, 4}));
}

TEST_F(LaunchKeyTest, NamesMayComeInAnyOrder) {
  const Key key = key_of(plain, {x, x, 7, 7, 4, 2});
  EXPECT_EQ(key, key_of(plain, {x, x, 7, 7, constant("C", 4), constant("D", 2)}));
  EXPECT_EQ(key, key_of(plain, {x, x, constant("D", 2), constant("C", 4), 7, 7}));
  EXPECT_TRUE(is_like(key, plain, {x, x, 7, 7, constant("D", 2), constant("C", 4)}));
  EXPECT_FALSE(is_like(key, plain, {x, x, 7, 7, constant("D", 4), constant("C", 2)}));
  EXPECT_FALSE(is_like(key, plain, {x, x, constant("D", 4), constant("C", 2), 7, 7}));
  EXPECT_FALSE(is_like(key, plain, {x, x, 7, 7, constant("C", 4)}));
  EXPECT_FALSE(is_like(key_of(plain, {x, x, 7, 7, 4}), plain, {x, x, 7, 7, constant("D", 4)}));
  EXPECT_NE(key, key_of(plain, {x, x, 7, 7, constant("C", 2), constant("D", 4)}));
  EXPECT_NE(key, key_of(plain, {x, x, 7, 7, constant("C", 4)}));
  EXPECT_NE(key_of(plain, {x, x, 7, 7, constant("C", "a"), constant("D", "b")}),
            key_of(plain, {x, x, 7, 7, constant("D", "a"), constant("C", "b")}));
  const Key texts = key_of(plain, {x, x, 7, 7, "a", "b"});
  EXPECT_TRUE(is_like(texts, plain, {x, x, 7, 7, constant("C", "a"), constant("D", "b")}));
  EXPECT_FALSE(is_like(texts, plain, {x, x, 7, 7, constant("C", "a"), constant("D", "c")}));
  EXPECT_FALSE(is_like(texts, plain, {x, x, 7, 7, constant("D", "a"), constant("C", "b")}));
}

TEST_F(LaunchKeyTest, DecoratorsAndAnnotationsKeepValuesOut) {
  const Tensor y = x.clone();
  const Key key = key_of(unspecialized, {x, y, 7, 7, 4});
  EXPECT_EQ(key, key_of(unspecialized, {x, y, 1, 7, 4}));
  EXPECT_EQ(key, key_of(unspecialized, {x, y, 16, 7, 4}));
  EXPECT_EQ(key, key_of(unspecialized, {odd, y, 7, 7, 4}));
  EXPECT_EQ(key, key_of(unspecialized, {x, y, 7, 1, 4}));
  EXPECT_NE(key, key_of(unspecialized, {y, odd, 7, 7, 4}));
  EXPECT_NE(key, key_of(unspecialized, {x, y, 7, 16, 4}));
}

TEST_F(LaunchKeyTest, HoldsTheValuesOfTheAutotunersKey) {
  const Key key = key_of(keyed, {x, x, 7, 7, 4});
  EXPECT_NE(key, key_of(keyed, {x, x, 9, 7, 4}));
  EXPECT_FALSE(is_like(key, keyed, {x, x, 9, 7, 4}));
  EXPECT_TRUE(is_like(key, keyed, {x, x, 7, 9, 4}));
  EXPECT_NE(key_of(keyed, {x, x, 0.5, 7, 4}), key_of(keyed, {x, x, 0.1, 7, 4}));
  EXPECT_EQ(key, key_of(keyed, {x, x, 7, 9, 4}));
  EXPECT_EQ(key_of(keyed, {x, x, x.clone(), 7, 4}), key_of(keyed, {x, x, odd.clone(), 7, 4}));
  const TritonTuple seven = tuple(7, 7), nine = tuple(9, 7);
  EXPECT_NE(key_of(keyed, {x, x, seven, 7, 4}), key_of(keyed, {x, x, nine, 7, 4}));
  EXPECT_EQ(key_of(keyed, {x, x, 7, seven, 4}), key_of(keyed, {x, x, 7, nine, 4}));
}

TEST_F(LaunchKeyTest, HoldsTheOptions) {
  const Target ampere = Target::parse("sm_80"), hopper = Target::parse("sm_90"),
               hopper_specific = Target::parse("sm_90a");
  const std::vector<TritonLaunch> launches = {
      {},
      {.num_warps = 8},
      {.num_stages = 8},
      {.num_ctas = 8},
      {.maxnreg = 8},
      {.num_warps = 8, .num_stages = 8},
      {.fp_fusion = false},
      {.flush_to_zero = true},
      {.debug = true},
      {.interpret = true},
      {.bare = true},
      {.emulate = &ampere},
      {.emulate = &hopper},
      {.emulate = &hopper_specific},
  };
  std::vector<Key> keys;
  for (const TritonLaunch& launch : launches)
    keys.push_back(key_of(plain, {x, x, 7, 7, 4}, launch));
  for (std::size_t i = 0; i < keys.size(); ++i)
    for (std::size_t j = 0; j < keys.size(); ++j) {
      EXPECT_EQ(keys[i] == keys[j], i == j) << i << j;
      EXPECT_EQ(is_like(keys[i], plain, {x, x, 7, 7, 4}, launches[j]), i == j) << i << j;
    }
  EXPECT_EQ(keys[0], key_of(plain, {x, x, 7, 7, 4}, {.grid = 5, .float64 = true}));
}

TEST_F(LaunchKeyTest, HoldsTheDevice) {
  const auto on = [&](Device device) {
    alignas(16) static float memory[4];
    return key_of(plain, {memory, memory, 7, 7, 4}, {.stream = Stream::wrap(nullptr, device)});
  };
  EXPECT_NE(on(Device::cpu()), on(Device::cuda(0)));
  EXPECT_NE(on(Device::cuda(1)), on(Device::cuda(0)));
  alignas(16) static float memory[4];
  const auto is_same = [&](Device known, Device device) {
    return is_like(on(known), plain, {memory, memory, 7, 7, 4},
                   {.stream = Stream::wrap(nullptr, device)});
  };
  EXPECT_TRUE(is_same(Device::cuda(1), Device::cuda(1)));
  EXPECT_FALSE(is_same(Device::cuda(1), Device::cuda(0)));
  EXPECT_FALSE(is_same(Device::cpu(), Device::cuda(0)));
}

Tensor on_device(Device device) {
  alignas(64) static float memory[64];
  return from_blob(memory, {64}, {f32, device});
}

// Tensors of another device, alone or inside of something, are never like those of a known launch;
// of two devices, they are refused by their names.
TEST_F(LaunchKeyTest, HoldsTheDeviceOfTheTensors) {
  const Tensor there = on_device(Device::cuda(0)), elsewhere = on_device(Device::cuda(1));
  const Key here = key_of(plain, {x, x, 7, 7, 4});
  EXPECT_NE(here, key_of(plain, {there, there, 7, 7, 4}));
  EXPECT_FALSE(is_like(here, plain, {there, there, 7, 7, 4}));
  EXPECT_FALSE(is_like(here, plain, {x, there, 7, 7, 4}));
  EXPECT_FALSE(is_like(here, plain, {there, x, 7, 7, 4}));
  EXPECT_FALSE(is_like(key_of(plain, {there, there, 7, 7, 4}), plain, {there, elsewhere, 7, 7, 4}));
  const TritonTuple inside = tuple(there, 7), other = tuple(elsewhere, 7);
  const Key tuples = key_of(plain, {7, inside, 7, 7, 4});
  EXPECT_TRUE(is_like(tuples, plain, {7, inside, 7, 7, 4}));
  EXPECT_FALSE(is_like(tuples, plain, {7, other, 7, 7, 4}));
  EXPECT_THROW(key_of(plain, {x, there, 7, 7, 4}), ArgumentError);
}

TEST_F(LaunchKeyTest, HoldsTheSettingsOfTheProcess) {
  const Key key = key_of(plain, {x, x, 7, 7, 4});
  Settings changed = settings();
  changed.interpret = true;
  {
    const SettingsOverride other(changed);
    EXPECT_NE(key, key_of(plain, {x, x, 7, 7, 4}));
    EXPECT_FALSE(is_like(key, plain, {x, x, 7, 7, 4}));
    EXPECT_EQ(key_of(plain, {x, x, 7, 7, 4}), key_of(plain, {x, x, 7, 7, 4}, {.interpret = true}));
  }
  changed = settings();
  changed.debug = true;
  const SettingsOverride other(changed);
  EXPECT_NE(key, key_of(plain, {x, x, 7, 7, 4}));
  EXPECT_FALSE(is_like(key, plain, {x, x, 7, 7, 4}));
}

// What no parameter can take has a key that no launch before had: the long way refuses it.
TEST_F(LaunchKeyTest, WrongArgumentsShareNoKey) {
  struct Fields {
    int a, b;
  };
  const Fields fields{};
  const TritonKernel kernel = load_triton_source(source, "plain");
  const auto launch = [&](const auto&... arguments) {
    kernel[{.grid = 1, .interpret = true}](arguments...);
  };
  alignas(16) static char memory[16];
  launch(x, x, 7, 7, 4);
  EXPECT_THROW(launch(x, Tensor(), 7, 7, 4), ArgumentError);
  EXPECT_THROW(launch(x, static_cast<void*>(memory), 7, 7, 4), ArgumentError);
  EXPECT_THROW(launch(x, Argument::of_struct(fields), 7, 7, 4), ArgumentError);
  EXPECT_THROW(launch(x, x, 7, 7, x), ArgumentError);
  EXPECT_THROW(launch(x, x, 7, "seven", 4), ArgumentError);
  EXPECT_THROW(launch(x, x, 7, f32, 4), ArgumentError);
  EXPECT_THROW(launch(x, x, 7, 7), ArgumentError);
}

// Enough keys that the table grows while it is used.
TEST(SpecializationTable, FindsEveryKeyAfterGrowing) {
  const TritonKernel kernel = load_triton_source(source, "plain");
  const KeyRules& rules = kernel.state()->key_rules;
  const Tensor x = zeros({64}, {f32, Device::cpu()});
  const auto made = [&](int i) {
    LaunchKey key(rules);
    const std::vector<TritonArgument> arguments = {x, x, 7, 7, i};
    const TritonArgument* slots[max_slots];
    LaunchPlace place;
    place_arguments(*kernel.state(), {}, arguments, slots, place, key);
    return key;
  };
  constexpr int count = 300;
  const std::vector<Specialization> values(count);
  SpecializationTable table;
  for (int i = 0; i < count; ++i) {
    const LaunchKey key = made(i);
    const Specialization& value = values[static_cast<std::size_t>(i)];
    EXPECT_EQ(table.find(key), nullptr);
    EXPECT_TRUE(table.add(key, KnownLaunch(rules, key, Device::cpu(), value)));
  }
  for (int i = 0; i < count; ++i)
    EXPECT_EQ(table.find(made(i)), &values[static_cast<std::size_t>(i)]);
  EXPECT_EQ(table.size(), static_cast<std::size_t>(count));
  EXPECT_EQ(table.recent((count - 1) % SpecializationTable::recent_count)->value, &values.back());
}

}  // namespace
}  // namespace tilewright
