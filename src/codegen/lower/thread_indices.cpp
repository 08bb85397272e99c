// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_indices.cpp — loops, linear maps of the thread's number and of the variables
// of loops as ops, addresses and bounds made of them.
#include "codegen/lower/thread_indices.h"

#include <algorithm>
#include <utility>

#include "codegen/lower/thread_families.h"
#include "passes/laid/op_facts.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

namespace {

// The variables as the lowest bits of an index, each place 2^low elements.
IndexMap shifted(const Space& space, int low) {
  std::vector<std::uint64_t> columns;
  for (int j = 0; j < space.bits(); ++j) columns.push_back(std::uint64_t{1} << (low + j));
  return {BitMatrix(low + space.bits(), std::move(columns)), 0};
}

}  // namespace

IndexMap number_map(const Space& space, int bits) {
  std::vector<std::uint64_t> columns;
  for (int j = 0; j < space.bits(); ++j) columns.push_back(j < bits ? std::uint64_t{1} << j : 0);
  return {BitMatrix(bits, std::move(columns)), 0};
}

// ---- Loops

ThreadLoop ThreadIndices::make(const Step& step, const TileLayout& layout) {
  Loop loop{.plan = plans_.make_loop(step, layout)};
  loop.variables[of_thread] = thread_;
  return loop;
}

ThreadLoop ThreadIndices::loop_with(const Step& step, std::vector<SpaceVariable> variables,
                                    std::vector<ir::Value> values) {
  Loop loop;
  loop.plan.frame.step = &step;
  loop.plan.frame.space.variables = std::move(variables);
  loop.variables = std::move(values);
  return loop;
}

void ThreadIndices::open_rounds(Loop& loop, std::size_t variable, const char* over,
                                std::int64_t unroll, ir::Location location, std::int64_t first) {
  const SpaceVariable& of = loop.plan.frame.space.variables[variable];
  if (of.bits == 0) return;
  ir::Op* op = out_.make_op(
      OpKind::For, {number(first), number(std::int64_t{1} << of.bits), number(1)}, {}, location);
  op->set("over", std::string(over));
  op->set("unroll", unroll);
  op->regions.resize(1);
  loop.variables[variable] = out_.make_value(Type::scalar(i32), of.name, nullptr);
  op->regions[0].arguments = {loop.variables[variable]};
  insert(op, *list_);
  loop.outside.push_back(list_);
  list_ = &op->regions[0].ops;
  loop.scopes.emplace_back();
}

void ThreadIndices::close(Loop& loop, std::size_t variable) {
  if (loop.plan.frame.space.variables[variable].bits == 0) return;
  statement(OpKind::Yield, {}, *list_);
  list_ = loop.outside.back();
  loop.outside.pop_back();
  loop.scopes.pop_back();
}

void ThreadIndices::open_all(Loop& loop, bool unrolls_slices) {
  open(loop, over_slices, "slices", unrolls_slices);
  open(loop, over_vectors, "vectors", true);
  open(loop, within_vector, "elements", true);
}

void ThreadIndices::close_all(Loop& loop) {
  close(loop, within_vector);
  close(loop, over_vectors);
  close(loop, over_slices);
}

// ---- Indices

ir::Value ThreadIndices::linear(const Loop& loop, const IndexMap& map, std::size_t first,
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
    return {FinalBuilder::make(OpKind::Digit, {whole}, Type::scalar(i32), std::move(attributes)), factor};
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
ir::Value ThreadIndices::index(Loop& loop, const IndexMap& map) {
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

ir::Value ThreadIndices::coordinate(Loop& loop, const Place& place, const Type& type,
                                    int dimension) {
  const ir::Value slot = index(loop, compose(coordinate_map(sizes_of(type), dimension), place));
  if (!plans_.is_rotated(type)) return slot;
  return FinalBuilder::make(OpKind::Call, {slot, families().rows.shift()}, Type::scalar(i32),
                            {{"function", std::string(name_of(LibraryKind::Rotated))},
                             {"numbers", std::vector<std::int64_t>{type.numel()}}});
}

ir::Value ThreadIndices::register_of(const Loop& loop) {
  return loop.plan.frame.space.variables[0].bits > 0 ? loop.variables[0] : number(0);
}

ir::Value ThreadIndices::part(ir::Value array, const Loop& loop, int low) {
  return view(array, linear(loop, shifted(loop.plan.frame.space, low)));
}

ir::Value ThreadIndices::moved(ir::Value at, std::uint64_t image, const Loop& loop,
                               const IndexMap& map) {
  std::vector<std::uint64_t> meeting, apart;
  for (const std::uint64_t column : map.matrix.all_columns()) {
    const bool meets = (column & image) != 0;
    meeting.push_back(meets ? column : 0);
    apart.push_back(meets ? 0 : column);
    if (meets) image |= column;
  }
  const auto index = [&](std::vector<std::uint64_t> columns) {
    return linear(loop, {BitMatrix(map.matrix.rows(), std::move(columns)), 0});
  };
  const ir::Value mixed = index(std::move(meeting));
  const ir::Value base =
      is_zero(mixed) ? at : FinalBuilder::make(OpKind::Xor, {at, mixed}, Type::scalar(i32));
  return sum({{base}, {index(std::move(apart))}}, i32);
}

// ---- Addresses and bounds

// Of rows only: tiles of products have few masks and their own ways to save registers.
std::optional<ThreadIndices::SplitIndex> ThreadIndices::split_index(const Loop& loop,
                                                                    const Type& type,
                                                                    const Place& map) {
  if (type.rank != 1 || plans_.is_rotated(type)) return std::nullopt;
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

DType ThreadIndices::wider(ir::Value a, ir::Value b) const {
  const DType x = type_of(a).dtype, y = type_of(b).dtype;
  return size_of(y) > size_of(x) ? y : x;
}

// A sum without a name as its terms: each is added to a pointer by itself.
void ThreadIndices::add_parts(ir::Value index, std::vector<ir::Value>& out) {
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

std::vector<ir::Value> ThreadIndices::affine_terms(Loop& loop, const ir::Op& affine,
                                                   const Place& place) {
  const Type& type = kernel_.type(affine.result());
  std::vector<ir::Value> out;
  for (int d = 0; d < type.rank; ++d) {
    if (type.size(d) == 1) continue;
    const ir::Value stride = affine.operands[static_cast<std::size_t>(d) + 1];
    const std::optional<std::int64_t> known = plans_.constant_of(stride);
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

ir::Value ThreadIndices::affine(Loop& loop, const ir::Op& op, const Place& place) {
  const Type type = kernel_.type(op.result()).element();
  ir::Value out = scalar(op.operands[0]);
  for (const ir::Value term : affine_terms(loop, op, place)) {
    if (is_zero(term)) continue;
    out = type.is_pointer ? FinalBuilder::make(OpKind::Offset, {out, term}, type)
                          : sum({{out}, {term}}, wider(out, term));
  }
  return type.is_pointer ? out : cast(out, type.dtype);
}

ir::Value ThreadIndices::moved_pointer(ir::Value pointer, Loop& loop, const ir::Op& affine,
                                       const Place& place) {
  for (const ir::Value term : affine_terms(loop, affine, place))
    if (!is_zero(term))
      pointer = FinalBuilder::make(OpKind::Offset, {pointer, term}, type_of(pointer));
  return pointer;
}

// What a number of 32 bits was widened from; none for any other.
ir::Value ThreadIndices::narrow(ir::Value value) const {
  const ir::Op* maker = kernel_.maker(value);
  const bool is_widened = maker && maker->kind == OpKind::Cast &&
                          kernel_.type(maker->operands[0]).dtype == DType::Int32 &&
                          !is_tile(kernel_, maker->operands[0]);
  return is_widened ? maker->operands[0] : ir::Value{};
}

// A bound of 32 bits is compared as such, and so is what a loop up to it has left: with an index
// from 0 on that is below the end, the difference is from 1 to the end. Liger's cross entropy,
// which instructions bound, has 21 fewer of 396 so (bench/results/public-kernels-h200.md).
ir::Value ThreadIndices::bound(ir::Value value) {
  if (const ir::Value whole = narrow(value)) return scalar(whole);
  const ir::Op* rest = kernel_.maker(value);
  if (rest && rest->kind == OpKind::Subtract && !is_tile(kernel_, value)) {
    const ir::Value end = narrow(rest->operands[0]), at = narrow(rest->operands[1]);
    if (end && at && counts_up_to(at, end)) return sum({{scalar(end)}, {scalar(at), -1}}, i32);
  }
  return scalar(value);
}

// Whether this is the index of a loop from 0 or more up to before the end.
bool ThreadIndices::counts_up_to(ir::Value index, ir::Value end) const {
  bool found = false;
  ir::walk(kernel_.body, [&](const ir::Op& op) {
    if (op.kind != OpKind::For || op.regions[0].arguments[0] != index) return;
    const auto from = plans_.constant_of(op.operands[0]), step = plans_.constant_of(op.operands[2]);
    found = op.operands[1] == end && from && *from >= 0 && step && *step > 0;
  });
  return found;
}

std::vector<ir::Value> ThreadIndices::bounds(Loop& loop, const ir::Op& op, const Place& place,
                                             int without) {
  const Type& type = kernel_.type(op.result());
  std::vector<ir::Value> out;
  for (int d = 0; d < type.rank; ++d) {
    if (d == without) continue;
    const ir::Value low = op.operands[2 * static_cast<std::size_t>(d)];
    const ir::Value high = op.operands[2 * static_cast<std::size_t>(d) + 1];
    const auto least = plans_.constant_of(low);
    const auto most = plans_.constant_of(high);
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
