// SPDX-License-Identifier: Apache-2.0
// frontend/triton/builtins_memory.cpp — tl.load and tl.store, through pointers, block pointers and
// descriptors.
#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "frontend/triton/builtin_ops.h"
#include "frontend/triton/builtin_tables.h"
#include "frontend/triton/constants.h"
#include "frontend/triton/memory_access.h"

namespace tilewright::triton {

std::string one_of(Call& call, std::string_view parameter,
                   std::span<const std::string_view> allowed) {
  const std::string text = call.text(parameter);
  if (text.empty() || std::find(allowed.begin(), allowed.end(), text) != allowed.end()) return text;
  call.fail(fmt::format("has '{}' as {}", text, parameter),
            fmt::format("use \"{}\"", fmt::join(allowed, "\", \"")));
}

ir::Value mask_of(Call& call) {
  const Value& value = call["mask"];
  if (value.is_none() || (value.is_constant() && is_number(value) && call.semantic.truth(value)))
    return {};
  const ir::Value mask = call.tensor("mask");
  if (!call.type(mask).is_bool())
    throw Mistake{fmt::format("{} must be int1, not {}", call.what("mask"), call.describe(value)),
                  "compare it first, as in mask != 0"};
  return mask;
}

void require_pointer(Call& call, ir::Value pointer) {
  if (!call.type(pointer).is_pointer)
    call.fail(fmt::format("needs a pointer, not {}", text_of(call.type(pointer))),
              "add the offsets to the pointer that the kernel gets");
}

void require_writable(Call& call, ir::Value pointer) {
  const ir::Kernel& kernel = call.semantic.kernel();
  // The argument that a pointer comes from lies behind offsets and changes of shape.
  while (const ir::Op* maker = kernel.maker(pointer)) {
    if (maker->operands.empty() || !kernel.type(maker->operands[0]).is_pointer) return;
    pointer = maker->operands[0];
  }
  for (const ir::KernelArgument& argument : kernel.arguments)
    if (argument.value == pointer && argument.is_const)
      call.fail(fmt::format("writes through '{}', a pointer to const", kernel.name_of(pointer)));
}

void require_scalar_with(Call& call, ir::Value pointer, ir::Value value,
                         std::string_view parameter) {
  if (value && call.type(pointer).is_scalar() && call.type(value).is_tile())
    throw Mistake{fmt::format("{} is {}, but the pointer is a scalar", call.what(parameter),
                              text_of(call.type(value))),
                  "add a block of offsets to the pointer"};
}

ir::Value to_pointer_shape(Call& call, ir::Value pointer, ir::Value value,
                           std::string_view parameter) {
  require_scalar_with(call, pointer, value, parameter);
  const ir::Type shape = call.type(pointer);
  const auto [fitted, same] = call.semantic.broadcast(value, pointer);
  if (!same_shape(call.type(same), shape))
    throw Mistake{
        fmt::format("{} is {}, which does not fit the pointers' shape {}", call.what(parameter),
                    text_of(call.type(value)), text_of_shape(shape.shape())),
        ""};
  return fitted;
}

namespace {

constexpr std::string_view load_cache[] = {".ca", ".cg", ".cs", ".cv"};
constexpr std::string_view store_cache[] = {".wb", ".cg", ".cs", ".wt"};
constexpr std::string_view evictions[] = {"evict_last", "evict_first", "evict_normal"};

std::vector<ir::Attribute> hints(Call& call, std::span<const std::string_view> caches) {
  std::vector<ir::Attribute> attributes;
  if (const std::string cache = one_of(call, "cache_modifier", caches); !cache.empty())
    attributes.push_back({"cache", cache});
  const std::string eviction = one_of(call, "eviction_policy", evictions);
  if (!eviction.empty() && eviction != "evict_normal") attributes.push_back({"evict", eviction});
  return attributes;
}

// ---- Load

Value load_access(Call& call, const Access& access, bool is_volatile) {
  std::vector<ir::Value> operands = {access.pointers};
  if (access.mask) operands.push_back(access.mask);
  if (access.other) operands.push_back(access.other);
  std::vector<ir::Attribute> attributes = hints(call, load_cache);
  if (is_volatile) attributes.push_back({"volatile", std::int64_t{1}});
  return call.builder().create_one(ir::OpKind::Load, operands, call.type(access.pointers).pointee(),
                                   std::move(attributes));
}

std::vector<bool> checked_dimensions(Call& call, const BlockPointer& block) {
  std::vector<bool> checked(block.block_shape.size(), false);
  for (const std::int64_t axis : call.integers("boundary_check")) {
    if (axis < 0 || axis >= static_cast<std::int64_t>(checked.size()))
      call.fail(fmt::format("checks the boundary of dimension {}, but the block has {}", axis,
                            checked.size()));
    checked[static_cast<std::size_t>(axis)] = true;
  }
  return checked;
}

void require_no_mask(Call& call, std::string_view parameter) {
  if (call.has(parameter))
    call.fail(fmt::format("takes no {} with a block pointer", parameter), "use boundary_check");
}

Value load_block(Call& call, const BlockPointer& block) {
  require_no_mask(call, "mask");
  require_no_mask(call, "other");
  static constexpr std::string_view paddings[] = {"zero", "nan"};
  const std::string padding = one_of(call, "padding_option", paddings);
  Access access = block_access(call.semantic, block, checked_dimensions(call, block));
  if (access.mask && !padding.empty())
    access.other = padding_of(call, access.pointers, padding == "nan");
  return load_access(call, access, call.flag("volatile"));
}

Value load(Call& call) {
  const Value& target = call["pointer"];
  if (const BlockPointer* block = target.block_pointer()) return load_block(call, *block);
  if (target.descriptor())
    call.fail("does not take a tensor descriptor", "use desc.load([offsets])");
  if (!unpacked(call["boundary_check"]).empty() || !call.text("padding_option").empty())
    call.fail("takes boundary_check and padding_option only with a block pointer", "use a mask");

  Access access{.pointers = call.tensor("pointer"), .mask = mask_of(call)};
  require_pointer(call, access.pointers);
  if (!call.has("mask") && call.has("other"))
    call.fail("gets 'other' without 'mask'", "give a mask, or leave 'other' out");
  const ir::Type element = call.type(access.pointers).pointee().element();
  if (access.mask) {
    require_scalar_with(call, access.pointers, access.mask, "mask");
    std::tie(access.pointers, access.mask) = call.semantic.broadcast(access.pointers, access.mask);
    if (call.has("other")) {
      const ir::Value other = call.semantic.cast(call.tensor("other"), element);
      access.other = to_pointer_shape(call, access.pointers, other, "other");
    }
  }
  return load_access(call, access, call.flag("volatile"));
}

// ---- Store

Value store_access(Call& call, Access access, ir::Value value) {
  Semantic& semantic = call.semantic;
  ir::Type element = call.type(access.pointers).pointee().element();
  // A bool takes one byte: what is no bool is stored as int8, as Triton does.
  if (element.is_bool() && !call.type(value).is_bool()) {
    element = ir::Type::scalar(i8);
    access.pointers = semantic.cast(access.pointers, ir::Type::pointer(i8));
  }
  std::vector<ir::Value> operands = {access.pointers, semantic.cast(value, element)};
  if (access.mask) operands.push_back(access.mask);
  call.builder().create(ir::OpKind::Store, operands, {}, hints(call, store_cache));
  return {};
}

Value store_block(Call& call, const BlockPointer& block) {
  require_no_mask(call, "mask");
  require_writable(call, block.base);
  const Access access = block_access(call.semantic, block, checked_dimensions(call, block));
  const ir::Value value = to_pointer_shape(call, access.pointers, call.tensor("value"), "value");
  return store_access(call, access, value);
}

Value store(Call& call) {
  const Value& target = call["pointer"];
  if (const BlockPointer* block = target.block_pointer()) return store_block(call, *block);
  if (target.descriptor())
    call.fail("does not take a tensor descriptor", "use desc.store([offsets], value)");
  if (!unpacked(call["boundary_check"]).empty())
    call.fail("takes boundary_check only with a block pointer", "use a mask");

  Access access{.pointers = call.tensor("pointer"), .mask = mask_of(call)};
  require_pointer(call, access.pointers);
  require_writable(call, access.pointers);
  const ir::Value value = to_pointer_shape(call, access.pointers, call.tensor("value"), "value");
  if (access.mask) access.mask = to_pointer_shape(call, access.pointers, access.mask, "mask");
  return store_access(call, access, value);
}

constexpr BuiltinRow memory_rows[] = {
    {"load",
     "pointer, mask=None, other=None, boundary_check=(), padding_option=\"\", "
     "cache_modifier=\"\", eviction_policy=\"\", volatile=False",
     load},
    {"store",
     "pointer, value, mask=None, boundary_check=(), cache_modifier=\"\", eviction_policy=\"\"",
     store},
};

}  // namespace

std::span<const BuiltinRow> memory_builtins() { return memory_rows; }

}  // namespace tilewright::triton
