// SPDX-License-Identifier: Apache-2.0
// exec/ir_kernel_test.cpp — a kernel in the IR becomes a function that can be launched: on the CPU,
// in checked emulation of its CUDA text and on a GPU it gives what the interpreter says.
#include "tilewright/ir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/settings.h"
#include "base/text.h"
#include "compiler/triton/compile.h"
#include "compiler/triton/parameters.h"
#include "ir/builder.h"
#include "tilewright/tensor.h"

namespace tilewright {
namespace {

using testing::HasSubstr;

// out[i * stride] = x[i] + x[i]; %stride is 1 in most launches.
constexpr const char* twice_text =
    R"(kernel @twice(%x: *f32, %out: *f32, %n: i32, %stride: i32) source {
  %id = program_id {axis = 0} : i32
  %size = constant {value = 256} : i32
  %first = mul %id, %size : i32
  %from = splat %first : i32[256]
  %lane = arange {start = 0} : i32[256]
  %i = add %from, %lane : i32[256]
  %end = splat %n : i32[256]
  %inside = compare %i, %end {is = "lt"} : b1[256]
  %start = splat %x : *f32[256]
  %p = offset %start, %i : *f32[256]
  %v = load %p, %inside : f32[256]
  %sum = add %v, %v : f32[256]
  %by = splat %stride : i32[256]
  %place = mul %i, %by : i32[256]
  %to = splat %out : *f32[256]
  %q = offset %to, %place : *f32[256]
  store %q, %sum, %inside
}
)";

// In one program: y[i] = x[255 - i] for all i, after all were read only if they are in one memory.
constexpr const char* reverse_text = R"(kernel @reverse(%x: *i32, %y: *i32) source {
  %lane = arange {start = 0} : i32[256]
  %last = constant {value = 255} : i32[256]
  %back = sub %last, %lane : i32[256]
  %x0 = splat %x : *i32[256]
  %from = offset %x0, %back : *i32[256]
  %y0 = splat %y : *i32[256]
  %to = offset %y0, %lane : *i32[256]
  %a = load %from : i32[256]
  store %to, %a
  %b = load %from : i32[256]
  %c = add %b, %b : i32[256]
  store %to, %c
}
)";

struct Way {
  const char* name;
  IrLaunch launch;
  Device device;
};

std::vector<Way> all_ways() {
  static const Target sm_90a = Target::parse("sm_90a");
  static const Target sm_75 = Target::parse("sm_75");
  std::vector<Way> ways = {{"cpu", {}, Device::cpu()},
                           {"sm_90a emulated", {.emulate = &sm_90a}, Device::cpu()},
                           {"sm_75 emulated", {.emulate = &sm_75}, Device::cpu()}};
  if (cuda_device_count() > 0) ways.push_back({"cuda", {}, Device::cuda()});
  return ways;
}

// The checks of emulated CUDA for the length of a test.
class IrKernelTest : public testing::Test {
 protected:
  static Settings checked() {
    Settings settings_with_checks = settings();
    settings_with_checks.emulate_check = true;
    return settings_with_checks;
  }
  const SettingsOverride on_{checked()};
};

template <class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const UserError& error) {
    return first_line(error.what());
  }
  return "";
}

TEST_F(IrKernelTest, GivesTheSameEverywhere) {
  const IrKernel twice = load_ir(twice_text);
  for (const Way& way : all_ways()) {
    SCOPED_TRACE(way.name);
    for (const std::int64_t n : {1, 255, 256, 1000}) {
      const Tensor x = arange(n, {f32, Device::cpu()}).to(way.device);
      const Tensor out = zeros({n}, {f32, way.device});
      IrLaunch launch = way.launch;
      launch.grid = cdiv(n, 256);
      twice[launch](x, out, n, 1);
      const std::vector<float> got = out.to(Device::cpu()).to_vector<float>();
      for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], 2.0f * static_cast<float>(i));
    }
  }
}

TEST_F(IrKernelTest, ArgumentsSpecialise) {
  const IrKernel twice = load_ir(twice_text);
  const Tensor x = arange(2048, {f32, Device::cpu()});
  const Tensor out = zeros({4096}, {f32, Device::cpu()});
  const auto run = [&](int n, int stride) { twice[{.grid = 8}](x, out, n, stride); };
  run(2048, 1);
  EXPECT_EQ(twice.specializations(), 1u);
  run(1024, 1);  // as the first
  EXPECT_EQ(twice.specializations(), 1u);
  run(1000, 1);  // no multiple of 16
  EXPECT_EQ(twice.specializations(), 2u);
  run(2048, 2);  // neighbours are no neighbours any more
  EXPECT_EQ(twice.specializations(), 3u);
  EXPECT_EQ(out.to_vector<float>()[4094], 4094.0f);
  EXPECT_EQ(out.to_vector<float>()[4095], 0.0f);
  twice[{.grid = 7}](x.slice(0, 1, 2048), out, 1000, 1);  // an address that is not aligned
  EXPECT_EQ(twice.specializations(), 4u);
  EXPECT_EQ(out.to_vector<float>()[0], 2.0f);
}

TEST_F(IrKernelTest, ArgumentsInOneMemoryKeepTheOrderOfAccesses) {
  const IrKernel reverse = load_ir(reverse_text);
  const auto run = [&](const IrLaunch& launch, Device device, std::int64_t offset) {
    const Tensor memory = arange(1024, {i32, Device::cpu()}).to(device);
    reverse[launch](memory, memory.slice(0, offset, offset + 256));
    return memory.to(Device::cpu()).to_vector<std::int32_t>();
  };
  for (const std::int64_t offset : {0, 1, 16, 200, 512}) {
    const std::vector<std::int32_t> expected = run({.interpret = true}, Device::cpu(), offset);
    for (const Way& way : all_ways())
      EXPECT_EQ(run(way.launch, way.device, offset), expected) << way.name << " at " << offset;
  }
}

// The kernel of an example as text gives what the example's kernel gives.
TEST_F(IrKernelTest, AProductInManyStagesFromTheTextOfATritonKernel) {
  constexpr const char* source = R"(
import triton
import triton.language as tl

@triton.jit
def product(a, b, c, k, N: tl.constexpr):
    rows = tl.arange(0, N)
    total = tl.zeros((N, N), dtype=tl.float32)
    for i in range(0, k, N):
        x = tl.load(a + rows[:, None] * k + i + rows[None, :])
        y = tl.load(b + (i + rows[:, None]) * N + rows[None, :])
        total = tl.dot(x, y, total)
    tl.store(c + rows[:, None] * N + rows[None, :], total)
)";
  python::ModuleLoader loader;
  const python::LoadedModule& module = loader.load_text("product.py", source);
  const python::DecoratedFunction function = find_kernel(loader, module, "product");
  python::Evaluator evaluator(loader, {});
  const TritonSignature signature = parse_signature(
      "product", read_parameters(loader, evaluator, function), "*fp16, *fp16, *fp32, i32, 32");
  const std::string text =
      lower_to_tiles(loader, function, signature, Target::host(), {}, true).source_ir;
  const IrKernel product = load_ir(text);
  const auto small = [](std::int64_t rows, std::int64_t columns) {
    return arange(rows * columns, {f32, Device::cpu()}).reshape({rows, columns});
  };
  const Tensor a = (small(32, 128)).to(f16), b = (small(128, 32)).to(f16);
  const auto run = [&](const IrLaunch& launch, Device device) {
    const Tensor c = zeros({32, 32}, {f32, device});
    product[launch](a.to(device), b.to(device), c, 128);
    return c.to(Device::cpu()).to_vector<float>();
  };
  const std::vector<float> expected = run({.interpret = true, .float64 = true}, Device::cpu());
  for (const Way& way : all_ways()) {
    SCOPED_TRACE(way.name);
    const std::vector<float> got = run(way.launch, way.device);
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(got[i], expected[i], 1e-4f * std::abs(expected[i])) << i;
  }
}

TEST_F(IrKernelTest, ABuiltKernelIsLaunchedToo) {
  ir::Kernel kernel;
  kernel.name = "fill";
  const ir::Value out = kernel.add_argument(ir::Type::pointer(f32), "out");
  const ir::Value value = kernel.add_argument(ir::Type::scalar(f32), "value");
  ir::Builder builder(kernel);
  const ir::Value lane = builder.arange(0, 64);
  const ir::Value start = builder.splat(out, builder.type(lane));
  const ir::Value place =
      builder.create_one(ir::OpKind::Offset, {start, lane}, builder.type(start));
  builder.create(ir::OpKind::Store, {place, builder.splat(value, builder.type(lane))}, {});
  const IrKernel fill = load_ir(std::move(kernel));
  EXPECT_EQ(fill.name(), "fill");
  ASSERT_EQ(fill.parameters().size(), 2u);
  EXPECT_EQ(fill.parameters()[1].name, "value");
  for (const Way& way : all_ways()) {
    const Tensor memory = zeros({65}, {f32, way.device});
    fill[way.launch](memory, 1.5f);
    std::vector<float> expected(65, 1.5f);
    expected[64] = 0;
    EXPECT_EQ(memory.to(Device::cpu()).to_vector<float>(), expected) << way.name;
  }
}

TEST_F(IrKernelTest, TheInterpreterFindsAccessesOutOfBoundsAtTheLineOfTheText) {
  const IrKernel twice = load_ir(twice_text, "twice.tir");
  const Tensor x = zeros({100}, {f32, Device::cpu()}), out = zeros({100}, {f32, Device::cpu()});
  const std::string message =
      message_of([&] { twice[{.grid = 1, .interpret = true}](x, out, 101, 1); });
  EXPECT_THAT(message, HasSubstr("12"));
  EXPECT_THAT(message, HasSubstr("'x'"));
}

TEST_F(IrKernelTest, TheFastestLaunchIsFoundAndMemoryIsAsBefore) {
  const IrKernel twice = load_ir(twice_text);
  const Tensor x = arange(4096, {f32, Device::cpu()});
  const std::vector<float> before = x.to_vector<float>();
  const IrLaunch launches[] = {{.grid = 16, .num_warps = 3}, {.grid = 16}, {.grid = 16 * 200}};
  const Argument arguments[] = {x, x, 4096, 1};
  EXPECT_EQ(twice.fastest(launches, arguments), 1u);  // the first cannot run, the last does more
  EXPECT_EQ(x.to_vector<float>(), before);
  EXPECT_EQ(message_of([&] {
              twice.fastest({launches, 1}, arguments);
            }),
            "num_warps of kernel 'twice' must be 1, 2, 4, 8, 16 or 32, not 3");
  EXPECT_EQ(message_of([&] { twice.fastest({}, arguments); }),
            "kernel 'twice' has no launches to choose from");
}

TEST_F(IrKernelTest, TheSourceCanBeRead) {
  const IrKernel twice = load_ir(twice_text, "twice.tir");
  const Tensor x = zeros({256}, {f32, Device::cpu()});
  const Argument arguments[] = {x, x, 256, 1};
  const std::string text = twice.source({}, arguments).text;
  EXPECT_THAT(text, HasSubstr("%sum = add %v, %v : f32[256]"));  // the lines of the kernel's text
}

TEST_F(IrKernelTest, WrongTextIsOneSentence) {
  const auto problem = [](const std::string& text) {
    return message_of([&] { load_ir(text, "k.tir"); });
  };
  EXPECT_EQ(problem("kernel @k(%x: *f32, %n: i32) source {\n  store %x, %n\n}\n"),
            "k.tir:2:3: error: op 'store' of kernel 'k' is not valid: the value must be f32, is "
            "i32");
  EXPECT_EQ(problem("kernel @k(%x: *f32) laid {\n}\n"),
            "kernel 'k' is at stage laid or final; a kernel to be compiled is at stage source or "
            "tile");
  EXPECT_EQ(problem("kernel @k(%x: *f32 {const = 1}) source {\n"
                    "  %one = constant {value = 1.0} : f32\n  store %x, %one\n}\n"),
            "argument 'x' of kernel 'k' is const, but the kernel may write through it");
  EXPECT_EQ(problem("kernel @k(%x: *f32 {divisible = 0}) source {\n}\n"),
            "argument 'x' of kernel 'k' has divisible = 0, which must be 1 or more");
  EXPECT_EQ(problem("kernel @k(%x: f32 {positive = 1}) source {\n}\n"),
            "argument 'x' of kernel 'k' is positive = 1, which only integers are");
  EXPECT_EQ(problem("kernel @k(%x: f32[8]) source {\n}\n"),
            "argument 'x' of kernel 'k' is a tile; arguments are scalars and pointers");
  EXPECT_EQ(problem("hello"), "k.tir:1:1: error: expected 'kernel'");
  EXPECT_EQ(problem(""), "k.tir:1:1: error: expected 'kernel'");
}

TEST_F(IrKernelTest, WrongArgumentsAreOneSentence) {
  const IrKernel twice = load_ir(twice_text);
  const Tensor x = zeros({256}, {f32, Device::cpu()});
  const Tensor h = zeros({256}, {f16, Device::cpu()});
  EXPECT_EQ(message_of([&] { twice[{.grid = 1}](x, x); }),
            "kernel 'twice' takes 4 arguments (x, out, n, stride), got 2");
  EXPECT_EQ(message_of([&] { twice[{.grid = 1}](x, h, 256, 1); }),
            "argument 2 'out' of kernel 'twice' must be a pointer to float32, got a tensor of "
            "float16");
  for (const bool interpret : {false, true})
    EXPECT_EQ(message_of([&] {
                twice[{.grid = 1, .interpret = interpret}](x, x, std::int64_t{1} << 40, 1);
              }),
              "argument 3 'n' of kernel 'twice' must fit in int32, got 1099511627776");
  EXPECT_EQ(message_of([&] { twice[{.grid = -1}](x, x, 256, 1); }),
            "the grid of kernel 'twice' is -1 x 1 x 1; no size may be negative");
  EXPECT_EQ(message_of([&] { IrKernel()[{.grid = 1}](x); }),
            "an empty IrKernel was used; take one from load_ir first");
}

TEST_F(IrKernelTest, PromisesOfTheTextAreChecked) {
  const IrKernel promised = load_ir(
      "kernel @k(%x: *f32 {divisible = 16}, %n: i32 {divisible = 8, positive = 1}) source {\n"
      "  %one = constant {value = 1.0} : f32\n  store %x, %one\n}\n");
  const Tensor x = zeros({256}, {f32, Device::cpu()});
  for (int round = 0; round < 2; ++round) {  // also once the launch is a known one
    promised[{.grid = 1}](x, 24);
    EXPECT_EQ(message_of([&] { promised[{.grid = 1}](x.slice(0, 1, 9), 24); }),
              "argument 1 'x' of kernel 'k' must be a multiple of 16, as its text says");
    EXPECT_EQ(message_of([&] { promised[{.grid = 1}](x, 12); }),
              "argument 2 'n' of kernel 'k' must be a multiple of 8, as its text says");
    for (const int n : {0, -8})
      EXPECT_EQ(message_of([&] { promised[{.grid = 1}](x, n); }),
                "argument 2 'n' of kernel 'k' must be above 0, as its text says");
  }
}

TEST_F(IrKernelTest, ATileKernelForAnotherMachineIsRefused) {
  const IrKernel kernel = load_ir(
      "kernel @k(%x: *f32) tile {\n  buffer @b : f32[64] {slots = 1}\n"
      "  %zero = constant {value = 0} : i32\n  %one = constant {value = 1} : i64\n"
      "  %p = affine %x, %one : *f32[64]\n  copy_async %p, %zero {buffer = \"b\"}\n"
      "  commit_copies\n  wait_copies {pending = 0}\n"
      "  %v = read_buffer %zero {buffer = \"b\"} : f32[64]\n  %w = add %v, %v : f32[64]\n"
      "  store %p, %w\n}\n");
  const Tensor x = arange(64, {f32, Device::cpu()});
  EXPECT_THAT(message_of([&] { kernel[{.grid = 1}](x); }),
              HasSubstr("kernel 'k' has asynchronous copies into buffers, which "));
  const Target sm_90a = Target::parse("sm_90a");
  kernel[{.grid = 1, .emulate = &sm_90a}](x);
  EXPECT_EQ(x.to_vector<float>()[63], 126.0f);
}

}  // namespace
}  // namespace tilewright
