// SPDX-License-Identifier: Apache-2.0
// passes/laid/place_tiles.cpp — what each step reads against where its layout has it, and orders in
// shared memory.
#include "passes/laid/place_tiles.h"

#include <algorithm>
#include <vector>

#include "layout/convert.h"
#include "passes/laid/access_shape.h"
#include "passes/laid/op_facts.h"
#include "passes/laid/tile_layouts.h"
#include "passes/laid/tile_reads.h"

namespace tilewright {
namespace {

using ir::KernelBuffer;
using ir::Op;
using ir::OpKind;
using Kind = Step::Kind;

constexpr int product_align =
    1024;  // bytes: the period of the order that asynchronous products read

class TilePlacer {
 public:
  TilePlacer(ir::Kernel& kernel, const LaidFacts& facts)
      : kernel_(kernel),
        schedule_(facts.sweeps),
        alignments_(facts.alignments),
        layouts_(kernel, facts.sweeps),
        uses_(kernel.buffers.size()) {
    for (std::size_t i = 0; i < uses_.size(); ++i) {
      uses_[i].is_shared = kernel.buffers[i].has_slots() || holds_too_much(i);
      uses_[i].lines = kernel.buffers[i].type.rank - 1;
    }
    ir::walk(kernel.body, [&](const Op& op) {
      if (op.kind == OpKind::CopyMap) uses_[kernel.buffer_of(op)].lines = kernel.map_of(op).dimensions[0].of_tile;
    });
  }

  void run(const PlaceOptions& options) {
    visit(schedule_.steps());
    note_products();
    const int row = options.keeps_row_private ? find_row() : -1;
    for (std::size_t i = 0; i < uses_.size(); ++i) {
      KernelBuffer& buffer = kernel_.buffers[i];
      uses_[i].is_shared |= !uses_[i].swaps.empty() && uses_[i].reads > 1;
      buffer.swaps.clear();
      if (!uses_[i].is_shared)
        for (const LaneSwap& swap : uses_[i].swaps)
          buffer.swaps.insert(buffer.swaps.end(), {swap.lane, swap.register_bit});
      const bool is_row = static_cast<int>(i) == row;
      buffer.is_private = is_row;
      buffer.space =
          uses_[i].is_shared || is_row ? ir::BufferSpace::Shared : ir::BufferSpace::Registers;
      buffer.order = uses_[i].is_shared ? order_of(i) : std::vector<std::int64_t>();
      buffer.align = uses_[i].is_product_operand ? product_align : KernelBuffer::least_align;
    }
  }

 private:
  struct Use {  // of a buffer
    bool is_shared = false;
    int reads = 0;
    std::vector<LaneSwap> swaps = {};  // of lanes, for its only read
    bool has_lines = false;           // it is read by lines in shared memory
    bool is_product_operand = false;  // of an asynchronous product
    int lines = 0;                    // of slots: the dimension along which copies go
  };
  struct OperandRead {  // of a product
    const ir::Op* dot;
    bool is_left;
    ir::Value value;
    IndexMap map;
  };

  Use& use_of(ir::Value value) {
    return uses_[static_cast<std::size_t>(schedule_.buffer_of(value))];
  }

  // More than the registers of a thread take.
  bool holds_too_much(std::size_t buffer) const {
    const ir::Value owner = schedule_.owner_of(buffer);
    if (!owner) return false;
    const TileLayout& tile = layouts_.of_array(owner);
    const int most = tile.is_unrolled ? TileLayouts::most_sums : TileLayouts::most_registers;
    return tile.layout.register_count() * words_of(kernel_.buffers[buffer].type) > most;
  }

  static int words_of(const ir::Type& type) { return type.element_bytes() > 4 ? 2 : 1; }

  // ---- What is read

  void visit(const Steps& steps) {
    for (const Step& step : steps) {
      if (step.kind == Kind::Elements) visit_elements(step);
      if (step.kind == Kind::Across) visit_across(step);
      if (step.kind == Kind::Control) visit_control(step);
    }
  }

  // By threads that go over elements in a layout.
  void note_reads(const Layout& reader, const TileReads& reads) {
    for (const TileRead& read : reads.arrays) {
      if (layouts_.is_slot(read.value)) continue;
      Use& use = use_of(read.value);
      use.has_lines |= schedule_.is_apart(read.value);
      const Layout& array = layouts_.of_array(read.value).layout;
      const bool is_own = read.map.is_identity() && array == reader;
      if (!use.is_shared && !is_own)
        use.is_shared = plan_conversion(array, reader, read.map).kind == Conversion::Kind::Shared &&
                        !may_exchange(read, array, reader, use);
      ++use.reads;
    }
  }

  // Whether lanes exchange the elements instead: those of the only read of what is stored apart.
  bool may_exchange(const TileRead& read, const Layout& array, const Layout& reader, Use& use) {
    const ir::Type& type = kernel_.type(read.value);
    if (!schedule_.is_apart(read.value) || !read.map.is_identity() || type.is_bool() ||
        type.element_bytes() != 2 || array.register_count() > TileLayouts::most_exchanged)
      return false;
    const auto swaps = plan_swaps(array, reader);
    // The lowest bit of a register's number tells the two halves of a word apart.
    if (!swaps || use.reads > 0 ||
        std::any_of(swaps->begin(), swaps->end(), [](LaneSwap s) { return s.register_bit == 0; }))
      return false;
    use.swaps = *swaps;
    return true;
  }

  void visit_elements(const Step& step) {
    note_reads(layouts_.of_step(step).layout, reads_of(kernel_, schedule_, step));
    for (const ir::Op* op : step.ops)
      if (op->kind == OpKind::CopyAsync) {
        const AccessShape shape = access_shape(kernel_, alignments_, *op);
        if (shape.contiguous >= 0) uses_[kernel_.buffer_of(*op)].lines = shape.contiguous;
      }
    for (const ir::Op* reduce : step.reductions)
      for (const ir::Value result : reduce->results)
        if (is_tile(kernel_, result) && schedule_.buffer_of(result) >= 0)
          use_of(result).is_shared |=
              !(layouts_.of_reduced(step, *reduce) == layouts_.of_array(result).layout);
  }

  // Operands are read at any place, so that they must be in shared memory; those of products, scans
  // and sorts only where layouts ask for it.
  void visit_across(const Step& step) {
    const ir::Op& op = *step.op;
    const auto reads = [&](const std::vector<ir::Value>& values) {
      return reads_of(kernel_, schedule_, step, values);
    };
    const auto result = [&]() -> const Layout& { return layouts_.of_array(op.results[0]).layout; };
    if (op.kind == OpKind::ReadBuffer) return;
    if (op.kind == OpKind::Dot) {
      note_reads(result(), reads({op.operands[2]}));
      for (const bool is_left : {true, false})
        for (const TileRead& read : reads({op.operands[is_left ? 0 : 1]}).arrays)
          operands_.push_back({&op, is_left, read.value, read.map});
      return;
    }
    if (op.kind == OpKind::StoreMap)
      return note_reads(layouts_.of_array(op.operands[0]).layout, reads({op.operands[0]}));
    const TileReads all = reads(op.operands);
    if (op.kind == OpKind::Scan || op.kind == OpKind::Sort) note_reads(result(), all);
    if (op.kind == OpKind::Sort || (op.kind == OpKind::Scan && goes_in_registers(op))) return;
    for (const TileRead& read : all.arrays) use_of(read.value).is_shared = true;
    if (op.kind != OpKind::Scan) return;
    for (const ir::Value value : op.results) use_of(value).is_shared = true;
  }

  // Says so in the scan, too.
  bool goes_in_registers(const ir::Op& scan) {
    const Layout& layout = layouts_.of_array(scan.results[0]).layout;
    int words = 0;
    for (const ir::Value operand : scan.operands) words += words_of(kernel_.type(operand));
    const bool fits = layout.register_count() * words <= TileLayouts::most_scanned &&
                      plan_scan(layout, sizes_of(kernel_.type(scan.operands[0])),
                                static_cast<int>(scan.integer("axis")));
    kernel_.maker(scan.results[0])->set("via", std::string(fits ? "registers" : "shared"));
    return fits;
  }

  void visit_control(const Step& step) {
    for (const TileCopy& copy : copies_of(kernel_, *step.op))
      note_reads(layouts_.of_array(copy.to).layout,
                 reads_of(kernel_, schedule_, step, {copy.from}));
    for (const Steps& region : step.regions) visit(region);
  }

  // ---- Products

  void note_products() {
    for (const OperandRead& read : operands_) {
      Use& use = use_of(read.value);
      use.has_lines = true;
      use.is_shared |= !is_held(read);
    }
    for (const OperandRead& read : operands_) {
      Use& use = use_of(read.value);
      use.is_product_operand |= use.is_shared && layouts_.plan_of(*read.dot).is_asynchronous;
    }
  }

  // Whether threads have what they need of an operand in their own registers, where it may come
  // from those.
  bool is_held(const OperandRead& read) const {
    const DotPlan& plan = layouts_.plan_of(*read.dot);
    if (!plan.uses_mma || layouts_.is_slot(read.value)) return false;
    if (plan.is_asynchronous && !read.is_left) return false;
    return plan_conversion(layouts_.of_array(read.value).layout,
                           read.is_left ? plan.layouts.left : plan.layouts.right, read.map)
               .kind == Conversion::Kind::Registers;
  }

  // ---- Orders

  // Operands of a product, and what is stored after it, are read by lines, transposed loads across
  // them; they stand as their memory accesses go. Slots have lines as memory is read.
  std::vector<std::int64_t> order_of(std::size_t number) const {
    const KernelBuffer& buffer = kernel_.buffers[number];
    const Use& use = uses_[number];
    const ir::Type& type = buffer.type;
    const bool has_lines = buffer.has_slots() || (use.has_lines && !type.is_bool());
    if (type.rank < 2 || !has_lines) return {};
    const ir::Value owner = schedule_.owner_of(number);
    const ir::Op* maker = owner ? kernel_.maker(schedule_.source_of(owner)) : nullptr;
    const bool is_crossed =
        owner && schedule_.is_apart(owner) && maker && maker->kind == OpKind::Load;
    const auto lines = use.is_product_operand ? Swizzle::panels
                       : is_crossed           ? Swizzle::crossed_lines
                                              : Swizzle::lines;
    const Swizzle swizzle =
        lines(sizes_of(type), buffer.has_slots() ? use.lines : layouts_.of_array(owner).contiguous,
              static_cast<int>(type.element_bytes()));
    if (swizzle.matrix == BitMatrix::identity(bits_of_type(type))) return {};
    const auto columns = swizzle.matrix.all_columns();
    return {columns.begin(), columns.end()};
  }

  // ---- A private row

  // The buffer of the one tile of the largest size that is kept, if it is a load outside of all
  // loops whose readers find every element in their own registers; else -1.
  int find_row() const {
    const std::int64_t largest = largest_tile(kernel_);
    std::vector<ir::Value> kept;
    for (const ir::Value value : schedule_.placed_results())
      if (kernel_.type(value).numel() == largest) kept.push_back(value);
    if (kept.size() != 1) return -1;
    const ir::Value value = kept.front();
    const ir::Op* source = kernel_.maker(schedule_.source_of(value));
    const int number = schedule_.buffer_of(value);
    const auto& outermost = kernel_.body.ops;
    const bool is_plain = source && source->kind == OpKind::Load && number >= 0 &&
                          schedule_.storage(value) == value && !kernel_.type(value).is_bool() &&
                          !uses_[static_cast<std::size_t>(number)].is_shared &&
                          layouts_.of_array(value).layout.copy_bits() == 0;
    return is_plain && std::find(outermost.begin(), outermost.end(), kernel_.maker(value)) !=
                           outermost.end()
               ? number
               : -1;
  }

  ir::Kernel& kernel_;
  const Sweeps& schedule_;
  const Alignments& alignments_;
  const TileLayouts layouts_;  // by what assign_layouts wrote
  std::vector<Use> uses_;      // by buffer
  std::vector<OperandRead> operands_;
};

}  // namespace

void place_tiles(ir::Kernel& kernel, const LaidFacts& facts, const PlaceOptions& options) {
  TilePlacer(kernel, facts).run(options);
}

}  // namespace tilewright
