// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_elements.cpp — one element of a tile: through views, from the thread's
// array, from memory, or computed.
#include "codegen/lower/thread_elements.h"

#include <algorithm>

#include "base/check.h"
#include "codegen/lower/thread_families.h"
#include "passes/laid/op_facts.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

ir::Value ThreadElements::line(Loop& loop, ir::Value value, ir::Value made, const Place& place) {
  const ir::Value out = named(made, names_.make(kernel_.name_of(value), "t"), *list_);
  loop.scopes.back().elements[Frame::key(value, place)] = out;
  return out;
}

ir::Value ThreadElements::element(Loop& loop, ir::Value value, const Place& place) {
  if (!is_tile(kernel_, value)) return scalar(value);
  const Frame::Key key = Frame::key(value, place);
  for (auto scope = loop.scopes.rbegin(); scope != loop.scopes.rend(); ++scope)
    if (const auto found = scope->elements.find(key); found != scope->elements.end())
      return found->second;
  const Frame& frame = loop.plan.frame;
  for (const Loop::First& first : loop.firsts) {
    if (first.value != value || first.place != place) continue;
    const ir::Value read = FinalBuilder::make(
        OpKind::Read, {first.tile, linear(loop, first.number)}, type_of(first.tile).element());
    const bool is_byte = kernel_.type(value).is_bool() && !type_of(read).is_bool();
    return is_byte ? compare("ne", read, number(0, type_of(read).dtype)) : read;
  }
  const ir::Op* maker = kernel_.maker(value);
  if (!maker || schedule_.is_in_array(value, *frame.step))
    return FinalBuilder::make(OpKind::Read, {array(value), array_index(loop, value, place)},
                              kernel_.type(value).element());
  if (maker->kind == OpKind::Sweep) return element(loop, schedule_.source_of(value), place);
  if (is_view(*maker)) return viewed(loop, *maker, value, place);
  if (maker->kind == OpKind::Load) return loaded(loop, *maker, place);
  TW_CHECK(maker->facts().has(ir::Elementwise), "an element of '{}' is wanted before it is kept",
           maker->facts().name);
  if (maker->kind == OpKind::Compare && plans_.is_same_in_vector(frame, *maker, place))
    return computed(loop, *maker, value, first_of_vector(place, frame.space.variables[0].bits));
  return computed(loop, *maker, value, place);
}

// What a condition chooses from is computed before it where it is a call: compilers move no inline
// assembly over a condition, and threads of a warp would take both ways one after the other.
ir::Value ThreadElements::arm(Loop& loop, ir::Value value, const Place& place) {
  const ir::Value out = element(loop, value, place);
  const ir::Op* maker = kernel_.maker(value);
  const bool is_computed = is_tile(kernel_, value) && maker && maker->facts().has(ir::Elementwise);
  if (!is_computed || !state_.written.calls_function(out)) return out;
  return line(loop, value, out, place);
}

ir::Value ThreadElements::computed(Loop& loop, const ir::Op& op, ir::Value value,
                                   const Place& place) {
  std::vector<ir::Value> operands;
  for (const ir::Value in : op.operands) {
    const bool is_arm = op.kind == OpKind::Select && in != op.operands[0];
    operands.push_back(is_arm ? arm(loop, in, place) : element(loop, in, place));
  }
  ir::Value made = FinalBuilder::make(op.kind, operands, kernel_.type(value).element(),
                                      op.attributes, op.location);
  if (const ir::Value by = divisor(loop, op))
    made = call(LibraryKind::Divide, {by, operands[0]}, kernel_.type(value).element());
  if (!is_inlined(op, made)) return line(loop, value, made, place);
  written_at_uses_.insert(out_.maker(made));
  return loop.scopes.back().elements[Frame::key(value, place)] = made;
}

// Of a division of f32 that need not be rounded once, by what is the same for all elements: what
// the divisions have in common, once before the loops. It is what the machine does for each of them
// otherwise, and gives the same bits in one instruction less of three.
ir::Value ThreadElements::divisor(Loop& loop, const ir::Op& op) {
  if (op.kind != OpKind::Divide || op.integer("exact") != 0 || loop.outside.empty() ||
      kernel_.type(op.result()).dtype != DType::Float32)
    return {};
  const ir::Op* same = kernel_.maker(op.operands[1]);
  if (!same || !same->facts().maps(ir::Spread) || plans_.constant_of(same->operands[0])) return {};
  ir::Value& known = loop.divisors[same->operands[0].id];
  if (known) return known;
  Statements& list = *loop.outside.front();
  const auto loops = static_cast<std::ptrdiff_t>(list.size()) - 1;  // the outermost one is there
  known =
      named(call(LibraryKind::Divisor, {scalar(same->operands[0])}, Type::scalar(DType::Float32)),
            names_.make("divisor"), list);
  std::rotate(list.begin() + loops, list.begin() + loops + 1, list.end());
  return known;
}

ir::Value ThreadElements::viewed(Loop& loop, const ir::Op& op, ir::Value value,
                                 const Place& place) {
  const ir::OpFacts& facts = op.facts();
  if (facts.maps(ir::Alike)) return constant_of(kernel_.type(value), *op.find("value"));
  if (facts.maps(ir::Spread)) return scalar(op.operands[0]);
  if (facts.maps(ir::Merged)) return joined(loop, op, place);
  if (facts.maps(ir::ByIndex)) return indexed(loop, op, place);
  return element(loop, op.operands[0], compose(view_map(kernel_, op, value), place));
}

// An element made of scalars and its index.
ir::Value ThreadElements::indexed(Loop& loop, const ir::Op& op, const Place& place) {
  if (op.kind == OpKind::Bounds) {
    const std::vector<ir::Value> conditions = bounds(loop, op, place);
    return conditions.empty() ? constant_of(Type::scalar(b1), std::int64_t{1}) : all(conditions);
  }
  if (op.kind == OpKind::Arange)
    return sum(
        {{coordinate(loop, place, kernel_.type(op.result()), 0)}, {number(op.integer("start"))}},
        i32);
  TW_CHECK(op.kind == OpKind::Affine, "'{}' is no function of the index", op.facts().name);
  return affine(loop, op, place);
}

ir::Value ThreadElements::joined(Loop& loop, const ir::Op& op, const Place& place) {
  const Place inner = compose(view_map(kernel_, op, op.result()), place);
  const int bits = place.matrix.rows();
  const std::vector<std::uint8_t> sizes = {static_cast<std::uint8_t>(bits - 1), 1};
  const ir::Value which = index(loop, compose(coordinate_map(sizes, 1), place));
  const ir::Value first = element(loop, op.operands[0], inner);
  const ir::Value second = element(loop, op.operands[1], inner);
  return FinalBuilder::make(OpKind::Select, {compare("eq", which, number(0)), first, second},
                            kernel_.type(op.result()).element());
}

// ---- In the array of a tile

ir::Value ThreadElements::register_index(const Loop& loop, ir::Value value, const Place& place) {
  return linear(loop, plans_.register_map(loop.plan.frame, value, place));
}

ir::Value ThreadElements::array_index(Loop& loop, ir::Value value, const Place& place) {
  if (plans_.is_stowed(value)) return families().rows.row_index(loop, place);
  return layouts_.is_shared(value) ? index(loop, layouts_.swizzle_of(value)(place))
                                   : register_index(loop, value, place);
}

ir::Value ThreadElements::shared_vector(Loop& loop, ir::Value value, const Place& place) {
  Frame& frame = loop.plan.frame;
  frame.is_whole_vector = true;
  const ir::Value at = index(loop, layouts_.swizzle_of(value)(place));
  frame.is_whole_vector = false;
  return view(array(value), at);
}

void ThreadElements::write_element(Loop& loop, ir::Value to, ir::Value value) {
  const Place& place = loop.plan.frame.place;
  std::vector<ir::Value> operands = {array(to), array_index(loop, to, place), value};
  if (layouts_.is_shared(to))
    if (const ir::Value own = owner(*loop.plan.frame.layout)) operands.push_back(own);
  statement(OpKind::Write, operands, *list_);
  families().groups.note_written(to);
}

// ---- Memory, element by element

ir::Value ThreadElements::loaded(Loop& loop, const ir::Op& op, const Place& place) {
  const Type type = kernel_.type(op.result()).element();
  std::vector<ir::Value> operands = {element(loop, op.operands[0], place)};
  if (op.operands.size() > 1) {
    operands.push_back(element(loop, op.operands[1], place));
    operands.push_back(op.operands.size() > 2 ? element(loop, op.operands[2], place)
                                              : zero_of(type));
  }
  std::vector<ir::Attribute> attributes;
  if (const std::string_view cache = plans_.cache_of(op); !cache.empty())
    attributes.push_back({"cache", std::string(cache)});
  if (op.integer("volatile") != 0) attributes.push_back({"volatile", std::int64_t{1}});
  return line(loop, op.result(),
              FinalBuilder::make(OpKind::Load, operands, type, attributes, op.location), place);
}

void ThreadElements::store(Loop& loop, const ir::Op& op) {
  const Frame& frame = loop.plan.frame;
  const ir::Value value = element(loop, op.operands[1], frame.place);
  std::vector<ir::Value> conditions;
  if (const ir::Value own = owner(*frame.layout)) conditions.push_back(own);
  if (op.operands.size() > 2) conditions.push_back(element(loop, op.operands[2], frame.place));
  std::vector<ir::Value> operands = {element(loop, op.operands[0], frame.place), value};
  if (!conditions.empty()) operands.push_back(all(conditions));
  std::vector<ir::Attribute> attributes;
  if (const std::string_view cache = plans_.cache_of(op); !cache.empty())
    attributes.push_back({"cache", std::string(cache)});
  statement(OpKind::Store, operands, *list_, attributes, op.location);
}

}  // namespace tilewright
