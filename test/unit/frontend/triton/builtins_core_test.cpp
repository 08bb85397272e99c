// SPDX-License-Identifier: Apache-2.0
// frontend/triton/builtins_core_test.cpp — arguments, creation, shapes, attributes, names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontend/triton/builtins.h"
#include "frontend/triton/constants.h"
#include "kernel_testing.h"

namespace tilewright::triton {
namespace {

using python::BinaryOperator;
using testing::ElementsAre;

TEST(Arguments, OneMessageForEveryFunction) {
  KernelTest test;
  const Value p = test.memory(f32, {1});
  EXPECT_EQ(mistake([&] {
              test.tl("load", {p}, {{"maks", Value()}});
            }),
            "tl.load has no argument 'maks'; did you mean 'mask'?");
  EXPECT_EQ(mistake([&] { test.tl("store", {p}); }), "tl.store needs the argument 'value'");
  EXPECT_EQ(mistake([&] {
              test.tl("load", {p}, {{"pointer", p}});
            }),
            "tl.load gets the argument 'pointer' twice");
  EXPECT_EQ(mistake([&] {
              test.tl("program_id", {integer(0), integer(1)});
            }),
            "tl.program_id takes 1 positional argument, but 2 are given");
  EXPECT_EQ(mistake([&] {
              test.tl("sum", {p}, {{"axis", num(0.5)}});
            }),
            "'axis' of tl.sum must be a constant integer, not the constant 0.5");
}

TEST(Names, SpellingsOfOneFunction) {
  const auto name = [](std::string_view full) {
    return external_value(full).get_if<Builtin>()->name;
  };
  EXPECT_EQ(name("triton.language.math.exp"), "triton.language.exp");
  EXPECT_EQ(name("triton.language.core.load"), "triton.language.load");
  EXPECT_EQ(name("triton.language.standard._log2"), "triton.language._log2");
  for (const char* full :
       {"triton.language.tanh", "triton.language.math.tanh", "triton.language.libdevice.tanh",
        "triton.language.extra.libdevice.tanh", "triton.language.extra.cuda.libdevice.tanh"})
    EXPECT_EQ(name(full), "triton.language.extra.libdevice.tanh") << full;
  EXPECT_EQ(name("min"), "builtins.min");
  EXPECT_EQ(external_value("triton.language.math").get_if<Namespace>()->external,
            "triton.language.math");
  KernelTest test;
  EXPECT_EQ(type_text(test, external_value("triton.language.bfloat16")), "type bfloat16");
  EXPECT_EQ(type_text(test, external_value("triton.language.core.float8e4nv")), "type float8e4nv");
  EXPECT_EQ(type_text(test, external_value("math.pi")), "3.141592653589793");
}

TEST(Names, Unknown) {
  const auto wrong = [](const char* full) { return mistake([=] { external_value(full); }); };
  EXPECT_EQ(wrong("triton.language.cidv"), "tl.cidv is not known; did you mean tl.cdiv?");
  EXPECT_EQ(wrong("triton.language.static"),
            "tl.static does not exist in Triton (use tl.static_assert, tl.static_print, "
            "tl.static_range or tl.constexpr)");
  EXPECT_EQ(wrong("triton.language.barrier"),
            "tl.barrier does not exist in Triton (use tl.debug_barrier())");
  EXPECT_EQ(wrong("triton.language.extern_elementwise"),
            "tl.extern_elementwise is not supported (use a libdevice function)");
  EXPECT_EQ(wrong("triton.language.pow"),
            "tl.pow is not known (use libdevice.pow, after 'from triton.language.extra import "
            "libdevice')");
  EXPECT_EQ(wrong("torch.float32"), "torch.float32 cannot be used inside a kernel");
  EXPECT_EQ(wrong("fp32"), "fp32 is not known");
  EXPECT_TRUE(has_external_value("triton.language.load"));
  EXPECT_FALSE(has_external_value("triton.language.lod"));
}

TEST(Create, Arange) {
  KernelTest test;
  const auto wrong = [&](Value from, Value to) {
    return mistake([&] { test.tl("arange", {from, to}); });
  };
  EXPECT_THAT(test.run(test.tl("arange", {integer(3), integer(7)})), ElementsAre(3, 4, 5, 6));
  EXPECT_EQ(wrong(integer(0), integer(6)),
            "tl.arange from 0 to 6 has 6 elements, which is no power of two (make it longer, and "
            "use a mask)");
  EXPECT_EQ(wrong(integer(4), integer(4)), "tl.arange from 4 to 4 has no elements");
  EXPECT_EQ(wrong(integer(0), integer(1LL << 40)),
            "tl.arange from 0 to 1099511627776 does not fit int32");
  EXPECT_EQ(wrong(integer(0), test.number(i32)),
            "'end' of tl.arange must be a constant integer, not int32 (use a tl.constexpr)");
  EXPECT_EQ(wrong(integer(0), integer(1 << 21)),
            "the block of tl.arange [2097152] has more than 1048576 elements (use smaller blocks)");
}

TEST(Create, Filled) {
  KernelTest test;
  EXPECT_EQ(type_text(test, test.tl("zeros", {integers({2, 4})}, {{"dtype", type_value(f16)}})),
            "float16[2, 4]");
  EXPECT_EQ(type_text(test, test.tl("zeros", {integers({})}, {{"dtype", type_value(f32)}})),
            "float32");
  EXPECT_THAT(test.run(test.tl("full", {integers({2}), num(-INFINITY), type_value(f32)})),
              ElementsAre(-INFINITY, -INFINITY));
  EXPECT_THAT(test.run(test.tl("full", {integers({2}), test.number(i32, 7), type_value(f32)})),
              ElementsAre(7, 7));
  EXPECT_EQ(mistake([&] {
              test.tl("zeros", {integers({3}), type_value(f32)});
            }),
            "'shape' of tl.zeros has the size 3, which is no power of two (use "
            "triton.next_power_of_2 outside the kernel, and a mask)");
  EXPECT_EQ(type_text(test, test.tl("cdiv", {integer(7), integer(2)})), "4");
  EXPECT_THAT(test.run(test.tl("cdiv", {test.number(i32, 7), integer(2)})), ElementsAre(4));
}

TEST(Create, Where) {
  KernelTest test;
  const Value mask = test.tile(b1, {2, 1}, {1, 0}), x = test.tile(f16, {4}, {1, 2, 3, 4});
  const Value chosen = test.tl("where", {mask, x, num(0.0)});
  EXPECT_EQ(type_text(test, chosen), "float16[2, 4]");
  EXPECT_THAT(test.run(chosen), ElementsAre(1, 2, 3, 4, 0, 0, 0, 0));
  const Value both = test.tl("where", {test.number(b1, 1), num(0.5), integer(1)});
  EXPECT_EQ(type_text(test, both), "float32");
}

TEST(Shapes, Order) {
  KernelTest test;
  const Value x = test.tile(i32, {2, 2}, {0, 1, 2, 3});
  EXPECT_THAT(test.run(test.get(x, "T")), ElementsAre(0, 2, 1, 3));
  EXPECT_THAT(test.run(test.tl("trans", {x})), ElementsAre(0, 2, 1, 3));
  EXPECT_THAT(test.run(test.tl("permute", {x, integers({1, 0})})), ElementsAre(0, 2, 1, 3));
  EXPECT_THAT(test.run(test.method(x, "reshape", {integer(4)})), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(test.run(test.tl("join", {x, x})), ElementsAre(0, 0, 1, 1, 2, 2, 3, 3));
  EXPECT_THAT(test.run(test.tl("interleave", {x, x})), ElementsAre(0, 0, 1, 1, 2, 2, 3, 3));
  EXPECT_THAT(test.run(test.tl("cat", {x, x}, {{"dim", integer(1)}})),
              ElementsAre(0, 1, 0, 1, 2, 3, 2, 3));
  const Value halves = test.tl("split", {x});
  EXPECT_THAT(test.run(halves.tuple()->items[1]), ElementsAre(1, 3));
  EXPECT_THAT(test.run(test.tl("flip", {x}, {{"dim", integer(0)}})), ElementsAre(2, 3, 0, 1));
  EXPECT_EQ(type_text(test, test.tl("expand_dims", {x, integers({0, -1})})), "int32[1, 2, 2, 1]");
  EXPECT_EQ(type_text(test, test.tl("ravel", {x})), "int32[4]");
  EXPECT_EQ(type_text(test, test.tl("broadcast_to", {integer(1), integers({2, 4})})),
            "int32[2, 4]");
  EXPECT_EQ(mistake([&] {
              test.tl("reshape", {x, integers({8})});
            }),
            "reshape of int32[2, 2] to [8] changes the number of elements from 4 to 8");
  EXPECT_EQ(mistake([&] {
              test.tl("permute", {x, integer(0), integer(0)});
            }),
            "tl.permute needs each dimension of int32[2, 2] once, not [0, 0]");
  EXPECT_EQ(mistake([&] {
              test.tl("broadcast_to", {x, integers({2, 2, 2})});
            }),
            "int32[2, 2] cannot be broadcast to [2, 2, 2]: it has rank 2, not 3");
}

TEST(Shapes, Indexing) {
  KernelTest test;
  const Value x = test.tile(i32, {4});
  const auto at = [&](std::vector<Value> index) {
    return type_text(test, subscript(test.semantic, x, Value::tuple(std::move(index))));
  };
  EXPECT_EQ(at({slice(), Value()}), "int32[4, 1]");
  EXPECT_EQ(at({Value(), slice()}), "int32[1, 4]");
  EXPECT_EQ(at({Value(), slice(), Value()}), "int32[1, 4, 1]");
  const Value one = test.number(i32, 7);
  const auto scalar_indexed = [&](std::vector<Value> index) {
    return type_text(test, subscript(test.semantic, one, Value::tuple(std::move(index))));
  };
  EXPECT_EQ(scalar_indexed({slice(), Value()}), "int32[1]");
  EXPECT_EQ(scalar_indexed({Value(), slice()}), "int32[1]");
  EXPECT_EQ(scalar_indexed({Value(), Value()}), "int32[1, 1]");
  EXPECT_EQ(scalar_indexed({slice(), slice()}), "int32");
  EXPECT_EQ(mistake([&] {
              scalar_indexed({slice(), Value(), Value()});
            }),
            "axis 2 is out of the range of 2 dimensions");
  EXPECT_EQ(mistake([&] { subscript(test.semantic, x, integer(0)); }),
            "int32[4] can be indexed only with ':' and None (a block has no single elements; use "
            "tl.gather, tl.where or a reduction)");
  const Value shape = test.get(test.tile(f32, {2, 4, 8}), "shape");
  EXPECT_TRUE(equal(subscript(test.semantic, shape, integer(-1)), integer(8)));
  EXPECT_TRUE(equal(subscript(test.semantic, shape, slice(integer(1))), integers({4, 8})));
  EXPECT_TRUE(equal(subscript(test.semantic, shape, slice({}, integer(-1))), integers({2, 4})));
  EXPECT_EQ(mistake([&] { subscript(test.semantic, shape, integer(3)); }),
            "index 3 of a tuple of 3");
}

TEST(Attributes, Types) {
  KernelTest test;
  const Value p = test.memory(f16, {1});
  const Value x = test.tile(f16, {4});
  EXPECT_EQ(type_text(test, test.get(test.get(p, "dtype"), "element_ty")), "type float16");
  EXPECT_EQ(type_text(test, test.get(test.get(p, "type"), "element_ty")), "type float16");
  EXPECT_EQ(type_text(test, test.get(x, "dtype")), "type float16");
  EXPECT_EQ(type_text(test, test.get(x, "type")), "type float16[4]");
  EXPECT_EQ(type_text(test, test.get(test.get(x, "type"), "scalar")), "type float16");
  EXPECT_EQ(type_text(test, test.get(x, "numel")), "4");
  const Value type = test.get(x, "dtype");
  EXPECT_EQ(type_text(test, test.get(type, "primitive_bitwidth")), "16");
  EXPECT_EQ(type_text(test, test.get(type, "name")), "'fp16'");
  EXPECT_EQ(type_text(test, test.method(type, "is_floating")), "True");
  EXPECT_EQ(type_text(test, test.method(type, "is_fp8")), "False");
  EXPECT_EQ(type_text(test, test.method(type_value(b1), "is_int")), "True");
  EXPECT_EQ(type_text(test, test.method(type_value(b1), "is_int_unsigned")), "True");
  EXPECT_EQ(type_text(test, test.get(integer(3), "value")), "3");
  EXPECT_EQ(mistake([&] { test.get(type, "element_ty"); }),
            "float16 has no element_ty: it is no pointer (x.dtype is the type of a tensor; "
            "p.dtype.element_ty what a pointer points to)");
  EXPECT_EQ(mistake([&] { test.get(x, "dtyp"); }),
            "float16[4] has no attribute 'dtyp'; did you mean 'dtype'?");
}

TEST(Python, Functions) {
  KernelTest test;
  const auto call = [&](const char* name, std::vector<Value> values) {
    return test.full(std::string("builtins.") + name, std::move(values));
  };
  EXPECT_EQ(type_text(test, call("min", {integer(3), num(2.5)})), "2.5");
  EXPECT_EQ(type_text(test, call("max", {integer(3), test.number(i32)})), "int32");
  EXPECT_EQ(type_text(test, call("len", {integers({1, 2})})), "2");
  EXPECT_EQ(type_text(test, call("float", {text("inf")})), "inf");
  EXPECT_EQ(type_text(test, call("float", {text("-inf")})), "-inf");
  EXPECT_EQ(type_text(test, call("int", {num(-2.7)})), "-2");
  EXPECT_EQ(type_text(test, call("isinstance",
                                 {integer(1), external_value("triton.language.constexpr")})),
            "True");
  EXPECT_EQ(
      type_text(test, call("isinstance", {integer(1), external_value("triton.language.tensor")})),
      "False");
  EXPECT_EQ(type_text(test, call("hasattr", {type_value(f32), text("element_ty")})), "False");
  EXPECT_EQ(mistake([&] { call("float", {test.number(i32)}); }),
            "float does not work on int32 (use .to(tl.float32))");
}

}  // namespace
}  // namespace tilewright::triton
