// SPDX-License-Identifier: Apache-2.0
// cli/opt_test.cpp — `tilewright opt`: results, errors with their place, exit codes.
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command.h"

namespace tilewright::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kernel = R"(kernel @k(%x: *f32, %n: i32) source {
  %zero = constant {value = 0} : i32
  %same = add %n, %zero : i32
  %range = arange {start = 0} : i32[8]
  %x_tile = splat %x : *f32[8]
  %ptrs = offset %x_tile, %range : *f32[8]
  %n_tile = splat %same : i32[8]
  %mask = compare %range, %n_tile {is = "lt"} : b1[8]
  %v = load %ptrs, %mask : f32[8]
  store %ptrs, %v, %mask
}
)";

class OptVerb : public ::testing::Test {
 protected:
  std::string file(const std::string& text) const {
    const std::string path = folder_.path() + "/kernel.tir";
    std::ofstream(path) << text;
    return path;
  }
  const TemporaryFolder folder_;
};

TEST_F(OptVerb, RunsTheTilePipeline) {
  const CommandResult r = tilewright_command({"opt", file(kernel)});
  EXPECT_EQ(r.exit_code, 0) << r.error;
  EXPECT_EQ(r.output, R"(kernel @k(%x: *f32, %n: i32) tile {
  %0 = constant {value = 1} : i64
  %ptrs = affine %x, %0 : *f32[8]
  %1 = constant {value = 0} : i64
  %2 = cast %n : i64
  %mask = bounds %1, %2 : b1[8]
  %v = load %ptrs, %mask : f32[8]
  store %ptrs, %v, %mask
}
)");
}

TEST_F(OptVerb, RunsChosenPassesInOrder) {
  const CommandResult r = tilewright_command(
      {"opt", "--passes", "canonicalize,eliminate_dead_code", "--print-after-all", file(kernel)});
  EXPECT_EQ(r.exit_code, 0) << r.error;
  EXPECT_THAT(r.output, StartsWith("// after canonicalize\nkernel @k(%x: *f32, %n: i32) source {\n"
                                   "  %zero = constant {value = 0} : i32\n"
                                   "  %range = arange"));
  EXPECT_THAT(r.output, HasSubstr("// after eliminate_dead_code\nkernel @k(%x: *f32, %n: i32) "
                                  "source {\n  %range = arange"));
}

TEST_F(OptVerb, ReadsTheStandardInputUpToTheSeparator) {
  const std::string path = file(std::string(kernel) + "// ----\nanything\n");
  const ProcessResult r =
      run_process({.arguments = {"sh", "-c", "exec \"$1\" opt - --verify-only < \"$2\"", "sh",
                                 tilewright_path(), path}});
  EXPECT_EQ(r.exit_code, 0);
  EXPECT_EQ(r.output, "<input>: kernel 'k' is valid\n");
}

TEST_F(OptVerb, ListsThePasses) {
  const CommandResult r = tilewright_command({"opt", "--list"});
  EXPECT_EQ(r.exit_code, 0);
  EXPECT_THAT(r.output, HasSubstr("find_access_forms                gives pointers and masks"));
  EXPECT_THAT(r.output, HasSubstr("default: spread_hints,merge_inductions,negate_differences,canonicalize,"));
}

TEST_F(OptVerb, PassesAreForStages) {
  const std::string at_final = file("kernel @k(%x: *f32) final {\n}\n");
  const CommandResult wrong = tilewright_command({"opt", at_final, "--passes", "canonicalize"});
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_EQ(wrong.output, "");
  EXPECT_EQ(wrong.error,
            "tilewright: pass 'canonicalize' is for kernels at stage source or tile, and kernel "
            "'k' is at stage final: leave it out, or take the text of that stage (tilewright "
            "compile --emit ir prints all of them)\n");
  const CommandResult right = tilewright_command({"opt", at_final, "--passes", "insert_barriers"});
  EXPECT_EQ(right.exit_code, 0) << right.error;
  EXPECT_EQ(right.output, "kernel @k(%x: *f32) final {\n}\n");
  // Stages change on the way: what follows find_access_forms is asked of a kernel at stage tile.
  const CommandResult later =
      tilewright_command({"opt", file(kernel), "--passes", "find_access_forms,place_tiles"});
  EXPECT_EQ(later.exit_code, 1);
  EXPECT_THAT(later.error, HasSubstr("pass 'place_tiles' is for kernels at stage laid, and kernel "
                                     "'k' is at stage tile"));
}

TEST_F(OptVerb, WrongTextShowsThePlace) {
  const std::string path = file("kernel @k(%x: *f32) source {\n  %y = lod %x : f32\n}\n");
  const CommandResult r = tilewright_command({"opt", path});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_EQ(r.output, "");
  EXPECT_THAT(r.error, StartsWith("tilewright: " + path + ":2:8: "));
  EXPECT_THAT(r.error, HasSubstr("'load'"));
}

TEST_F(OptVerb, AKernelThatIsNotValidIsTheUsersError) {
  const std::string path = file("kernel @k(%x: *f32, %n: i32) source {\n  store %x, %n\n}\n");
  const CommandResult r = tilewright_command({"opt", path, "--verify-only"});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_EQ(r.error, "tilewright: " + path +
                         ":2:3: error: op 'store' of kernel 'k' is not valid: the value must be "
                         "f32, is i32\n      store %x, %n\n      ^^^^^\n");
}

TEST_F(OptVerb, WrongArguments) {
  const auto error = [](const std::vector<std::string>& arguments, int exit_code) {
    const CommandResult r = tilewright_command(arguments);
    EXPECT_EQ(r.exit_code, exit_code);
    EXPECT_EQ(r.output, "");
    return r.error;
  };
  EXPECT_EQ(error({"opt"}, 2),
            "tilewright: tilewright opt needs a file, or - for the input (see tilewright opt "
            "--help)\n");
  EXPECT_EQ(error({"opt", file(kernel), "--passes", "canonicalise"}, 1),
            "tilewright: there is no pass 'canonicalise'; did you mean 'canonicalize'?\n");
  EXPECT_EQ(error({"opt", "/no/such.tir"}, 1),
            "tilewright: cannot open '/no/such.tir': No such file or directory\n");
  EXPECT_THAT(error({"opt", file(kernel), "--target", "sm_x"}, 1), HasSubstr("sm_x"));
  EXPECT_THAT(error({"opt", file(kernel), "--verify-only", "--passes", "canonicalize"}, 2),
              HasSubstr("--passes"));
  EXPECT_THAT(error({"opt", file(kernel), "--layouts"}, 1),
              HasSubstr("has no threads to draw: give --target sm_90a\n"));
  EXPECT_THAT(error({"opt", file(kernel), "--sweeps", "--passes", "canonicalize"}, 1),
              HasSubstr("--sweeps goes on from the tile stage"));
  EXPECT_THAT(error({"opt", file("kernel @k(%tile: f32[4]) tile {\n}\n"), "--sweeps"}, 1),
              HasSubstr("argument 'tile' of kernel 'k' is a tile"));
  EXPECT_EQ(error({"opt", file(kernel), "--target", "sm_90a", "--layouts", "--num-warps", "3"}, 1),
            "tilewright: num_warps is 3, but must be a power of two from 1 to 32\n");
}

TEST_F(OptVerb, GoesOnToSweeps) {
  for (const char* target : {"cpu", "sm_90a"}) {
    const CommandResult r =
        tilewright_command({"opt", "--target", target, "--sweeps", file(kernel)});
    EXPECT_EQ(r.exit_code, 0) << r.error;
    EXPECT_THAT(r.output, HasSubstr(") laid "));
    EXPECT_THAT(r.output, HasSubstr("sweep {shape = ["));
    const CommandResult again = tilewright_command({"opt", "--verify-only", file(r.output)});
    EXPECT_EQ(again.exit_code, 0) << again.error;
  }
}

TEST_F(OptVerb, DrawsLayouts) {
  const CommandResult r =
      tilewright_command({"opt", "--target", "sm_90a", "--layouts", "--num-warps", "1",
                          file(R"(kernel @p(%a: *f16, %c: *f32) source {
  %range = arange {start = 0} : i32[16]
  %pointer = splat %a : *f16[16]
  %ptrs = offset %pointer, %range : *f16[16]
  %x = load %ptrs : f16[16]
  %row = reshape %x : f16[16, 1]
  %left = broadcast %row : f16[16, 16]
  %right = permute %left {order = [1, 0]} : f16[16, 16]
  %zero = constant {value = 0.0} : f32[16, 16]
  %product = dot %left, %right, %zero : f32[16, 16]
  %total = reduce %product {axis = 1} : f32[16] (%l: f32, %r: f32) {
    %sum = add %l, %r : f32
    yield %sum
  }
  %out = splat %c : *f32[16]
  %outs = offset %out, %range : *f32[16]
  store %outs, %total
}
)")});
  EXPECT_EQ(r.exit_code, 0) << r.error;
  EXPECT_THAT(r.output, HasSubstr("cells are thread:register, 32 threads\n"));
  EXPECT_THAT(r.output, HasSubstr("product f32[16, 16], in 8 registers as\n"
                                  "register 1 128 8 | lane 2 4 16 32 64 | warp \n"));
  EXPECT_THAT(r.output,
              HasSubstr("   9   4:2   4:3   5:2   5:3   6:2   6:3   7:2   7:3   4:6   4:7"));
}

}  // namespace
}  // namespace tilewright::cli
