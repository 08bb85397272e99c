// SPDX-License-Identifier: Apache-2.0
// fuzz/access_forms_fuzz_test.cpp — random index expressions, masks and moving pointers read and
// write the same places before and after find_access_forms, and what axis information says of
// indices holds.
#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "ir/builder.h"
#include "ir/interpret/interpret.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "passes/axis_info.h"
#include "passes/passes.h"

namespace tilewright {
namespace {

using ir::Builder;
using ir::Kernel;
using ir::Op;
using ir::OpKind;
using ir::Region;
using ir::Type;
using ir::Value;

constexpr std::int64_t middle = 4096;  // indices are small, of both signs
constexpr std::size_t buffer_size = 2 * middle;

// Copies tiles from `in` to `out` through random pointers under random masks.
class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  Kernel make() {
    Kernel kernel;
    Builder build(kernel);
    begin(kernel, build);
    for (int i = 0; i < 2; ++i) copy();
    if (pick(2)) loop();
    return kernel;
  }

  // Stores a tile of indices, named "index", in order.
  Kernel make_indices() {
    Kernel kernel;
    Builder build(kernel);
    begin(kernel, build);
    const Type type = random_shape();
    const Value tile = index(type, 4);
    kernel.set_name(tile, "index");
    const Value order = build.reshape(build.arange(0, type.numel()), type.shape());
    build.store(build.offset(build.splat(out_, type), order), tile);
    return kernel;
  }

 private:
  void begin(Kernel& kernel, Builder& build) {
    kernel.name = "access";
    in_ = kernel.add_argument(Type::pointer(i32), "in");
    out_ = kernel.add_argument(Type::pointer(i32), "out");
    const Value n = kernel.add_argument(Type::scalar(i32), "n");
    const Value wide = kernel.add_argument(Type::scalar(i64), "wide");
    kernel.arguments.back().divisible = 16;
    build_ = &build;
    scalars_ = {n, wide, build.program_id(0), number(pick(7) - 3)};
  }

  int pick(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }
  Value number(int value, DType dtype = i32) {
    return build_->constant(Type::scalar(dtype), std::int64_t{value});
  }

  Type random_shape() {
    static const std::vector<std::int64_t> shapes[] = {{8}, {4, 4}, {1, 8}, {8, 2}, {2, 1, 4}, {1}};
    return Type::scalar(i32).with_shape(shapes[pick(6)]);
  }

  Value scalar(DType dtype) {
    return build_->cast(scalars_[static_cast<std::size_t>(pick(static_cast<int>(scalars_.size())))],
                        dtype);
  }

  Value leaf(const Type& type) {
    if (pick(4) == 0) return build_->splat(scalar(type.dtype), type);
    if (pick(6) == 0) return build_->constant(type, std::int64_t{pick(5)} - 2);
    const int d = pick(type.rank);
    std::vector<std::int64_t> shape(type.rank, 1);
    shape[static_cast<std::size_t>(d)] = type.size(d);
    const int start = pick(3);
    const Value line = build_->cast(build_->arange(start, start + type.size(d)), type.dtype);
    return build_->broadcast(build_->reshape(line, shape), type);
  }

  // A tile of small integers: no arithmetic of it overflows.
  Value index(const Type& type, int depth) {
    if (depth == 0 || pick(4) == 0) return leaf(type);
    const Value a = index(type, depth - 1);
    switch (pick(10)) {
      case 0:
        return build_->binary(OpKind::Subtract, a, index(type, depth - 1));
      case 1:
        return build_->unary(OpKind::Negate, a);
      case 2:
        return build_->binary(OpKind::Multiply, a, build_->splat(scalar(type.dtype), type));
      case 3:
        return build_->binary(OpKind::ShiftLeft, a, build_->constant(type, std::int64_t{pick(3)}));
      case 4:
        return build_->binary(OpKind::Remainder, a,
                              build_->constant(type, std::int64_t{1} << pick(5)));
      case 5:
        return build_->cast(build_->cast(a, type.dtype == i32 ? i64 : i32), type.dtype);
      case 6:
        return build_->reshape(index(type.with_shape({type.numel()}), depth - 1), type.shape());
      case 7:
        return permuted(type, depth);
      default:
        return build_->binary(OpKind::Add, a, index(type, depth - 1));
    }
  }

  Value permuted(const Type& type, int depth) {
    std::vector<std::int64_t> shape = type.shape(), order;
    std::reverse(shape.begin(), shape.end());
    for (std::size_t d = shape.size(); d-- > 0;) order.push_back(static_cast<std::int64_t>(d));
    return build_->permute(index(type.with_shape(shape), depth - 1), order);
  }

  Value condition(const Type& type, int depth) {
    static constexpr const char* predicates[] = {"lt", "le", "gt", "ge", "eq", "ne"};
    const Type bools = type.with_element(b1);
    switch (pick(depth > 0 ? 8 : 4)) {
      case 0:
        return build_->splat(build_->compare(predicates[pick(6)], scalar(i32), scalar(i32)), bools);
      case 4:
        return build_->binary(OpKind::Xor, condition(type, depth - 1),
                              build_->constant(bools, std::int64_t{1}));
      case 5:
      case 6:
        return build_->binary(OpKind::And, condition(type, depth - 1), condition(type, depth - 1));
      case 7:
        return build_->binary(OpKind::Or, condition(type, depth - 1), condition(type, depth - 1));
      default: {
        const Type numbers = type.with_element(pick(2) ? i32 : i64);
        return build_->compare(
            predicates[pick(6)], index(numbers, 2),
            pick(2) ? build_->splat(scalar(numbers.dtype), type) : index(numbers, 1));
      }
    }
  }

  // Wherever an index leads, the access stays in the buffer.
  Value pointers(Value base, const Type& type) {
    Value tile = build_->offset(build_->splat(base, type), index(type, 3));
    if (pick(2)) tile = build_->offset(tile, build_->cast(index(type.with_element(i64), 2), i64));
    return tile;
  }

  void copy() {
    const Type type = random_shape();
    const Value value = build_->load(pointers(in_, type), condition(type, 2));
    build_->store(pointers(out_, type), value, pick(4) ? condition(type, 2) : Value{});
  }

  // Pointers and an index tile move each time round.
  void loop() {
    Kernel& kernel = build_->kernel();
    const Type type = random_shape();
    const Type counter = Type::scalar(i32);
    const std::vector<Value> initial = {pointers(in_, type), pointers(out_, type), index(type, 2)};
    std::vector<Type> types;
    for (const Value value : initial) types.push_back(build_->type(value));
    std::vector<Value> operands = {number(0), number(pick(4)), number(1)};
    operands.insert(operands.end(), initial.begin(), initial.end());
    Op* op = build_->create(OpKind::For, operands, types);
    Region body;
    body.arguments = {kernel.make_value(counter, "i", nullptr)};
    for (const Type& carried : types)
      body.arguments.push_back(kernel.make_value(carried, "", nullptr));
    {
      const Builder::Into into(*build_, body);
      const auto outside = scalars_;
      scalars_.push_back(body.arguments[0]);
      const Value mask =
          build_->compare("lt", body.arguments[3], build_->constant(type, std::int64_t{pick(9)}));
      build_->store(body.arguments[2], build_->load(body.arguments[1], mask), mask);
      build_->yield({moved(body.arguments[1]), moved(body.arguments[2]), moved(body.arguments[3])});
      scalars_ = outside;
    }
    op->regions.push_back(std::move(body));
    build_->store(op->results[1], op->results[2]);
  }

  Value moved(Value tile) {
    const Type type = build_->type(tile).with_element(i32);
    const int choice = pick(5);
    if (choice == 0) return tile;
    const Value step = choice == 1   ? build_->constant(type, std::int64_t{pick(9)} - 4)
                       : choice == 2 ? leaf(type)
                                     : build_->splat(scalar(i32), type);
    if (build_->type(tile).is_pointer) return build_->offset(tile, step);
    return build_->binary(pick(2) ? OpKind::Add : OpKind::Subtract, tile, step);
  }

  std::mt19937 random_;
  Builder* build_ = nullptr;
  Value in_, out_;
  std::vector<Value> scalars_;
};

// Whether what the analysis says of a tile holds for its elements.
void check_facts(const AxisInfo& info, const Type& type, const std::int32_t* elements) {
  std::int64_t inner = type.numel();
  for (int d = 0; d < type.rank; ++d) {
    const AxisFacts& facts = info.dimensions[static_cast<std::size_t>(d)];
    inner /= type.size(d);
    for (std::int64_t at = 0; at < type.numel(); ++at) {
      const std::int64_t i = at / inner % type.size(d);
      const auto first = [&](std::int64_t group) { return elements[at - i % group * inner]; };
      ASSERT_EQ(elements[at], first(facts.constant)) << "dimension " << d << ", element " << at;
      ASSERT_EQ(elements[at], first(facts.contiguous) + i % facts.contiguous)
          << "dimension " << d << ", element " << at;
      ASSERT_EQ(first(facts.contiguous) % facts.divisible, 0) << "dimension " << d;
      ASSERT_TRUE(!info.is_not_negative || elements[at] >= 0);
      ASSERT_EQ(elements[at], info.value.value_or(elements[at]));
    }
  }
}

// The bytes after a run, or the message when an index left the buffer.
std::string result_of(const Kernel& kernel) {
  std::vector<std::int32_t> in(buffer_size), out(buffer_size, -1);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::int32_t>(i * 7);
  const ir::InterpretBuffer buffers[] = {
      {.name = "in", .data = in.data(), .bytes = in.size() * 4},
      {.name = "out", .data = out.data(), .bytes = out.size() * 4}};
  const ir::InterpretArgument arguments[] = {ir::InterpretPointer{0, middle * 4},
                                             ir::InterpretPointer{1, middle * 4}, std::int64_t{5},
                                             std::int64_t{48}};
  try {
    ir::interpret(kernel, buffers, arguments, {.grid = {3, 1, 1}});
  } catch (const std::exception& error) {
    return error.what();
  }
  return {reinterpret_cast<const char*>(out.data()), out.size() * 4};
}

int count(const Kernel& kernel, OpKind kind) {
  int found = 0;
  ir::walk(kernel.body, [&](const Op& op) { found += op.kind == kind; });
  return found;
}

TEST(AccessFormsFuzz, TheSamePlacesAreTouched) {
  int affine = 0, bounds = 0;
  for (unsigned seed = 0; seed < 800; ++seed) {
    Kernel kernel = Generator(seed).make();
    ASSERT_NO_THROW(ir::verify(kernel)) << ir::print(kernel);
    const std::string expected = result_of(kernel);
    const std::string before = ir::print(kernel);
    // With and without the canonical form that the pass is made for.
    if (seed % 2) pass_named("canonicalize").run(kernel, Target::host());
    pass_named("find_access_forms").run(kernel, Target::host());
    ASSERT_NO_THROW(ir::verify(kernel)) << "seed " << seed << "\n" << ir::print(kernel);
    ASSERT_TRUE(result_of(kernel) == expected) << "seed " << seed << "\n"
                                               << before << "\n=>\n"
                                               << ir::print(kernel);
    const std::string once = ir::print(kernel);
    pass_named("find_access_forms").run(kernel, Target::host());
    ASSERT_EQ(ir::print(kernel), once) << "seed " << seed;
    for (const PassEntry& pass : all_passes()) pass.run(kernel, Target::host());
    ASSERT_NO_THROW(ir::verify(kernel)) << "seed " << seed << "\n" << ir::print(kernel);
    ASSERT_TRUE(result_of(kernel) == expected) << "seed " << seed << "\n" << once;
    affine += count(kernel, OpKind::Affine);
    bounds += count(kernel, OpKind::Bounds);
  }
  // The test says nothing where no form is found.
  EXPECT_GT(affine, 1000);
  EXPECT_GT(bounds, 300);
}

TEST(AxisInfoFuzz, FactsHold) {
  int contiguous = 0;
  for (unsigned seed = 0; seed < 800; ++seed) {
    const Kernel kernel = Generator(seed).make_indices();
    Value index;
    for (std::uint32_t id = 0; id < kernel.value_count(); ++id)
      if (kernel.name_of(Value{id}) == "index") index = Value{id};
    const AxisInfo info = AxisAnalysis(kernel).of(index);
    std::vector<std::int32_t> out(64);
    for (std::int64_t program = 0; program < 3; ++program) {
      // One program more each time: the last one's indices are what stays in memory.
      const ir::InterpretBuffer buffers[] = {
          {.name = "out", .data = out.data(), .bytes = out.size() * 4}};
      const ir::InterpretArgument arguments[] = {ir::InterpretPointer{}, ir::InterpretPointer{0},
                                                 std::int64_t{5}, std::int64_t{48}};
      ir::interpret(kernel, buffers, arguments, {.grid = {program + 1, 1, 1}});
      check_facts(info, kernel.type(index), out.data());
      ASSERT_FALSE(testing::Test::HasFatalFailure()) << "seed " << seed << "\n"
                                                     << ir::print(kernel);
    }
    for (const AxisFacts& facts : info.dimensions) contiguous += facts.contiguous > 1;
  }
  EXPECT_GT(contiguous, 100);
}

}  // namespace
}  // namespace tilewright
