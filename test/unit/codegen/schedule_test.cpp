// SPDX-License-Identifier: Apache-2.0
// codegen/schedule_test.cpp — which loops a kernel becomes, and where its tiles live.
#include "passes/laid/schedule.h"

#include <gtest/gtest.h>

#include "ir/parse.h"
#include "ir/verify.h"
#include "passes/laid/describe.h"

namespace tilewright {
namespace {

std::string plan(const std::string& text, const SweepPolicy& options = {}) {
  const ir::Kernel kernel = ir::parse(text);
  ir::verify(kernel);
  const std::string once = describe(kernel, Schedule(kernel, options));
  EXPECT_EQ(describe(kernel, Schedule(kernel, options)), once);
  return once;
}

const std::string softmax = R"(
kernel @softmax(%out: *f32, %in: *f32, %n: i64) tile {
  %one = constant {value = 1} : i64
  %zero = constant {value = 0} : i64
  %p = affine %in, %one : *f32[1024]
  %q = affine %out, %one : *f32[1024]
  %mask = bounds %zero, %n : b1[1024]
  %low = constant {value = -inf} : f32[1024]
  %x = load %p, %mask, %low : f32[1024]
  %m = reduce %x {axis = 0} : f32 (%a: f32, %b: f32) {
    %c = max %a, %b : f32
    yield %c
  }
  %ms = splat %m : f32[1024]
  %d = sub %x, %ms : f32[1024]
  %e = math %d {function = "exp"} : f32[1024]
  %s = reduce %e {axis = 0} : f32 (%f: f32, %g: f32) {
    %h = add %f, %g : f32
    yield %h
  }
  %ss = splat %s : f32[1024]
  %y = div %e, %ss : f32[1024]
  store %q, %y, %mask
}
)";

TEST(Schedule, SoftmaxIsThreeLoopsThatReadTheRowAgain) {
  EXPECT_EQ(plan(softmax),
            "scalar: %one constant\n"
            "scalar: %zero constant\n"
            "elements [1024]: %x load; reduces %m reduce\n"
            "elements [1024]: %d sub, %e math; keeps %e; reduces %s reduce\n"
            "elements [1024]: %y div, store\n");
}

TEST(Schedule, LoadsOfSmallTilesAreKeptWhenAsked) {
  EXPECT_EQ(plan(softmax, {.reload_from = 4096}),
            "scalar: %one constant\n"
            "scalar: %zero constant\n"
            "elements [1024]: %x load; keeps %x; reduces %m reduce\n"
            "elements [1024]: %d sub, %e math; keeps %e; reduces %s reduce\n"
            "elements [1024]: %y div, store\n");
}

TEST(Schedule, ALoadAfterAStoreToItsMemoryBeginsANewLoop) {
  EXPECT_EQ(plan(R"(
kernel @k(%x: *f32, %y: *f32) tile {
  %one = constant {value = 1} : i64
  %p = affine %x, %one : *f32[64]
  %q = affine %y, %one : *f32[64]
  %a = load %p : f32[64]
  store %q, %a
  %b = load %q : f32[64]
  %c = add %a, %b : f32[64]
  store %p, %c
}
)"),
            "scalar: %one constant\n"
            "elements [64]: %a load, store; keeps %a\n"
            "elements [64]: %b load, %c add, store\n");
}

const std::string loads_between_stores = R"(
  %one = constant {value = 1} : i64
  %p = affine %x, %one : *f32[64]
  %q = affine %y, %one : *f32[64]
  %r = affine %z, %one : *f32[64]
  %a = load %p : f32[64]
  store %q, %a
  %b = load %r : f32[64]
  %c = add %a, %b : f32[64]
  store %q, %c
}
)";

TEST(Schedule, ALoadOfOtherMemoryWaitsForNoStore) {
  EXPECT_EQ(plan("kernel @k(%x: *f32, %y: *f32, %z: *f32) tile {" + loads_between_stores),
            "scalar: %one constant\n"
            "elements [64]: %a load, store, %b load, %c add, store\n");
}

// %s is computed where it is stored, and so %a and %b are loaded only there. %w must be an array.
const std::string sum_and_product = R"(
kernel @k(%x: *f32, %y: *f32, %w: *f32, %u: *f32, %v: *f32) tile {
  %one = constant {value = 1} : i64
  %zero = constant {value = 0} : i64
  %width = constant {value = 64} : i64
  %p = affine %x, %width, %one : *f32[4,64]
  %next = offset %x, %one : *f32
  %shifted = affine %next, %width, %one : *f32[4,64]
  %q = affine %y, %width, %one : *f32[4,64]
  %r = affine %w, %zero, %one : *f32[1,64]
  %m = affine %u, %width, %one : *f32[4,64]
  %n = affine %v, %width, %one : *f32[4,64]
  %a = load %p : f32[4,64]
  %b = load %q : f32[4,64]
  %s = add %a, %b : f32[4,64]
  %row = load %r : f32[1,64]
  %rows = broadcast %row : f32[4,64]
  %t = mul %a, %rows : f32[4,64]
  %d = mul %t, %b : f32[4,64]
  SYNC
  store %m, %s
  store %n, %d
}
)";

std::string with_sync(std::string text, const std::string& op) {
  return text.replace(text.find("SYNC"), 4, op);
}

TEST(Schedule, AChainOfOpsWaitsForTheLoopThatNeedsIt) {
  EXPECT_EQ(plan(with_sync(sum_and_product, ""), {.reload_from = 4096}),
            "scalar: %one constant\n"
            "scalar: %zero constant\n"
            "scalar: %width constant\n"
            "scalar: %next offset\n"
            "elements [1, 64]: %row load; keeps %row\n"
            "elements [4, 64]: %t mul, %d mul, store, store\n");
}

// A store to what they read, and a barrier, must come after the loads.
TEST(Schedule, AChainDoesNotWaitPastWhatOrdersItsMemory) {
  for (const std::string op : {"store %shifted, %d", "barrier"}) {
    const std::string steps = plan(with_sync(sum_and_product, op), {.reload_from = 4096});
    EXPECT_NE(steps.find("%a load"), std::string::npos) << steps;
    EXPECT_LT(steps.find("%a load"), steps.find("store")) << steps;
  }
}

TEST(Schedule, AShiftInPlaceReadsEverythingFirst) {
  EXPECT_EQ(plan(R"(
kernel @k(%x: *f32) tile {
  %one = constant {value = 1} : i64
  %next = offset %x, %one : *f32
  %p = affine %x, %one : *f32[64]
  %q = affine %next, %one : *f32[64]
  %a = load %p : f32[64]
  store %q, %a
}
)"),
            "scalar: %one constant\n"
            "scalar: %next offset\n"
            "elements [64]: %a load; keeps %a\n"
            "elements [64]: store\n");
}

TEST(Schedule, AnAccumulatorIsUpdatedInPlace) {
  const std::string text = R"(
kernel @k(%x: *f32, %n: i64) tile {
  %zero = constant {value = 0} : i64
  %one = constant {value = 1} : i64
  %start = constant {value = 0.0} : f32[64]
  %sum = for %zero, %n, %one, %start : f32[64] (%i: i64, %acc: f32[64]) {
    %row = offset %x, %i : *f32
    %p = affine %row, %one : *f32[64]
    %a = load %p : f32[64]
    %next = add %acc, %a : f32[64]
    yield %next
  }
  %p2 = affine %x, %one : *f32[64]
  store %p2, %sum
}
)";
  EXPECT_EQ(plan(text),
            "scalar: %zero constant\n"
            "scalar: %one constant\n"
            "control: %sum for {\n"
            "  scalar: %row offset\n"
            "  elements [64]: %a load, %next add; keeps %next\n"
            "}\n"
            "elements [64]: store\n");
  const ir::Kernel kernel = ir::parse(text);
  const Schedule schedule(kernel, {});
  ir::Op* loop = nullptr;
  ir::walk(kernel.body, [&](ir::Op& op) { loop = op.kind == ir::OpKind::For ? &op : loop; });
  const ir::Value carried = loop->regions[0].arguments[1];
  EXPECT_EQ(schedule.storage(loop->result()), carried);
  EXPECT_EQ(schedule.storage(loop->regions[0].ops.back()->operands[0]), carried);
}

TEST(Schedule, WhatIsExpensiveIsKeptAndALoadMovesToItsUse) {
  EXPECT_EQ(plan(R"(
kernel @k(%x: *f32, %y: *f32) tile {
  %one = constant {value = 1} : i64
  %width = constant {value = 32} : i64
  %p = affine %x, %one : *f32[16]
  %a = load %p : f32[16]
  %e = math %a {function = "exp"} : f32[16]
  %column = reshape %e : f32[16, 1]
  %wide = broadcast %column : f32[16, 32]
  %q = affine %y, %width, %one : *f32[16, 32]
  %b = load %q : f32[16, 32]
  %c = mul %wide, %b : f32[16, 32]
  store %q, %c
}
)"),
            "scalar: %one constant\n"
            "scalar: %width constant\n"
            "elements [16]: %a load, %e math; keeps %e\n"
            "elements [16, 32]: %c mul, store\n");
}

// A row is summed up, then each element is scaled by the sum and by weights: %t is computed from
// those alone.
const std::string weighted_row = R"(
kernel @k(%x: *bf16, %y: *bf16, %z: *f32) tile {
  %one = constant {value = 1} : i64
  %p = affine %x, %one : *bf16[64]
  %q = affine %y, %one : *bf16[64]
  %r = affine %z, %one : *f32[64]
  %a = load %p : bf16[64]
  %w = load %q : bf16[64]
  %u = cast %w : f32[64]
  %half = constant {value = 0.5} : f32[64]
  %f = cast %a : f32[64]
  %t = FUNCTION : f32[64]
  %v = sub %f, %t : f32[64]
  %s = reduce %v {axis = 0} : f32 (%c: f32, %d: f32) {
    %e = add %c, %d : f32
    yield %e
  }
  %ss = splat %s : f32[64]
  %g = mul %f, %ss : f32[64]
  %h = mul %g, %t : f32[64]
  store %r, %h
}
)";

std::string weighted_by(const std::string& function) {
  std::string text = weighted_row;
  return text.replace(text.find("FUNCTION"), 8, function);
}

TEST(Schedule, ANarrowLoadIsKeptInPlaceOfWhatIsComputedFromIt) {
  const SweepPolicy policy{.reload_from = 4096, .keeps_narrow = true};
  EXPECT_EQ(plan(weighted_by("add %u, %half"), policy),
            "scalar: %one constant\n"
            "elements [64]: %a load, %w load, %u cast, %f cast, %t add, %v sub; keeps %a, %w; "
            "reduces %s reduce\n"
            "elements [64]: %g mul, %h mul, store\n");
  // Where there are registers enough the load is not put off.
  EXPECT_NE(plan(weighted_by("add %u, %half"),
                 {.reload_from = 4096, .keeps_narrow = true, .narrow_from = 128})
                .find("keeps %a, %t"),
            std::string::npos);
  // What takes long is kept.
  EXPECT_EQ(plan(weighted_by("math %u {function = \"exp\"}"), policy),
            "scalar: %one constant\n"
            "elements [64]: %a load, %w load, %u cast, %f cast, %t math, %v sub; keeps %a, %t; "
            "reduces %s reduce\n"
            "elements [64]: %g mul, %h mul, store\n");
  // What is computed from two loads too: both take as much.
  EXPECT_EQ(plan(weighted_by("mul %u, %f"), policy).find("keeps %a, %w"), std::string::npos);
}

// Rows of which a sum is stored before the weights of all rows are loaded.
const std::string scaled_rows = R"(
kernel @k(%x: *f32, %y: *f32, %z: *f32, %o: *f32) tile {
  %one = constant {value = 1} : i64
  %zero = constant {value = 0} : i64
  %width = constant {value = 64} : i64
  %p = affine %x, %width, %one : *f32[8, 64]
  %a = load %p : f32[8, 64]
  %s = reduce %a {axis = 1} : f32[8] (%c: f32, %d: f32) {
    %e = add %c, %d : f32
    yield %e
  }
  %q = affine %y, %one : *f32[8]
  store %q, %s
  %r = affine %z, %one : *f32[64]
  %w = load %r : f32[64]
  %column = reshape %s : f32[8, 1]
  %sums = broadcast %column : f32[8, 64]
  %g = sub %a, %sums : f32[8, 64]
  %row = reshape %w : f32[1, 64]
  %rows = broadcast %row : f32[8, 64]
  %h = mul %g, %rows : f32[8, 64]
  %t = affine %o, %width, %one : *f32[8, 64]
  store %t, %h
}
)";

TEST(Schedule, ALoadOfASmallTileDoesNotPartTheLoopsOfLargerOnes) {
  EXPECT_EQ(plan(scaled_rows, {.reload_from = 4096, .loads_before_stores = true}),
            "scalar: %one constant\n"
            "scalar: %zero constant\n"
            "scalar: %width constant\n"
            "elements [8, 64]: %a load; keeps %a; reduces %s reduce\n"
            "elements [64]: %w load; keeps %w\n"
            "elements [8]: store\n"
            "elements [8, 64]: %g sub, %h mul, store\n");
  EXPECT_NE(plan(scaled_rows, {.reload_from = 4096}).find("keeps %g"), std::string::npos);
}

}  // namespace
}  // namespace tilewright
