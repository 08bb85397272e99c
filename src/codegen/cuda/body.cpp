// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/body.cpp — one element of a tile as text: through views, from arrays, or computed.
#include <fmt/format.h>

#include "base/check.h"
#include "codegen/cuda/emitter.h"
#include "layout/convert.h"
#include "passes/laid/op_facts.h"

namespace tilewright {

using ir::OpKind;

// ---- Indices

// A linear map of the loop variables. What does not change within a vector gets a name.
std::string Emitter::index_text(Frame& frame, const IndexMap& map) {
  const std::string base =
      linear_text(frame.space, map, frame.index_from, frame.space.variables.size());
  const std::string rest = frame.index_from == 0 || frame.is_whole_vector
                               ? "0"
                               : linear_text(frame.space, {map.matrix, 0}, 0, frame.index_from);
  const std::uint64_t image =
      map.offset | image_of(frame.space, map, frame.index_from, frame.space.variables.size());
  const bool meet = (image & image_of(frame.space, map, 0, frame.index_from)) != 0;
  const auto joined = [&](const std::string& name) {
    return meet && rest != "0" ? fmt::format("({} ^ {})", name, atom(rest)) : sum_text(name, rest);
  };
  if (base.find_first_of(" (") == std::string::npos) return joined(base);
  for (auto scope = frame.scopes.rbegin(); scope != frame.scopes.rend(); ++scope)
    if (const auto found = scope->indices.find(base); found != scope->indices.end())
      return joined(found->second);
  const std::string name = names_.make("i");
  out_.format("const i32 {} = {};", name, bare(base));
  frame.scopes.back().indices[base] = name;
  return joined(name);
}

namespace {

// As a term of a sum or difference.
std::string product_text(const std::string& text) {
  return text.find_first_of("+-^&|<>") == std::string::npos ? text : atom(text);
}

}  // namespace

// Of rows only: tiles of products have few masks and their own ways to save registers.
std::optional<Emitter::SplitIndex> Emitter::split_index(const Frame& frame, const ir::Type& type,
                                                        const Place& map) const {
  if (type.rank != 1) return std::nullopt;
  const std::size_t last = frame.space.variables.size() - 1;
  if (frame.space.variables.size() < 2 || frame.space.variables[last].name != "thread")
    return std::nullopt;
  const std::size_t first = frame.is_whole_vector ? frame.index_from : 0;
  const IndexMap linear{map.matrix, 0};
  if ((image_of(frame.space, linear, last, last + 1) &
       (map.offset | image_of(frame.space, linear, first, last))) != 0)
    return std::nullopt;
  SplitIndex out{product_text(linear_text(frame.space, linear, last, last + 1)),
                 product_text(linear_text(frame.space, map, first, last))};
  if (out.thread == "0" || out.loops == "0") return std::nullopt;
  return out;
}

std::string Emitter::shared_index(Frame& frame, ir::Value value, const Place& place) {
  return index_text(frame, layouts_.swizzle_of(value)(place));
}

std::string Emitter::coordinate(Frame& frame, const Place& place, const ir::Type& type,
                                int dimension) {
  return index_text(frame, compose(coordinate_map(sizes_of(type), dimension), place));
}

// Of an affine op: what is added to its base at a place.
std::string Emitter::offset_text(Frame& frame, const ir::Op& affine, const Place& place) {
  const ir::Type& type = kernel_.type(affine.result());
  std::string out = "0";
  for (int d = 0; d < type.rank; ++d) {
    if (type.size(d) == 1) continue;
    const ir::Value stride = affine.operands[static_cast<std::size_t>(d) + 1];
    const std::optional<std::int64_t> known = constant_of(stride);
    if (known == 0) continue;
    if (known == 1) {
      const auto split = split_index(frame, type, place);
      out = split ? sum_text(sum_text(out, split->thread), split->loops)
                  : sum_text(out, coordinate(frame, place, type, d));
      continue;
    }
    const std::string index = coordinate(frame, place, type, d);
    const bool is_small = known && *known > 0 && *known * type.size(d) < (std::int64_t{1} << 30);
    out = sum_text(out, is_small ? fmt::format("{} * {}", atom(index), *known)
                                 : fmt::format("{} * {}", atom(scalar(stride)), atom(index)));
  }
  return out;
}

// A bound of 32 bits is compared as such.
std::string Emitter::bound_text(ir::Value bound) {
  const ir::Op* maker = kernel_.maker(bound);
  const bool is_widened = maker && maker->kind == OpKind::Cast &&
                          kernel_.type(maker->operands[0]).dtype == DType::Int32 &&
                          !is_tile(kernel_, maker->operands[0]);
  return scalar(is_widened ? maker->operands[0] : bound);
}

// Of a bounds op, without the dimension `without`; "true" when nothing is left to ask.
std::string Emitter::bounds_text(Frame& frame, const ir::Op& bounds, const Place& place,
                                 int without) {
  const ir::Type& type = kernel_.type(bounds.result());
  std::string out;
  const auto also = [&](const std::string& text) { out += (out.empty() ? "" : " && ") + text; };
  for (int d = 0; d < type.rank; ++d) {
    if (d == without) continue;
    const ir::Value low = bounds.operands[2 * static_cast<std::size_t>(d)];
    const ir::Value high = bounds.operands[2 * static_cast<std::size_t>(d) + 1];
    const auto least = constant_of(low);
    const auto most = constant_of(high);
    if (!(least && *least <= 0))
      also(fmt::format("{} >= {}", coordinate(frame, place, type, d), bound_text(low)));
    if (most && *most >= type.size(d)) continue;
    const auto split = split_index(frame, type, place);
    also(split ? fmt::format("{} < {} - {}", split->loops, bound_text(high), split->thread)
               : fmt::format("{} < {}", coordinate(frame, place, type, d), bound_text(high)));
  }
  return out.empty() ? "true" : out;
}

// ---- Elements

std::string Emitter::element(Frame& frame, ir::Value value, const Place& place) {
  if (!is_tile(kernel_, value)) return scalar(value);
  const Frame::Key key = Frame::key(value, place);
  if (const std::string* known = frame.find(key)) return *known;
  const ir::Op* maker = kernel_.maker(value);
  if (!maker || schedule_.is_in_array(value, *frame.step))
    return array_element(frame, value, place);
  if (maker->kind == OpKind::Sweep) return element(frame, schedule_.source_of(value), place);
  if (is_view(*maker)) return view_element(frame, *maker, value, place);
  if (maker->kind == OpKind::Load) {
    const std::string text = load_element(frame, *maker, place);
    frame.remember(key, text);
    return text;
  }
  TW_CHECK(maker->facts().has(ir::Elementwise), "an element of '{}' is wanted before it is kept",
           maker->facts().name);
  if (maker->kind == OpKind::Compare && is_same_in_vector(frame, *maker, place))
    return computed_element(frame, *maker, value,
                            first_of_vector(place, frame.space.variables[0].bits));
  return computed_element(frame, *maker, value, place);
}

// What a condition chooses from is computed before it where it is a call: compilers move no inline
// assembly over a condition, and threads of a warp would take both ways one after the other.
std::string Emitter::arm(Frame& frame, ir::Value value, const Place& place) {
  const std::string text = element(frame, value, place);
  const ir::Op* maker = kernel_.maker(value);
  const bool is_computed = is_tile(kernel_, value) && maker && maker->facts().has(ir::Elementwise);
  if (!is_computed || text.find("tw::") == std::string::npos) return text;
  const std::string name = new_name(value);
  statement(*maker, constant_text(value, name, bare(text)));
  frame.remember(Frame::key(value, place), name);
  return name;
}

std::string Emitter::computed_element(Frame& frame, const ir::Op& op, ir::Value value,
                                      const Place& place) {
  std::vector<OperandText> operands;
  for (ir::Value in : op.operands) {
    const bool is_arm = op.kind == OpKind::Select && in != op.operands[0];
    operands.push_back(operand(in, is_arm ? arm(frame, in, place) : element(frame, in, place)));
  }
  if (op.kind == OpKind::Cast || op.kind == OpKind::Math)
    for (OperandText& in : operands) in.text = bare(in.text);
  std::string text = operation_text(op, operands);
  note_parts(op, text);
  const bool is_short = kernel_.name_of(value).empty() && text.size() < 60;
  if (!is_short) {
    const std::string name = new_name(value);
    statement(op, constant_text(value, name, text));
    text = name;
  }
  text = atom(text);
  frame.remember(Frame::key(value, place), text);
  return text;
}

std::string Emitter::view_element(Frame& frame, const ir::Op& op, ir::Value value,
                                  const Place& place) {
  const ir::OpFacts& facts = op.facts();
  if (facts.maps(ir::Alike)) return literal_text(kernel_.type(value), *op.find("value"));
  if (facts.maps(ir::Spread)) return scalar(op.operands[0]);
  if (facts.maps(ir::Merged)) return joined_element(frame, op, place);
  if (facts.maps(ir::ByIndex)) return indexed_element(frame, op, place);
  return element(frame, op.operands[0], compose(view_map(kernel_, op, value), place));
}

// An element made of scalars and its index.
std::string Emitter::indexed_element(Frame& frame, const ir::Op& op, const Place& place) {
  const ir::Type& type = kernel_.type(op.result());
  if (op.kind == OpKind::Bounds) return atom(bounds_text(frame, op, place));
  if (op.kind == OpKind::Arange) {
    const std::string index = coordinate(frame, place, type, 0);
    const std::int64_t start = op.integer("start");
    return start == 0 ? atom(index) : fmt::format("({} + {})", index, start);
  }
  TW_CHECK(op.kind == OpKind::Affine, "'{}' is no function of the index", op.facts().name);
  const std::string sum = sum_text(scalar(op.operands[0]), offset_text(frame, op, place));
  return type.is_pointer ? atom(sum) : fmt::format("{}({})", type_of(op.result()), sum);
}

std::string Emitter::joined_element(Frame& frame, const ir::Op& op, const Place& place) {
  const Place inner = compose(view_map(kernel_, op, op.result()), place);
  const int bits = place.matrix.rows();
  const std::vector<std::uint8_t> sizes = {static_cast<std::uint8_t>(bits - 1), 1};
  const std::string which = index_text(frame, compose(coordinate_map(sizes, 1), place));
  const std::string first = element(frame, op.operands[0], inner);
  const std::string second = element(frame, op.operands[1], inner);
  return fmt::format("({} == 0 ? {} : {})", which, atom(first), atom(second));
}

// ---- Arrays

std::string Emitter::register_index(const Frame& frame, ir::Value value, const Place& place) const {
  return linear_text(frame.space, register_map(frame, value, place));
}

std::string Emitter::array_index(Frame& frame, ir::Value value, const Place& place) {
  return layouts_.is_shared(value) ? shared_index(frame, value, place)
                                   : register_index(frame, value, place);
}

std::string Emitter::array_element(Frame& frame, ir::Value value, const Place& place) {
  const std::string name = array_name(value);
  return fmt::format("{}[{}]", name, array_index(frame, value, place));
}

}  // namespace tilewright
