// SPDX-License-Identifier: Apache-2.0
// codegen/lower/loop_arrays.cpp — the arrays of a program, and where they lie.
#include "codegen/lower/loop_arrays.h"

#include <optional>
#include <utility>

#include "codegen/lower/reduction_facts.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

namespace {

// Arrays of up to this many bytes in all live on the stack of a function; each begins at a cache
// line.
constexpr std::int64_t most_stack_bytes = 64 << 10;
constexpr std::int64_t bytes_of_line = 64;

}  // namespace

// The owner may be nameless where a value that shares its array has the user's name.
std::string LoopArrays::array_base(ir::Value owner) const {
  std::string name = kernel_.name_of(owner);
  for (const ir::Value value : schedule_.placed_results())
    if (name.empty() && schedule_.storage(value) == owner) name = kernel_.name_of(value);
  return name.empty() ? "tile" : name + "_tile";
}

// In this order: tiles, operands of products that are in no array of their own, and sums that are
// wider than their results.
std::vector<LoopArrays::WantedArray> LoopArrays::wanted_arrays() {
  std::vector<WantedArray> all;
  const auto add = [&](ir::Value& array, const std::string& name, const Type& type,
                       bool is_by_turns) {
    const std::int64_t bytes = type.numel() * static_cast<std::int64_t>(type.element_bytes());
    const std::int64_t padded = (bytes + bytes_of_line - 1) / bytes_of_line * bytes_of_line;
    all.push_back(
        {&array, names_.make(name), type, is_by_turns ? 2 * padded : padded, is_by_turns});
  };
  for (const ir::Value owner : schedule_.owners())
    add(state_.arrays[owner.id], array_base(owner), kernel_.type(owner),
        facts_.deferred().arrays.contains(owner.id));
  ir::walk(kernel_.body, [&](const ir::Op& op) {
    for (const std::size_t side : {0, 1}) {
      if (op.kind != OpKind::Dot || facts_.strided(op.operands[side])) continue;
      ir::Value& array = state_.operand_arrays[{&op, op.operands[side].id}];
      if (side == 1 && op.operands[0] == op.operands[1]) continue;
      add(array, side == 0 ? "left_tile" : "right_tile", kernel_.type(op.operands[side]), false);
    }
    const std::optional<Type> wide = wide_array_type(kernel_, op);
    if (wide && schedule_.is_placed(op.result()))
      add(state_.wide_arrays[op.result().id],
          array_base(schedule_.storage(op.result())) + "_" +
              std::string(ir::short_name_of(wide->dtype)),
          *wide, false);
  });
  return all;
}

// Programs get one of two by turns, so that what the last one left can still be read. From a byte
// of the arena on, or (-1) on the stack.
ir::Value LoopArrays::array_by_turns(const std::string& name, const Type& tile,
                                     std::int64_t offset) {
  const Type type = Type::array(tile.element(), offset < 0 ? ir::Space::Stack : ir::Space::Arena);
  const std::vector<std::int64_t> numbers = {tile.numel(), std::max(offset, std::int64_t{0})};
  const ir::Value both =
      named(make(OpKind::Call, {}, type,
                 {{"function", std::string(name_of(LibraryKind::ByTurns))}, {"numbers", numbers}}),
            name, out_.body.ops);
  const ir::Value own = out_.make_value(type, name, nullptr);
  // Before the kernel's arguments.
  auto& arguments = state_.programs->regions[0].arguments;
  const auto behind = static_cast<std::ptrdiff_t>(arguments.size() - kernel_.arguments.size());
  arguments.insert(arguments.begin() + behind, own);
  state_.programs->operands.insert(state_.programs->operands.begin() + behind, both);
  return own;
}

void LoopArrays::place_arrays() {
  const std::vector<WantedArray> all = wanted_arrays();
  // By whether there are two of each, by turns.
  std::int64_t bytes[2] = {0, 0};
  for (const WantedArray& one : all) bytes[one.is_by_turns ? 1 : 0] += one.bytes;
  const bool is_on_stack[2] = {bytes[0] <= most_stack_bytes, bytes[1] <= most_stack_bytes};
  std::int64_t offset[2] = {0, is_on_stack[0] ? 0 : bytes[0]};
  for (const WantedArray& one : all) {
    const std::size_t kind = one.is_by_turns ? 1 : 0;
    const std::int64_t at = std::exchange(offset[kind], offset[kind] + one.bytes);
    if (one.is_by_turns) {
      *one.array = array_by_turns(one.name, one.type, is_on_stack[1] ? -1 : at);
      continue;
    }
    const Type type =
        Type::array(one.type.element(), is_on_stack[0] ? ir::Space::Stack : ir::Space::Arena);
    std::vector<ir::Attribute> attributes = {{"count", one.type.numel()}};
    if (!is_on_stack[0]) attributes.push_back({"offset", at});
    *one.array = named(make(OpKind::Array, {}, type, attributes), one.name, *list_);
  }
}

}  // namespace tilewright
