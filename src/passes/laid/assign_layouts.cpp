// SPDX-License-Identifier: Apache-2.0
// passes/laid/assign_layouts.cpp — groups of loops and arrays, and the choice for each.
#include "passes/laid/assign_layouts.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

#include <fmt/format.h>

#include "ir/constant.h"
#include "ir/product.h"
#include "ir/roles.h"
#include "passes/laid/access_shape.h"
#include "passes/laid/op_facts.h"
#include "passes/laid/scan_plan.h"
#include "passes/laid/tile_layouts.h"
#include "passes/laid/tile_reads.h"

namespace tilewright {
namespace {

using ir::OpKind;
using Kind = Step::Kind;

// Whether results that are held beside products which go on are exchanged by lanes: all loops with
// such products are known to have few rounds, between the 8 and 32 that were measured, or the loop
// around them is the kernel's own.
bool exchanges_results(const ir::Kernel& kernel) {
  constexpr std::int64_t most_rounds = 16;
  bool found = false, all = true;
  ir::walk(kernel.body, [&](const ir::Op& op) {
    if (op.kind != OpKind::For || op.integer("drains", 0) == 0) return;
    const auto from = ir::integer_constant(kernel, op.operands[0]);
    const auto to = ir::integer_constant(kernel, op.operands[1]);
    const auto step = ir::integer_constant(kernel, op.operands[2]);
    found = true;
    all =
        all && from && to && step && *step > 0 && (*to - *from + *step - 1) / *step <= most_rounds;
  });
  return found && (all || !ir::is_persistent(kernel));
}

class LayoutChooser {
 public:
  LayoutChooser(const ir::Kernel& kernel, const LaidFacts& facts, const Target& target)
      : kernel_(kernel),
        schedule_(facts.sweeps),
        alignments_(facts.alignments),
        log_warps_(
            std::countr_zero(static_cast<unsigned>(kernel.shape.warps * kernel.shape.cluster))),
        has_roles_(ir::producer_of(kernel) != nullptr),
        exchanges_(exchanges_results(kernel)),
        dot_options_{target, log_warps_, has_chained_dots(kernel), has_asynchronous_dots(kernel)} {
    visit(schedule_.steps());
    choose_all();
  }

  // Null where no step comes by.
  const TileLayout* of_sweep(const ir::Op& sweep) const { return chosen(steps_, &sweep); }
  const TileLayout* of_array(ir::Value storage) const { return chosen(nodes_, storage.id); }
  // How a product is made, if its result is laid out for that; else null.
  const DotPlan* fitting_plan(const ir::Op& dot) const {
    const DotPlan& plan = dots_.at(&dot);
    const TileLayout* result = of_array(schedule_.storage(dot.result()));
    return plan.uses_mma && result->layout == plan.layouts.result ? &plan : nullptr;
  }

 private:
  struct Relation {  // element i of the reader's space is element map(i) of the array
    int reader;
    ir::Value storage;
    IndexMap map;
    bool is_apart = false;
    bool is_total = false;  // of a reduction that the reader makes
  };
  struct Group {
    ir::Type shape;
    std::vector<AccessShape> accesses;
    std::vector<int> access_bytes;
    std::vector<int> access_depths;  // in how many loops each one stands
    const DotPlan* dot = nullptr;    // one of the products that are made in it
    int scan_axis = -1;              // of a scan that is made in it
    int added_dimension = -1;        // whose neighbours atomics can add to by one instruction
    bool is_copy = false;            // of asynchronous copies, which should be wide above all
    bool is_laid = false;
  };

  template <class Nodes, class Key>
  const TileLayout* chosen(const Nodes& nodes, const Key& key) const {
    const auto found = nodes.find(key);
    return found == nodes.end() ? nullptr : &layouts_.at(found->second);
  }
  int find(int node) const;
  void unite(int a, int b);
  int node_of(ir::Value value);
  void visit(const Steps& steps);
  void visit_elements(const Step& step);
  void visit_across(const Step& step);
  void visit_scan(const Step& step);
  void visit_dot(const Step& step);
  void visit_control(const Step& step);
  void note_reads(int reader, const TileReads& reads);
  void choose_all();
  void choose(int node);
  bool take_part(int node);
  bool pull(int node);
  void choose_by_access(int node);
  void stay_within_warps(int node);
  void deal_out_axis(const Group& group, int axis, TileLayout& tile) const;
  int added_axis(int node);
  bool is_summed_along(int node, int dimension) const;
  void keep_lines_within_warps(const ir::Type& shape, TileLayout& tile) const;

  const ir::Kernel& kernel_;
  const Sweeps& schedule_;
  const Alignments& alignments_;
  const int log_warps_;
  const bool has_roles_;
  const bool exchanges_;
  int loop_depth_ = 0;  // of the step that is visited
  const DotOptions dot_options_;
  std::vector<int> parents_;   // of the sets of nodes
  std::vector<Group> groups_;  // by node; that of the set's root counts
  std::vector<Relation> relations_;
  std::unordered_map<const ir::Op*, DotPlan> dots_;
  std::unordered_map<std::uint32_t, int> nodes_;  // storage to node, later to the root
  std::unordered_map<const ir::Op*, int> steps_;  // sweep, alike
  std::unordered_map<int, TileLayout> layouts_;   // by root
};

int log2_of_power(std::int64_t power) {
  return std::countr_zero(static_cast<std::uint64_t>(power));
}

// ---- Groups

int LayoutChooser::find(int node) const {
  auto at = static_cast<std::size_t>(node);
  while (parents_[at] != static_cast<int>(at)) at = static_cast<std::size_t>(parents_[at]);
  return static_cast<int>(at);
}

void LayoutChooser::unite(int a, int b) {
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
  if (into.added_dimension < 0) into.added_dimension = from.added_dimension;
  into.is_copy |= from.is_copy;
}

int LayoutChooser::node_of(ir::Value value) {
  const ir::Value storage = schedule_.storage(value);
  const auto found = nodes_.find(storage.id);
  if (found != nodes_.end()) return found->second;
  const int node = static_cast<int>(parents_.size());
  parents_.push_back(node);
  groups_.push_back({.shape = kernel_.type(storage)});
  nodes_[storage.id] = node;
  return node;
}

void LayoutChooser::visit(const Steps& steps) {
  for (const Step& step : steps) {
    if (step.kind == Kind::Elements) visit_elements(step);
    if (step.kind == Kind::Across) visit_across(step);
    if (step.kind == Kind::Control) visit_control(step);
  }
}

void LayoutChooser::note_reads(int reader, const TileReads& reads) {
  for (const TileRead& read : reads.arrays) {
    const int array = node_of(read.value);
    const bool is_apart = schedule_.is_apart(read.value);
    const bool is_same =
        read.map.is_identity() &&
        same_shape(groups_[static_cast<std::size_t>(find(reader))].shape, kernel_.type(read.value));
    if (is_same && !is_apart) unite(reader, array);
    else relations_.push_back({reader, schedule_.storage(read.value), read.map, is_apart});
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
    if (shape.log_width > 0 && dot_options_.target.has(Feature::VectorAtomics) &&
        adds_floats(kernel_, *access.op))
      group.added_dimension = shape.contiguous;
  }
}

void LayoutChooser::visit_elements(const Step& step) {
  const int node = static_cast<int>(parents_.size());
  parents_.push_back(node);
  groups_.push_back({.shape = step.shape});
  steps_[step.op] = node;
  for (ir::Value value : step.kept) unite(node, node_of(value));
  note_reads(node, reads_of(kernel_, schedule_, step));
  for (const ir::Op* op : step.ops)
    if (op->kind == OpKind::CopyAsync) groups_[static_cast<std::size_t>(find(node))].is_copy = true;
  for (const ir::Op* reduce : step.reductions)
    for (ir::Value result : reduce->results) {
      if (!is_tile(kernel_, result)) continue;
      node_of(result);
      relations_.push_back({.reader = node,
                            .storage = schedule_.storage(result),
                            .map = total_map(step.shape, *reduce),
                            .is_total = true});
    }
}

void LayoutChooser::visit_across(const Step& step) {
  for (ir::Value result : step.op->results)
    if (is_tile(kernel_, result)) node_of(result);
  if (step.op->kind == OpKind::Dot) return visit_dot(step);
  if (step.op->kind == OpKind::ReadBuffer) return;
  if (step.op->kind == OpKind::Scan) return visit_scan(step);
  const TileReads reads = reads_of(kernel_, schedule_, step, step.op->operands);
  if (step.op->kind == OpKind::Sort) return note_reads(node_of(step.op->result()), reads);
  for (const TileRead& read : reads.arrays) node_of(read.value);
}

// Operands and results are laid out alike.
void LayoutChooser::visit_scan(const Step& step) {
  const ir::Op& op = *step.op;
  const int node = node_of(op.results[0]);
  for (ir::Value result : op.results) unite(node, node_of(result));
  note_reads(node, reads_of(kernel_, schedule_, step, op.operands));
  groups_[static_cast<std::size_t>(find(node))].scan_axis = static_cast<int>(op.integer("axis"));
}

// The sum that a product is added to is read like an operand of an elementwise op.
void LayoutChooser::visit_dot(const Step& step) {
  const ir::Op& op = *step.op;
  const DotPlan& plan = dots_[&op] = plan_dot(kernel_, op, dot_options_);
  const int node = node_of(op.result());
  note_reads(node, reads_of(kernel_, schedule_, step, {op.operands[2]}));
  Group& group = groups_[static_cast<std::size_t>(find(node))];
  if (!group.dot || (plan.uses_mma && !group.dot->uses_mma)) group.dot = &plan;
  for (const std::size_t side : {0, 1})
    for (const TileRead& read : reads_of(kernel_, schedule_, step, {op.operands[side]}).arrays)
      node_of(read.value);
}

void LayoutChooser::visit_control(const Step& step) {
  const ir::Op& op = *step.op;
  const bool is_loop = op.facts().has(ir::Loops);
  const auto note_copies = [&] {
    for (const TileCopy& copy : copies_of(kernel_, op))
      note_reads(node_of(copy.to), reads_of(kernel_, schedule_, step, {copy.from}));
  };
  if (is_loop) note_copies();
  loop_depth_ += is_loop ? 1 : 0;
  for (const Steps& region : step.regions) visit(region);
  loop_depth_ -= is_loop ? 1 : 0;
  for (const ir::Value result : op.results)
    if (is_tile(kernel_, result)) node_of(result);
  if (!is_loop) note_copies();
}

// ---- Choice

void LayoutChooser::choose_all() {
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
  for (auto& [sweep, node] : steps_) node = find(node);
}

void LayoutChooser::choose(int node) {
  const Group& group = groups_[static_cast<std::size_t>(node)];
  if (group.dot) {
    const Layout& result = group.dot->layouts.result;
    layouts_[node] = {.layout = result,
                      .log_vector = result.log_vector(),
                      .contiguous = group.shape.rank - 1,
                      .is_unrolled = true};
  } else if (!take_part(node) && !pull(node)) {
    choose_by_access(node);
    stay_within_warps(node);
  }
  groups_[static_cast<std::size_t>(node)].is_laid = true;
}

// A part of a product's result stays where it is.
bool LayoutChooser::take_part(int node) {
  const Group& group = groups_[static_cast<std::size_t>(node)];
  if (!group.accesses.empty()) return false;
  for (const Relation& relation : relations_) {
    const int array = find(node_of(relation.storage));
    const Group& whole = groups_[static_cast<std::size_t>(array)];
    if (find(relation.reader) != node || !whole.is_laid || whole.dot == nullptr ||
        group.shape.numel() >= whole.shape.numel())
      continue;
    const std::optional<Layout> part = layouts_.at(array).layout.part(relation.map);
    if (!part) continue;
    layouts_[node] = {.layout = *part,
                      .log_vector = part->log_vector(),
                      .contiguous = group.shape.rank - 1,
                      .is_unrolled = true};
    return true;
  }
  return false;
}

// What is stored through shared memory beside a producer: its warps need not wait for each other
// where each one stores what it has. Beside short loops, and in kernels that loop over their tiles
// by themselves, few elements of 16 bits need no shared memory, from which products read their
// operands at the same time: lanes exchange them, and four of them have 64 bytes of a row. Tutorial
// 03 with deferred stores on an H200, 128 x 256 x 64, of cuBLAS, through shared memory and
// exchanged: 8192 x 8192 x 512 (8 rounds) 1.003 and 1.055; with 32 to 128 rounds slower: 2048^3
// 0.983 and 0.974, 4096^3 1.008 and 1.001, 8192^3 1.027 and 1.016, 4096 x 14336 x 4096 0.995 and
// 0.985. What tensor maps store (roles/model.h) never comes here. Tutorial 09,
// which has a loop of its own: 8192 x 8192 x 512 0.926 and 0.977, 2048^3 0.976 and 0.976, 4096^3
// 0.992 and 1.000, 8192^3 1.031 and 1.033.
void LayoutChooser::stay_within_warps(int node) {
  const Group& group = groups_[static_cast<std::size_t>(node)];
  TileLayout& tile = layouts_.at(node);
  if (!has_roles_ || tile.contiguous != group.shape.rank - 1) return;
  for (const Relation& relation : relations_) {
    const int array = find(node_of(relation.storage));
    if (find(relation.reader) != node || !groups_[static_cast<std::size_t>(array)].is_laid ||
        !relation.map.is_identity() || !relation.is_apart)
      continue;
    const Layout& held = layouts_.at(array).layout;
    const bool is_small = exchanges_ && held.register_count() <= TileLayouts::most_exchanged &&
                          tile.log_vector >= 2 &&
                          kernel_.type(relation.storage).element_bytes() == 2;
    const auto lines = is_small ? held.lines_in_registers(tile.log_vector) : std::nullopt;
    const auto rows = lines ? lines : held.rows_within_warps(tile.log_vector);
    if (rows) tile.layout = *rows;
  }
}

// Takes the layout from a neighbour that reads or makes this array, so that every element is where
// it is wanted. Tiles of the same size that access memory themselves choose by that.
bool LayoutChooser::pull(int node) {
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

void LayoutChooser::choose_by_access(int node) {
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
      log_width = std::min(log_width, log2_of_power(16 / group.access_bytes[i]));
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
  if (is_summed_along(node, contiguous)) keep_lines_within_warps(shape, out);
  deal_out_axis(group, group.scan_axis, out);
  if (group.scan_axis < 0) deal_out_axis(group, added_axis(node), out);
  layouts_[node] = std::move(out);
}

// A thread of a scan should have consecutive elements of its lines, and one that holds totals which
// atomics add to memory should have neighbours: one instruction adds them all, where each total
// alone would keep its sector of L2 busy as long. Which rows the threads of a warp have does not
// matter to memory, as long as no access has its neighbours along the axis and each row fills whole
// sectors.
void LayoutChooser::deal_out_axis(const Group& group, int axis, TileLayout& tile) const {
  constexpr int sector = 32;
  if (axis < 0 || axis == tile.contiguous) return;
  for (std::size_t i = 0; i < group.accesses.size(); ++i) {
    const int dimension = group.accesses[i].contiguous;
    const int log_row = group.shape.log_sizes[static_cast<std::size_t>(dimension)];
    if (dimension == axis || group.access_bytes[i] << log_row < sector) return;
  }
  tile.layout = with_axis_in_registers(tile.layout, sizes_of(group.shape), axis, tile.log_vector);
}

// Whether a reduction combines elements along the dimension, and no other one.
bool LayoutChooser::is_summed_along(int node, int dimension) const {
  const Group& group = groups_[static_cast<std::size_t>(node)];
  const IndexMap along = coordinate_map(sizes_of(group.shape), dimension);
  bool found = false;
  for (const Relation& relation : relations_) {
    if (find(relation.reader) != node || !relation.is_total) continue;
    found = true;
    for (int j = 0; j < bits_of_type(group.shape); ++j) {
      const std::uint64_t index = std::uint64_t{1} << j;
      if ((relation.map.matrix(index) == 0) != (along.matrix(index) != 0)) return false;
    }
  }
  return found;
}

// Lines that two warps would share are each one warp's: it sums them up without shared memory, and
// has half as many of them. Of what lies along the line each thread then has twice as much.
void LayoutChooser::keep_lines_within_warps(const ir::Type& shape, TileLayout& tile) const {
  const IndexMap along = coordinate_map(sizes_of(shape), tile.contiguous);
  const auto is_along = [&](std::uint64_t column) { return along.matrix(column) != 0; };
  std::vector<std::uint64_t> registers(tile.layout.registers().all_columns().begin(),
                                       tile.layout.registers().all_columns().end());
  std::vector<std::uint64_t> warps(tile.layout.warps().all_columns().begin(),
                                   tile.layout.warps().all_columns().end());
  const auto line = std::find_if(warps.begin(), warps.end(), is_along);
  const auto other = std::find_if_not(registers.begin(), registers.end(), is_along);
  if (std::count_if(warps.begin(), warps.end(), is_along) != 1 || other == registers.end() ||
      std::find(warps.begin(), warps.end(), 0u) != warps.end())
    return;
  std::swap(*line, *other);
  std::sort(warps.begin(), warps.end());
  const int rows = tile.layout.element_bits();
  tile.layout = {BitMatrix(rows, std::move(registers)), tile.layout.lanes(),
                 BitMatrix(rows, std::move(warps))};
}

// The axis along which the totals of a reduction lie side by side where atomics add them to memory;
// none: -1.
int LayoutChooser::added_axis(int node) {
  const LogSizes sizes = sizes_of(groups_[static_cast<std::size_t>(node)].shape);
  for (const Relation& relation : relations_) {
    if (find(relation.reader) != node || !relation.is_total) continue;
    const Group& totals = groups_[static_cast<std::size_t>(find(node_of(relation.storage)))];
    if (totals.added_dimension < 0) continue;
    const IndexMap along =
        compose(coordinate_map(sizes_of(totals.shape), totals.added_dimension), relation.map);
    for (int d = 0; d < static_cast<int>(sizes.size()); ++d)
      if (along.matrix == coordinate_map(sizes, d).matrix) return d;
  }
  return -1;
}

// ---- The tables

// The name of the row, which is made where there is none like it.
std::string row_of(ir::Kernel& kernel, const TileLayout& tile, const ir::Type& shape) {
  ir::KernelLayout row{.name = {},
                       .shape = ir::Type::tile(DType::Int8, shape.shape()),
                       .layout = tile.layout,
                       .vector = 1 << tile.log_vector,
                       .along = tile.contiguous,
                       .is_unrolled = tile.is_unrolled};
  for (const ir::KernelLayout& other : kernel.layouts) {
    row.name = other.name;
    if (row == other) return row.name;
  }
  row.name = fmt::format("{}", kernel.layouts.size());
  kernel.layouts.push_back(row);
  return row.name;
}

void write_unit(ir::Op& dot, const DotPlan* plan) {
  if (!plan) {
    dot.erase("unit");
    dot.erase("warps");
    return;
  }
  if (!plan->is_asynchronous) dot.set("unit", std::string(plan->instruction));
  dot.set("warps", ir::warps_attribute(plan->warps));
}

}  // namespace

void assign_layouts(ir::Kernel& kernel, const LaidFacts& facts, const Target& target) {
  const LayoutChooser chooser(kernel, facts, target);
  kernel.layouts.clear();
  for (std::size_t i = 0; i < kernel.buffers.size(); ++i) {
    const ir::Value owner = facts.sweeps.owner_of(i);
    const TileLayout* layout = owner ? chooser.of_array(owner) : nullptr;
    if (layout) kernel.buffers[i].layout = row_of(kernel, *layout, kernel.buffers[i].type);
  }
  ir::walk(kernel.body, [&](ir::Op& op) {
    if (op.kind == OpKind::Dot) write_unit(op, chooser.fitting_plan(op));
    const TileLayout* layout = op.kind == OpKind::Sweep ? chooser.of_sweep(op) : nullptr;
    if (!layout) return;
    op.set("layout", row_of(kernel, *layout, ir::Type::tile(DType::Int8, op.integers("shape"))));
  });
}

}  // namespace tilewright
