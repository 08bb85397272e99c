// SPDX-License-Identifier: Apache-2.0
// runtime/argument_test.cpp — arguments are checked against the kernel's signature, and scalars are
// converted.
#include <cmath>
#include <limits>

#include "cpu_sources.h"
#include "expect_error.h"

namespace tilewright {
namespace {

struct Pair {
  float x;
  int y;
};

Function add() { return Module::load(add_source(), Device::cpu()).function("add"); }

// A kernel `store` that copies its scalar of `dtype` to the address of its first argument.
Function store(DType dtype) {
  const std::string bytes = std::to_string(size_of(dtype));
  KernelSource source = cpu_source(
      "store.cpp",
      cpu_kernel_text("store",
                      "__builtin_memcpy(*(void**)parameters[0], parameters[1], " + bytes + ");"));
  Parameter out = pointer("out", u8);
  out.any_pointee = true;
  source.kernels = {{"store", {out, scalar("value", dtype)}, {}, {}}};
  return Module::load(source, Device::cpu()).function("store");
}

template <class Stored, class Given>
Stored stored(Given value) {
  Stored out{};
  store(dtype_of<Stored>)[{}](&out, value);
  return out;
}

Argument tensor(const Buffer& buffer, DType dtype) {
  Argument argument;
  argument.kind = Argument::Kind::Memory;
  argument.dtype = dtype;
  argument.device = buffer.device();
  argument.buffer = &buffer;
  argument.bits = reinterpret_cast<std::uintptr_t>(buffer.data());
  return argument;
}

void launch_add(const Argument& a, const Argument& n) {
  static float memory[1];
  const Argument arguments[] = {a, Argument(memory), Argument(memory), n};
  add().launch({}, arguments);
}

TEST(Argument, WrongCountNamesTheParameters) {
  float x = 0;
  expect_error("kernel 'add' takes 4 arguments (a, b, c, n), got 3",
               [&] { add()[{}](&x, &x, &x); });
  expect_error("kernel 'add' takes 4 arguments (a, b, c, n), got 0", [&] { add()[{}](); });
}

TEST(Argument, WrongCountOfOneAndNone) {
  KernelSource source =
      cpu_source("counts.cpp", cpu_kernel_text("one", "") + cpu_kernel_text("none", ""));
  source.kernels = {{"one", {scalar("n", i32)}, {}, {}}, {"none", {}, {}, {}}};
  const Module module = Module::load(source, Device::cpu());
  expect_error("kernel 'one' takes 1 argument (n), got 2",
               [&] { module.function("one")[{}](1, 2); });
  expect_error("kernel 'none' takes no arguments, got 1", [&] { module.function("none")[{}](1); });
  module.function("none")[{}]();
}

TEST(Argument, ElementTypesMustAgree) {
  const Buffer buffer = Buffer::allocate(64, Device::cpu());
  expect_error(
      "argument 1 'a' of kernel 'add' must be a pointer to float32, got a tensor of float64",
      [&] { launch_add(tensor(buffer, f64), 1); });
  double x = 0;
  expect_error(
      "argument 1 'a' of kernel 'add' must be a pointer to float32, got a pointer to float64",
      [&] { launch_add(&x, 1); });
  launch_add(tensor(buffer, f32), 1);
}

TEST(Argument, ScalarsAndPointersAreNotMixed) {
  float x = 0;
  expect_error("argument 1 'a' of kernel 'add' must be a pointer to float32, got an int32 scalar",
               [&] { launch_add(7, 1); });
  expect_error("argument 4 'n' of kernel 'add' must be an int32 scalar, got a pointer to float32",
               [&] { launch_add(&x, &x); });
  const Pair pair{1, 2};
  expect_error("argument 4 'n' of kernel 'add' must be an int32 scalar, got a struct of 8 bytes",
               [&] { launch_add(&x, Argument::of_struct(pair)); });
}

TEST(Argument, UntypedAddressesMatchEveryPointer) {
  float x = 0;
  void* const untyped = &x;
  launch_add(untyped, 1);
  launch_add(nullptr, 0);
}

TEST(Argument, TensorsWithoutMemoryAreRefused) {
  Argument undefined;
  undefined.kind = Argument::Kind::Memory;
  undefined.dtype = f32;
  undefined.is_defined = false;
  expect_error(
      "argument 1 'a' of kernel 'add' is a tensor without memory (null or freed); give it a value "
      "first",
      [&] { launch_add(undefined, 0); });
}

TEST(Argument, TensorsOfAnotherDeviceAreRefused) {
  Argument elsewhere;
  elsewhere.kind = Argument::Kind::Memory;
  elsewhere.dtype = f32;
  elsewhere.device = Device::cuda(1);
  expect_error(
      "argument 1 'a' of kernel 'add' must be on cpu, got a tensor on cuda:1; copy it there first",
      [&] { launch_add(elsewhere, 0); });
}

TEST(Argument, ContiguityIsCheckedWhereAsked) {
  KernelSource source =
      cpu_source("contiguous.cpp", cpu_kernel_text("strict", "") + cpu_kernel_text("lax", ""));
  Parameter x = pointer("x", f32);
  source.kernels.push_back({"lax", {x}, {}, {}});
  x.needs_contiguous = true;
  source.kernels.push_back({"strict", {x}, {}, {}});
  const Module module = Module::load(source, Device::cpu());
  const Buffer buffer = Buffer::allocate(64, Device::cpu());
  Argument strided = tensor(buffer, f32);
  strided.is_contiguous = false;
  module.function("lax").launch({}, std::span(&strided, 1));
  expect_error(
      "argument 1 'x' of kernel 'strict' must be a contiguous tensor; call contiguous() on it "
      "first",
      [&] { module.function("strict").launch({}, std::span(&strided, 1)); });
}

TEST(Argument, StructsArePassedByValue) {
  KernelSource source =
      cpu_source("struct.cpp", R"(struct Pair { float x; int y; };)" + cpu_kernel_text("sum", R"(
  const Pair* p = (const Pair*)parameters[0];
  **(float**)parameters[1] = p->x + p->y;)"));
  Parameter pair{.name = "pair", .kind = Parameter::Kind::Opaque};
  pair.opaque_bytes = sizeof(Pair);
  source.kernels = {{"sum", {pair, pointer("out", f32)}, {}, {}}};
  const Function sum = Module::load(source, Device::cpu()).function("sum");
  float out = 0;
  const Pair value{1.5F, 2};
  sum[{}](Argument::of_struct(value), &out);
  EXPECT_EQ(out, 3.5F);
  struct Large {
    double values[4];
  };
  const Large large{};
  expect_error(
      "argument 1 'pair' of kernel 'sum' must be a struct of 8 bytes, got a struct of 32 bytes",
      [&] { sum[{}](Argument::of_struct(large), &out); });
}

TEST(Argument, IntegersConvertWhenTheyFit) {
  EXPECT_EQ(stored<int>(7L), 7);
  EXPECT_EQ(stored<int>(-7L), -7);
  EXPECT_EQ(stored<int>(static_cast<unsigned char>(200)), 200);
  EXPECT_EQ(stored<long>(-1), -1L);
  EXPECT_EQ(stored<unsigned long>(std::numeric_limits<long>::max()), 0x7fffffffffffffffUL);
  EXPECT_EQ(stored<signed char>(-128), -128);
  EXPECT_EQ(stored<int>(true), 1);
  EXPECT_EQ(stored<bool>(1), true);
}

TEST(Argument, IntegersThatDoNotFitAreRefused) {
  expect_error("argument 2 'value' of kernel 'store' must fit in int32, got 3000000000",
               [] { stored<int>(3000000000L); });
  expect_error("argument 2 'value' of kernel 'store' must fit in uint32, got -1",
               [] { stored<unsigned>(-1); });
  expect_error("argument 2 'value' of kernel 'store' must fit in int64, got 18446744073709551615",
               [] { stored<long>(~0UL); });
  expect_error("argument 2 'value' of kernel 'store' must fit in bool, got 2",
               [] { stored<bool>(2); });
  expect_error("argument 2 'value' of kernel 'store' must fit in int8, got 128",
               [] { stored<signed char>(128); });
}

TEST(Argument, FloatsConvertAmongThemselvesAndFromIntegers) {
  EXPECT_EQ(stored<float>(0.1), 0.1F);
  EXPECT_EQ(stored<float>(3), 3.0F);
  EXPECT_EQ(stored<double>(1.5F), 1.5);
  EXPECT_EQ(stored<double>(~0UL), 18446744073709551616.0);
  EXPECT_EQ(static_cast<float>(stored<Half>(1.5)), 1.5F);
  EXPECT_EQ(static_cast<float>(stored<BFloat16>(-2)), -2.0F);
  EXPECT_EQ(stored<float>(Half(0.5F)), 0.5F);
  EXPECT_TRUE(std::isnan(stored<float>(std::numeric_limits<double>::quiet_NaN())));
}

TEST(Argument, FloatsDoNotBecomeIntegers) {
  expect_error("argument 2 'value' of kernel 'store' must be an int32 scalar, got a float64 scalar",
               [] { stored<int>(2.0); });
}

}  // namespace
}  // namespace tilewright
