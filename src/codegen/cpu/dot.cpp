// SPDX-License-Identifier: Apache-2.0
// codegen/cpu/dot.cpp — products of tiles: a call of the device library per product, with operands
// where they are, as a pointer and strides.
#include <algorithm>

#include "base/check.h"
#include "codegen/cpu/program.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

// The operand where it is; what is in no array is written to one first.
ProgramWriter::DotOperand ProgramWriter::operand_of_dot(const Step& step, ir::Value value) {
  if (std::optional<DotOperand> found = operand_in_place(value)) return std::move(*found);
  const auto with_texts = [](const std::string& base, const std::vector<std::int64_t>& strides) {
    DotOperand out{base, {}};
    for (const std::int64_t stride : strides) out.strides.push_back(std::to_string(stride));
    return out;
  };
  if (const std::optional<StridedTile> found = strided(value))
    return with_texts(array(found->placed), found->strides);
  const Type& type = kernel_.type(value);
  const std::string& name = operand_arrays_.at({step.op, value.id});
  Nest nest = make_nest(step, type, {});
  print_nest(nest, {"#pragma omp simd"}, [&] {
    const Placed made = element(nest, value, nest.own);
    nest.lines.back().push_back(
        fmt::format("{}[{}] = {};", name, linear(type, nest.own).text, copied(type, made.text)));
  });
  return with_texts(name, row_major(type));
}

void ProgramWriter::dot(const Step& step) {
  const ir::Op& op = *step.op;
  const Type& result = kernel_.type(op.result());
  const Type& left = kernel_.type(op.operands[0]);
  if (!schedule_.is_in_array(op.operands[2], step) ||
      schedule_.storage(op.operands[2]) != schedule_.storage(op.result()))
    copy(step, {{op.result(), op.operands[2]}});
  const DotOperand a = operand_of_dot(step, op.operands[0]);
  const DotOperand b = operand_of_dot(step, op.operands[1]);
  DotOperand c{array(op.result()), {}};
  for (const std::int64_t stride : row_major(result)) c.strides.push_back(std::to_string(stride));

  // The first dimension of three counts independent products.
  const bool is_batched = result.rank == 3;
  const std::size_t m = is_batched ? 1 : 0, n = m + 1;
  const std::string batch = is_batched ? names_.make("batch") : "";
  const auto place = [&](const DotOperand& operand) {
    return is_batched ? fmt::format("{} + {} * {}", operand.base, batch, operand.strides[0])
                      : operand.base;
  };
  if (is_batched)
    out_.open(fmt::format("for (i32 {0} = 0; {0} < {1}; ++{0})", batch, result.size(0)));
  const auto size = [](const Type& type, std::size_t d) { return type.size(static_cast<int>(d)); };
  out_.format("tw::dot<{}, {}, {}>({}, {}, {}, {}, {}, {}, {});", size(result, m), size(result, n),
              size(left, n), place(c), place(a), a.strides[m], a.strides[n], place(b), b.strides[m],
              b.strides[n]);
  if (is_batched) out_.close();
}

}  // namespace tilewright
