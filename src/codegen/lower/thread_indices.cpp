// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_indices.cpp — linear maps of the thread's number and of the variables of
// loops as ops; addresses and bounds made of them.
#include <algorithm>

#include "codegen/lower/thread_lowering.h"
#include "passes/laid/op_facts.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

IndexMap number_map(const Space& space, int bits) {
  std::vector<std::uint64_t> columns;
  for (int j = 0; j < space.bits(); ++j) columns.push_back(j < bits ? std::uint64_t{1} << j : 0);
  return {BitMatrix(bits, std::move(columns)), 0};
}

ir::Value ThreadLowering::linear(const Loop& loop, const IndexMap& map, std::size_t first,
                                 std::size_t last) {
  const Space& space = loop.plan.frame.space;
  const auto term = [&](const LinearTerm& of) -> IndexTerm {
    const auto factor = static_cast<std::int64_t>(of.factor);
    if (of.count == 0) return {number(factor)};
    const bool is_top = of.low + of.count == space.variables[of.variable].bits;
    const ir::Value whole = loop.variables[of.variable];
    if (of.low == 0 && is_top) return {whole, factor};
    std::vector<ir::Attribute> attributes = {{"over", std::int64_t{1} << of.low}};
    if (!is_top) attributes.push_back({"of", std::int64_t{1} << of.count});
    return {FinalBuilder::make(OpKind::Digit, {whole}, Type::scalar(i32), attributes), factor};
  };
  std::vector<IndexTerm> terms;
  for (const LinearGroup& group : linear_groups(space, map, first, last)) {
    if (group.terms.size() == 1) {
      terms.push_back(term(group.terms[0]));
      continue;
    }
    ir::Value mixed;
    for (const LinearTerm& of : group.terms) {
      const ir::Value next = sum({term(of)}, i32);
      mixed = mixed ? FinalBuilder::make(OpKind::Xor, {mixed, next}, Type::scalar(i32)) : next;
    }
    terms.push_back({mixed});
  }
  return sum(terms, i32);
}

// What does not change within a vector gets a name.
ir::Value ThreadLowering::index(Loop& loop, const IndexMap& map) {
  const Frame& frame = loop.plan.frame;
  const std::size_t all = frame.space.variables.size();
  const ir::Value base = linear(loop, map, frame.index_from, all);
  const bool has_rest = frame.index_from > 0 && !frame.is_whole_vector;
  const ir::Value rest = has_rest ? linear(loop, {map.matrix, 0}, 0, frame.index_from) : number(0);
  const std::uint64_t image = map.offset | image_of(frame.space, map, frame.index_from, all);
  const bool meet = (image & image_of(frame.space, map, 0, frame.index_from)) != 0;
  const auto joined = [&](ir::Value value) {
    if (is_zero(rest)) return value;
    return meet ? FinalBuilder::make(OpKind::Xor, {value, rest}, Type::scalar(i32))
                : sum({{value}, {rest}}, i32);
  };
  if (!out_.name_of(base).empty() || number_of(base)) return joined(base);
  std::vector<std::uint64_t> key(map.matrix.all_columns().begin(), map.matrix.all_columns().end());
  const int skipped = frame.space.first_bit_of(frame.index_from);
  std::fill_n(key.begin(), skipped, 0);
  key.push_back(map.offset);
  for (auto scope = loop.scopes.rbegin(); scope != loop.scopes.rend(); ++scope)
    if (const auto found = scope->indices.find(key); found != scope->indices.end())
      return joined(found->second);
  const ir::Value name = named(base, names_.make("i"), *list_);
  loop.scopes.back().indices[key] = name;
  return joined(name);
}

ir::Value ThreadLowering::coordinate(Loop& loop, const Place& place, const Type& type,
                                     int dimension) {
  const ir::Value slot = index(loop, compose(coordinate_map(sizes_of(type), dimension), place));
  if (!is_rotated(type)) return slot;
  return FinalBuilder::make(OpKind::Call, {slot, shift_}, Type::scalar(i32),
                            {{"function", std::string(name_of(LibraryKind::Rotated))},
                             {"numbers", std::vector<std::int64_t>{type.numel()}}});
}

// Of rows only: tiles of products have few masks and their own ways to save registers.
std::optional<ThreadLowering::SplitIndex> ThreadLowering::split_index(const Loop& loop,
                                                                      const Type& type,
                                                                      const Place& map) {
  if (type.rank != 1 || is_rotated(type)) return std::nullopt;
  const Frame& frame = loop.plan.frame;
  const std::size_t last = frame.space.variables.size() - 1;
  const std::size_t first = frame.is_whole_vector ? frame.index_from : 0;
  const IndexMap without{map.matrix, 0};
  if ((image_of(frame.space, without, last, last + 1) &
       (map.offset | image_of(frame.space, without, first, last))) != 0)
    return std::nullopt;
  const SplitIndex out{linear(loop, without, last, last + 1), linear(loop, map, first, last)};
  if (is_zero(out.thread) || is_zero(out.loops)) return std::nullopt;
  return out;
}

DType ThreadLowering::wider(ir::Value a, ir::Value b) const {
  const DType x = type_of(a).dtype, y = type_of(b).dtype;
  return size_of(y) > size_of(x) ? y : x;
}

// A sum without a name as its terms: each is added to a pointer by itself.
void ThreadLowering::add_parts(ir::Value index, std::vector<ir::Value>& out) {
  const ir::Op* maker = out_.maker(index);
  const bool is_sum = maker && maker->kind == OpKind::Linear && out_.name_of(index).empty();
  const std::vector<std::int64_t> factors =
      is_sum ? maker->integers("factors") : std::vector<std::int64_t>{};
  if (factors.size() < 2 || maker->operands.size() > factors.size() ||
      maker->integer("offset") != 0)
    return out.push_back(index);
  for (std::size_t k = 0; k < factors.size(); ++k)
    out.push_back(sum({{maker->operands[k], factors[k]}}, i32));
}

// What is added to the base of an affine op at a place.
std::vector<ir::Value> ThreadLowering::affine_terms(Loop& loop, const ir::Op& affine,
                                                    const Place& place) {
  const Type& type = kernel_.type(affine.result());
  std::vector<ir::Value> out;
  for (int d = 0; d < type.rank; ++d) {
    if (type.size(d) == 1) continue;
    const ir::Value stride = affine.operands[static_cast<std::size_t>(d) + 1];
    const std::optional<std::int64_t> known = constant_of(stride);
    if (known == 0) continue;
    if (known == 1) {
      if (const auto split = split_index(loop, type, place))
        out.insert(out.end(), {split->thread, split->loops});
      else add_parts(coordinate(loop, place, type, d), out);
      continue;
    }
    const ir::Value at = coordinate(loop, place, type, d);
    const bool is_small = known && *known > 0 && *known * type.size(d) < (std::int64_t{1} << 30);
    const ir::Value by = scalar(stride);
    out.push_back(is_small ? sum({{at, *known}}, i32) : sum({{at, 1, by}}, wider(at, by)));
  }
  return out;
}

ir::Value ThreadLowering::affine(Loop& loop, const ir::Op& op, const Place& place) {
  const Type type = kernel_.type(op.result()).element();
  ir::Value out = scalar(op.operands[0]);
  for (const ir::Value term : affine_terms(loop, op, place)) {
    if (is_zero(term)) continue;
    out = type.is_pointer ? FinalBuilder::make(OpKind::Offset, {out, term}, type)
                          : sum({{out}, {term}}, wider(out, term));
  }
  return type.is_pointer ? out : cast(out, type.dtype);
}

// A bound of 32 bits is compared as such.
ir::Value ThreadLowering::bound(ir::Value value) {
  const ir::Op* maker = kernel_.maker(value);
  const bool is_widened = maker && maker->kind == OpKind::Cast &&
                          kernel_.type(maker->operands[0]).dtype == DType::Int32 &&
                          !is_tile(kernel_, maker->operands[0]);
  return scalar(is_widened ? maker->operands[0] : value);
}

std::vector<ir::Value> ThreadLowering::bounds(Loop& loop, const ir::Op& op, const Place& place,
                                              int without) {
  const Type& type = kernel_.type(op.result());
  std::vector<ir::Value> out;
  for (int d = 0; d < type.rank; ++d) {
    if (d == without) continue;
    const ir::Value low = op.operands[2 * static_cast<std::size_t>(d)];
    const ir::Value high = op.operands[2 * static_cast<std::size_t>(d) + 1];
    const auto least = constant_of(low);
    const auto most = constant_of(high);
    if (!(least && *least <= 0))
      out.push_back(compare("ge", coordinate(loop, place, type, d), bound(low)));
    if (most && *most >= type.size(d)) continue;
    const ir::Value end = bound(high);
    if (const auto split = split_index(loop, type, place))
      out.push_back(
          compare("lt", split->loops, sum({{end}, {split->thread, -1}}, type_of(end).dtype)));
    else out.push_back(compare("lt", coordinate(loop, place, type, d), end));
  }
  return out;
}

}  // namespace tilewright
