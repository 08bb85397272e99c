// SPDX-License-Identifier: Apache-2.0
// ir/verify_tables.cpp — rules L2, L5 and L6 of verify_laid.h for the tables of a kernel: layouts
// and orders reach every element, rows that are named exist and fit, products lie as their unit
// wants.
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "ir/product.h"
#include "ir/verify_laid.h"
#include "ir/verify_types.h"

namespace tilewright::ir {
namespace {

bool is_power_of_two(int number) { return std::has_single_bit(static_cast<unsigned>(number)); }

class TableRules {
 public:
  explicit TableRules(const Kernel& kernel) : kernel_(kernel) {}

  void check() const {
    if (kernel_.shape.is_decided()) check_shape();
    else if (!kernel_.layouts.empty()) fail(nullptr, "rule L2: layouts need the kernel's shape");
    for (std::size_t i = 0; i < kernel_.layouts.size(); ++i) check_layout(i);
    for (const KernelBuffer& buffer : kernel_.buffers) check_buffer(buffer);
    walk(kernel_.body, [&](const Op& op) {
      if (op.kind == OpKind::Sweep) check_sweep(op);
      if (op.kind == OpKind::Dot) check_dot(op);
    });
  }

 private:
  [[noreturn]] void fail(const Op* op, const std::string& rule) const {
    fail_verification(kernel_, op, rule);
  }
  template <class... Arguments>
  void require(bool holds, fmt::format_string<Arguments...> rule, Arguments&&... arguments) const {
    if (!holds) fail(nullptr, fmt::format(rule, std::forward<Arguments>(arguments)...));
  }

  void check_shape() const {
    const KernelShape& shape = kernel_.shape;
    require(is_power_of_two(shape.warps), "rule L2: {} warps are no power of two", shape.warps);
    require(is_power_of_two(shape.cluster), "rule L2: {} blocks of a cluster are no power of two",
            shape.cluster);
    for (const KernelBuffer& buffer : kernel_.buffers) {
      const bool is_met_in = buffer.has_place() && !buffer.is_scratch();
      require(shape.programs == 1 || !buffer.is_shared(),
              "rule L6: programs share a block, and buffer '{}' is in its shared memory",
              buffer.name);
      require(shape.cluster == 1 || !is_met_in,
              "rule L6: a program is spread over a cluster, and buffer '{}' is in the shared "
              "memory of one block",
              buffer.name);
    }
  }

  void check_layout(std::size_t number) const {
    const KernelLayout& layout = kernel_.layouts[number];
    for (std::size_t j = 0; j < number; ++j)
      require(kernel_.layouts[j].name != layout.name, "there are two layouts '{}'", layout.name);
    const int warps =
        std::countr_zero(static_cast<unsigned>(kernel_.shape.warps * kernel_.shape.cluster));
    require(layout.layout.covers_all(), "rule L2: layout '{}' leaves elements out", layout.name);
    require(layout.layout.warps().columns() == warps,
            "rule L2: layout '{}' has {} bits for warps, and the shape {}", layout.name,
            layout.layout.warps().columns(), warps);
    const int lanes = kernel_.layouts.front().layout.lanes().columns();
    require(layout.layout.lanes().columns() == lanes,
            "rule L2: layout '{}' has {} bits for lanes, and the first one {}", layout.name,
            layout.layout.lanes().columns(), lanes);
    require(is_power_of_two(layout.vector),
            "rule L2: a vector of layout '{}' has {} elements, which is no power of two",
            layout.name, layout.vector);
  }

  const KernelLayout& layout_named(const Op* op, std::string_view name, const Type& shape,
                                   const std::string& who) const {
    const KernelLayout* layout = kernel_.find_layout(name);
    if (!layout) fail(op, fmt::format("rule L2: there is no layout '{}'", name));
    if (!same_shape(layout->shape, shape))
      fail(op, fmt::format("rule L2: layout '{}' is not of the shape of {}", name, who));
    return *layout;
  }

  void check_buffer(const KernelBuffer& buffer) const {
    const std::string who = fmt::format("buffer '{}'", buffer.name);
    if (!buffer.layout.empty()) layout_named(nullptr, buffer.layout, buffer.type, who);
    const bool is_decided = buffer.space != BufferSpace::Undecided;
    require(!is_decided || kernel_.shape.is_decided(), "rule L2: {} has a space, and no shape",
            who);
    require(
        !buffer.has_slots() || (buffer.layout.empty() && buffer.space != BufferSpace::Registers),
        "rule L2: {} has slots, which are shared memory without a layout", who);
    require(!buffer.is_scratch() || (buffer.is_shared() && !buffer.has_slots() &&
                                     buffer.layout.empty() && !buffer.is_private),
            "rule L2: {} is scratch, which is shared memory without slots and layout", who);
    require(!is_decided || buffer.has_slots() || buffer.is_scratch() || !buffer.layout.empty(),
            "rule L2: {} has a space and no layout", who);
    require(buffer.offset < 0 || buffer.has_place(),
            "rule L7: {} has an offset, and is not in the block's shared memory", who);
    require(buffer.is_shared() || (buffer.order.empty() && !buffer.is_private &&
                                   buffer.align == KernelBuffer::least_align),
            "rule L2: {} has an order, an alignment or is private, and is not in shared memory",
            who);
    require(is_power_of_two(buffer.align), "rule L2: {} is aligned to {}, which is no power of two",
            who, buffer.align);
    if (!buffer.order.empty()) check_order(buffer, who);
    if (!buffer.swaps.empty()) check_swaps(buffer, who);
  }

  // Pairs of bits of its layout; a word of a register has two elements, which stay together.
  void check_swaps(const KernelBuffer& buffer, const std::string& who) const {
    require(buffer.space == BufferSpace::Registers && buffer.type.element_bytes() == 2,
            "rule L2: lanes exchange {}, which is no tile of 16 bits in registers", who);
    const Layout& layout = kernel_.find_layout(buffer.layout)->layout;
    bool is_good = buffer.swaps.size() % 2 == 0;
    for (std::size_t i = 0; is_good && i < buffer.swaps.size(); i += 2)
      is_good = buffer.swaps[i] >= 0 && buffer.swaps[i] < layout.lanes().columns() &&
                buffer.swaps[i + 1] > 0 && buffer.swaps[i + 1] < layout.registers().columns();
    require(is_good, "rule L2: the swaps of {} are no bits of lanes and registers of its layout",
            who);
  }

  void check_order(const KernelBuffer& buffer, const std::string& who) const {
    const int bits = index_bits({buffer.type.log_sizes.data(), buffer.type.rank});
    const bool is_within = std::all_of(buffer.order.begin(), buffer.order.end(), [&](auto column) {
      return column > 0 && column >> bits == 0;
    });
    const bool is_place =
        is_within && static_cast<int>(buffer.order.size()) == bits &&
        BitMatrix(bits, {buffer.order.begin(), buffer.order.end()}).is_invertible();
    require(is_place, "rule L2: the order of {} does not give every element a place of its own",
            who);
  }

  void check_sweep(const Op& sweep) const {
    if (sweep.text("layout").empty()) return;
    layout_named(&sweep, sweep.text("layout"), Type::tile(DType::Int8, sweep.integers("shape")),
                 "the sweep");
  }

  // Of products that their unit makes.
  void check_dot(const Op& dot) const {
    if (!dot.find("warps")) return;
    const std::vector<std::int64_t> bits = dot.integers("warps");
    const std::optional<WarpSplit> warps = warps_of(dot);
    const bool are_bits = warps && std::all_of(bits.begin(), bits.end(), [](std::int64_t number) {
                            return number >= 0 && number < 32;
                          });
    if (!are_bits) fail(&dot, "rule L5: `warps` are five numbers from 0 to 31");
    const ProductUnit* unit = unit_of(kernel_, dot);
    if (!unit) fail(&dot, fmt::format("rule L5: '{}' is no unit of products", dot.text("unit")));
    const ProductSizes sizes = product_sizes(kernel_, dot);
    const MmaShape& shape = unit->shape;
    if (sizes.rows - warps->rows < shape.log_rows - warps->neighbours ||
        sizes.columns - warps->columns < shape.log_columns || sizes.depth < shape.log_depth ||
        sizes.batch < warps->batch || warps->rows < warps->neighbours)
      fail(&dot, "rule L5: the parts of warps are smaller than an instruction");
    const std::vector<std::string> into = dot.texts("into");
    const auto buffer = std::find_if(
        kernel_.buffers.begin(), kernel_.buffers.end(),
        [&](const KernelBuffer& one) { return !into.empty() && one.name == into.front(); });
    const KernelLayout* layout =
        buffer == kernel_.buffers.end() ? nullptr : kernel_.find_layout(buffer->layout);
    if (!layout || !(layout->layout == mma_layouts(sizes, shape, *warps).result))
      fail(&dot, "rule L5: the result does not lie as the unit of the product makes it");
  }

  const Kernel& kernel_;
};

}  // namespace

void verify_tables(const Kernel& kernel) { TableRules(kernel).check(); }

}  // namespace tilewright::ir
