// SPDX-License-Identifier: Apache-2.0
// codegen/cpu/dot.cpp — products of tiles: a call of the device library per product, with operands
// where they are, as a pointer and strides.
#include <algorithm>

#include "base/check.h"
#include "codegen/cpu/program.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

namespace {

std::vector<std::int64_t> row_major(const Type& type) {
  std::vector<std::int64_t> strides(type.rank, 1);
  for (int d = type.rank - 2; d >= 0; --d) {
    const auto k = static_cast<std::size_t>(d);
    strides[k] = strides[k + 1] * type.size(d + 1);
  }
  return strides;
}

// Strides of the same elements in another shape, where there are such. All sizes are powers of two:
// each bit of the index has a stride, and a dimension takes bits whose strides double.
std::optional<std::vector<std::int64_t>> reshaped_strides(
    const Type& from, const Type& to, const std::vector<std::int64_t>& strides) {
  std::vector<std::int64_t> bits;  // from the lowest
  for (int d = from.rank - 1; d >= 0; --d)
    for (std::int64_t size = 1; size < from.size(d); size *= 2)
      bits.push_back(strides[static_cast<std::size_t>(d)] * size);
  std::vector<std::int64_t> out(to.rank, 0);
  std::size_t at = 0;
  for (int d = to.rank - 1; d >= 0; --d) {
    for (std::int64_t size = 1; size < to.size(d); size *= 2, ++at) {
      std::int64_t& stride = out[static_cast<std::size_t>(d)];
      if (size == 1) stride = bits[at];
      else if (bits[at] != stride * size) return std::nullopt;
    }
  }
  return out;
}

}  // namespace

// An array or a view of one, whose elements lie at fixed distances.
std::optional<ProgramWriter::Strided> ProgramWriter::strided(ir::Value value) const {
  const Type& type = kernel_.type(value);
  if (schedule_.is_placed(value)) return Strided{array(value), row_major(type)};
  const ir::Op* op = kernel_.maker(value);
  if (!op || op->operands.empty() || op->results.size() != 1) return std::nullopt;
  if (!op->facts().maps(ir::Same | ir::Permuted | ir::Reshaped | ir::Repeated)) return std::nullopt;
  std::optional<Strided> out = strided(op->operands[0]);
  if (!out) return std::nullopt;
  const Type& from = kernel_.type(op->operands[0]);
  if (op->kind == OpKind::Reshape) {
    const auto strides = reshaped_strides(from, type, out->strides);
    if (!strides) return std::nullopt;
    out->strides = *strides;
  } else if (op->kind == OpKind::Broadcast) {
    for (int d = 0; d < from.rank; ++d)
      if (from.size(d) == 1) out->strides[static_cast<std::size_t>(d)] = 0;
  } else if (op->kind == OpKind::Permute) {
    const std::vector<std::int64_t> before = out->strides, order = op->integers("order");
    for (std::size_t d = 0; d < order.size(); ++d)
      out->strides[d] = before[static_cast<std::size_t>(order[d])];
  }
  return out;
}

// The operand where it is; what is in no array is written to one first.
ProgramWriter::DotOperand ProgramWriter::operand_of_dot(const Step& step, ir::Value value) {
  if (std::optional<DotOperand> found = operand_in_place(value)) return std::move(*found);
  const auto with_texts = [](const Strided& operand) {
    DotOperand out{operand.base, {}};
    for (const std::int64_t stride : operand.strides) out.strides.push_back(std::to_string(stride));
    return out;
  };
  if (const std::optional<Strided> found = strided(value)) return with_texts(*found);
  const Type& type = kernel_.type(value);
  const std::string& name = operand_arrays_.at({step.op, value.id});
  Nest nest = make_nest(step, type, {});
  print_nest(nest, {"#pragma omp simd"}, [&] {
    const Placed made = element(nest, value, nest.own);
    nest.lines.back().push_back(
        fmt::format("{}[{}] = {};", name, linear(type, nest.own).text, copied(type, made.text)));
  });
  return with_texts({name, row_major(type)});
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
