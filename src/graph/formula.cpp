// SPDX-License-Identifier: Apache-2.0
// graph/formula.cpp — building and printing formulas.
#include "graph/formula.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"

namespace tilewright::graph {

DType Formula::dtype(int value) const {
  const auto i = static_cast<std::size_t>(value);
  if (value < first_number()) return leaves[i].dtype;
  if (value < first_step()) return numbers[i - leaves.size()];
  return steps[i - leaves.size() - numbers.size()].dtype;
}

bool Formula::has_reductions() const {
  return std::any_of(steps.begin(), steps.end(),
                     [](const Step& s) { return facts_of(s.op).op_class != OpClass::Pointwise; });
}

int Formula::leaf(DType leaf_dtype, bool is_per_row) {
  TW_CHECK(numbers.empty() && steps.empty(), "leaves come first");
  leaves.push_back({leaf_dtype, is_per_row});
  return first_number() - 1;
}

int Formula::place_leaf() {
  const int made = leaf(DType::Int64);
  leaves.back().is_place = true;
  return made;
}

int Formula::number(DType number_type) {
  TW_CHECK(steps.empty(), "numbers come before steps");
  numbers.push_back(number_type);
  return first_step() - 1;
}

int Formula::step(Op op, const std::vector<int>& operands, DType common) {
  Step made{
      .op = op, .operand_dtype = operand_dtype(op, common), .dtype = result_dtype(op, common)};
  for (std::size_t i = 0; i < operands.size(); ++i)
    made.operands[i] = static_cast<std::int16_t>(operands[i]);
  steps.push_back(made);
  return first_step() + static_cast<int>(steps.size()) - 1;
}

int Formula::step(Op op, std::initializer_list<int> operands) {
  DType common = operands.size() == 0 ? DType::Int64 : DType::Bool;
  const std::vector<int> all(operands);
  // The condition of `where` has no part in the promotion.
  for (std::size_t i = op == Op::Where ? 1 : 0; i < all.size(); ++i)
    common = promote(common, dtype(all[i]));
  return step(op, all, common);
}

int Formula::cast(int value, DType to) {
  if (dtype(value) == to) return value;
  const int made = step(Op::Cast, {value}, dtype(value));
  steps.back().dtype = to;
  return made;
}

void Formula::output(int value, DType output_dtype, bool is_per_row) {
  outputs.push_back({value, output_dtype, is_per_row});
}

std::string Formula::to_string() const {
  std::string text;
  for (std::size_t i = 0; i < leaves.size(); ++i)
    text += fmt::format("%{}: {}{} = leaf\n", i, name_of(leaves[i].dtype),
                        leaves[i].is_place     ? " place"
                        : leaves[i].is_per_row ? " per row"
                                               : "");
  for (std::size_t i = 0; i < numbers.size(); ++i)
    text += fmt::format("%{}: {} = number\n", i + leaves.size(), name_of(numbers[i]));
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step& s = steps[i];
    text += fmt::format("%{}: {} = {}(", first_step() + static_cast<int>(i), name_of(s.dtype),
                        facts_of(s.op).name);
    for (int o = 0; o < facts_of(s.op).operands; ++o)
      text += fmt::format("{}%{}", o == 0 ? "" : ", ", s.operands[static_cast<std::size_t>(o)]);
    text += ")\n";
  }
  for (const Output& output : outputs)
    text += fmt::format("output {} %{}{}\n", name_of(output.dtype), output.value,
                        output.is_per_row ? " per row" : "");
  return text;
}

std::string Formula::key() const {
  std::string bytes;
  const auto put = [&](int number) {
    const auto narrow = static_cast<std::int16_t>(number);
    bytes.append(reinterpret_cast<const char*>(&narrow), sizeof narrow);
  };
  for (const Leaf& one : leaves)
    put(static_cast<int>(one.dtype) << 2 | (one.is_place ? 2 : 0) | (one.is_per_row ? 1 : 0));
  put(-1);
  for (const DType one : numbers) put(static_cast<int>(one));
  put(-1);
  for (const Step& s : steps) {
    put(static_cast<int>(s.op));
    put(static_cast<int>(s.operand_dtype));
    put(static_cast<int>(s.dtype));
    for (const std::int16_t operand : s.operands) put(operand);
  }
  put(-1);
  for (const Output& one : outputs) {
    put(one.value);
    put(static_cast<int>(one.dtype) << 1 | (one.is_per_row ? 1 : 0));
  }
  return bytes;
}

DType number_dtype(DType compute) { return compute == DType::Bool ? DType::Int32 : compute; }

}  // namespace tilewright::graph
