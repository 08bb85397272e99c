// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/map_stores_test.cpp — results that tensor maps store, in emulated text: the same
// bits as the interpreter in every order of threads, and what is taken out of the protocol is
// missed.
#include <functional>
#include <optional>

#include <fmt/format.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include "../passes/product_kernel.h"
#include "ir/interpret/interpret.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "passes/defer_stores.h"
#include "passes/split_roles.h"
#include "passes/store_by_maps.h"
#include "tile_program.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

std::string stored_text(int bn, int bm = 128) {
  const std::string text = replaced(product_text({.bm = bm, .bn = bn, .bk = 64}), "%sc: i32",
                                    "%sc: i32 {divisible = 16}");
  return replaced(text, "  assume %pb\n",
                  "  assume %pb\n  %pc = compare %sc, %none {is = \"gt\"} : b1\n  assume %pc\n");
}

ir::Kernel tile_with_stores(const std::string& text, bool defers) {
  ir::Kernel kernel = at_tile(text);
  EXPECT_TRUE(split_roles(kernel, {.num_warps = 8, .num_stages = 2, .asks_model = false}));
  const Target target = Target::parse("sm_90a");
  for (const char* name : {"canonicalize", "hoist_loop_invariants",
                           "eliminate_common_subexpressions", "eliminate_dead_code"})
    pass_named(name).run(kernel, target);
  EXPECT_TRUE(store_by_maps(kernel, {.num_warps = 8}));
  EXPECT_EQ(defers && defer_stores(kernel, {.num_warps = 8}), defers);
  return kernel;
}

TileProgram program_with_stores(const std::string& text, bool defers) {
  return TileProgram::from_kernel(tile_with_stores(text, defers), 8);
}

struct StoredOperands {
  std::int64_t m, n, k, bn = 128, bm = 128;
  Memory a = numbers(DType::Float16, static_cast<std::size_t>(m * 256), 1);
  Memory b = numbers(DType::Float16, static_cast<std::size_t>(std::max(k, n) * 256), 2);
  Memory c = zeros(DType::Float16, static_cast<std::size_t>(m * 256));
  Run run() {
    const std::int64_t stride = 256;
    return {.grid = {(m + bm - 1) / bm * ((n + bn - 1) / bn), 1, 1},
            .arguments = {&a, &b, &c, m, n, k, stride, stride, stride},
            .tolerance = 2e-3};
  }
};

TEST(CudaMapStores, AgreeWithTheInterpreter) {
  for (const int bn : {64, 256}) {
    const TileProgram program = program_with_stores(stored_text(bn), bn > 64);
    show(program);
    EXPECT_NE(program.text().find("tw::store_map("), std::string::npos) << program.text();
    EXPECT_NE(program.text().find("__syncwarp();"), std::string::npos) << program.text();
    EXPECT_EQ(program.text().find("meet_consumers"), std::string::npos) << program.text();
    for (StoredOperands operands : {StoredOperands{130, 200, 150, bn}, StoredOperands{1, 1, 1, bn},
                                    StoredOperands{700, 256, 40, bn}})
      program.expect_same(operands.run());
  }
}

// Warps whose lines of a tile are in several places.
TEST(CudaMapStores, TallTilesAgreeWithTheInterpreter) {
  const TileProgram program = program_with_stores(stored_text(128, 256), true);
  show(program);
  EXPECT_NE(program.text().find("tw::store_map("), std::string::npos) << program.text();
  EXPECT_EQ(program.text().find("meet_consumers"), std::string::npos) << program.text();
  for (StoredOperands operands :
       {StoredOperands{300, 200, 150, 128, 256}, StoredOperands{700, 256, 40, 128, 256}})
    program.expect_same(operands.run());
}

TEST(CudaMapStores, TilesOfAKernelThatLoopsByItselfAgreeWithTheInterpreter) {
  for (const bool defers : {true, false}) {
    const TileProgram program = program_with_stores(looping(stored_text(128)), defers);
    show(program);
    EXPECT_NE(program.text().find("tw::wait_stores<1>();"), std::string::npos) << program.text();
    for (StoredOperands operands :
         {StoredOperands{130, 200, 150}, StoredOperands{1, 1, 1}, StoredOperands{400, 250, 40}})
      program.expect_same(operands.run());
  }
}

// ---- Stage Final

const CudaEmitOptions stores_options{.target = Target::parse("sm_90a"), .num_warps = 8};

std::string final_text(const ir::Kernel& tile) {
  return ir::print(final_for_cuda(laid_for_cuda(tile, stores_options), stores_options));
}

// The result of 260 x 100 by the interpreter.
Memory interpreted(const ir::Kernel& kernel, unsigned seed) {
  StoredOperands own{260, 100, 190};
  std::vector<ir::InterpretBuffer> buffers;
  std::vector<ir::InterpretArgument> arguments;
  for (Memory* memory : {&own.a, &own.b, &own.c}) {
    arguments.emplace_back(ir::InterpretPointer{static_cast<int>(buffers.size()), 0});
    buffers.push_back(
        {.name = "buffer", .data = memory->bytes.data(), .bytes = memory->bytes.size()});
  }
  for (const std::int64_t number : {260, 100, 190, 256, 256, 256}) arguments.emplace_back(number);
  ir::InterpretOptions how;
  how.grid[0] = 3;
  how.role_seed = seed;
  ir::interpret(kernel, buffers, arguments, how);
  return own.c;
}

TEST(CudaMapStores, AgreeAtStageFinal) {
  for (const bool loops : {false, true}) {
    const std::string source = loops ? looping(stored_text(128)) : stored_text(128);
    const ir::Kernel tile = tile_with_stores(source, true);
    const std::string text = final_text(tile);
    const ir::Kernel kernel = ir::parse(text);
    ir::verify(kernel);
    EXPECT_EQ(ir::print(kernel), text);
    const Memory want = interpreted(tile, 0), got = interpreted(kernel, 3);
    for (std::size_t i = 0; i < want.count(); ++i)
      ASSERT_NEAR(got.at(i), want.at(i), 4e-3 * std::max(1.0, std::abs(want.at(i)))) << i << text;
  }
}

// The kernel without number `wanted` of the ops that stores wait for; none: there are fewer.
std::optional<ir::Kernel> without_one(const std::string& text, int wanted) {
  ir::Kernel kernel = ir::parse(text);
  int number = 0;
  bool is_done = false;
  const auto is_step = [](const ir::Op& op) {
    if (op.kind == ir::OpKind::Barrier) return op.text("of") == "warp";
    if (op.kind != ir::OpKind::Call) return false;
    const std::string_view function = op.text("function");
    return function == "wait_stores" || function == "show_to_products" || function == "store_map";
  };
  const std::function<void(ir::Region&)> visit = [&](ir::Region& region) {
    for (std::size_t i = 0; i < region.ops.size() && !is_done; ++i) {
      if (is_step(*region.ops[i]) && number++ == wanted) {
        region.ops.erase(region.ops.begin() + static_cast<std::ptrdiff_t>(i));
        is_done = true;
        return;
      }
      for (ir::Region& inner : region.ops[i]->regions) visit(inner);
    }
  };
  visit(kernel.body);
  if (!is_done) return std::nullopt;
  return kernel;
}

// By the verifier, by the interpreter, or by a result that is wrong.
bool is_noticed(const ir::Kernel& kernel, const Memory& want) {
  try {
    ir::verify(kernel);
    for (unsigned seed = 0; seed < 2; ++seed)
      if (interpreted(kernel, seed).bytes != want.bytes) return true;
  } catch (const Error&) {
    return true;
  }
  return false;
}

TEST(CudaMapStoresHostile, EveryStepIsMissedAtStageFinal) {
  const std::string text = final_text(tile_with_stores(stored_text(128), true));
  const Memory want = interpreted(ir::parse(text), 0);
  EXPECT_FALSE(is_noticed(ir::parse(text), want));
  int changes = 0;
  for (; const auto kernel = without_one(text, changes); ++changes)
    EXPECT_TRUE(is_noticed(*kernel, want)) << changes << text;
  EXPECT_GE(changes, 20);  // 5 of each of 4 parts, and the wait at the end
}

// The interpreter by itself, without the verifier's rules.
TEST(CudaMapStoresHostile, TheInterpreterMissesWaitsAndMeetings) {
  const std::string text = final_text(tile_with_stores(stored_text(128), true));
  for (int i = 0; const auto kernel = without_one(text, i); ++i) {
    if (i >= 5) break;  // of the first part
    bool is_missed = false;
    for (unsigned seed = 0; seed < 4 && !is_missed; ++seed) try {
        is_missed = interpreted(*kernel, seed).bytes != interpreted(ir::parse(text), 0).bytes;
      } catch (const Error&) {
        is_missed = true;
      }
    EXPECT_TRUE(is_missed) << i << text;
  }
}

// ---- Texts

// What is wrong with a run of the text in which every `from` became `to`, in one of some orders of
// threads; "" where nothing is.
std::string stores_fault(const TileProgram& program, std::string_view from, const std::string& to) {
  KernelSource changed = program.source();
  EXPECT_NE(changed.text.find(from), std::string::npos) << from << changed.text;
  changed.text = replaced(changed.text, from, to);
  const Loaded loaded = load_emulated(changed);
  testing::TestPartResultArray wrong;
  const testing::ScopedFakeTestPartResultReporter reporter(&wrong);
  try {
    program.expect_same(StoredOperands{700, 200, 200}.run(), loaded);
  } catch (const Error& error) {
    return error.what();
  }
  return wrong.size() > 0 ? wrong.GetTestPartResult(0).message() : "";
}

TEST(CudaMapStoresHostile, EveryStepOfTheProtocolIsMissed) {
#ifdef TW_SANITIZE
  GTEST_SKIP() << "builds with sanitizers have no checks of shared memory";
#endif
  const TileProgram program = program_with_stores(stored_text(128), true);
  const struct {
    const char* from;
    const char* to;
  } changes[] = {
      {"tw::wait_stores<0>();", ";"},            // the slab is written while the engine reads it
      {"tw::show_to_products();", ";"},          // what was written is not shown to it
      {"__syncwarp();", ";"},                    // lanes store what others have not written yet
      {"c_map, held_at", "c_map, 8 + held_at"},  // another column
      {" * 64, c_map", " * 32, c_map"},          // another warp's lines
  };
  for (const auto& change : changes)
    EXPECT_NE(stores_fault(program, change.from, change.to), "") << change.from << program.text();
}

}  // namespace
}  // namespace tilewright
