// SPDX-License-Identifier: Apache-2.0
// codegen_cpu/control_test.cpp — loops, branches, atomics, asserts, prints, and big tiles.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/parse.h"
#include "run_both.h"
#include "tilewright/error.h"

namespace tilewright::testing_cpu {
namespace {

// Two carried tiles change places in every round, and a scalar counts.
TEST(CpuControl, CarriedValuesChangePlaces) {
  run_both(R"(
kernel @swap(%x: *i32, %y: *i32, %n: i32) tile {
  %zero = constant {value = 0} : i32
  %step = constant {value = 1} : i32
  %one = constant {value = 1} : i64
  %p = affine %x, %one : *i32[32]
  %q = affine %y, %one : *i32[32]
  %a = load %p : i32[32]
  %b = load %q : i32[32]
  %u, %v, %s, %t = for %zero, %n, %step, %a, %b, %zero, %step : i32[32], i32[32], i32, i32 (%i: i32, %c: i32[32], %d: i32[32], %k: i32, %l: i32) {
    %is = splat %i : i32[32]
    %e = add %c, %is : i32[32]
    %m = add %k, %l : i32
    yield %d, %e, %l, %m
  }
  %ss = splat %s : i32[32]
  %w = add %u, %ss : i32[32]
  store %p, %w
  store %q, %v
}
)",
           {Memory::random(i32, 32, 1), Memory::random(i32, 32, 2), std::int64_t{7}});
}

// As in an online softmax: the new value of one tile is stored where the other still reads the old.
TEST(CpuControl, ACarriedTileIsReadAfterItsNextValueIsKnown) {
  run_both(R"(
kernel @online(%x: *i32, %y: *i32, %n: i32) tile {
  %zero = constant {value = 0} : i32
  %step = constant {value = 1} : i32
  %one = constant {value = 1} : i64
  %p = affine %x, %one : *i32[32]
  %q = affine %y, %one : *i32[32]
  %a = load %p : i32[32]
  %b = load %q : i32[32]
  %u, %v = for %zero, %n, %step, %a, %b : i32[32], i32[32] (%i: i32, %m: i32[32], %z: i32[32]) {
    %is = splat %i : i32[32]
    %next = mul %m, %is : i32[32]
    %gap = sub %m, %next : i32[32]
    %sum = add %z, %gap : i32[32]
    yield %next, %sum
  }
  store %p, %u
  store %q, %v
}
)",
           {Memory::random(i32, 32, 1), Memory::random(i32, 32, 2), std::int64_t{4}});
}

TEST(CpuControl, ATileIsReversedInALoop) {
  run_both(R"(
kernel @turn(%x: *i32, %n: i32) tile {
  %zero = constant {value = 0} : i32
  %step = constant {value = 1} : i32
  %one = constant {value = 1} : i64
  %eight = constant {value = 8} : i64
  %p = affine %x, %eight, %one : *i32[8, 8]
  %a = load %p : i32[8, 8]
  %u = for %zero, %n, %step, %a : i32[8, 8] (%i: i32, %c: i32[8, 8]) {
    %t = permute %c {order = [1, 0]} : i32[8, 8]
    %is = splat %i : i32[8, 8]
    %e = add %t, %is : i32[8, 8]
    %f = sub %e, %c : i32[8, 8]
    yield %f
  }
  store %p, %u
}
)",
           {Memory::random(i32, 64, 1), std::int64_t{5}});
}

TEST(CpuControl, BranchesAndWhile) {
  for (const std::int64_t n : {0, 1, 6, 27})
    run_both(R"(
kernel @collatz(%x: *i32, %n: i32) tile {
  %zero = constant {value = 0} : i32
  %one32 = constant {value = 1} : i32
  %two = constant {value = 2} : i32
  %three = constant {value = 3} : i32
  %one = constant {value = 1} : i64
  %p = affine %x, %one : *i32[16]
  %a = load %p : i32[16]
  %value, %steps, %tile = while %n, %zero, %a : i32, i32, i32[16] (%v: i32, %s: i32, %t: i32[16]) {
    %more = compare %v, %one32 {is = "gt"} : b1
    condition %more, %v, %s, %t
  } then (%w: i32, %r: i32, %u: i32[16]) {
    %bit = and %w, %one32 : i32
    %odd = compare %bit, %zero {is = "ne"} : b1
    %next, %tiles = if %odd : i32, i32[16] {
      %m = mul %w, %three : i32
      %k = add %m, %one32 : i32
      %f = add %u, %u : i32[16]
      yield %k, %f
    } then {
      %h = div %w, %two : i32
      %ws = splat %w : i32[16]
      %g = sub %u, %ws : i32[16]
      yield %h, %g
    }
    %q = add %r, %one32 : i32
    yield %next, %q, %tiles
  }
  %ss = splat %steps : i32[16]
  %y = add %tile, %ss : i32[16]
  store %p, %y
}
)",
             {Memory::random(i32, 16, 3), n});
}

TEST(CpuControl, AtomicsOfManyPrograms) {
  run_both(R"(
kernel @count(%ints: *i32, %floats: *f32, %wide: *u64) tile {
  %pid = program_id {axis = 0} : i32
  %zero = constant {value = 0} : i64
  %one = constant {value = 1} : i64
  %limit = constant {value = 13} : i64
  %p = affine %ints, %zero : *i32[16]
  %ones = constant {value = 1} : i32[16]
  %mask = bounds %zero, %limit : b1[16]
  %old = atomic_rmw %p, %ones, %mask {op = "add"} : i32[16]
  %f = cast %pid : f32
  %of = atomic_rmw %floats, %f {op = "fadd"} : f32
  %second = offset %floats, %one : *f32
  %om = atomic_rmw %second, %f {op = "max"} : f32
  %u = cast %pid : u64
  %ox = atomic_rmw %wide, %u {op = "xor"} : u64
  %next = offset %ints, %one : *i32
  %c0 = constant {value = 0} : i32
  %c7 = constant {value = 7} : i32
  %oc = atomic_cas %next, %c0, %c7 : i32
}
)",
           {Memory::of(i32, std::vector<std::int32_t>{5, 0}),
            Memory::of(f32, std::vector<float>{0.5f, -1.0f}),
            Memory::of(u64, std::vector<std::uint64_t>{9})},
           {64, 1, 1});
}

// Every program waits for its turn: none may starve another.
TEST(CpuControl, ProgramsThatWaitForEachOther) {
  run_both(R"(
kernel @turns(%lock: *i32, %log: *i32) tile {
  %pid = program_id {axis = 0} : i32
  %one = constant {value = 1} : i32
  %seen = while %one : i32 (%a: i32) {
    %now = load %lock {volatile = 1} : i32
    %wait = compare %now, %pid {is = "ne"} : b1
    condition %wait, %now
  } then (%b: i32) {
    yield %b
  }
  %place = offset %log, %pid : *i32
  %twice = add %seen, %seen : i32
  store %place, %twice
  %old = atomic_rmw %lock, %one {op = "add"} : i32
}
)",
           {Memory::of(i32, std::vector<std::int32_t>{0}),
            Memory::of(i32, std::vector<std::int32_t>(40, -1))},
           {40, 1, 1});
}

// Each waits for the one after it: all must be in flight at once, whatever the number of threads.
const char* const backwards = R"(
kernel @backwards(%flags: *i32, %log: *i32, %last: i32, %bad: i32) tile "backwards.py" {
  %pid = program_id {axis = 0} : i32
  %one = constant {value = 1} : i32
  %zero = constant {value = 0} : i32
  %next = add %pid, %one : i32
  %theirs = offset %flags, %next : *i32
  %mine = offset %flags, %pid : *i32
  %is_last = compare %pid, %last {is = "eq"} : b1
  %start = select %is_last, %one, %zero : i32
  %fine = compare %pid, %bad {is = "ne"} : b1
  assert %fine {message = "the bad one"} @4:1
  %seen = while %start : i32 (%a: i32) {
    %wait = compare %a, %zero {is = "eq"} : b1
    condition %wait, %a
  } then (%b: i32) {
    %now = atomic_rmw %theirs, %zero {op = "add"} : i32
    yield %now
  }
  %place = offset %log, %pid : *i32
  store %place, %seen
  %flag = add %seen, %one : i32
  %old = atomic_rmw %mine, %flag {op = "xchg"} : i32
}
)";

TEST(CpuControl, ProgramsThatWaitForLaterOnes) {
  constexpr int count = 100;
  const Function function = compile_cpu(ir::parse(backwards));
  for (int repeat = 0; repeat < 3; ++repeat) {
    std::vector<std::int32_t> flags(count + 1, 0), log(count, -1);
    function[{.grid = count}](flags.data(), log.data(), count - 1, -1);
    for (int i = 0; i < count; ++i) ASSERT_EQ(log[static_cast<std::size_t>(i)], count - i);
  }
}

TEST(CpuControl, AFailureEndsTheProgramsThatWait) {
  std::vector<std::int32_t> flags(17, 0), log(16, -1);
  const Function function = compile_cpu(ir::parse(backwards));
  try {
    function[{.grid = 16}](flags.data(), log.data(), 15, 11);
    FAIL() << "no error";
  } catch (const KernelFault& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("the bad one (program 11, 0, 0)"));
  }
}

// A lock around two plain accesses: no update is lost.
TEST(CpuControl, ASpinLock) {
  const Function function = compile_cpu(ir::parse(R"(
kernel @locked(%lock: *i32, %sum: *i32) tile {
  %pid = program_id {axis = 0} : i32
  %one = constant {value = 1} : i32
  %zero = constant {value = 0} : i32
  %held = while %one : i32 (%a: i32) {
    %old = atomic_cas %lock, %zero, %one : i32
    %wait = compare %old, %zero {is = "ne"} : b1
    condition %wait, %old
  } then (%b: i32) {
    yield %b
  }
  %before = load %sum : i32
  %part = add %before, %pid : i32
  store %sum, %part
  %free = atomic_rmw %lock, %zero {op = "xchg"} : i32
}
)"));
  std::int32_t lock = 0, sum = 0;
  function[{.grid = 500}](&lock, &sum);
  EXPECT_EQ(sum, 500 * 499 / 2);
}

const char* const asserting = R"(
kernel @guarded(%x: *i32) tile "guarded.py" {
  %one = constant {value = 1} : i64
  %pid = program_id {axis = 0} : i32
  %p = affine %x, %one : *i32[8]
  %a = load %p : i32[8]
  %pids = splat %pid : i32[8]
  %ok = compare %a, %pids {is = "gt"} : b1[8]
  assert %ok {message = "x is \"too\" small"} @7:3
  store %p, %a
}
)";

TEST(CpuControl, AnAssertNamesLineAndProgram) {
  const Function function = compile_cpu(ir::parse(asserting));
  std::vector<std::int32_t> x(8, 2);
  try {
    function[{.grid = 3}](x.data());
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                testing::HasSubstr("kernel 'guarded' failed: guarded.py:7:3: kernel 'guarded': "
                                   "assertion failed: x is \"too\" small (program 2, 0, 0)"));
  }
}

TEST(CpuControl, PrintsWhatTheInterpreterPrints) {
  const ir::Kernel kernel = ir::parse(R"(
kernel @show(%x: *f32, %n: i32) tile {
  %one = constant {value = 1} : i64
  %p = affine %x, %one : *f32[2]
  %a = load %p : f32[2]
  print %a, %n {prefix = "a: "}
  print %n {prefix = "hex ", hex = 1}
  print {prefix = "done"}
}
)");
  std::vector<float> x = {0.1f, -2.0f};
  testing::internal::CaptureStdout();
  compile_cpu(kernel)[{.grid = 1}](x.data(), 17);
  fflush(stdout);
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "pid (0, 0, 0) idx 0 a: 0.10000000149011612\n"
            "pid (0, 0, 0) idx 1 a: -2\n"
            "pid (0, 0, 0) a: 17\n"
            "pid (0, 0, 0) hex 0x11\n"
            "pid (0, 0, 0) done\n");
}

// Arrays beyond what the stack takes, rows of 131072.
TEST(CpuControl, BigTiles) {
  run_both(R"(
kernel @wide(%x: *f32, %n: i64) tile {
  %one = constant {value = 1} : i64
  %zero = constant {value = 0} : i64
  %p = affine %x, %one : *f32[131072]
  %mask = bounds %zero, %n : b1[131072]
  %a = load %p, %mask : f32[131072]
  %e = math %a {function = "exp"} : f32[131072]
  %m = reduce %e {axis = 0} : f32 (%c: f32, %d: f32) {
    %f = max %c, %d {nan = "propagate"} : f32
    yield %f
  }
  %ms = splat %m : f32[131072]
  %y = div %e, %ms : f32[131072]
  store %p, %y, %mask
}
)",
           {Memory::random(f32, 131072, 4), std::int64_t{100003}}, {1, 1, 1}, {.ulps = 4});
}

// A mask that begins and ends inside, in two dimensions, with a sum that counts the outside.
TEST(CpuControl, BoundsOfTwoDimensions) {
  for (const auto& [low, high] : {std::pair<std::int64_t, std::int64_t>{3, 11}, {-4, 40}, {9, 2}})
    run_both(R"(
kernel @inside(%x: *f32, %sums: *f32, %low: i64, %high: i64) tile {
  %one = constant {value = 1} : i64
  %width = constant {value = 32} : i64
  %two = constant {value = 2} : i64
  %seven = constant {value = 7} : i64
  %p = affine %x, %width, %one : *f32[8, 32]
  %mask = bounds %two, %seven, %low, %high : b1[8, 32]
  %other = constant {value = 0.25} : f32[8, 32]
  %a = load %p, %mask, %other : f32[8, 32]
  %s = reduce %a {axis = 1} : f32[8] (%c: f32, %d: f32) {
    %f = add %c, %d : f32
    yield %f
  }
  %t = reduce %a {axis = 0} : f32[32] (%g: f32, %h: f32) {
    %k = max %g, %h : f32
    yield %k
  }
  %q = affine %sums, %one : *f32[8]
  store %q, %s
  %column = reshape %s : f32[8, 1]
  %wide = broadcast %column : f32[8, 32]
  %row = reshape %t : f32[1, 32]
  %high_row = broadcast %row : f32[8, 32]
  %y = sub %a, %wide : f32[8, 32]
  %z = add %y, %high_row : f32[8, 32]
  store %p, %z, %mask
}
)",
             {Memory::random(f32, 256, 4), Memory::random(f32, 8, 5), low, high}, {1, 1, 1},
             {.ulps = 8, .absolute = 1e-5});
}

// A dimension of one element has no loop, but its mask counts: with a sum that counts the outside,
// and alone.
TEST(CpuControl, BoundsOfOneElement) {
  for (const auto& [low, high] :
       {std::pair<std::int64_t, std::int64_t>{0, 1}, {0, 0}, {1, 1}, {-3, 5}, {1, 0}})
    run_both(R"(
kernel @one(%x: *f32, %y: *f32, %sums: *f32, %low: i64, %high: i64, %end: i64) tile {
  %one = constant {value = 1} : i64
  %zero = constant {value = 0} : i64
  %p = affine %x, %zero, %one : *f32[1, 32]
  %mask = bounds %low, %high, %zero, %end : b1[1, 32]
  %other = constant {value = 0.25} : f32[1, 32]
  %a = load %p, %mask, %other : f32[1, 32]
  %s = reduce %a {axis = 1} : f32[1] (%c: f32, %d: f32) {
    %f = add %c, %d : f32
    yield %f
  }
  %q = affine %sums, %one : *f32[1]
  store %q, %s
  %r = affine %y, %zero, %one : *f32[1, 32]
  %b = add %a, %a : f32[1, 32]
  store %r, %b, %mask
}
)",
             {Memory::random(f32, 32, 4), Memory::random(f32, 32, 5), Memory::random(f32, 1, 6),
              low, high, std::int64_t{20}},
             {1, 1, 1}, {.ulps = 8, .absolute = 1e-5});
}

}  // namespace
}  // namespace tilewright::testing_cpu
