// SPDX-License-Identifier: Apache-2.0
// codegen/lower/element_plans.cpp — accesses and loops, before any of them is written.
#include "codegen/lower/element_plans.h"

#include <algorithm>
#include <span>

#include "base/check.h"
#include "ir/behind.h"
#include "ir/constant.h"
#include "layout/convert.h"
#include "passes/laid/access_shape.h"
#include "passes/laid/op_facts.h"

namespace tilewright {
namespace {

using ir::OpKind;

constexpr int log_slice = 4;  // elements of one slice of a big tile

// The owner of the private buffer, if there is one.
ir::Value private_row(const ir::Kernel& kernel, const Sweeps& sweeps) {
  for (std::size_t i = 0; i < kernel.buffers.size(); ++i)
    if (kernel.buffers[i].is_private) return sweeps.owner_of(i);
  return {};
}

// Of the value that a load without a name becomes by a cast, in its own sweep or in another.
std::string name_of_cast(const ir::Kernel& kernel, ir::Value load, ir::Value inside) {
  std::string name;
  ir::walk(kernel.body, [&](const ir::Op& op) {
    if (name.empty() && op.kind == OpKind::Cast &&
        (op.operands[0] == load || op.operands[0] == inside))
      name = kernel.name_of(op.result());
  });
  return name;
}

}  // namespace

bool is_mapped_view(const ir::Op& op) {
  return op.facts().maps(ir::Same | ir::Repeated | ir::Reshaped | ir::Permuted);
}

ElementPlans::ElementPlans(const ir::Kernel& kernel, const LaidFacts& facts,
                           const TileLayouts& layouts, const CudaEmitOptions& options)
    : kernel_(kernel),
      schedule_(facts.sweeps),
      alignments_(facts.alignments),
      layouts_(layouts),
      options_(options),
      stowed_(private_row(kernel, facts.sweeps)),
      uses_(kernel.value_count(), 0),
      hints_(find_access_hints(kernel, schedule_)),
      has_dot_(has_dot(kernel)) {
  ir::walk(kernel.body, [&](const ir::Op& op) {
    for (const ir::Value value : op.operands) ++uses_[value.id];
  });
}

Frame::Key Frame::key(ir::Value value, const IndexMap& place) {
  std::vector<std::uint64_t> bits(place.matrix.all_columns().begin(),
                                  place.matrix.all_columns().end());
  bits.push_back(place.offset);
  return {value.id, std::move(bits)};
}

std::optional<std::int64_t> ElementPlans::constant_of(ir::Value value) const {
  for (const ir::Op* maker = kernel_.maker(value);
       maker && maker->facts().maps(ir::Spread | ir::Repeated | ir::Reshaped);
       maker = kernel_.maker(value))
    value = maker->operands[0];
  return ir::integer_constant(kernel_, value);
}

std::string ElementPlans::array_base(ir::Value value, ir::Value storage) const {
  std::string base = kernel_.name_of(storage);
  if (base.empty()) base = kernel_.name_of(schedule_.result_of(value));
  if (base.empty()) base = name_of_cast(kernel_, storage, schedule_.source_of(storage));
  return base.empty() ? "kept" : base;
}

// ---- Accesses

std::string_view ElementPlans::cache_of(const ir::Op& op) const {
  const std::string_view evict = op.text("evict");
  const std::string_view cache = op.text("cache");
  if (evict == "evict_first" || evict == "evict_last") return evict;
  for (const std::string_view known : {".ca", ".cg", ".cs", ".cv", ".wb", ".wt"})
    if (cache == known) return known.substr(1);
  return lingers(op) ? "linger" : "";
}

std::string_view ElementPlans::vector_cache(const VectorAccess& access, bool is_guarded) const {
  const ir::Op& op = *access.op;
  std::string_view cache = cache_of(op);
  // Behind a branch the hint costs more than it brings.
  if (is_guarded && lingers(op)) cache = "";
  // Small elements of products, which come to their stores through shared memory, of scans, of
  // arithmetic in their own type and those that many vectors have in common would be stored word by
  // word (fla's mean_pooling_bwd_kernel: 16 stores of 4 bytes instead of 4 of 16).
  const bool comes_apart = op.kind == OpKind::Store &&
                           kernel_.type(op.operands[1]).element_bytes() < 4 &&
                           (has_dot_ || layouts_.has_scans() ||
                            is_short_arithmetic(op.operands[1]) || repeats(op.operands[1]) != 0);
  return comes_apart && cache.empty() ? "together" : cache;
}

// A float of 16 bits that is computed from such floats, two at a time. (One that is rounded from 32
// bits is packed with its neighbour by the same instruction; those vectors stay whole by
// themselves, and keeping them whole costs norms 6 to 8 registers.) fla's token shift, 4 x 4096 x
// 4096 bf16: two stores of 16 bytes instead of one and four of 4.
bool ElementPlans::is_short_arithmetic(ir::Value value) const {
  const ir::Type& type = kernel_.type(value);
  const ir::Op* maker = kernel_.maker(value);
  return maker && maker->facts().is(ir::Family::Elementwise) && maker->kind != OpKind::Cast &&
         type.is_float() && type.element_bytes() == 2;
}

// The dimensions, as bits, along which all elements of a tile are the same by how it is made.
unsigned ElementPlans::repeats(ir::Value value) const {
  const auto long_dimensions = [&](ir::Value tile) {
    unsigned out = 0;
    for (int d = 0; d < kernel_.type(tile).rank; ++d)
      if (kernel_.type(tile).size(d) > 1) out |= 1u << d;
    return out;
  };
  unsigned out = long_dimensions(value);
  const bool has_none = ir::any_behind(kernel_, value, [&](ir::Value part) {
    const ir::Op* maker = kernel_.maker(part);
    if (!maker) return ir::Ask::Found;
    if (maker->facts().maps(ir::Spread) || maker->kind == OpKind::Constant)
      return ir::Ask::NoFurther;
    if (maker->kind == OpKind::Broadcast) {
      out &= ~long_dimensions(maker->operands[0]);
      return out == 0 ? ir::Ask::Found : ir::Ask::NoFurther;
    }
    return maker->facts().is(ir::Family::Elementwise) ? ir::Ask::Further : ir::Ask::Found;
  });
  return has_none ? 0 : out;
}

bool ElementPlans::lingers(const ir::Op& op) const {
  return options_.target.has(Feature::CacheHints) && hints_.streaming.contains(&op) && !is_stowing_;
}

bool ElementPlans::is_uniform_tile(ir::Value value) const {
  const ir::Op* maker = kernel_.maker(value);
  while (maker && is_mapped_view(*maker)) {
    if (!is_tile(kernel_, maker->operands[0])) return true;
    maker = kernel_.maker(maker->operands[0]);
  }
  return maker && is_uniform(*maker);
}

// Whether the elements of one vector lie side by side in memory, guarded by bounds at most.
std::optional<ElementPlans::VectorAccess> ElementPlans::vector_access(const Frame& frame,
                                                                      const ir::Op& op,
                                                                      const Place& place) const {
  if (op.integer("volatile") != 0) return std::nullopt;
  VectorAccess out{.op = &op, .place = place};
  out.affine = kernel_.maker(op.operands[0]);
  if (out.affine && out.affine->kind != OpKind::Affine) out.affine = nullptr;
  if (const ir::Value mask = op.mask()) {
    out.bounds = kernel_.maker(mask);
    if (out.bounds && out.bounds->kind != OpKind::Bounds) out.bounds = nullptr;
    if (!out.bounds) out.mask = mask;
  }
  if (op.kind == OpKind::Load && op.operands.size() > 2 && !is_uniform_tile(op.operands[2]))
    return std::nullopt;
  const ir::Type& type = kernel_.type(op.operands[0]);
  const int log_vector = frame.space.variables[0].bits;
  const AccessShape shape = access_shape(kernel_, alignments_, op);
  out.contiguous = shape.contiguous;
  if ((!out.affine || out.mask) && (shape.contiguous < 0 || log_vector == 0)) return std::nullopt;
  if (shape.contiguous >= 0 && log_vector > shape.log_run) return std::nullopt;
  if (out.mask && alignments_.axes()
                          .of(out.mask)
                          .dimensions[static_cast<std::size_t>(shape.contiguous)]
                          .constant < 1 << log_vector)
    return std::nullopt;
  for (int d = 0; d < type.rank; ++d) {
    const IndexMap index = compose(coordinate_map(sizes_of(type), d), place);
    for (int j = 0; j < frame.space.bits(); ++j) {
      const std::uint64_t column = index.matrix.column(j);
      const bool is_right = j < log_vector ? column == (d == shape.contiguous ? 1ull << j : 0)
                            : d == shape.contiguous ? (column & ((1ull << log_vector) - 1)) == 0
                                                    : true;
      if (!is_right) return std::nullopt;
    }
  }
  out.width = 1 << std::min(log_vector, shape.log_width);
  out.is_rotated = is_rotated(type);
  if (out.is_rotated && !alignments_.is_rotated_into_line(op)) out.width = 1 << log_vector;
  return out;
}

// Whether a vector lies inside the bounds whole or not at all.
bool ElementPlans::is_all_or_nothing(const Frame& frame, const VectorAccess& access) const {
  const int count = 1 << frame.space.variables[0].bits;
  return !access.is_rotated && bounds_step(access, count) == count;
}

int ElementPlans::bounds_step(const VectorAccess& access, int most) const {
  if (!access.bounds || access.contiguous < 0) return most;
  const auto at = 2 * static_cast<std::size_t>(access.contiguous);
  for (const std::size_t bound : {at, at + 1}) {
    const ir::Value value = access.bounds->operands[bound];
    const std::optional<std::int64_t> known = constant_of(value);
    while ((known ? *known : std::int64_t{alignments_.of(value)}) % most != 0) most /= 2;
  }
  return most;
}

int ElementPlans::part_of_vector(const Frame& frame, const VectorAccess& access) const {
  if (access.is_rotated || access.mask || !access.bounds) return 1;
  const int part = std::min(bounds_step(access, 1 << frame.space.variables[0].bits), access.width);
  const auto at = 2 * static_cast<std::size_t>(access.contiguous);
  const bool is_fixed =
      constant_of(access.bounds->operands[at]) && constant_of(access.bounds->operands[at + 1]);
  return is_fixed || part == access.width ? part : 1;
}

// Sums of floats that one instruction adds to several neighbours.
bool ElementPlans::adds_in_vectors(const ir::Op& op) const {
  return options_.target.has(Feature::VectorAtomics) && adds_floats(kernel_, op) &&
         uses_[op.result().id] == 0;
}

// ---- Loops

ElementPlans::ElementLoop ElementPlans::make_loop(const Step& step, const TileLayout& layout) {
  ElementLoop loop;
  const int registers = layout.layout.registers().columns();
  loop.log_vector = std::min(layout.log_vector, registers);
  const bool is_big = !layout.is_unrolled && (1 << registers) > TileLayouts::most_registers;
  loop.log_vectors =
      is_big ? std::max(log_slice - loop.log_vector, 0) : registers - loop.log_vector;
  loop.log_slices = registers - loop.log_vector - loop.log_vectors;
  loop.frame.step = &step;
  loop.frame.layout = &layout.layout;
  loop.frame.index_from = 1;
  loop.frame.space.variables = {{"v", loop.log_vector},
                                {"k", loop.log_vectors},
                                {"s", loop.log_slices},
                                {"thread", layout.layout.thread_bits()}};
  loop.frame.place = {layout.layout.matrix(), 0};
  return loop;
}

// What is read in vectors first: loads by affine pointers, and arrays in shared memory.
std::vector<ElementPlans::Preload> ElementPlans::plan_preloads(ElementLoop& loop) {
  const Step& step = *loop.frame.step;
  std::vector<Preload> out;
  const TileReads reads = reads_of(kernel_, schedule_, step);
  for (const TileAccess& access : reads.accesses) {
    if (access.op->kind != OpKind::Load) continue;
    const Place place = compose(access.map, loop.frame.place);
    const ir::Value value = access.op->result();
    const bool is_known = std::any_of(out.begin(), out.end(), [&](const Preload& preload) {
      return preload.value == value && preload.place == place;
    });
    const auto vector = vector_access(loop.frame, *access.op, place);
    if (vector && !is_known)
      out.push_back({value, place, vector, "", kernel_.type(value).is_bool()});
  }
  for (const TileRead& read : reads.arrays) {
    const Place place = compose(read.map, loop.frame.place);
    if (is_stowed(read.value)) out.push_back({read.value, place, std::nullopt, "", false});
    if (!layouts_.is_shared(read.value)) continue;
    if (is_shared_vector(loop, read.value, place))
      out.push_back({read.value, place, std::nullopt, "", false});
  }
  return out;
}

// What many programs read comes from a near cache: where registers are scarce they are not for all
// of it before the first vector is stored.
bool ElementPlans::is_late(const ElementLoop& loop, const Preload& preload, bool is_crowded) const {
  if (is_stowed(preload.value)) return true;
  if (!is_crowded) return false;
  const Step& step = *loop.frame.step;
  const bool is_kept = std::count(step.kept.begin(), step.kept.end(), preload.value) != 0;
  return hints_.has_shared && preload.access && !hints_.once.contains(preload.access->op) &&
         !is_kept && loop.log_vectors > 0 && loop.log_vector > 0 && step.reductions.empty() &&
         std::any_of(step.ops.begin(), step.ops.end(),
                     [](const ir::Op* op) { return op->kind == OpKind::Store; });
}

// Whether a step reads a tile whose array is that of the value, which the step makes.
bool ElementPlans::reads_storage_of(const Step& step, ir::Value value) const {
  const TileReads reads = reads_of(kernel_, schedule_, step);
  return std::any_of(reads.arrays.begin(), reads.arrays.end(), [&](const TileRead& read) {
    return schedule_.storage(read.value) == schedule_.storage(value);
  });
}

// Whether a vector of the loop is one run of neighbours in the array.
bool ElementPlans::is_shared_vector(const ElementLoop& loop, ir::Value value,
                                    const Place& place) const {
  return loop.log_vector > 0 && kernel_.type(value).element_bytes() << loop.log_vector <= 16 &&
         is_vector_of_neighbours(layouts_.swizzle_of(value)(place), loop.log_vector);
}

// The number of the register that holds the element.
IndexMap ElementPlans::register_map(const Frame& frame, ir::Value value, const Place& place) const {
  // Lanes may have exchanged what was written: whoever reads it is another thread.
  const Layout& written = layouts_.of_array(value).layout;
  const int threads = frame.layout ? written.thread_bits() : 0;
  const auto is_of = [&](const Layout& layout) {
    for (int j = 0; j < threads; ++j)
      if (place.matrix.column(frame.space.bits() - threads + j) != layout.thread_matrix().column(j))
        return false;
    return true;
  };
  const Layout& held = is_of(written) ? written : layouts_.of_read_array(value);
  const int registers = frame.space.bits() - threads;
  for (int j = 0; j < threads; ++j)
    TW_CHECK(place.matrix.column(registers + j) == held.thread_matrix().column(j),
             "an element is wanted from another thread's registers");
  const std::span<const std::uint64_t> all = place.matrix.all_columns();
  std::vector<std::uint64_t> columns(all.begin(), all.begin() + registers);
  columns.push_back(place.offset);
  const std::optional<BitMatrix> found =
      held.registers().solve(BitMatrix(place.matrix.rows(), std::move(columns)));
  TW_CHECK(found, "an element is in no register of its thread");
  const std::span<const std::uint64_t> from = found->all_columns();
  columns.assign(from.begin(), from.end() - 1);
  columns.resize(all.size(), 0);
  return {BitMatrix(held.registers().columns(), std::move(columns)), from.back()};
}

// Whether the elements of every vector of the loop are neighbours that compare the same.
bool ElementPlans::is_same_in_vector(const Frame& frame, const ir::Op& compare,
                                     const Place& place) const {
  const int log_vector = frame.space.variables.empty() ? 0 : frame.space.variables[0].bits;
  const ir::Type& type = kernel_.type(compare.result());
  if (!frame.layout || log_vector == 0 || type.rank != 1 || is_rotated(type)) return false;
  const AxisInfo& facts = alignments_.axes().of(compare.result());
  return is_vector_of_neighbours(place, log_vector) &&
         facts.dimensions.front().constant >= std::int64_t{1} << log_vector;
}

}  // namespace tilewright
