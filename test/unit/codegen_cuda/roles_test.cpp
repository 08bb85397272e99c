// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/roles_test.cpp — a producer and its consumers in emulated text: the same bits as the
// interpreter in every order of threads, and what is taken out of the protocol is missed.
#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include "../passes/product_kernel.h"
#include "base/settings.h"
#include "passes/choose_units.h"
#include "passes/defer_stores.h"
#include "passes/split_roles.h"
#include "tile_program.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

// The right operand with its depth contiguous.
std::string turned(std::string text, int bn = 64) {
  text =
      replaced(std::move(text), "%k_off = mul %k_tall, %sb_tall :", "%k_off = reshape %k_tall :");
  const std::string columns = fmt::format("i32[1, {}]", bn);
  text = replaced(std::move(text), "%n_all = broadcast %n_wide :",
                  fmt::format("%sb_wide = splat %sb : {0}\n  %n_far = mul %n_wide, %sb_wide : "
                              "{0}\n  %n_all = broadcast %n_far :",
                              columns));
  return replaced(std::move(text), "%b_by = mul %depth, %sb :", "%b_by = mul %depth, %one :");
}

TileProgram program_of(const std::string& text, bool persists, int bn,
                       std::int64_t shared_bytes = 0) {
  ir::Kernel kernel = at_tile(text);
  EXPECT_TRUE(split_roles(kernel, {.num_warps = 8,
                                   .num_stages = 2,
                                   .shared_bytes = shared_bytes,
                                   .persists = persists,
                                   .asks_model = false}));
  const Target target = Target::parse("sm_90a");
  for (const char* name : {"canonicalize", "hoist_loop_invariants",
                           "eliminate_common_subexpressions", "eliminate_dead_code"})
    pass_named(name).run(kernel, target);
  EXPECT_EQ(defer_stores(kernel, {.num_warps = 8}), persists && bn > 64);
  return TileProgram::from_kernel(std::move(kernel), 8);
}

TileProgram program_with_roles(bool persists = true, int bn = 64, bool is_turned = false) {
  const std::string text = product_text({.bm = 128, .bn = bn, .bk = 64});
  return program_of(is_turned ? turned(text) : text, persists, bn);
}

struct Operands {
  std::int64_t m, n, k, bn = 64;
  DType dtype = DType::Float16;
  Memory a = numbers(dtype, static_cast<std::size_t>(m * 256), 1);
  Memory b = numbers(dtype, static_cast<std::size_t>(std::max(k, n) * 256), 2);
  Memory c = zeros(DType::Float16, static_cast<std::size_t>(m * 256));
  Run run() {
    const std::int64_t stride = 256;
    return {.grid = {(m + 127) / 128 * ((n + bn - 1) / bn), 1, 1},
            .arguments = {&a, &b, &c, m, n, k, stride, stride, stride},
            .tolerance = dtype == DType::Float32 ? 4e-2 : 2e-3};  // tf32 has 10 bits
  }
};

TEST(CudaRoles, AgreeWithTheInterpreter) {
  for (const bool persists : {true, false}) {
    const TileProgram program = program_with_roles(persists);
    show(program);
    EXPECT_NE(program.text().find("tw::copy_map("), std::string::npos) << program.text();
    for (Operands operands : {Operands{130, 100, 150}, Operands{1, 1, 1}, Operands{256, 63, 64}})
      program.expect_same(operands.run());
  }
}

TEST(CudaRoles, TakeAnOperandWithItsDepthContiguous) {
  const TileProgram program = program_with_roles(true, 64, true);
  show(program);
  for (Operands operands : {Operands{130, 100, 150}, Operands{128, 64, 64}})
    program.expect_same(operands.run());
}

// A result that is held while the next one is made, and stored by warps which do not wait for each
// other.
TEST(CudaRoles, StoresOfTheProgramBeforeAgreeWithTheInterpreter) {
  for (const int bn : {128, 256}) {
    const TileProgram program = program_with_roles(true, bn);
    show(program);
    EXPECT_NE(program.text().find("held_tile"), std::string::npos) << program.text();
    EXPECT_NE(program.text().find("__syncwarp();"), std::string::npos) << program.text();
    EXPECT_EQ(program.text().find("meet_consumers"), std::string::npos) << program.text();
    for (Operands operands :
         {Operands{130, 200, 150, bn}, Operands{1, 1, 1, bn}, Operands{700, 256, 40, bn}})
      program.expect_same(operands.run());
  }
}

// Lines of the result that are known to be aligned, and a depth of three rounds.
std::string exchanged_text(int bn) {
  return replaced(replaced(product_text({.bm = 128, .bn = bn, .bk = 64}), "%sc: i32",
                           "%sc: i32 {divisible = 16}"),
                  "%rounds = div %k_up, %depth : i32", "%rounds = constant {value = 3} : i32");
}

// Lanes exchange what they hold, and shared memory is not touched.
TEST(CudaRoles, ResultsThatLanesExchangeAgreeWithTheInterpreter) {
  for (const int bn : {128, 256}) {
    const TileProgram program = program_of(exchanged_text(bn), true, bn);
    show(program);
    EXPECT_NE(program.text().find("tw::swap_lanes<32, 0, 2>"), std::string::npos) << program.text();
    EXPECT_EQ(program.text().find("__syncwarp();"), std::string::npos) << program.text();
    for (Operands operands :
         {Operands{130, 200, 150, bn}, Operands{1, 1, 1, bn}, Operands{700, 256, 40, bn}})
      program.expect_same(operands.run());
  }
}

// Tiles of a loop that the kernel has by itself: all threads have stored one before the next one's
// parts go out.
TEST(CudaRoles, TilesOfAKernelThatLoopsByItselfAgreeWithTheInterpreter) {
  constexpr int bn = 128;
  const TileProgram program =
      program_of(looping(product_text({.bm = 128, .bn = bn, .bk = 64})), true, bn);
  show(program);
  EXPECT_NE(program.text().find("held_tile"), std::string::npos) << program.text();
  EXPECT_NE(program.text().find("tw::meet_consumers<256>();"), std::string::npos) << program.text();
  for (Operands operands :
       {Operands{130, 200, 150, bn}, Operands{1, 1, 1, bn}, Operands{400, 250, 40, bn}})
    program.expect_same(operands.run());
}

// Rounds of half the depth, where two of the whole fit: 16 bits, and float32 as tf32.
TEST(CudaRoles, DeepRoundsAgreeWithTheInterpreter) {
  constexpr int bn = 128;
  constexpr std::int64_t room = 2 * 256 * 256 + 128 * 128 * 2 + 1024;
  std::string wide = turned(product_text({.bm = 128, .bn = bn, .bk = 64}), bn);
  for (const char* part : {"*f16 {divisible = 16}, %b: *f16", "*f16[128, 64]", "*f16[64, 128]",
                           "f16[128, 64]", "f16[64, 128]"})
    wide = replaced(std::move(wide), part, replaced(part, "f16", "f32"));
  const TileProgram programs[] = {
      program_of(product_text({.bm = 128, .bn = bn, .bk = 128}), true, bn, room),
      program_of(wide, true, bn, room)};
  for (const TileProgram& program : programs) {
    show(program);
    EXPECT_NE(program.text().find("tw::set_up_ring<3>"), std::string::npos) << program.text();
    const DType dtype = &program == programs ? DType::Float16 : DType::Float32;
    for (const TensorMapPlan& map : program.source().kernels[0].variants[0].tensor_maps)
      EXPECT_EQ(map.rounds_to_tf32, dtype == DType::Float32);
    for (const auto& [m, n, k] : {std::tuple{130, 200, 150}, {1, 1, 1}, {256, 128, 65}})
      program.expect_same(Operands{m, n, k, bn, dtype}.run());
  }
}

// What is wrong with a run of the text: what the emulation says, or which element it got wrong; ""
// where nothing is.
std::string problem(const TileProgram& program, const KernelSource& text, Operands operands) {
  const Loaded loaded = load_emulated(text);
  testing::TestPartResultArray wrong;
  const testing::ScopedFakeTestPartResultReporter reporter(&wrong);
  try {
    program.expect_same(operands.run(), loaded);
  } catch (const Error& error) {
    return error.what();
  }
  return wrong.size() > 0 ? wrong.GetTestPartResult(0).message() : "";
}

// The same of the text with `from` replaced by `to`.
std::string fault(const TileProgram& program, std::string_view from, std::string_view to) {
  KernelSource changed = program.source();
  const std::size_t at = changed.text.find(from);
  EXPECT_NE(at, std::string::npos) << from << changed.text;
  changed.text.replace(at, from.size(), to);
  return problem(program, changed, {130, 100, 200});
}

TEST(CudaRolesHostile, EveryStepOfTheProtocolIsMissed) {
#ifdef TW_SANITIZE
  GTEST_SKIP() << "builds with sanitizers have no checks of shared memory";
#endif
  const TileProgram program = program_with_roles();
  const struct {
    const char* from;
    const char* to;
  } changes[] = {
      {", k_3 != 0);", ", false);"},  // a slot is not released
      {", 24576);", ", 24560);"},     // too few bytes are announced
      {", 24576);", ", 24592);"},     // and too many
      {"tw::wait_products<1>();",
       "tw::wait_products<3>();"},  // a slot is released while a product reads it
      {"tw::set_up_ring<3>(ring_words, 8);",
       "tw::set_up_ring<3>(ring_words, 4);"},         // half of the warps release it
      {"__syncthreads();", ";"},                      // words are used before they are set up
      {"tw::await<3>(", "if (false) tw::await<3>("},  // a slot is read before it is there
      {"tw::await<3>(ring_words, ", "tw::await<3>(ring_words, 3 + "},  // the other parity
  };
  for (const auto& change : changes)
    EXPECT_NE(fault(program, change.from, change.to), "") << change.from;
}

// Lanes that give the wrong elements, and to the wrong lane.
TEST(CudaRolesHostile, AWrongExchangeIsMissed) {
  const TileProgram program = program_of(exchanged_text(128), true, 128);
  for (const char* by :
       {"tw::swap_lanes<32, 1, 2>", "tw::swap_lanes<32, 0, 3>", "tw::swap_lanes<16, 0, 2>"}) {
    KernelSource changed = program.source();
    changed.text = replaced(changed.text, "tw::swap_lanes<32, 0, 2>", by);
    EXPECT_NE(problem(program, changed, {130, 200, 190, 128}), "") << by;
  }
}

// Lanes of a warp that do not wait for each other: before they write what others have read, and
// before they read what others have written.
TEST(CudaRolesHostile, LanesThatDoNotMeetAreMissed) {
#ifdef TW_SANITIZE
  GTEST_SKIP() << "builds with sanitizers have no checks of shared memory";
#endif
  const TileProgram program = program_with_roles(true, 128);
  for (const int wanted : {0, 1}) {
    KernelSource changed = program.source();
    const std::string meet = "__syncwarp();";
    int number = 0;
    for (std::size_t at = 0; (at = changed.text.find(meet, at)) != std::string::npos; ++number) {
      if (number % 2 == wanted) changed.text[at] = changed.text[at + 1] = '/';
      at += meet.size();
    }
    EXPECT_GE(number, 2) << changed.text;
    EXPECT_NE(problem(program, changed, {700, 200, 200, 128}), "") << wanted;
  }
}

}  // namespace
}  // namespace tilewright
