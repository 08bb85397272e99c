// SPDX-License-Identifier: Apache-2.0
// passes/choose_units.cpp — sizes, types and lines of operands against what wgmma takes.
#include "passes/choose_units.h"

#include <algorithm>

#include <fmt/format.h>

#include "machine/units.h"
#include "passes/axis_info.h"
#include "passes/carried_sums.h"

namespace tilewright {
namespace {

using ir::Op;
using ir::OpKind;
using ir::Type;
using ir::Value;

class UnitChooser {
 public:
  UnitChooser(const ir::Kernel& kernel, const Target& target, int num_warps)
      : kernel_(kernel), axes_(kernel), num_warps_(num_warps), sums_(carried_sums(kernel, target, num_warps)) {}

  // Why warpgroups do not make it; "" when they do.
  std::string refusal(const Op& dot) const {
    const Type& a = kernel_.type(dot.operands[0]);
    const Type& b = kernel_.type(dot.operands[1]);
    const Type& result = kernel_.type(dot.result());
    const std::string_view precision = dot.text("precision", "tf32");
    if (!has_group_unit(a.dtype, b.dtype, result.dtype, precision))
      return fmt::format("they have no instruction for {} and {}{}", name_of(a.dtype), name_of(b.dtype),
                         a.dtype == DType::Float32 ? fmt::format(" as {}", precision) : "");
    if (result.rank != 2) return "it is a batch of products";
    if (num_warps_ < 4) return fmt::format("num_warps is {}, and a warpgroup has 4", num_warps_);
    if (result.size(0) < 64) return fmt::format("it has {} rows, and they make 64 and more", result.size(0));
    if (result.size(1) < 8) return fmt::format("it has {} columns, and they make 8 and more", result.size(1));
    const auto depth_bytes = a.size(1) * static_cast<std::int64_t>(a.element_bytes());
    if (depth_bytes < 32) return fmt::format("its depth is {}, less than the 32 bytes of an instruction", a.size(1));
    if (sums_ > most_carried_sums) return fmt::format("the sums that a loop carries take {} registers of a thread", sums_);
    if (a.element_bytes() == 2) return "";
    if (line_dimension(dot.operands[0], 1) != 1) return "its left operand does not lie along the depth, as elements of that size must";
    if (line_dimension(dot.operands[1], 1) != 0) return "its right operand does not lie along the depth, as elements of that size must";
    return "";
  }

 private:
  // The dimension along which an operand's elements are neighbours in memory; `otherwise` of what is computed.
  int line_dimension(Value value, int otherwise) const {
    const Op* maker = kernel_.maker(value);
    if (maker && maker->kind == OpKind::Permute) {
      const int inner = line_dimension(maker->operands[0], otherwise);
      const auto& order = std::get<std::vector<std::int64_t>>(*maker->find("order"));
      for (std::size_t d = 0; d < order.size(); ++d)
        if (order[d] == inner) return static_cast<int>(d);
      return -1;
    }
    if (!maker || maker->kind != OpKind::Load) return otherwise;
    for (int d = 0; d < kernel_.type(value).rank; ++d)
      if (axes_.vector_width(*maker, d) > 1) return d;
    return -1;
  }

  const ir::Kernel& kernel_;
  const AxisAnalysis axes_;
  const int num_warps_;
  const std::int64_t sums_;
};

}  // namespace

std::vector<std::string> choose_units(ir::Kernel& kernel, const Target& target, int num_warps) {
  std::vector<std::string> notes;
  if (!target.has(Feature::Wgmma)) return notes;
  const UnitChooser chooser(kernel, target, num_warps);
  ir::walk(kernel.body, [&](Op& op) {
    if (op.kind != OpKind::Dot) return;
    const std::string why = chooser.refusal(op);
    if (why.empty()) op.set("unit", std::string(group_unit));
    const std::string note = fmt::format("the product at line {} is not made by warpgroups: {}", op.location.line, why);
    const bool is_known = std::find(notes.begin(), notes.end(), note) != notes.end();  // of another loop that was made from it
    if (!why.empty() && op.location.line > 0 && !is_known) notes.push_back(note);
  });
  return notes;
}

void choose_units(ir::Kernel& kernel, const Target& target) { static_cast<void>(choose_units(kernel, target, 4)); }

bool is_asynchronous(const Op& dot) { return dot.text("unit", "") == group_unit; }

}  // namespace tilewright
