// SPDX-License-Identifier: Apache-2.0
// frontend/triton/builtins_memory_test.cpp — loads, stores, block pointers, descriptors, atomics.
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel_testing.h"

namespace tilewright::triton {
namespace {

using python::BinaryOperator;
using testing::ElementsAre;

Value pointers_to(KernelTest& test, const Value& base, std::int64_t count) {
  return test.binary(BinaryOperator::Add, base, test.tl("arange", {integer(0), integer(count)}));
}

TEST(Load, MaskAndOther) {
  KernelTest test;
  const Value p = pointers_to(test, test.memory(f16, {1, 2, 3}), 4);
  const Value mask = test.tile(b1, {4}, {1, 0, 1, 0});
  const Value plain = test.tl("load", {p}, {{"mask", mask}});
  const Value other = test.tl("load", {p, mask, num(-INFINITY)});
  EXPECT_EQ(type_text(test, plain), "float16[4]");
  EXPECT_THAT(test.run(plain), ElementsAre(1, 0, 3, 0));
  EXPECT_THAT(test.run(other), ElementsAre(1, -INFINITY, 3, -INFINITY));
}

TEST(Load, Mistakes) {
  KernelTest test;
  const Value base = test.memory(f32, {1, 2, 3, 4});
  const Value p = pointers_to(test, base, 4);
  const Value mask = test.tile(b1, {4});
  const auto wrong = [&](std::vector<Value> values, Keywords keywords = {}) {
    return mistake([&] { test.tl("load", values, keywords); });
  };
  EXPECT_EQ(wrong({p}, {{"other", num(0)}}),
            "tl.load gets 'other' without 'mask' (give a mask, or leave 'other' out)");
  EXPECT_EQ(wrong({base, mask}),
            "'mask' of tl.load is int1[4], but the pointer is a scalar (add a block of offsets to "
            "the pointer)");
  EXPECT_EQ(wrong({p, test.tile(i32, {4})}),
            "'mask' of tl.load must be int1, not int32[4] (compare it first, as in mask != 0)");
  EXPECT_EQ(wrong({test.tile(i32, {4})}),
            "tl.load needs a pointer, not int32[4] (add the offsets to the pointer that the kernel "
            "gets)");
  EXPECT_EQ(wrong({p}, {{"cache_modifier", text(".cx")}}),
            "tl.load has '.cx' as cache_modifier (use \".ca\", \".cg\", \".cs\", \".cv\")");
  EXPECT_EQ(wrong({p}, {{"boundary_check", integers({0})}}),
            "tl.load takes boundary_check and padding_option only with a block pointer (use a "
            "mask)");
}

TEST(Store, CastsAndBroadcastsTheValue) {
  KernelTest test;
  const Value base = test.memory(i8, {9, 9, 9, 9});
  const Value p = pointers_to(test, base, 4);
  test.tl("store", {p, num(2.7)}, {{"mask", test.tile(b1, {4}, {1, 1, 0, 1})}});
  test.run();
  EXPECT_THAT(test.content(0), ElementsAre(2, 2, 9, 2));
}

TEST(Store, Bools) {
  KernelTest test;
  const Value p = pointers_to(test, test.memory(b1, {0, 0}), 2);
  test.tl("store", {p, test.tile(b1, {2}, {0, 1})});
  test.run();
  EXPECT_THAT(test.content(0), ElementsAre(0, 1));
}

TEST(Store, Mistakes) {
  KernelTest test;
  const Value base = test.memory(f32, {1, 2, 3, 4});
  const Value p = pointers_to(test, base, 4);
  EXPECT_EQ(mistake([&] {
              test.tl("store", {base, test.tile(f32, {4})});
            }),
            "'value' of tl.store is float32[4], but the pointer is a scalar (add a block of "
            "offsets to the pointer)");
  EXPECT_EQ(mistake([&] {
              test.tl("store", {p, test.tile(f32, {2, 4})});
            }),
            "'value' of tl.store is float32[2, 4], which does not fit the pointers' shape [4]");
  test.kernel.arguments[0].is_const = true;
  EXPECT_EQ(mistake([&] {
              test.tl("store", {p, num(1)});
            }),
            "tl.store writes through 'p1', a pointer to const");
}

// ---- Block pointers: a 3 x 3 matrix in blocks of 2 x 2

Value block_pointer(KernelTest& test, const Value& base, std::vector<std::int64_t> offsets) {
  return test.tl("make_block_ptr", {base},
                 {{"shape", integers({3, 3})},
                  {"strides", integers({3, 1})},
                  {"offsets", integers(offsets)},
                  {"block_shape", integers({2, 2})},
                  {"order", integers({1, 0})}});
}

TEST(BlockPointer, LoadsInsideAndPads) {
  KernelTest test;
  const Value base = test.memory(f32, {0, 1, 2, 3, 4, 5, 6, 7, 8});
  const Value first = block_pointer(test, base, {0, 0});
  const Value last = test.tl("advance", {first, integers({2, 2})});
  const Value both = integers({0, 1});
  const Value right = test.method(first, "advance", {integers({0, 1})});
  EXPECT_THAT(test.run(test.tl("load", {right})), ElementsAre(1, 2, 4, 5));
  EXPECT_THAT(test.run(test.tl("load", {first})), ElementsAre(0, 1, 3, 4));
  EXPECT_THAT(test.run(test.tl("load", {last}, {{"boundary_check", both}})),
              ElementsAre(8, 0, 0, 0));
  const Value padded =
      test.tl("load", {last}, {{"boundary_check", both}, {"padding_option", text("nan")}});
  const std::vector<double> values = test.run(padded);
  EXPECT_EQ(values[0], 8);
  EXPECT_TRUE(std::isnan(values[1]) && std::isnan(values[2]) && std::isnan(values[3]));
  EXPECT_EQ(type_text(test, test.get(test.get(first, "dtype"), "element_ty")), "type float32");
}

// Triton makes a block pointer to int8 of one to bool: what is loaded and stored are the bytes.
TEST(BlockPointer, OfBoolHoldsBytes) {
  KernelTest test;
  const Value base = test.memory(DType::Bool, {1, 0, 1, 0, 1, 1, 0, 0, 1});
  const Value loaded = test.tl("load", {block_pointer(test, base, {0, 1})});
  EXPECT_EQ(type_text(test, loaded), "int8[2, 2]");
  const Value sum = test.binary(python::BinaryOperator::Add, loaded, loaded);
  EXPECT_THAT(test.run(sum), ElementsAre(0, 2, 2, 2));
}

TEST(BlockPointer, StoresDropWhatIsOutside) {
  KernelTest test;
  const Value base = test.memory(i32, std::vector<double>(9, 0));
  const Value last = block_pointer(test, base, {1, 2});
  test.tl("store", {last, test.tile(i64, {2, 2}, {1, 2, 3, 4})},
          {{"boundary_check", integers({0, 1})}});
  test.run();
  EXPECT_THAT(test.content(0), ElementsAre(0, 0, 0, 0, 0, 1, 0, 0, 3));
}

TEST(BlockPointer, Mistakes) {
  KernelTest test;
  const Value base = test.memory(f32, std::vector<double>(9, 0));
  const Value block = block_pointer(test, base, {0, 0});
  EXPECT_EQ(mistake([&] {
              test.tl("load", {block}, {{"mask", flag(true)}});
            }),
            "tl.load takes no mask with a block pointer (use boundary_check)");
  EXPECT_EQ(mistake([&] {
              test.tl("load", {block}, {{"boundary_check", integers({2})}});
            }),
            "tl.load checks the boundary of dimension 2, but the block has 2");
  EXPECT_EQ(mistake([&] {
              test.tl("advance", {block, integers({1})});
            }),
            "tl.advance needs 2 offsets, but gets 1");
  EXPECT_EQ(mistake([&] {
              test.tl("advance", {block, Value::tuple({test.number(i64), integer(0)})});
            }),
            "'offsets' of tl.advance needs 32-bit integers, not int64 (use .to(tl.int32))");
}

// ---- Descriptors

Value descriptor(KernelTest& test, const Value& base, Keywords more = {}) {
  Keywords keywords = {{"shape", integers({3, 6})},
                       {"strides", integers({6, 1})},
                       {"block_shape", integers({2, 4})}};
  keywords.insert(keywords.end(), more.begin(), more.end());
  return test.tl("make_tensor_descriptor", {base}, keywords);
}

TEST(Descriptor, LoadStoreAtomic) {
  KernelTest test;
  std::vector<double> values(18);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  const Value in = test.memory(f32, values), out = test.memory(f32, values);
  const Value from = descriptor(test, in), to = descriptor(test, out);
  const Value block = test.method(from, "load", {integers({2, 4})});
  EXPECT_EQ(type_text(test, block), "float32[2, 4]");
  test.method(to, "store", {integers({0, 0}), block});
  test.method(to, "atomic_add", {integers({2, 4}), block});
  test.run();
  EXPECT_THAT(test.content(1),
              ElementsAre(16, 17, 0, 0, 4, 5, 0, 0, 0, 0, 10, 11, 12, 13, 14, 15, 32, 34));
  EXPECT_EQ(type_text(test, test.get(from, "dtype")), "type float32");
  EXPECT_EQ(type_text(test, test.get(from, "shape").tuple()->items[1]), "int32");
  EXPECT_EQ(type_text(test, test.get(from, "strides").tuple()->items[0]), "int64");
}

TEST(Descriptor, Mistakes) {
  KernelTest test;
  const Value base = test.memory(f32, std::vector<double>(18, 0));
  const Value desc = descriptor(test, base);
  EXPECT_EQ(mistake([&] { test.method(desc, "load", {integers({0})}); }),
            ".load() needs 2 offsets, but gets 1");
  EXPECT_EQ(mistake([&] {
              test.method(desc, "store", {integers({0, 0}), test.tile(f32, {4})});
            }),
            ".store() needs a value of the shape [2, 4], not float32[4]");
  EXPECT_EQ(mistake([&] { test.tl("load", {desc}); }),
            "tl.load does not take a tensor descriptor (use desc.load([offsets]))");
  EXPECT_EQ(mistake([&] { descriptor(test, test.memory(f16, {1})); }),
            "tl.make_tensor_descriptor needs at least 16 bytes in the last dimension of a block, "
            "not 8 (make block_shape[-1] larger)");
}

// ---- Atomics

TEST(Atomic, GiveTheOldValue) {
  KernelTest test;
  const Value base = test.memory(i32, {5, 6});
  const Value p = pointers_to(test, base, 2);
  const Value old = test.tl("atomic_add", {p, integer(10)}, {{"sem", text("relaxed")}});
  test.tl("atomic_max", {p, test.tile(i32, {2}, {100, 1})});
  test.tl("atomic_xor", {p, integer(1)}, {{"mask", test.tile(b1, {2}, {0, 1})}});
  test.tl("atomic_cas", {base, integer(100), integer(7)});
  EXPECT_THAT(test.run(old), ElementsAre(5, 6));
  EXPECT_THAT(test.content(0), ElementsAre(7, 17));
}

TEST(Atomic, FloatsGoByTheirBits) {
  KernelTest test;
  const Value base = test.memory(f32, {-1, -1, 2, 2});
  const Value p = pointers_to(test, base, 4);
  const Value old = test.tl("atomic_max", {p, test.tile(f32, {4}, {3, -5, -3, 2.5})});
  EXPECT_THAT(test.run(old), ElementsAre(-1, -1, 2, 2));
  EXPECT_THAT(test.content(0), ElementsAre(3, -1, 2, 2.5));
  KernelTest lower;
  const Value q = pointers_to(lower, lower.memory(f64, {-1, -1, 2, 2}), 4);
  lower.tl("atomic_min", {q, lower.tile(f64, {4}, {3, -5, -3, 2.5})});
  lower.run();
  EXPECT_THAT(lower.content(0), ElementsAre(-1, -5, -3, 2));
}

TEST(Atomic, Mistakes) {
  KernelTest test;
  const Value half = test.memory(f16, {1}), byte = test.memory(i8, {1}),
              one = test.memory(f32, {1});
  EXPECT_NO_THROW(test.tl("atomic_add", {half, num(1)}));
  EXPECT_EQ(mistake([&] {
              test.tl("atomic_max", {half, num(1)});
            }),
            "tl.atomic_max does not work on float16 (use 32- or 64-bit elements)");
  EXPECT_EQ(mistake([&] {
              test.tl("atomic_add", {byte, integer(1)});
            }),
            "tl.atomic_add does not work on int8 (use 32- or 64-bit elements)");
  EXPECT_EQ(mistake([&] {
              test.tl("atomic_and", {one, num(1)});
            }),
            "tl.atomic_and does not work on float32");
  EXPECT_EQ(mistake([&] {
              test.tl("atomic_add", {one, num(1)}, {{"sem", text("seq")}});
            }),
            "tl.atomic_add has 'seq' as sem (use \"acquire\", \"release\", \"acq_rel\", "
            "\"relaxed\")");
}

}  // namespace
}  // namespace tilewright::triton
