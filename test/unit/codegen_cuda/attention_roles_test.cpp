// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/attention_roles_test.cpp — attention with a producer: the bits of the kernel without
// one, in the order of any threads, and every step of the protocol is missed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/settings.h"
#include "kernel_sources.h"
#include "tile_program.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

TileProgram attention(int depth, int columns, bool is_causal, const char* extra) {
  Settings changed = settings();
  changed.extra_passes = extra;
  // Rounds as the source has them: the same bits.
  changed.skipped_passes += changed.skipped_passes.empty() ? "widen_loops" : ",widen_loops";
  const SettingsOverride with_passes(changed);
  return TileProgram(
      descriptor_attention_source, "attention",
      fmt::format("*fp16:16, *fp16:16, *fp16:16, *fp16:16, i32, i32:16, {}, 128, {}, {}", depth,
                  columns, is_causal ? "true" : "false"),
      8);
}

struct Tensors {
  std::int64_t heads, keys;
  std::vector<Memory> memory;

  Tensors(std::int64_t head_count, std::int64_t key_count, int depth)
      : heads(head_count), keys(key_count) {
    const auto all = static_cast<std::size_t>(heads * keys * depth);
    for (const unsigned seed : {1u, 2u, 3u}) memory.push_back(numbers(DType::Float16, all, seed));
    memory.push_back(zeros(DType::Float16, all));
  }
  Run run() {
    return {.grid = {keys / 128, heads, 1},
            .arguments = {&memory[0], &memory[1], &memory[2], &memory[3], heads, keys},
            .tolerance = 1e-2};
  }
};

void launch(const TileProgram& program, Tensors& tensors) {
  const Loaded loaded = load_emulated(program.source());
  std::vector<Argument> arguments;
  for (Memory& buffer : tensors.memory)
    arguments.emplace_back(static_cast<void*>(buffer.bytes.data()));
  arguments.emplace_back(static_cast<std::int32_t>(tensors.heads));
  arguments.emplace_back(static_cast<std::int32_t>(tensors.keys));
  loaded.function("attention").launch({.grid = {tensors.keys / 128, tensors.heads, 1}}, arguments);
}

TEST(CudaAttentionRoles, GiveTheSameBits) {
  for (const bool is_causal : {false, true}) {
    const TileProgram plain = attention(64, 64, is_causal, "");
    const TileProgram roles = attention(64, 64, is_causal, "split_roles");
    const TileProgram delayed = attention(64, 64, is_causal, "split_roles,delay_products");
    show(roles);
    show(delayed);
    EXPECT_EQ(plain.text().find("tw::copy_map("), std::string::npos);
    EXPECT_NE(roles.text().find("tw::copy_map("), std::string::npos) << roles.text();
    Tensors a(is_causal ? 1 : 2, is_causal ? 256 : 128, 64), b = a, c = a;
    launch(plain, a);
    roles.expect_same(b.run());
    EXPECT_EQ(a.memory[3].bytes, b.memory[3].bytes);
    delayed.expect_same(c.run());
    EXPECT_EQ(a.memory[3].bytes, c.memory[3].bytes);
    EXPECT_NE(delayed.text().find("tw::wait_products<1>();"), std::string::npos) << delayed.text();
  }
}

// Without a word from anybody: where it was measured faster, and not if it is left out.
TEST(CudaAttentionRoles, AreThereByThemselves) {
  const auto has_roles = [](int depth, int columns, const char* skipped) {
    Settings changed = settings();
    changed.skipped_passes = skipped;
    const SettingsOverride without(changed);
    const std::string text = attention(depth, columns, true, "").text();
    return text.find("tw::copy_map(") != std::string::npos;
  };
  EXPECT_TRUE(has_roles(128, 128, ""));
  EXPECT_FALSE(has_roles(128, 128, "split_roles"));
  EXPECT_FALSE(has_roles(128, 64, ""));
  EXPECT_FALSE(has_roles(64, 64, ""));
}

// Rows that see more columns start first where that was asked for, with the same result.
TEST(CudaAttentionRoles, BeginWithTheLastRows) {
  const char* const last = "split_roles,delay_products,last_programs_first";
  const auto has_it = [](const TileProgram& program) {
    return program.text().find("gridDim.x") != std::string::npos;
  };
  const TileProgram causal = attention(64, 64, true, last);
  EXPECT_TRUE(has_it(causal)) << causal.text();
  EXPECT_FALSE(has_it(attention(64, 64, false, last)));
  EXPECT_FALSE(has_it(attention(64, 64, true, "split_roles,delay_products")));
  Tensors tensors(1, 256, 64);
  causal.expect_same(tensors.run());
}

// Consumers meet before their rounds and behind them, never in a round.
TEST(CudaAttentionRoles, DoNotMeetInARound) {
  const std::string text = attention(64, 64, false, "split_roles").text();
  const std::size_t loop = text.find("tw::await<");
  const std::size_t last = text.rfind("tw::release<");
  ASSERT_LT(loop, last) << text;
  EXPECT_EQ(text.substr(loop, last - loop).find("meet_consumers"), std::string::npos) << text;
}

std::string fault(const TileProgram& program, std::string_view from, std::string_view to,
                  bool is_last) {
  KernelSource changed = program.source();
  const std::size_t at = is_last ? changed.text.rfind(from) : changed.text.find(from);
  EXPECT_NE(at, std::string::npos) << from << changed.text;
  changed.text.replace(at, from.size(), to);
  const Loaded loaded = load_emulated(changed);
  Tensors tensors(1, 384, 64);  // more rounds than slots
  try {
    program.expect_same(tensors.run(), loaded);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(CudaAttentionRolesHostile, EveryStepOfTheProtocolIsMissed) {
#ifdef TW_SANITIZE
  GTEST_SKIP() << "builds with sanitizers have no checks of shared memory";
#endif
  const TileProgram program = attention(64, 64, false, "split_roles");
  const struct {
    const char* from;
    const char* to;
    bool is_last;
  } changes[] = {
      {"tw::release<3>(", "if (false) tw::release<3>(", false},  // K is not given back
      {"tw::release<3>(", "if (false) tw::release<3>(", true},   // V is not
      {"tw::await<3>(", "if (false) tw::await<3>(", false},      // K is read before it is there
      {"tw::await<3>(", "if (false) tw::await<3>(", true},       // V is
      {"tw::wait_products<0>();", ";", true},                    // V is given back too early
      {", 8192);", ", 8176);", false},                           // too few bytes are announced
      {"tw::meet_consumers<256>();", ";", false},                // Q is read before it is there
  };
  for (const auto& change : changes)
    EXPECT_NE(fault(program, change.from, change.to, change.is_last), "") << change.from;
  const TileProgram delayed = attention(64, 64, false, "split_roles,delay_products");
  const struct {
    const char* from;
    const char* to;
    bool is_last;
  } more[] = {
      {"0u, 8192);", "0u, 8208);", false},                       // zeros never arrive
      {"tw::release<3>(", "if (false) tw::release<3>(", false},  // K is not given back
      {"tw::wait_products<0>();", ";", false},                   // nor is P x V waited for
  };
  for (const auto& change : more)
    EXPECT_NE(fault(delayed, change.from, change.to, change.is_last), "") << change.from;
}

// In its own round, behind the wait for the product that reads it, and not before.
TEST(CudaAttentionRolesHostile, AnEarlyReleaseIsMissed) {
#ifdef TW_SANITIZE
  GTEST_SKIP() << "builds with sanitizers have no checks of shared memory";
#endif
  const TileProgram delayed = attention(64, 64, false, "split_roles,delay_products");
  const std::string& text = delayed.text();
  const std::size_t wait = text.find("tw::wait_products<0>();");
  const std::size_t release = text.find("tw::release<3>(v_", wait);
  ASSERT_NE(release, std::string::npos) << text;
  EXPECT_LT(release, text.find("for (", wait)) << text;
  const std::string line = text.substr(release, text.find('\n', release) - release);
  KernelSource changed = delayed.source();
  changed.text.replace(changed.text.find(line, changed.text.find("tw::wait_products<0>();")),
                       line.size(), ";");
  const std::string before = "tw::wait_products<1>();";
  changed.text.insert(changed.text.find(before) + before.size(), line);
  const Loaded loaded = load_emulated(changed);
  std::string what;
  try {
    Tensors tensors(1, 384, 64);
    delayed.expect_same(tensors.run(), loaded);
  } catch (const Error& error) {
    what = error.what();
  }
  EXPECT_NE(what, "");
}

}  // namespace
}  // namespace tilewright
