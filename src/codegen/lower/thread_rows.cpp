// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_rows.cpp — long rows. Those that begin anywhere are turned round, so that
// their vectors are aligned (passes/laid/rotation.h). One that registers have no place for lies in
// shared memory: each thread copies its vectors there and reads only those again, so that no barrier
// is needed, copies need no registers while they are on their way, and several rows fit on a
// multiprocessor. Vector k of all threads of a block comes before vector k + 1.
#include "codegen/lower/thread_rows.h"

#include <algorithm>
#include <bit>

#include "codegen/cuda/program_shape.h"
#include "codegen/lower/thread_families.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

namespace {

constexpr std::size_t row_vectors = 1;  // the variable of that loop

}  // namespace

ThreadRows::ThreadRows(ThreadState& state)
    : ThreadElements(state), alignments_(state.facts.alignments), stowed_(state.plans.stowed()) {}

// ---- Rows that begin anywhere

void ThreadRows::declare_shift() {
  if (!alignments_.rotation() || shift_) return;
  const Rotation& rotation = *alignments_.rotation();
  const Type& type = kernel_.type(rotation.start);
  ir::Value start = scalar(rotation.start);
  if (type.is_pointer) {
    const Type address = Type::scalar(DType::UInt64);
    start = FinalBuilder::make(OpKind::Digit, {FinalBuilder::make(OpKind::Cast, {start}, address)},
                               address,
                               {{"over", static_cast<std::int64_t>(size_of(type.dtype))},
                                {"of", rotation.vector}});
  } else {
    start = FinalBuilder::make(OpKind::And, {start, number(rotation.vector - 1, type.dtype)}, type);
  }
  shift_ = named(cast(start, i32), names_.make("shift"), *list_);
}

// Behind the row's begin: where the vector's first slot is, as what the thread and what unrolled
// loops add, the shift, and the bounds of what is inside.
std::vector<ir::Value> ThreadRows::rotated_place(const Loop& loop, const VectorAccess& access) {
  const Space& space = loop.plan.frame.space;
  const std::size_t last = space.variables.size() - 1;
  const IndexMap map{access.place.matrix, 0};
  const bool meet = (image_of(space, map, last, last + 1) &
                     (access.place.offset | image_of(space, map, 1, last))) != 0;
  const ir::Value thread = meet ? linear(loop, access.place, 1, last + 1)
                                : linear(loop, map, last, last + 1);
  const ir::Value loops = meet ? number(0) : linear(loop, access.place, 1, last);
  ir::Value low = number(0), high = number(alignments_.rotation()->size);
  if (access.bounds) {
    const auto least = plans_.constant_of(access.bounds->operands[0]);
    if (!least || *least > 0) low = bound(access.bounds->operands[0]);
    high = bound(access.bounds->operands[1]);
  }
  return {thread, loops, shift_, low, high};
}

std::vector<ir::Attribute> ThreadRows::rotated_attributes(const Loop& loop,
                                                          const VectorAccess& access) const {
  std::vector<ir::Attribute> out = {{"count", std::int64_t{1} << loop.plan.log_vector},
                                    {"width", std::int64_t{access.width}}};
  if (const std::string_view cache = plans_.vector_cache(access, false); !cache.empty())
    out.push_back({"cache", std::string(cache)});
  out.push_back({"rotates", alignments_.rotation()->size});
  if (access.op->kind == OpKind::Load && !alignments_.is_rotated_into_line(*access.op))
    out.push_back({"shifted", std::int64_t{1}});
  return out;
}

void ThreadRows::load_rotated(Loop& loop, const VectorAccess& access, ir::Value into) {
  std::vector<ir::Value> operands = {into, scalar(access.affine->operands[0])};
  const std::vector<ir::Value> place = rotated_place(loop, access);
  operands.insert(operands.end(), place.begin(), place.end());
  operands.push_back(families().vectors.other_of(*access.op, type_of(into).element()));
  statement(OpKind::LoadTo, operands, *list_, rotated_attributes(loop, access),
            access.op->location);
}

void ThreadRows::store_rotated(const Loop& loop, const VectorAccess& access, ir::Value from) {
  std::vector<ir::Value> operands = {scalar(access.affine->operands[0]), from};
  const std::vector<ir::Value> place = rotated_place(loop, access);
  operands.insert(operands.end(), place.begin(), place.end());
  statement(OpKind::StoreFrom, operands, *list_, rotated_attributes(loop, access),
            access.op->location);
}

// ---- The row in shared memory

void ThreadRows::declare_row() {
  const Type& type = kernel_.type(stowed_);
  const TileLayout& tile = layouts_.of_array(stowed_);
  arrays_[stowed_.id] = named(
      FinalBuilder::make(OpKind::Call, {}, Type::array(type.element(), ir::Space::Stack),
                         {{"function", std::string(name_of(LibraryKind::OwnRow))},
                          {"numbers",
                           std::vector<std::int64_t>{
                               tile.layout.register_count(), std::int64_t{1} << tile.log_vector,
                               shape_of(kernel_, options_.target).block_threads()}}}),
      names_.make(plans_.array_base(stowed_, stowed_) + "_row"), prologue_);
}

ir::Value ThreadRows::row_index(const Loop& loop, const Place& place) {
  const Frame& frame = loop.plan.frame;
  const int log_vector = layouts_.of_array(stowed_).log_vector;
  const auto threads =
      static_cast<unsigned>(shape_of(kernel_, options_.target).block_threads());
  const int log_threads = std::countr_zero(threads);
  const std::uint64_t inside = (std::uint64_t{1} << log_vector) - 1;
  const auto apart = [&](std::uint64_t number) {
    return (number & inside) | (number & ~inside) << log_threads;
  };
  const IndexMap numbers = plans_.register_map(frame, stowed_, place);
  std::vector<std::uint64_t> columns;
  for (int j = 0; j < frame.space.bits(); ++j) columns.push_back(apart(numbers.matrix.column(j)));
  return linear(loop,
                {BitMatrix(numbers.matrix.rows() + log_threads, std::move(columns)),
                 apart(numbers.offset)},
                frame.is_whole_vector ? 1 : 0, frame.space.variables.size());
}

ir::Value ThreadRows::row_vector(Loop& loop, const Place& place) {
  loop.plan.frame.is_whole_vector = true;
  const ir::Value at = row_index(loop, place);
  loop.plan.frame.is_whole_vector = false;
  return view(array(stowed_), at);
}

void ThreadRows::fill_row(Loop& loop, std::vector<Preload>& loads) {
  if (!stowed_) return;
  const std::vector<ir::Value>& kept = loop.plan.frame.step->kept;
  bool is_missing = std::count(kept.begin(), kept.end(), schedule_.source_of(stowed_)) != 0;
  for (Preload& load : loads) {
    if (!plans_.is_stowed(load.value) || !load.access) continue;
    is_missing = false;
    if (is_one_copy(loop, *load.access)) copy_to_row(loop, *load.access);
    else load_to_row(loop, load);
    load.access.reset();  // from now on it is read from there
  }
  fits_shape_ &= !is_missing;
}

bool ThreadRows::is_one_copy(const Loop& loop, const VectorAccess& access) const {
  const auto bytes = static_cast<std::int64_t>(kernel_.type(stowed_).element_bytes())
                     << loop.plan.log_vector;
  return !access.is_rotated && access.width == 1 << loop.plan.log_vector &&
         (bytes == 4 || bytes == 8 || bytes == 16) &&
         (plans_.cache_of(*access.op).empty() || plans_.lingers(*access.op));
}

void ThreadRows::copy_to_row(Loop& loop, const VectorAccess& access) {
  open(loop, row_vectors, "vectors", true);
  Frame& frame = loop.plan.frame;
  const ir::Value to = row_vector(loop, access.place);
  frame.is_whole_vector = true;
  std::vector<ir::Value> operands = {to, families().vectors.vector_pointer(loop, access)};
  ThreadVectors::Guards guards = families().vectors.vector_guards(loop, access);
  frame.is_whole_vector = false;
  if (guards.empty()) guards = {constant_of(Type::scalar(b1), std::int64_t{1})};
  operands.insert(operands.end(), guards.begin(), guards.end());
  operands.push_back(families().vectors.other_of(*access.op, type_of(to).element()));
  const std::int64_t count = std::int64_t{1} << loop.plan.log_vector;
  std::vector<ir::Attribute> attributes = {{"count", count}, {"width", count}};
  if (plans_.lingers(*access.op)) attributes.push_back({"cache", std::string("linger")});
  attributes.push_back({"copies", std::int64_t{1}});
  statement(OpKind::LoadTo, operands, *list_, attributes, access.op->location);
  close(loop, row_vectors);
  statement(OpKind::Call, {}, *list_,
            {{"function", std::string(name_of(LibraryKind::FinishCopies))}});
}

// Through registers, where no copy can do it: elements that are not aligned.
void ThreadRows::load_to_row(Loop& loop, const Preload& load) {
  plans_.set_stowing(true);
  open(loop, row_vectors, "vectors", true);
  const std::int64_t count = std::int64_t{1} << loop.plan.log_vector;
  const ir::Value part = make_array(names_.make("part"), kernel_.type(stowed_).element(), count);
  families().vectors.load_vector(loop, load, part, number(0));
  statement(OpKind::StoreFrom, {row_vector(loop, load.place), part}, *list_,
            {{"count", count}, {"width", count}});
  close(loop, row_vectors);
  plans_.set_stowing(false);
}

}  // namespace tilewright
