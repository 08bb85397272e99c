// SPDX-License-Identifier: Apache-2.0
// fuzz/random_kernel.h — kernels of random ops, loops and branches, the same for the same seed.
#pragma once

#include <random>
#include <vector>

#include "ir/builder.h"

namespace tilewright::fuzz {

using ir::Builder;
using ir::Kernel;
using ir::Op;
using ir::OpKind;
using ir::Region;
using ir::Type;
using ir::Value;

constexpr int tile_size = 8;
constexpr int outputs = 6;

// Makes a kernel of integer and float tiles and scalars with loops and branches, which stores some
// of its values.
class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  Kernel make() {
    Kernel kernel;
    kernel.name = "random";
    const Value ints = kernel.add_argument(Type::pointer(i32), "ints");
    const Value floats = kernel.add_argument(Type::pointer(f32), "floats");
    const Value n = kernel.add_argument(Type::scalar(i32), "n");
    Builder build(kernel);
    build_ = &build;
    values_ = {n,
               build.program_id(0),
               build.constant(Type::scalar(i32), std::int64_t{pick(5)} - 1),
               build.constant(Type::scalar(f32), 0.5 * pick(4)),
               build.arange(0, tile_size),
               build.load(ints),
               build.load(floats)};
    add_ops(12 + pick(12), 2);
    for (int i = 0; i < outputs; ++i) store(i, ints, floats);
    return kernel;
  }

 private:
  int pick(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }
  Value any() { return values_[static_cast<std::size_t>(pick(static_cast<int>(values_.size())))]; }

  // A value of this type, converted from whatever is there.
  Value any_of(const Type& type) {
    Value value = any();
    if (build_->type(value).is_bool()) value = build_->cast(value, i32);
    if (build_->type(value).is_tile() && type.is_scalar()) value = reduce(value);
    value = build_->cast(value, type.dtype);
    if (build_->type(value).is_scalar() && type.is_tile()) value = build_->splat(value, type);
    return value;
  }

  Value reduce(Value tile) {
    Op* op = build_->create(OpKind::Reduce, {tile}, {build_->type(tile).element()},
                            {{"axis", std::int64_t{0}}});
    const Type element = build_->type(tile).element();
    Kernel& kernel = build_->kernel();
    Region region;
    region.arguments = {kernel.make_value(element, "", nullptr),
                        kernel.make_value(element, "", nullptr)};
    {
      const Builder::Into into(*build_, region);
      build_->yield({build_->binary(OpKind::Maximum, region.arguments[0], region.arguments[1])});
    }
    op->regions.push_back(std::move(region));
    return op->result();
  }

  Type random_type() {
    const Type type = Type::scalar(pick(3) ? i32 : f32);
    return pick(2) ? type.with_shape({tile_size}) : type;
  }

  void add_ops(int count, int depth) {
    for (int i = 0; i < count; ++i) {
      const int choice = pick(12);
      if (choice == 0 && depth > 0) add_loop(depth);
      else if (choice == 1 && depth > 0) add_branch(depth);
      else values_.push_back(add_op());
    }
  }

  Value add_op() {
    static constexpr OpKind integer_ops[] = {
        OpKind::Add,       OpKind::Subtract, OpKind::Multiply,  OpKind::Divide,
        OpKind::Remainder, OpKind::And,      OpKind::Or,        OpKind::Xor,
        OpKind::Minimum,   OpKind::Maximum,  OpKind::ShiftLeft, OpKind::MultiplyHigh};
    static constexpr OpKind float_ops[] = {OpKind::Add, OpKind::Subtract, OpKind::Multiply,
                                           OpKind::Minimum, OpKind::Maximum};
    const Type type = random_type();
    const Value a = any_of(type);
    const Value b = pick(4) ? any_of(type) : a;
    switch (pick(6)) {
      case 0:
        return build_->compare(pick(2) ? "lt" : "eq", a, b);
      case 1:
        return build_->select(build_->compare("ge", a, b), b, a);
      case 2:
        return build_->unary(pick(2) ? OpKind::Negate : OpKind::Absolute, a);
      default:
        break;
    }
    if (type.is_int()) return build_->binary(integer_ops[pick(12)], a, b);
    return build_->binary(float_ops[pick(5)], a, b);
  }

  void add_loop(int depth) {
    Kernel& kernel = build_->kernel();
    const Value initial = any_of(random_type());
    const Type carried = build_->type(initial);
    const Type index = Type::scalar(i32);
    Op* loop = build_->create(
        OpKind::For,
        {build_->constant(index, std::int64_t{0}), build_->constant(index, std::int64_t{pick(4)}),
         build_->constant(index, std::int64_t{1}), initial},
        {carried});
    Region body;
    body.arguments = {kernel.make_value(index, "", nullptr),
                      kernel.make_value(carried, "", nullptr)};
    fill(body, carried, depth);
    loop->regions.push_back(std::move(body));
    values_.push_back(loop->result());
  }

  void add_branch(int depth) {
    const Type type = random_type();
    Value condition = build_->compare("lt", any_of(Type::scalar(i32)), any_of(Type::scalar(i32)));
    Op* branch = build_->create(OpKind::If, {condition}, {type});
    for (int side = 0; side < 2; ++side) {
      Region region;
      fill(region, type, depth);
      branch->regions.push_back(std::move(region));
    }
    values_.push_back(branch->result());
  }

  // Random ops and a yield of `type`; values of the region are forgotten after it.
  void fill(Region& region, const Type& type, int depth) {
    const std::size_t outside = values_.size();
    values_.insert(values_.end(), region.arguments.begin(), region.arguments.end());
    const Builder::Into into(*build_, region);
    add_ops(1 + pick(5), depth - 1);
    build_->yield({any_of(type)});
    values_.resize(outside);
  }

  void store(int slot, Value ints, Value floats) {
    const bool is_float = slot % 2;
    const Type type = Type::tile(is_float ? f32 : i32, {tile_size});
    const Value base = build_->constant(type.with_element(i32), std::int64_t{slot * tile_size});
    const Value index = build_->binary(OpKind::Add, base, build_->arange(0, tile_size));
    const Value pointers = build_->offset(build_->splat(is_float ? floats : ints, type), index);
    build_->store(pointers, any_of(type),
                  pick(2) ? Value{} : build_->compare("lt", any_of(type), any_of(type)));
  }

  std::mt19937 random_;
  Builder* build_ = nullptr;
  std::vector<Value> values_;
};

}  // namespace tilewright::fuzz
