// SPDX-License-Identifier: Apache-2.0
// codegen/cpu/late.cpp — the row of results that a program leaves to be written while the next one
// computes (device_lib/cpu/late.h): the last loop of programs that go over their row several times.
// It becomes a structure of the values that an element is computed from, and runs block by block
// beside the next program's last sum.
#include <algorithm>

#include "base/check.h"
#include "codegen/cpu/program.h"
#include "codegen/lower/reduction_facts.h"
#include "codegen/text/cpp_tokens.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

namespace {

// Shorter rows are over before anything could be done beside them.
constexpr std::int64_t shortest_late_row = 256;
// From this many elements on the next row stays out of the first cache.
constexpr std::int64_t shortest_far_row = 2048;

// Whether a reduction combines by that op alone, and a NaN has no say in it.
bool is_plain(const ir::Op& reduce, OpKind kind) {
  const ir::Op* only = only_op(reduce);
  return only && only->kind == kind && only->text("nan") != "propagate";
}

}  // namespace

// ---- Which loops

// Whether the loop only writes a row of f32 (rounded or not) from its first element on.
bool ProgramWriter::can_be_late(const Step& step) {
  if (step.kind != Step::Kind::Elements || step.shape.numel() < shortest_late_row) return false;
  Nest nest = make_nest(step, step.shape, {});
  find_split(step, nest);
  if (nest.loops.size() != 1 || !stored_f32(nest)) return false;
  const auto writes = [](const ir::Op* op) { return op->facts().has(ir::Writes); };
  const ir::Op& store = **std::find_if(step.ops.begin(), step.ops.end(), writes);
  const DType dtype = kernel_.type(store.operands[1]).dtype;
  const bool can_round =
      dtype == DType::Float32 || dtype == DType::Float16 || dtype == DType::BFloat16;
  if (store.operands.size() <= 2) return can_round && !nest.split;
  if (!can_round || store.operands[2] != nest.split) return false;
  const auto low = 2 * static_cast<std::size_t>(nest.loops[0].first);
  return constant(kernel_.maker(nest.split)->operands[low]) == 0;
}

// Whether a loop over such a row is a sum that has time for the row of the program before.
bool ProgramWriter::is_beside(const Step& step, const Type& row) {
  if (step.kind != Step::Kind::Elements || !same_shape(step.shape, row) ||
      step.reductions.size() != 1)
    return false;
  Nest nest = make_nest(step, step.shape, {static_cast<int>(step.reductions[0]->integer("axis"))});
  std::vector<Reduction> reductions = plan_reductions(step, nest);
  find_split(step, nest);
  widen_sums(nest, reductions);
  const Type own = kernel_.type(reductions[0].op->operands[0]).element();
  return is_kept_sum(nest, reductions) ||
         (reductions[0].wide.value_or(own).dtype == DType::Float32 &&
          is_plain_sum(nest, reductions));
}

void ProgramWriter::find_late() {
  const Steps& all = schedule_.steps();
  bool is_alone = true;
  ir::walk(kernel_.body, [&](const ir::Op& op) {
    is_alone &=
        !op.facts().is_atomic() && !op.facts().is(ir::Family::Sync) && op.integer("volatile") == 0;
  });
  if (all.empty() || !is_alone || !can_be_late(all.back())) return;
  const Step& last = all.back();
  for (std::size_t k = all.size() - 1; k-- > 0 && !late_.meanwhile;)
    if (is_beside(all[k], last.shape)) late_.meanwhile = &all[k];
  if (!late_.meanwhile) return;
  late_.step = &last;
  std::set<std::uint32_t> seen;
  for (const ir::Op* op : last.ops)
    for (const ir::Value operand : op->operands) find_late_arrays(operand, seen);
}

void ProgramWriter::find_late_arrays(ir::Value value, std::set<std::uint32_t>& seen) {
  if (!seen.insert(value.id).second || kernel_.type(value).is_scalar()) return;
  if (schedule_.is_in_array(value, *late_.step)) {
    late_reads_.insert(value.id);
    late_arrays_.insert(schedule_.storage(value).id);
    return;
  }
  if (const ir::Op* op = kernel_.maker(value))
    for (const ir::Value operand : op->operands) find_late_arrays(operand, seen);
}

void ProgramWriter::add_late_array(ir::Value owner) {
  const Type& type = kernel_.type(owner);
  const std::string element = type_text(type.element());
  late_.arrays.push_back(
      {element, array(owner), type.numel(), static_cast<std::int64_t>(type.element_bytes())});
  declared_[array(owner)] = element + "*";
}

bool ProgramWriter::reads_array(const Step& step, ir::Value value, ir::Value array,
                                std::set<std::uint32_t>& seen) const {
  if (!seen.insert(value.id).second || kernel_.type(value).is_scalar()) return false;
  if (schedule_.is_in_array(value, step))
    return schedule_.storage(value) == schedule_.storage(array);
  const ir::Op* op = kernel_.maker(value);
  return op && std::any_of(op->operands.begin(), op->operands.end(), [&](ir::Value operand) {
           return reads_array(step, operand, array, seen);
         });
}

// A sum of f32 whose terms are kept for later, and that does nothing else.
bool ProgramWriter::is_kept_sum(const Nest& nest, const std::vector<Reduction>& reductions) const {
  const Step& step = *nest.step;
  if (reductions.size() != 1 || step.kept.size() != 1 || nest.loops.size() != 1) return false;
  const ir::Op& sum = *reductions[0].op;
  std::set<std::uint32_t> seen;
  const auto reads = [&](ir::Value operand) {
    return reads_array(step, operand, step.kept[0], seen);
  };
  const std::vector<ir::Value>& operands = kernel_.maker(step.kept[0])->operands;
  return reductions[0].is_inner && !reductions[0].wide && is_plain(sum, OpKind::Add) &&
         sum.operands[0] == step.kept[0] && kernel_.type(sum.operands[0]).dtype == DType::Float32 &&
         surely_vectorises(nest) && only_reads(step) &&
         std::none_of(operands.begin(), operands.end(), reads);
}

// The largest of f32, as nothing but that, in programs whose sums are calls too.
bool ProgramWriter::is_plain_largest(const Nest& nest,
                                     const std::vector<Reduction>& reductions) const {
  const Step& step = *nest.step;
  if (!late_.step || reductions.size() != 1 || !step.kept.empty() || nest.loops.size() != 1 ||
      !same_shape(step.shape, late_.step->shape))
    return false;
  const ir::Op& largest = *reductions[0].op;
  std::set<std::uint32_t> seen;
  return reductions[0].is_inner && is_plain(largest, OpKind::Maximum) &&
         kernel_.type(largest.operands[0]).dtype == DType::Float32 && surely_vectorises(nest) &&
         only_reads(step) && is_light(nest, largest.operands[0], seen);
}

// A loop that finds one thing is a call of the library.
void ProgramWriter::find_row_call(Nest& nest, const std::vector<Reduction>& reductions) {
  const bool keeps = nest.step == late_.meanwhile && is_kept_sum(nest, reductions);
  if (!keeps && !nest.is_largest && !is_plain_sum(nest, reductions)) return;
  nest.sum = reductions[0].sums[0];
  nest.sum_type =
      type_text(reductions[0].wide.value_or(kernel_.type(reductions[0].op->operands[0]).element()));
  if (keeps) nest.keeps = array(nest.step->kept[0]);
}

// Whether anything but the late row, which ends where the mask does, reads the terms that are kept.
bool ProgramWriter::is_read_behind_mask(const Nest& nest) const {
  const ir::Value kept = nest.step->kept[0];
  const ir::Value result = schedule_.result_of(kept);
  const ir::Op* end = nest.step->op->regions[0].ops.back();
  int readers = 0;
  ir::walk(kernel_.body, [&](const ir::Op& op) {
    for (const ir::Value operand : op.operands)
      readers += &op != end && (operand == kept || operand == result) ? 1 : 0;
  });
  constexpr int sum_and_row = 2;
  return readers != sum_and_row || !late_reads_.contains(result.id);
}

// ---- Their text

void ProgramWriter::print_meanwhile(const Nest& nest) {
  const std::string& name = nest.loops.back().name;
  out_.outdent();
  out_.open(fmt::format("}}, [&](i64 {}) TW_ALWAYS", name));
  const char* fetch = nest.shape.numel() >= shortest_far_row ? "fetch_far_block" : "fetch_block";
  for (const std::string& row : nest.ahead)
    out_.format("if (streams) tw::{}({} + {});", fetch, row, name);
  out_.line("late.step();");
}

// The values that the lines read are copied; all else of them is their own.
void ProgramWriter::print_late(const Nest& nest, const Part& part) {
  TW_CHECK(part.streamed.size() == 1 && part.range.begin == "0", "a late row is one store");
  const Streamed& streamed = part.streamed[0];
  late_.type = streamed.type;
  late_.position = nest.loops.back().name;
  late_.lines = with_long_position(part.lines, late_.position);
  std::set<std::string> names;
  for (const std::string& line : late_.lines)
    for (const CppToken& token : tokenize_cpp(line, "a late row"))
      if (token.is_identifier()) names.emplace(token.text);
  std::string values;
  for (const std::string& name : names) {
    const auto found = declared_.find(name);
    if (found == declared_.end()) continue;
    late_.variables.push_back({found->second, name});
    values += (values.empty() ? "" : ", ") + name;
  }
  out_.format("late.begin(launch, {{{}}}, &{}, {});", values, streamed.place, part.range.end);
}

}  // namespace tilewright
