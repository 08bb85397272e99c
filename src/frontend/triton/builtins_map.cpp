// SPDX-License-Identifier: Apache-2.0
// frontend/triton/builtins_map.cpp — tl.map_elementwise: a function of scalars on each element.
//
// The function's ops are written down once as a region of scalars, and then again on tiles: where
// it branches, both sides are computed and the results selected, as tl.where does. Nothing in it
// may have an effect, so that nobody can tell.
#include <bit>
#include <map>

#include <fmt/format.h>

#include "frontend/triton/builtin_ops.h"
#include "frontend/triton/builtin_tables.h"

namespace tilewright::triton {
namespace {

using ir::OpKind;

// Ops of scalars as ops of tiles.
class OnTiles {
 public:
  OnTiles(Call& call, const ir::Type& shape) : call_(call), shape_(shape) {}

  void set(ir::Value scalar, ir::Value tile) { tiles_[scalar.id] = tile; }
  // Of what the function did not make itself, a tile of it.
  ir::Value operator()(ir::Value scalar) {
    const auto found = tiles_.find(scalar.id);
    if (found != tiles_.end()) return found->second;
    const ir::Value tile = call_.builder().splat(scalar, tiled(scalar));
    set(scalar, tile);
    return tile;
  }
  // Gives the operands of the region's last op.
  std::vector<ir::Value> run(const ir::Region& region) {
    for (const ir::Op* op : region.ops) {
      if (op->facts().is(ir::Family::Ends)) return all(op->operands);
      call_.builder().set_location(op->location);
      write(*op);
    }
    return {};
  }

 private:
  ir::Type tiled(ir::Value scalar) const { return call_.type(scalar).with_shape_of(shape_); }
  std::vector<ir::Value> all(const std::vector<ir::Value>& scalars) {
    std::vector<ir::Value> out;
    for (const ir::Value scalar : scalars) out.push_back((*this)(scalar));
    return out;
  }
  void write(const ir::Op& op) {
    const ir::OpFacts& facts = op.facts();
    if (op.kind == OpKind::If) return select(op);
    if (facts.maps(ir::Same)) return set(op.result(), (*this)(op.operands[0]));
    if (facts.maps(ir::Alike) || facts.is(ir::Family::Elementwise))
      return set(op.result(), call_.builder().create_one(op.kind, all(op.operands),
                                                         tiled(op.result()), op.attributes));
    if (facts.is(ir::Family::Source)) {
      const ir::Op* same =
          call_.builder().create(op.kind, {}, {call_.type(op.result())}, op.attributes);
      return set(op.result(), (*this)(same->result()));
    }
    call_.fail(fmt::format("has a function with {}, which is not supported",
                           facts.is(ir::Family::Control) ? "a loop" : "an access to memory"),
               "only arithmetic and branches can be");
  }
  void select(const ir::Op& op) {
    const ir::Value condition = (*this)(op.operands[0]);
    const std::vector<ir::Value> first = run(op.regions[0]), second = run(op.regions[1]);
    for (std::size_t k = 0; k < op.results.size(); ++k)
      set(op.results[k], call_.builder().select(condition, first[k], second[k]));
  }

  Call& call_;
  ir::Type shape_;
  std::map<std::uint32_t, ir::Value> tiles_;
};

// ---- The call

std::vector<ir::Value> tiles_of(Call& call) {
  std::vector<ir::Value> tiles;
  for (const Value& item : unpacked(call["args"])) {
    if (!item.is_tensor() && !item.is_constant())
      call.fail(fmt::format("takes tensors and numbers, not {}", call.describe(item)));
    tiles.push_back(call.semantic.tensor(item));
    if (call.type(tiles.back()).is_pointer) call.fail("does not take pointers");
  }
  if (tiles.empty()) call.fail("needs at least one tensor");
  for (const ir::Value tile : tiles) tiles[0] = call.semantic.broadcast(tiles[0], tile).first;
  for (ir::Value& tile : tiles) tile = call.semantic.broadcast(tiles[0], tile).second;
  return tiles;
}

std::vector<ir::Value> results_of(Call& call, const Value& result, std::int64_t pack) {
  std::vector<ir::Value> results;
  for (const Value& item : unpacked(result)) {
    if (!item.is_tensor())
      call.fail(fmt::format("needs scalars from its function, but gets {}", call.describe(item)));
    results.push_back(call.semantic.tensor(item));
    if (call.type(results.back()).rank != 0 || call.type(results.back()).is_pointer)
      call.fail(fmt::format("needs scalars from its function, but gets {}", call.describe(item)));
  }
  const auto group = static_cast<std::size_t>(pack);
  if (results.empty() || results.size() % group != 0)
    call.fail(fmt::format("has pack={}, but its function gives {} values", pack, results.size()),
              "return one value for each element");
  for (std::size_t i = 0; i < results.size(); ++i)
    if (const ir::Value first = results[i - i % group]; call.type(first) != call.type(results[i]))
      call.fail(fmt::format("needs one type for the elements of a result, but gets {} and {}",
                            text_of(call.type(first)), text_of(call.type(results[i]))));
  return results;
}

Value map_elementwise(Call& call) {
  const std::int64_t pack = call.integer("pack");
  const std::vector<ir::Value> tiles = tiles_of(call);
  const ir::Type whole = call.type(tiles[0]);
  check_pack(call, pack, whole);
  ir::Kernel& kernel = call.builder().kernel();
  ir::Region region;
  std::vector<ir::Value> parts;
  for (const ir::Value tile : tiles)
    for (const ir::Value part : apart(call.semantic, tile, pack)) {
      parts.push_back(part);
      region.arguments.push_back(kernel.make_value(call.type(tile).element(), "", nullptr));
    }
  Value result;
  {
    const ir::Builder::Into into(call.builder(), region);
    const CallArguments arguments{.positional = {region.arguments.begin(), region.arguments.end()}};
    result = call.host.call(call["scalar_fn"], arguments);
    call.builder().yield(results_of(call, result, pack));
  }
  const ir::Location location = call.builder().location();
  OnTiles on_tiles(call, call.type(parts[0]));
  for (std::size_t i = 0; i < parts.size(); ++i) on_tiles.set(region.arguments[i], parts[i]);
  const std::vector<ir::Value> made = on_tiles.run(region);
  call.builder().set_location(location);
  std::vector<Value> out;
  for (std::size_t i = 0; i < made.size(); i += static_cast<std::size_t>(pack)) {
    const auto first = made.begin() + static_cast<std::ptrdiff_t>(i);
    out.emplace_back(together(call.semantic, {first, first + pack}, whole));
  }
  if (result.tuple() == nullptr) return out[0];
  return Value::tuple(std::move(out));
}

constexpr BuiltinRow map_rows[] = {
    {"map_elementwise", "scalar_fn, *args, pack=1", map_elementwise},
};

}  // namespace

// ---- Groups of neighbours, which one call of a function gets

void check_pack(Call& call, std::int64_t pack, const ir::Type& type) {
  const bool is_power = pack > 0 && std::has_single_bit(static_cast<std::uint64_t>(pack));
  if (!is_power || type.numel() % pack != 0)
    call.fail(fmt::format("has pack={}, which does not divide {} elements", pack, type.numel()),
              "use a power of two");
}

std::vector<ir::Value> apart(Semantic& semantic, ir::Value tile, std::int64_t count) {
  if (count == 1) return {tile};
  ir::Builder& builder = semantic.builder();
  const ir::Type type = semantic.type(tile);
  const ir::Value pairs = builder.reshape(tile, {type.numel() / 2, 2});
  const ir::Type half = type.with_shape({type.numel() / 2});
  const ir::Op* op = builder.create(OpKind::Split, {pairs}, {half, half});
  const std::vector<ir::Value> even = apart(semantic, op->results[0], count / 2),
                               odd = apart(semantic, op->results[1], count / 2);
  std::vector<ir::Value> out;
  for (std::size_t i = 0; i < even.size(); ++i) out.insert(out.end(), {even[i], odd[i]});
  return out;
}

ir::Value together(Semantic& semantic, const std::vector<ir::Value>& parts, const ir::Type& shape) {
  if (parts.size() == 1) {
    const bool is_whole = same_shape(semantic.type(parts[0]), shape);
    return is_whole ? parts[0] : semantic.builder().reshape(parts[0], shape.shape());
  }
  std::vector<ir::Value> even, odd;
  for (std::size_t i = 0; i < parts.size(); ++i) (i % 2 == 0 ? even : odd).push_back(parts[i]);
  const ir::Type half = shape.with_shape({shape.numel() / 2});
  const ir::Value low = together(semantic, even, half), high = together(semantic, odd, half);
  const ir::Value pairs = semantic.builder().create_one(
      OpKind::Join, {low, high}, semantic.type(low).with_shape({shape.numel() / 2, 2}));
  return semantic.builder().reshape(pairs, shape.shape());
}

std::span<const BuiltinRow> map_builtins() { return map_rows; }

}  // namespace tilewright::triton
