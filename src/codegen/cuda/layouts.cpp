// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/layouts.cpp — groups of loops and arrays, and the choice for each.
#include "codegen/cuda/layouts.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/check.h"
#include "codegen/schedule/op_facts.h"
#include "ir/constant.h"
#include "layout/convert.h"

namespace tilewright {
namespace {

using ir::OpKind;
using Kind = Step::Kind;

int log2_of(std::int64_t power) { return std::countr_zero(static_cast<std::uint64_t>(power)); }

// Of pointers without a formula, by what the analysis of axes knows of them.
AccessShape analysed_shape(const ir::Kernel& kernel, const AxisAnalysis& axes, const ir::Op& op) {
  AccessShape out;
  for (int d = 0; d < kernel.type(op.operands[0]).rank; ++d) {
    const int log_width = log2_of(axes.pointer_width(op, d));
    if (log_width <= out.log_width) continue;
    const AxisFacts& facts = axes.of(op.operands[0]).dimensions[static_cast<std::size_t>(d)];
    out = {.contiguous = d, .log_run = log2_of(facts.contiguous), .log_width = log_width};
  }
  return out;
}

AccessShape affine_shape(const ir::Kernel& kernel, const Alignments& alignments, const ir::Op& op,
                         const ir::Op& affine) {
  const ir::Type& type = kernel.type(op.operands[0]);
  const auto size = static_cast<std::int64_t>(size_of(type.dtype));
  AccessShape out;
  std::int64_t aligned = std::min<std::int64_t>(alignments.of(affine.operands[0]), 16);
  if (alignments.is_rotated_into_line(op)) aligned = alignments.rotation()->vector * size;
  for (int d = 0; d < type.rank; ++d) {
    const ir::Value stride = affine.operands[static_cast<std::size_t>(d) + 1];
    if (type.size(d) == 1) continue;
    // Of two dimensions with stride 1 one is contiguous; the other moves the start by one element.
    const bool is_first = out.contiguous < 0;
    const bool is_contiguous = ir::integer_constant(kernel, stride) == 1;
    if (is_contiguous) out.contiguous = d;
    if (!is_contiguous || !is_first) aligned = std::min(aligned, alignments.of(stride) * size);
  }
  if (out.contiguous < 0) return {};
  const std::int64_t elements =
      std::min(std::max<std::int64_t>(aligned / size, 1), type.size(out.contiguous));
  out.log_run = log2_of(type.size(out.contiguous));
  out.log_width = log2_of(elements);
  return out;
}

}  // namespace

AccessShape access_shape(const ir::Kernel& kernel, const Alignments& alignments, const ir::Op& op) {
  const ir::Op* pointers = kernel.maker(op.operands[0]);
  const bool is_affine = pointers && pointers->kind == OpKind::Affine;
  if (!kernel.type(op.operands[0]).is_tile()) return {};
  AccessShape out = is_affine ? affine_shape(kernel, alignments, op, *pointers)
                              : analysed_shape(kernel, alignments.axes(), op);
  // A copy is made whole or not at all.
  if (op.kind == OpKind::CopyAsync && op.operands.size() > 2 && out.contiguous >= 0) {
    const AxisInfo& mask = alignments.axes().of(op.operands[2]);
    const auto equal = mask.dimensions[static_cast<std::size_t>(out.contiguous)].constant;
    out.log_width = std::min(out.log_width, log2_of(equal));
  }
  return out;
}

TileLayouts::TileLayouts(const ir::Kernel& kernel, const Sweeps& schedule,
                         const Alignments& alignments, const Options& options)
    : kernel_(kernel),
      schedule_(schedule),
      alignments_(alignments),
      log_warps_(options.log_warps),
      dot_options_{options.target, options.log_warps, has_chained_dots(kernel),
                   has_asynchronous_dots(kernel)},
      is_shared_(kernel.value_count(), false),
      is_product_operand_(kernel.value_count(), false),
      is_product_buffer_(kernel.buffers.size(), false),
      has_lines_(kernel.value_count(), false) {
  for (const ir::KernelBuffer& buffer : kernel.buffers)
    buffer_lines_.push_back(buffer.type.rank - 1);
  ir::walk(kernel.body, [&](const ir::Op& op) {
    if (op.kind == OpKind::CopyMap) buffer_lines_[kernel.buffer_of(op)] = kernel.map_of(op).dimensions[0].of_tile;
  });
  visit(schedule.steps());
  choose_all();
  decide_shared();
  choose_buffer_swizzles();
  choose_swizzles();
}

const TileLayout& TileLayouts::of_array(ir::Value value) const {
  return layouts_.at(nodes_.at(schedule_.storage(value).id));
}

Layout TileLayouts::of_reduced(const Step& step, const ir::Op& reduce) const {
  const IndexMap slice = slice_map(sizes_of(step.shape), static_cast<int>(reduce.integer("axis")));
  return of_step(step).layout.through(slice.matrix).without_register_copies();
}

// ---- Groups

int TileLayouts::find(int node) {
  auto at = static_cast<std::size_t>(node);
  while (parents_[at] != static_cast<int>(at)) at = static_cast<std::size_t>(parents_[at]);
  return static_cast<int>(at);
}

void TileLayouts::unite(int a, int b) {
  a = find(a);
  b = find(b);
  if (a == b) return;
  if (b < a) std::swap(a, b);  // the first one made stays, so that the result is always the same
  parents_[static_cast<std::size_t>(b)] = a;
  Group& into = groups_[static_cast<std::size_t>(a)];
  const Group& from = groups_[static_cast<std::size_t>(b)];
  into.accesses.insert(into.accesses.end(), from.accesses.begin(), from.accesses.end());
  into.access_bytes.insert(into.access_bytes.end(), from.access_bytes.begin(),
                           from.access_bytes.end());
  into.access_depths.insert(into.access_depths.end(), from.access_depths.begin(),
                            from.access_depths.end());
  if (!into.dot || (from.dot && !into.dot->uses_mma)) into.dot = from.dot;
  if (into.scan_axis < 0) into.scan_axis = from.scan_axis;
  into.is_copy |= from.is_copy;
}

int TileLayouts::node_of(ir::Value value) {
  const ir::Value storage = schedule_.storage(value);
  const auto found = nodes_.find(storage.id);
  if (found != nodes_.end()) return found->second;
  const int node = static_cast<int>(parents_.size());
  parents_.push_back(node);
  groups_.push_back({.shape = kernel_.type(storage)});
  nodes_[storage.id] = node;
  return node;
}

void TileLayouts::visit(const Steps& steps) {
  for (const Step& step : steps) {
    if (step.kind == Kind::Elements) visit_elements(step);
    if (step.kind == Kind::Across) visit_across(step);
    if (step.kind == Kind::Control) visit_control(step);
  }
}

void TileLayouts::note_reads(int reader, const TileReads& reads) {
  for (const TileRead& read : reads.arrays) {
    const int array = node_of(read.value);
    const bool is_apart = schedule_.is_apart(read.value);
    if (is_apart) has_lines_[schedule_.storage(read.value).id] = true;
    const bool is_same =
        read.map.is_identity() &&
        same_shape(groups_[static_cast<std::size_t>(find(reader))].shape, kernel_.type(read.value));
    if (is_same && !is_apart) unite(reader, array);
    else relations_.push_back({reader, schedule_.storage(read.value), read.map});
  }
  Group& group = groups_[static_cast<std::size_t>(find(reader))];
  for (const TileAccess& access : reads.accesses) {
    if (!access.map.is_identity()) continue;
    const ir::Type& type = kernel_.type(access.op->operands[0]);
    if (!same_shape(type, group.shape)) continue;
    const AccessShape shape = access_shape(kernel_, alignments_, *access.op);
    if (shape.contiguous < 0) continue;
    group.accesses.push_back(shape);
    group.access_bytes.push_back(static_cast<int>(size_of(type.dtype)));
    group.access_depths.push_back(loop_depth_);
  }
}

void TileLayouts::visit_elements(const Step& step) {
  const int node = static_cast<int>(parents_.size());
  parents_.push_back(node);
  groups_.push_back({.shape = step.shape});
  steps_[step.order] = node;
  for (ir::Value value : step.kept) unite(node, node_of(value));
  note_reads(node, reads_of(kernel_, schedule_, step));
  for (const ir::Op* op : step.ops)
    if (op->kind == OpKind::CopyAsync) {
      groups_[static_cast<std::size_t>(find(node))].is_copy = true;
      const AccessShape shape = access_shape(kernel_, alignments_, *op);
      if (shape.contiguous >= 0) buffer_lines_[kernel_.buffer_of(*op)] = shape.contiguous;
    }
  for (const ir::Op* reduce : step.reductions)
    for (ir::Value result : reduce->results) {
      if (!is_tile(kernel_, result)) continue;
      const int axis = static_cast<int>(reduce->integer("axis"));
      node_of(result);
      relations_.push_back(
          {node, schedule_.storage(result), slice_map(sizes_of(step.shape), axis)});
      reduced_.push_back({&step, reduce});
    }
}

// Every operand is read at any place, so that it must be in shared memory; those of scans only
// where the layout asks for it.
void TileLayouts::visit_across(const Step& step) {
  for (ir::Value result : step.op->results)
    if (is_tile(kernel_, result)) node_of(result);
  if (step.op->kind == OpKind::Dot) return visit_dot(step);
  if (step.op->kind == OpKind::ReadBuffer) {
    is_shared_[schedule_.storage(step.op->result()).id] = true;
    return;
  }
  if (step.op->kind == OpKind::Scan) return visit_scan(step);
  if (step.op->kind == OpKind::Sort) {
    note_reads(node_of(step.op->result()), reads_of(kernel_, schedule_, step, step.op->operands));
    return;
  }
  for (const TileRead& read : reads_of(kernel_, schedule_, step, step.op->operands).arrays) {
    node_of(read.value);
    is_shared_[schedule_.storage(read.value).id] = true;
  }
}

// Operands and results are laid out alike.
void TileLayouts::visit_scan(const Step& step) {
  const ir::Op& op = *step.op;
  const int node = node_of(op.results[0]);
  for (ir::Value result : op.results) unite(node, node_of(result));
  note_reads(node, reads_of(kernel_, schedule_, step, op.operands));
  groups_[static_cast<std::size_t>(find(node))].scan_axis = static_cast<int>(op.integer("axis"));
  scan_steps_.push_back(&step);
}

// The sum that a product is added to is read like an operand of an elementwise op.
void TileLayouts::visit_dot(const Step& step) {
  const ir::Op& op = *step.op;
  const DotPlan& plan = dots_[&op] = plan_dot(kernel_, op, dot_options_);
  const int node = node_of(op.result());
  note_reads(node, reads_of(kernel_, schedule_, step, {op.operands[2]}));
  Group& group = groups_[static_cast<std::size_t>(find(node))];
  if (!group.dot || (plan.uses_mma && !group.dot->uses_mma)) group.dot = &plan;
  for (const std::size_t side : {0, 1})
    for (const TileRead& read : reads_of(kernel_, schedule_, step, {op.operands[side]}).arrays) {
      node_of(read.value);
      operand_reads_.push_back({&op, side == 0, schedule_.storage(read.value), read.map});
    }
}

bool TileLayouts::fits(const ir::Op& dot) const {
  const DotPlan& plan = plan_of(dot);
  return plan.uses_mma && of_array(dot.result()).layout == plan.layouts.result;
}

// Tiles that enter a region or leave it are copied element by element.
void TileLayouts::visit_control(const Step& step) {
  const ir::Op& op = *step.op;
  const auto copied = [&](ir::Value from, ir::Value to, const Step& at) {
    if (is_tile(kernel_, to)) note_reads(node_of(to), reads_of(kernel_, schedule_, at, {from}));
  };
  const Step at_end{.order = 1 << 30};
  if (op.kind != OpKind::If) {
    const std::size_t inputs = op.kind == OpKind::For ? 3 : 0;
    const std::size_t first = op.kind == OpKind::For ? 1 : 0;
    for (std::size_t k = inputs; k < op.operands.size(); ++k)
      copied(op.operands[k], op.regions[0].arguments[first + k - inputs], step);
    const ir::Op& end = *op.regions.back().ops.back();
    for (std::size_t k = 0; k < end.operands.size(); ++k)
      copied(end.operands[k], op.regions[0].arguments[first + k], at_end);
    if (op.kind == OpKind::While)
      for (std::size_t k = 0; k < op.results.size(); ++k)
        copied(op.regions[0].ops.back()->operands[k + 1], op.regions[1].arguments[k], at_end);
  }
  const int is_loop = op.kind != OpKind::If ? 1 : 0;
  loop_depth_ += is_loop;
  for (const Steps& region : step.regions) visit(region);
  loop_depth_ -= is_loop;
  for (std::size_t k = 0; k < op.results.size(); ++k) {
    if (!is_tile(kernel_, op.results[k])) continue;
    node_of(op.results[k]);
    if (op.kind != OpKind::If) continue;
    for (const ir::Region& region : op.regions)
      copied(region.ops.back()->operands[k], op.results[k], at_end);
  }
}

// ---- Choice

void TileLayouts::choose_all() {
  std::vector<int> roots;
  for (int node = 0; node < static_cast<int>(parents_.size()); ++node)
    if (find(node) == node) roots.push_back(node);
  std::stable_sort(roots.begin(), roots.end(), [&](int a, int b) {
    const Group& left = groups_[static_cast<std::size_t>(a)];
    const Group& right = groups_[static_cast<std::size_t>(b)];
    if ((left.dot != nullptr) != (right.dot != nullptr)) return left.dot != nullptr;
    return left.shape.numel() > right.shape.numel();
  });
  for (int root : roots) choose(root);
  for (auto& [storage, node] : nodes_) node = find(node);
  for (auto& [order, node] : steps_) node = find(node);
}

void TileLayouts::choose(int node) {
  const Group& group = groups_[static_cast<std::size_t>(node)];
  if (group.dot) {
    const Layout& result = group.dot->layouts.result;
    layouts_[node] = {.layout = result,
                      .log_vector = result.log_vector(),
                      .contiguous = group.shape.rank - 1,
                      .is_unrolled = true};
  } else if (!pull(node)) {
    choose_by_access(node);
  }
  groups_[static_cast<std::size_t>(node)].is_laid = true;
}

// Takes the layout from a neighbour that reads or makes this array, so that every element is where
// it is wanted. Tiles of the same size that access memory themselves choose by that.
bool TileLayouts::pull(int node) {
  const Group& group = groups_[static_cast<std::size_t>(node)];
  for (const Relation& relation : relations_) {
    if (find(node_of(relation.storage)) != node ||
        !groups_[static_cast<std::size_t>(find(relation.reader))].is_laid)
      continue;
    const Group& reader = groups_[static_cast<std::size_t>(find(relation.reader))];
    if (reader.shape.numel() == group.shape.numel() && !group.accesses.empty()) continue;
    if (!relation.map.matrix.is_surjective() || relation.map.offset != 0) continue;
    const TileLayout& from = layouts_.at(find(relation.reader));
    TileLayout out{from.layout.through(relation.map.matrix).without_register_copies()};
    out.log_vector = std::min(out.layout.log_vector(), from.log_vector);
    out.contiguous = std::max(group.shape.rank - 1, 0);
    out.is_unrolled = from.is_unrolled;
    layouts_[node] = std::move(out);
    return true;
  }
  return false;
}

void TileLayouts::choose_by_access(int node) {
  const Group& group = groups_[static_cast<std::size_t>(node)];
  const ir::Type& shape = group.shape;
  int contiguous = shape.rank - 1;
  int log_width = 0;
  for (const AccessShape& access : group.accesses)
    if (access.log_width > log_width) {
      log_width = access.log_width;
      contiguous = access.contiguous;
    }
  // Sums of f32 that are stored behind a loop do not narrow its loads of bf16: they take two words.
  int deepest = 0;
  for (std::size_t i = 0; i < group.accesses.size(); ++i)
    if (group.accesses[i].contiguous == contiguous)
      deepest = std::max(deepest, group.access_depths[i]);
  for (std::size_t i = 0; i < group.accesses.size(); ++i)
    if (group.accesses[i].contiguous == contiguous && group.access_depths[i] == deepest)
      log_width = std::min(log_width, log2_of(16 / group.access_bytes[i]));
  const int log_lanes = dot_options_.target.log_lanes();
  // Every thread should have something before one has a wide vector.
  const int spare = bits_of_type(shape) - log_lanes - log_warps_;
  if (!group.is_copy) log_width = std::clamp(log_width, 0, std::max(spare, 0));
  Layout::Blocked blocked{.log_sizes = {sizes_of(shape).begin(), sizes_of(shape).end()},
                          .order = {},
                          .log_vector = log_width,
                          .log_lanes = log_lanes,
                          .log_warps = log_warps_};
  if (shape.rank > 0) blocked.order.push_back(contiguous);
  for (int d = shape.rank; d-- > 0;)
    if (d != contiguous) blocked.order.push_back(d);
  TileLayout out{Layout::blocked(blocked)};
  // A loop handles the registers that stand for neighbours along the contiguous dimension together.
  out.log_vector = std::min(log_width, out.layout.registers().columns());
  out.contiguous = contiguous;
  deal_out_axis(group, out);
  layouts_[node] = std::move(out);
}

// A thread of a scan should have consecutive elements of its lines. Which rows the threads of a
// warp have does not matter to memory, as long as no access has its neighbours along the axis and
// each row fills whole sectors.
void TileLayouts::deal_out_axis(const Group& group, TileLayout& tile) const {
  constexpr int sector = 32;
  if (group.scan_axis < 0 || group.scan_axis == tile.contiguous) return;
  for (std::size_t i = 0; i < group.accesses.size(); ++i) {
    const int dimension = group.accesses[i].contiguous;
    const int log_row = group.shape.log_sizes[static_cast<std::size_t>(dimension)];
    if (dimension == group.scan_axis || group.access_bytes[i] << log_row < sector) return;
  }
  tile.layout =
      with_axis_in_registers(tile.layout, sizes_of(group.shape), group.scan_axis, tile.log_vector);
}

// ---- Registers or shared memory

void TileLayouts::decide_shared() {
  for (const auto& [storage, node] : nodes_) {
    const ir::Type& type = kernel_.type({storage});
    const int words = type.element_bytes() > 4 ? 2 : 1;
    const TileLayout& tile = layouts_.at(node);
    const int most = tile.is_unrolled ? most_sums : most_registers;
    if (tile.layout.register_count() * words > most) is_shared_[storage] = true;
  }
  decide_scans();
  for (const OperandRead& read : operand_reads_) {
    const ProductLayouts& wanted = plan_of(*read.dot).layouts;
    const bool is_held =
        fits(*read.dot) && plan_conversion(of_array(read.storage).layout,
                                           read.is_left ? wanted.left : wanted.right, read.map)
                                   .kind == Conversion::Kind::Registers;
    has_lines_[read.storage.id] = true;
    const bool is_right = plan_of(*read.dot).is_asynchronous && !read.is_left;
    if (!is_held || is_right) is_shared_[read.storage.id] = true;
  }
  for (const Relation& relation : relations_) {
    const Layout& reader = layouts_.at(find(relation.reader)).layout;
    const Layout& array = of_array(relation.storage).layout;
    if (plan_conversion(array, reader, relation.map).kind == Conversion::Kind::Shared)
      is_shared_[relation.storage.id] = true;
  }
  for (const auto& [step, reduce] : reduced_)
    for (ir::Value result : reduce->results)
      if (!(of_reduced(*step, *reduce) == of_array(result).layout))
        is_shared_[schedule_.storage(result).id] = true;
  for (const OperandRead& read : operand_reads_) {
    if (!plan_of(*read.dot).is_asynchronous || !is_shared_[read.storage.id]) continue;
    is_product_operand_[read.storage.id] = true;
    if (is_slot(read.storage))
      is_product_buffer_[kernel_.buffer_of(*kernel_.maker(read.storage))] = true;
  }
}

// In registers where each thread holds few elements and the layout deals them out in order.
void TileLayouts::decide_scans() {
  for (const Step* step : scan_steps_) {
    const ir::Op& op = *step->op;
    const ir::Type& type = kernel_.type(op.operands[0]);
    const Layout& layout = of_array(op.results[0]).layout;
    int words = 0;
    for (ir::Value operand : op.operands)
      words += kernel_.type(operand).element_bytes() > 4 ? 2 : 1;
    const auto plan = plan_scan(layout, sizes_of(type), static_cast<int>(op.integer("axis")));
    if (plan && layout.register_count() * words <= most_scanned) {
      scans_[&op] = *plan;
      continue;
    }
    for (ir::Value result : op.results) is_shared_[schedule_.storage(result).id] = true;
    for (const TileRead& read : reads_of(kernel_, schedule_, *step, op.operands).arrays)
      is_shared_[schedule_.storage(read.value).id] = true;
  }
}

// Lines as memory is read.
void TileLayouts::choose_buffer_swizzles() {
  for (std::size_t i = 0; i < kernel_.buffers.size(); ++i) {
    const ir::Type& type = kernel_.buffers[i].type;
    if (!kernel_.buffers[i].has_slots()) continue;  // they stand last
    const auto lines = is_product_buffer_[i] ? Swizzle::panels : Swizzle::lines;
    buffer_swizzles_.push_back(
        type.rank >= 2 ? lines(sizes_of(type), buffer_lines_[i], static_cast<int>(type.element_bytes()))
                       : Swizzle::none(sizes_of(type)));
  }
}

// Operands of a product, and what is stored after it, are read by lines, transposed loads across
// them; they stand as their memory accesses go.
void TileLayouts::choose_swizzles() {
  for (const auto& [storage, node] : nodes_) {
    const ir::Type& type = kernel_.type({storage});
    if (is_slot({storage})) {
      swizzles_[storage] = swizzle_of_buffer(kernel_.buffer_of(*kernel_.maker({storage})));
      continue;
    }
    const bool has_lines = has_lines_[storage] && type.rank >= 2 && !type.is_bool();
    const ir::Op* maker = kernel_.maker(schedule_.source_of({storage}));
    const bool is_crossed = schedule_.is_apart({storage}) && maker && maker->kind == OpKind::Load;
    const auto lines = is_product_operand_[storage] ? Swizzle::panels
                       : is_crossed                 ? Swizzle::crossed_lines
                                                    : Swizzle::lines;
    swizzles_[storage] = has_lines ? lines(sizes_of(type), layouts_.at(node).contiguous,
                                           static_cast<int>(type.element_bytes()))
                                   : Swizzle::none(sizes_of(type));
  }
}

}  // namespace tilewright
