// SPDX-License-Identifier: Apache-2.0
// frontend/triton/builtins_block.cpp — block pointers and tensor descriptors: both become pointers
// and masks where they are used.
#include <limits>

#include <fmt/format.h>

#include "frontend/triton/builtin_tables.h"
#include "frontend/triton/constants.h"
#include "frontend/triton/memory_access.h"

namespace tilewright::triton {
namespace {

using ir::OpKind;

// ---- Parts of a block pointer

ir::Value scalar_integer(Call& call, const Value& value, DType dtype, std::string_view what) {
  ir::Value scalar = call.semantic.tensor(value);
  const ir::Type type = call.type(scalar);
  if (!is_integral(type) || type.numel() != 1)
    throw Mistake{fmt::format("{} needs scalar integers, not {}", what, call.describe(value)), ""};
  scalar = scalar_of(call.semantic, scalar);
  if (dtype == i32 && (type.dtype == i64 || type.dtype == u64))
    throw Mistake{fmt::format("{} needs 32-bit integers, not {}", what, call.describe(value)),
                  "use .to(tl.int32)"};
  if (is_number(value)) return call.semantic.constant(value, dtype);
  return call.semantic.cast(scalar, ir::Type::scalar(dtype));
}

std::vector<ir::Value> scalars(Call& call, std::string_view parameter, DType dtype) {
  std::vector<ir::Value> values;
  for (const Value& item : unpacked(call[parameter]))
    values.push_back(scalar_integer(call, item, dtype, call.what(parameter)));
  return values;
}

void require_rank(Call& call, std::string_view parameter, std::size_t found, std::size_t wanted) {
  if (found != wanted)
    call.fail(fmt::format("has {} dimension{} in 'shape', but {} in '{}'", wanted,
                          wanted == 1 ? "" : "s", found, parameter));
}

void require_base(Call& call, ir::Value base) {
  const ir::Type& type = call.type(base);
  if (!type.is_pointer || !type.is_scalar())
    call.fail(fmt::format("needs a scalar pointer as base, not {}", text_of(type)));
}

Value make_block_ptr(Call& call) {
  BlockPointer block{.base = call.tensor("base"),
                     .shape = scalars(call, "shape", i64),
                     .strides = scalars(call, "strides", i64),
                     .offsets = scalars(call, "offsets", i32),
                     .block_shape = call.shape("block_shape")};
  require_base(call, block.base);
  // As Triton has it: a block of bool holds the bytes themselves.
  if (call.type(block.base).pointee().dtype == DType::Bool)
    block.base = call.semantic.cast(block.base, ir::Type::pointer(DType::Int8));
  const std::size_t rank = block.shape.size();
  require_rank(call, "strides", block.strides.size(), rank);
  require_rank(call, "offsets", block.offsets.size(), rank);
  require_rank(call, "block_shape", block.block_shape.size(), rank);
  require_rank(call, "order", call.integers("order").size(), rank);
  return std::make_shared<const BlockPointer>(std::move(block));
}

Value advance(Call& call) {
  const BlockPointer* base = call["base"].block_pointer();
  if (!base)
    call.fail(fmt::format("needs a block pointer, not {}", call.describe(call["base"])),
              "add offsets to other pointers");
  const std::vector<ir::Value> steps = scalars(call, "offsets", i32);
  if (steps.size() != base->offsets.size())
    call.fail(fmt::format("needs {} offsets, but gets {}", base->offsets.size(), steps.size()));
  BlockPointer moved = *base;
  for (std::size_t d = 0; d < steps.size(); ++d)
    moved.offsets[d] = call.builder().binary(OpKind::Add, moved.offsets[d], steps[d]);
  return std::make_shared<const BlockPointer>(std::move(moved));
}

// ---- Descriptors

Value make_tensor_descriptor(Call& call) {
  BlockPointer block{.base = call.tensor("base"),
                     .shape = scalars(call, "shape", i64),
                     .strides = scalars(call, "strides", i64),
                     .offsets = {},
                     .block_shape = call.shape("block_shape")};
  require_base(call, block.base);
  const std::size_t rank = block.shape.size();
  if (rank < 1 || rank > 5) call.fail(fmt::format("takes 1 to 5 dimensions, not {}", rank));
  require_rank(call, "strides", block.strides.size(), rank);
  require_rank(call, "block_shape", block.block_shape.size(), rank);
  const Value last = unpacked(call["strides"]).back();
  if (integer_of(last) != Int128{1})
    call.fail(fmt::format("needs the last stride 1, not {}", call.describe(last)));
  const ir::Type element = call.type(block.base).pointee();
  const auto bytes = block.block_shape.back() * static_cast<std::int64_t>(element.element_bytes());
  if (bytes < 16)
    call.fail(
        fmt::format("needs at least 16 bytes in the last dimension of a block, not {}", bytes),
        "make block_shape[-1] larger");
  static constexpr std::string_view paddings[] = {"zero", "nan"};
  const bool is_nan = one_of(call, "padding_option", paddings) == "nan";
  if (is_nan && !element.is_float())
    call.fail(fmt::format("cannot pad {} with NaN", text_of(element)));
  return std::make_shared<const Descriptor>(Descriptor{std::move(block), is_nan});
}

const Descriptor& descriptor_of(Call& call) {
  if (const Descriptor* descriptor = call["desc"].descriptor()) return *descriptor;
  call.fail(fmt::format("needs a tensor descriptor, not {}", call.describe(call["desc"])));
}

Access descriptor_access(Call& call, const Descriptor& descriptor) {
  BlockPointer block = descriptor.block;
  block.offsets = scalars(call, "offsets", i32);
  if (block.offsets.size() != block.block_shape.size())
    call.fail(fmt::format("needs {} offsets, but gets {}", block.block_shape.size(),
                          block.offsets.size()));
  return block_access(call.semantic, block, std::vector<bool>(block.block_shape.size(), true));
}

Value descriptor_load(Call& call) {
  const Descriptor& descriptor = descriptor_of(call);
  Access access = descriptor_access(call, descriptor);
  access.other = padding_of(call, access.pointers, descriptor.pads_with_nan);
  return call.builder().load(access.pointers, access.mask, access.other);
}

ir::Value value_for(Call& call, const Descriptor& descriptor) {
  const ir::Value value = call.tensor("value");
  if (call.type(value).shape() != descriptor.block.block_shape)
    call.fail(fmt::format("needs a value of the shape {}, not {}",
                          text_of_shape(descriptor.block.block_shape), text_of(call.type(value))));
  return call.semantic.cast(value, call.type(descriptor.block.base).pointee());
}

Value descriptor_store(Call& call) {
  const Descriptor& descriptor = descriptor_of(call);
  require_writable(call, descriptor.block.base);
  const ir::Value value = value_for(call, descriptor);
  const Access access = descriptor_access(call, descriptor);
  call.builder().store(access.pointers, value, access.mask);
  return {};
}

Value descriptor_atomic(Call& call) {
  const Descriptor& descriptor = descriptor_of(call);
  require_writable(call, descriptor.block.base);
  const ir::Value value = value_for(call, descriptor);
  const ir::Type element = call.type(value).element();
  std::string op(call.row.name.substr(std::string_view("atomic_").size()));
  const bool is_wide = bits_of(element) >= 32 && !element.is_float();
  if (!is_wide && !(op == "add" && element.is_float()))
    call.fail(fmt::format("does not work on {}", text_of(element)));
  if (op == "add" && element.is_float()) op = "fadd";
  atomic_rmw(call, op, descriptor_access(call, descriptor), value);
  return {};
}

// ---- Rows by index: a block of one row, read or written at many rows

Access row_access(Call& call, const Descriptor& descriptor) {
  const BlockPointer& block = descriptor.block;
  const ir::Value rows = call.tile("x_offsets");
  if (block.block_shape.size() != 2 || block.block_shape[0] != 1)
    call.fail(fmt::format("needs a descriptor with blocks of one row, not {}",
                          text_of_shape(block.block_shape)));
  if (call.type(rows).rank != 1 || !call.type(rows).is_int())
    call.fail(fmt::format("needs a rank-1 block of row numbers, not {}", text_of(call.type(rows))));
  const std::int64_t count = call.type(rows).size(0), columns = block.block_shape[1];
  Semantic& s = call.semantic;
  ir::Builder& builder = call.builder();
  const ir::Value first = scalar_integer(call, call["y_offset"], i64, call.what("y_offset"));
  const std::vector<std::int64_t> shape = {count, columns};
  const ir::Value row = s.broadcast_to(reshape(s, builder.cast(rows, i64), {count, 1}), shape);
  const ir::Value range = builder.cast(builder.arange(0, columns), i64);
  const ir::Value column = s.broadcast_to(
      reshape(s, builder.binary(OpKind::Add, range, s.like(first, call.type(range))), {1, columns}),
      shape);
  const ir::Type tile = call.type(row);
  const ir::Value zero = s.like(builder.constant(ir::Type::scalar(i64), std::int64_t{0}), tile);
  Access access;
  const auto inside = [&](ir::Value index, ir::Value size) {
    const ir::Value holds = builder.binary(OpKind::And, builder.compare("ge", index, zero),
                                           builder.compare("lt", index, s.like(size, tile)));
    access.mask = access.mask ? builder.binary(OpKind::And, access.mask, holds) : holds;
  };
  inside(row, block.shape[0]);
  inside(column, block.shape[1]);
  const ir::Value offset = builder.binary(
      OpKind::Add, builder.binary(OpKind::Multiply, row, s.like(block.strides[0], tile)),
      builder.binary(OpKind::Multiply, column, s.like(block.strides[1], tile)));
  access.pointers = builder.offset(s.like(block.base, tile), offset);
  return access;
}

Value descriptor_gather(Call& call) {
  const Descriptor& descriptor = descriptor_of(call);
  Access access = row_access(call, descriptor);
  access.other = padding_of(call, access.pointers, descriptor.pads_with_nan);
  return call.builder().load(access.pointers, access.mask, access.other);
}

Value descriptor_scatter(Call& call) {
  const Descriptor& descriptor = descriptor_of(call);
  require_writable(call, descriptor.block.base);
  const Access access = row_access(call, descriptor);
  const ir::Value value = to_pointer_shape(call, access.pointers, call.tensor("value"), "value");
  call.builder().store(access.pointers,
                       call.semantic.cast(value, call.type(access.pointers).pointee()),
                       access.mask);
  return {};
}

constexpr std::string_view descriptor_parameters =
    "base, shape, strides, block_shape, padding_option=\"zero\"";

constexpr BuiltinRow block_rows[] = {
    {"make_block_ptr", "base, shape, strides, offsets, block_shape, order", make_block_ptr},
    {"advance", "base, offsets", advance},
    {"make_tensor_descriptor", descriptor_parameters, make_tensor_descriptor},
    {"load_tensor_descriptor", "desc, offsets", descriptor_load},
    {"store_tensor_descriptor", "desc, offsets, value", descriptor_store},
};

constexpr BuiltinRow pointer_methods[] = {
    {"advance", "base, offsets", advance},
};

constexpr BuiltinRow methods[] = {
    {"load", "desc, offsets", descriptor_load},
    {"store", "desc, offsets, value", descriptor_store},
    {"gather", "desc, x_offsets, y_offset", descriptor_gather},
    {"scatter", "desc, value, x_offsets, y_offset", descriptor_scatter},
    {"atomic_add", "desc, offsets, value", descriptor_atomic},
    {"atomic_min", "desc, offsets, value", descriptor_atomic},
    {"atomic_max", "desc, offsets, value", descriptor_atomic},
    {"atomic_and", "desc, offsets, value", descriptor_atomic},
    {"atomic_or", "desc, offsets, value", descriptor_atomic},
    {"atomic_xor", "desc, offsets, value", descriptor_atomic},
};

// The indices of a dimension, int64, in the shape of the whole block.
ir::Value dimension_index(Semantic& s, const BlockPointer& block, std::size_t d) {
  ir::Builder& builder = s.builder();
  const ir::Value range = builder.cast(builder.arange(0, block.block_shape[d]), i64);
  const ir::Value start = s.cast(block.offsets[d], ir::Type::scalar(i64));
  const ir::Value index = builder.binary(OpKind::Add, range, s.like(start, s.type(range)));
  std::vector<std::int64_t> spread(block.block_shape.size(), 1);
  spread[d] = block.block_shape[d];
  return s.broadcast_to(reshape(s, index, spread), block.block_shape);
}

}  // namespace

Access block_access(Semantic& s, const BlockPointer& block, const std::vector<bool>& checked) {
  ir::Builder& builder = s.builder();
  const ir::Type tile = ir::Type::tile(i64, block.block_shape);
  Access access;
  ir::Value offset;
  for (std::size_t d = 0; d < block.block_shape.size(); ++d) {
    const ir::Value index = dimension_index(s, block, d);
    const ir::Value step = builder.binary(OpKind::Multiply, index, s.like(block.strides[d], tile));
    offset = offset ? builder.binary(OpKind::Add, offset, step) : step;
    if (!checked[d]) continue;
    const ir::Value zero = s.like(builder.constant(ir::Type::scalar(i64), std::int64_t{0}), tile);
    const ir::Value holds =
        builder.binary(OpKind::And, builder.compare("ge", index, zero),
                       builder.compare("lt", index, s.like(block.shape[d], tile)));
    access.mask = access.mask ? builder.binary(OpKind::And, access.mask, holds) : holds;
  }
  access.pointers = builder.offset(s.like(block.base, tile), offset);
  return access;
}

ir::Value padding_of(Call& call, ir::Value pointers, bool is_nan) {
  const ir::Type element = call.type(pointers).pointee();
  if (is_nan && !element.is_float())
    call.fail(fmt::format("cannot pad {} with NaN", text_of(element)));
  if (is_nan) return call.builder().constant(element, std::numeric_limits<double>::quiet_NaN());
  if (!call.host.writes_padding()) return {};
  return element.is_float() ? call.builder().constant(element, 0.0)
                            : call.builder().constant(element, std::int64_t{0});
}

std::span<const BuiltinRow> block_builtins() { return block_rows; }
std::span<const BuiltinRow> descriptor_methods() { return methods; }
std::span<const BuiltinRow> block_methods() { return pointer_methods; }

}  // namespace tilewright::triton
