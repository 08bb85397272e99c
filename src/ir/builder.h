// SPDX-License-Identifier: Apache-2.0
// ir/builder.h — makes ops at the end of a region, with result types derived from operands.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/kernel.h"

namespace tilewright::ir {

class Builder {
 public:
  explicit Builder(Kernel& kernel) : kernel_(kernel), region_(&kernel.body) {}

  Kernel& kernel() const { return kernel_; }
  const Type& type(Value value) const { return kernel_.type(value); }
  void set_location(Location location) { location_ = location; }
  Location location() const { return location_; }

  // Builds into another region for a scope.
  class Into {
   public:
    Into(Builder& builder, Region& region)
        : builder_(builder), previous_(std::exchange(builder.region_, &region)) {}
    ~Into() { builder_.region_ = previous_; }
    Into(const Into&) = delete;
    Into& operator=(const Into&) = delete;

   private:
    Builder& builder_;
    Region* previous_;
  };

  // Puts an op that exists already at the end of the region.
  void insert(Op* op) { region_->ops.push_back(op); }

  // The general form; everything below calls it.
  Op* create(OpKind kind, std::vector<Value> operands, const std::vector<Type>& results,
             std::vector<Attribute> attributes = {});
  Value create_one(OpKind kind, std::vector<Value> operands, const Type& result,
                   std::vector<Attribute> attributes = {}) {
    return create(kind, std::move(operands), {result}, std::move(attributes))->result();
  }

  Value constant(const Type& type, std::int64_t value);
  Value constant(const Type& type, double value);
  Value program_id(int axis);
  Value num_programs(int axis);
  Value arange(std::int64_t start, std::int64_t end);

  Value splat(Value scalar,
              const Type& shape);  // to the shape of `shape`; itself when that is a scalar
  Value broadcast(Value tile, const Type& shape);  // itself when nothing changes
  Value reshape(Value tile, const std::vector<std::int64_t>& shape);
  Value permute(Value tile, const std::vector<std::int64_t>& order);

  Value binary(OpKind kind, Value a, Value b) { return create_one(kind, {a, b}, type(a)); }
  Value unary(OpKind kind, Value a) { return create_one(kind, {a}, type(a)); }
  Value math(std::string_view function, std::vector<Value> operands);
  Value compare(std::string_view is, Value a, Value b);
  Value select(Value condition, Value a, Value b) {
    return create_one(OpKind::Select, {condition, a, b}, type(a));
  }
  Value cast(Value value, DType dtype);  // itself when it has that type
  Value bitcast(Value value, DType dtype);
  Value offset(Value pointers, Value elements) {
    return create_one(OpKind::Offset, {pointers, elements}, type(pointers));
  }

  // The access forms of the Tile stage, with the shape of `shape`; strides and bounds are i64
  // scalars. `bounds` holds low and high of each dimension in turn.
  Value affine(Value base, const std::vector<Value>& strides, const Type& shape);
  Value bounds(std::vector<Value> bounds, const Type& shape);

  Value load(Value pointers, Value mask = {}, Value other = {});
  void store(Value pointers, Value value, Value mask = {});
  void yield(std::vector<Value> values) { create(OpKind::Yield, std::move(values), {}); }

 private:
  Kernel& kernel_;
  Region* region_;
  Location location_;
};

}  // namespace tilewright::ir
