// SPDX-License-Identifier: Apache-2.0
// compiler/product_facts.cpp — read from the products' attributes and the table of buffers.
#include "compiler/product_facts.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/units.h"
#include "ir/roles.h"

namespace tilewright {
namespace {

using ir::Op;
using ir::OpKind;

// The slots that a product's operands are read from; none: ", from ..." is left out.
std::string slots_text(const ir::Kernel& kernel, const Op& dot) {
  std::int64_t bytes = 0;
  int slots = 0;
  for (const ir::Value operand : {dot.operands[0], dot.operands[1]}) {
    const Op* read = kernel.maker(operand);
    while (read != nullptr && read->kind != OpKind::ReadBuffer && read->operands.size() == 1)
      read = kernel.maker(read->operands[0]);  // transposed or converted on its way
    if (read == nullptr || read->kind != OpKind::ReadBuffer) continue;
    const ir::KernelBuffer& buffer = kernel.buffers[kernel.buffer_of(*read)];
    slots = std::max(slots, buffer.slots);
    bytes += buffer.type.numel() * static_cast<std::int64_t>(buffer.type.element_bytes());
  }
  if (slots == 0) return "";
  return fmt::format(", from {} slots of {}", slots, format_bytes(static_cast<std::size_t>(bytes)));
}

}  // namespace

std::vector<std::string> product_facts(const ir::Kernel& laid) {
  std::vector<std::string> facts;
  ir::walk(laid.body, [&](const Op& op) {
    if (op.kind != OpKind::Dot) return;
    const std::string unit(op.text("unit", ""));
    const std::string line =
        op.location.line > 0 ? fmt::format("line {}: ", op.location.line) : std::string();
    std::string fact = fmt::format("{}{} x {} by {}{}", line, laid.type(op.operands[0]).to_string(),
                                   laid.type(op.operands[1]).to_string(),
                                   unit.empty() ? "multiply-adds" : unit, slots_text(laid, op));
    if (std::find(facts.begin(), facts.end(), fact) == facts.end())
      facts.push_back(std::move(fact));
  });
  return facts;
}

namespace {

std::string condition_text(const ir::Kernel& laid) {
  std::vector<std::string> names;
  for (const ir::KernelArgument& argument : laid.arguments)
    if (argument.is_positive) names.push_back(laid.name_of(argument.value));
  if (names.empty()) return "";
  return fmt::format("; for launches with {} above 0, others run without roles",
                     fmt::join(names, ", "));
}

}  // namespace

std::string role_facts(const ir::Kernel& laid, int num_warps) {
  const Op* producer = ir::producer_of(laid);
  if (producer == nullptr) return "";
  const auto registers = producer->integers("registers");
  const auto with = [&](std::size_t role, std::string_view words) {
    return registers.size() == 2 ? fmt::format(" with {}{}", registers[role], words)
                                 : std::string();
  };
  return fmt::format("{} warps copy by tensor maps{}, {} multiply{}{}", producer->integer("warps"),
                     with(0, " registers a thread"), num_warps, with(1, ""),
                     ir::is_persistent(laid)
                         ? "; a block per multiprocessor takes one program after the other"
                         : "") +
         condition_text(laid);
}

}  // namespace tilewright
