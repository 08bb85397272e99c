// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/wrapping.cpp — follows integers from their uses back to what they are made of.
#include "codegen/cuda/wrapping.h"

#include <algorithm>

#include "base/check.h"

namespace tilewright {
namespace {

using ir::OpKind;

bool is_integer(const ir::Kernel& kernel, ir::Value value) { return kernel.type(value).is_int(); }

class Finder {
 public:
  explicit Finder(const ir::Kernel& kernel)
      : kernel_(kernel), is_data_(kernel.value_count()), known_(kernel.value_count()) {}

  std::vector<bool> run() {
    do {
      changed_ = false;
      visit(kernel_.body, nullptr);
    } while (changed_);
    for (std::size_t id = 0; id < is_data_.size(); ++id) {
      const ir::Type& type = kernel_.type(ir::Value{static_cast<std::uint32_t>(id)});
      is_data_[id] =
          is_data_[id] && type.is_int() && is_signed(type.dtype) && size_of(type.dtype) >= 4;
    }
    return std::move(is_data_);
  }

 private:
  // Uses come before what they use: one round is enough but for values that loops carry.
  void visit(const ir::Region& region, const ir::Op* parent) {
    for (auto op = region.ops.rbegin(); op != region.ops.rend(); ++op) {
      for (const ir::Region& inner : (*op)->regions) visit(inner, *op);
      for (std::size_t i = 0; i < (*op)->operands.size(); ++i)
        if (uses_data(**op, i, parent)) mark((*op)->operands[i]);
    }
  }

  void mark(ir::Value value) {
    if (is_data_[value.id] || kernel_.type(value).is_pointer) return;
    is_data_[value.id] = true;
    changed_ = true;
  }

  bool uses_data(const ir::Op& op, std::size_t index, const ir::Op* parent) {
    const ir::Value value = op.operands[index];
    const bool is_scalar = kernel_.type(value).is_scalar();
    switch (op.facts().integers) {
      case ir::IntegerUse::Data:
        return true;
      case ir::IntegerUse::Index:
        return false;
      case ir::IntegerUse::HandsOn: {
        const ir::Value result = op.results[0];
        return is_data_[result.id] ||
               !(is_integer(kernel_, result) || kernel_.type(result).is_pointer);
      }
      case ir::IntegerUse::ByUse:
        break;
    }
    if (op.kind == OpKind::Gather) return index == 0;
    if (op.kind == OpKind::Compare) return !is_scalar && !is_index(value);
    TW_CHECK(op.facts().is(ir::Family::Ends), "how '{}' uses integers", op.facts().name);
    return !is_scalar || (op.kind == OpKind::Yield && yields_data(*parent, index));
  }

  // Results of a loop or branch, and what the next iteration begins with.
  bool yields_data(const ir::Op& parent, std::size_t index) const {
    if (parent.facts().has(ir::Combines)) return true;
    const bool is_result = index < parent.results.size() && is_data_[parent.results[index].id];
    if (parent.kind != OpKind::For) return is_result;
    const std::vector<ir::Value>& arguments = parent.regions[0].arguments;  // the index is first
    return is_result || (index + 1 < arguments.size() && is_data_[arguments[index + 1].id]);
  }

  // Made of program numbers, aranges, arguments and constants: what masks compare.
  bool is_index(ir::Value value) {
    Known& known = known_[value.id];
    if (known == Known::Nothing) known = is_made_of_indices(value) ? Known::Index : Known::Other;
    return known_[value.id] == Known::Index;
  }

  bool is_made_of_indices(ir::Value value) {
    const ir::Op* maker = kernel_.maker(value);
    if (!maker) return kernel_.type(value).is_scalar();
    if (maker->operands.empty()) return true;
    return maker->facts().integers == ir::IntegerUse::HandsOn && is_integer(kernel_, value) &&
           std::all_of(maker->operands.begin(), maker->operands.end(),
                       [&](ir::Value operand) { return is_index(operand); });
  }

  enum class Known : std::uint8_t { Nothing, Index, Other };

  const ir::Kernel& kernel_;
  std::vector<bool> is_data_;
  std::vector<Known> known_;
  bool changed_ = false;
};

}  // namespace

std::vector<bool> find_wrapping(const ir::Kernel& kernel) { return Finder(kernel).run(); }

}  // namespace tilewright
