// SPDX-License-Identifier: Apache-2.0
// codegen/cpu/vector_loops.cpp — whether g++ surely makes vector code of a loop: then a sum has a
// partial sum per lane, else its elements are added one after another.
#include <algorithm>
#include <string_view>

#include "base/check.h"
#include "codegen/cpu/program.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

namespace {

// Functions of the device library without branches and calls, on f32.
constexpr std::string_view vector_functions[] = {
    "ceil", "cos",  "erf",   "exp",   "exp2", "floor", "log",     "log10", "log2",
    "pow",  "rint", "round", "rsqrt", "sin",  "sqrt",  "sqrt_rn", "tanh",  "trunc"};

bool is_small_float(const Type& type) {
  return type.is_float() && !type.is_pointer && size_of(type.dtype) < 4;
}

// Integer division, and conversions that AVX2 has no instructions for, are done one by one.
bool has_vector_form(const ir::Kernel& kernel, const ir::Op& op) {
  const Type from = kernel.type(op.operands[0]).element();
  const Type to = kernel.type(op.result()).element();
  if (op.facts().vector != ir::VectorForm::ByType)
    return op.facts().vector == ir::VectorForm::HasVector;
  if (op.kind == OpKind::Divide) return to.is_float();
  // A condition keeps a struct out of vector registers.
  if (op.kind == OpKind::Select) return !is_small_float(to);
  if (op.kind == OpKind::Cast) {
    if (is_small_float(to)) return from.dtype == DType::Float32;
    return from.is_float() == to.is_float() || (!from.is_float() && size_of(from.dtype) <= 4);
  }
  TW_CHECK(op.kind == OpKind::Math, "whether '{}' has a vector form", op.facts().name);
  return to.dtype == DType::Float32 &&
         std::find(std::begin(vector_functions), std::end(vector_functions), op.text("function")) !=
             std::end(vector_functions);
}

}  // namespace

// Neighbours in memory, all of them or as many as a mask of whole words takes.
bool ProgramWriter::is_vector_access(const Nest& nest, const ir::Op& op) const {
  const ir::Op* pointer = kernel_.maker(op.operands[0]);
  while (pointer && pointer->kind == OpKind::Hint) pointer = kernel_.maker(pointer->operands[0]);
  if (!pointer || pointer->kind != OpKind::Affine) return false;
  const Type& type = kernel_.type(op.operands[0]);
  for (int d = type.rank; d-- > 0;) {
    if (type.size(d) == 1) continue;
    const std::optional<std::int64_t> stride =
        constant(pointer->operands[static_cast<std::size_t>(d) + 1]);
    if (!stride || *stride < 0 || *stride > 1) return false;
    break;
  }
  const ir::Value mask = op.mask();
  if (!mask || mask == nest.split) return true;
  const ir::Op* bounds = kernel_.maker(mask);
  return bounds && bounds->kind == OpKind::Bounds && size_of(type.dtype) >= 4;
}

bool ProgramWriter::is_vector_value(const Nest& nest, ir::Value value,
                                    std::set<std::uint32_t>& seen) const {
  const Type& type = kernel_.type(value);
  if (type.is_scalar() || !seen.insert(value.id).second) return true;
  const ir::Op* op = kernel_.maker(value);
  if (!op || schedule_.is_in_array(value, *nest.step)) return true;
  const auto is_vector = [&](ir::Value operand) { return is_vector_value(nest, operand, seen); };
  if (op->facts().maps(ir::Alike | ir::Spread | ir::ByIndex)) return true;
  if (op->facts().maps(ir::Repeated | ir::Reshaped)) return is_vector(op->operands[0]);
  if (op->kind == OpKind::Load)
    return is_vector_access(nest, *op) && (op->operands.size() < 3 || is_vector(op->operands[2]));
  return has_vector_form(kernel_, *op) &&
         std::all_of(op->operands.begin(), op->operands.end(), is_vector);
}

bool ProgramWriter::surely_vectorises(const Nest& nest) const {
  const Step& step = *nest.step;
  if (!is_simd(step) || nest.own.linear) return false;
  std::set<std::uint32_t> seen;
  const auto is_vector = [&](ir::Value value) { return is_vector_value(nest, value, seen); };
  const auto is_vector_effect = [&](const ir::Op* op) {
    if (!op->facts().has(ir::Writes)) return op->results.size() == 1 && is_vector(op->result());
    return op->kind == OpKind::Store && is_vector_access(nest, *op) && is_vector(op->operands[1]);
  };
  return std::all_of(step.ops.begin(), step.ops.end(), is_vector_effect) &&
         std::all_of(step.kept.begin(), step.kept.end(), is_vector) &&
         std::all_of(step.reductions.begin(), step.reductions.end(), [&](const ir::Op* op) {
           return std::all_of(op->operands.begin(), op->operands.end(), is_vector);
         });
}

}  // namespace tilewright
