// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/scalars.cpp — values that all threads of a block share. Every thread computes them;
// thread 0 alone stores and does atomics, whose result the others get through shared memory.
#include <fmt/format.h>

#include "base/check.h"
#include "base/quote.h"
#include "codegen/cuda/emitter.h"
#include "ir/constant.h"
#include "passes/laid/op_facts.h"

namespace tilewright {
namespace {

using ir::OpKind;

}  // namespace

std::string bare(const std::string& text) {
  if (!text.starts_with('(')) return text;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0) return i + 1 == text.size() ? text.substr(1, text.size() - 2) : text;
  }
  return text;
}

std::string Emitter::scalar(ir::Value value) {
  if (const auto found = scalars_.find(value.id); found != scalars_.end()) return found->second;
  const ir::Op* maker = kernel_.maker(value);
  TW_CHECK(maker, "a scalar without a maker");
  if (maker->kind == OpKind::Constant)
    return literal_text(kernel_.type(value), *maker->find("value"));
  TW_CHECK(is_view(*maker), "the scalar of '{}' is used before it is made", maker->facts().name);
  // The only element of a tile.
  Frame frame{.step = nullptr};
  static const Step at_end{.order = 1 << 30};
  frame.step = &at_end;
  frame.place = {BitMatrix::zero(0, 0), 0};
  return view_element(frame, *maker, value, frame.place);
}

OperandText Emitter::operand(ir::Value value, std::string text) const {
  return {atom(text), kernel_.type(value), constant_of(value)};
}

std::string Emitter::operation_text(const ir::Op& op, std::span<const OperandText> operands) const {
  const std::string wrapped = op.integer("wraps") != 0 ? wrapping_text(op, operands) : "";
  return wrapped.empty() ? expression_text(op, kernel_.type(op.result()), operands) : wrapped;
}

// The parts of the device library that an expression needs.
void Emitter::note_parts(const ir::Op& op, const std::string& text) {
  if (op.kind == OpKind::Math) parts_.insert("math");
  if (text.find("tw::") != std::string::npos) parts_.insert("arithmetic");
}

void Emitter::define_scalar(const ir::Op& op, const std::string& text) {
  const ir::Value value = op.result();
  const bool is_short = kernel_.name_of(value).empty() && text.size() < 60;
  if (is_short && op.facts().has(ir::Pure)) {
    scalars_[value.id] = atom(text);
    return;
  }
  const std::string name = new_name(value);
  statement(op, constant_text(value, name, text));
  scalars_[value.id] = name;
}

void Emitter::scalar_step(const ir::Op& op) {
  switch (op.facts().family) {
    case ir::Family::Source:
      return source_scalar(op);
    case ir::Family::Access:
      return access_scalar(op);
    case ir::Family::Sync:
      return sync_step(op);
    case ir::Family::Check:
      if (op.kind == OpKind::Assert) assert_scalar(op);
      return;
    case ir::Family::Across:
      TW_CHECK(op.kind == OpKind::Print, "'{}' on scalars", op.facts().name);
      return print_scalars(op);
    case ir::Family::View:
    case ir::Family::Elementwise:
    case ir::Family::Final:
    case ir::Family::Reduction:
    case ir::Family::Control:
    case ir::Family::Ends:
      break;
  }
  TW_CHECK(op.facts().has(ir::Elementwise), "'{}' on scalars", op.facts().name);
  std::vector<OperandText> operands;
  for (ir::Value value : op.operands) operands.push_back(operand(value, scalar(value)));
  if (op.kind == OpKind::Cast || op.kind == OpKind::Math)
    for (OperandText& in : operands) in.text = bare(in.text);
  const std::string text = operation_text(op, operands);
  note_parts(op, text);
  define_scalar(op, text);
}

void Emitter::source_scalar(const ir::Op& op) {
  const auto axis = static_cast<int>(op.integer("axis"));
  switch (ir::source_op(op.kind)) {
    case ir::SourceOp::Constant:
      return;  // written where it is used
    case ir::SourceOp::ProgramId:
      return define_scalar(op, program_text(axis));
    case ir::SourceOp::NumPrograms:
      return define_scalar(op, program_count_text(axis));
    case ir::SourceOp::NumBlocks:
      return define_scalar(op, "int(gridDim.x)");
    case ir::SourceOp::IsProducer:
      return;  // asked by the branch of the roles
    case ir::SourceOp::Arange:
      break;
  }
  TW_UNREACHABLE("'{}' on scalars", op.facts().name);
}

void Emitter::access_scalar(const ir::Op& op) {
  switch (ir::access_op(op.kind)) {
    case ir::AccessOp::Load:
      return scalar_load(op);
    case ir::AccessOp::Store:
      return scalar_store(op);
    case ir::AccessOp::AtomicRmw:
    case ir::AccessOp::AtomicCas:
      return scalar_atomic(op);
    case ir::AccessOp::CopyAsync:
      break;
  }
  TW_UNREACHABLE("'{}' on scalars", op.facts().name);
}

void Emitter::sync_step(const ir::Op& op) {
  switch (ir::sync_op(op.kind)) {
    case ir::SyncOp::Barrier:
      note_line(op.location);
      return barrier();
    case ir::SyncOp::CommitCopies:
      return emit_commit(op);
    case ir::SyncOp::WaitCopies:
      return emit_wait(op);
    case ir::SyncOp::Acquire:
    case ir::SyncOp::Await:
    case ir::SyncOp::Release:
      return emit_ring_op(op);
    case ir::SyncOp::CopyMap:
      return emit_copy_map(op);
    case ir::SyncOp::Fence:
      break;
  }
  TW_UNREACHABLE("'{}' belongs to stage final", op.facts().name);
}

void Emitter::scalar_load(const ir::Op& op) {
  order_memory(op);
  parts_.insert("memory");
  const ir::Value result = op.result();
  const bool is_bool = kernel_.type(result).is_bool();
  const std::string pointer = scalar(op.operands[0]);
  std::string text = op.integer("volatile") != 0
                         ? fmt::format("tw::load_volatile({})", pointer)
                         : fmt::format("tw::load_one{}({})", cache_text(op), pointer);
  if (op.operands.size() > 1) {
    const std::string other =
        op.operands.size() > 2
            ? scalar(op.operands[2])
            : literal_text(kernel_.type(result), kernel_.type(result).is_float()
                                                     ? ir::AttributeValue(0.0)
                                                     : ir::AttributeValue(std::int64_t{0}));
    text = fmt::format("{} ? {}{} : {}", atom(scalar(op.operands[1])), text, is_bool ? " != 0" : "",
                       atom(other));
  } else if (is_bool) {
    text += " != 0";
  }
  define_scalar(op, text);
}

void Emitter::scalar_store(const ir::Op& op) {
  order_memory(op);
  parts_.insert("memory");
  std::string condition = "thread == 0";
  if (op.operands.size() > 2) condition += " && " + atom(scalar(op.operands[2]));
  const bool is_bool = kernel_.type(op.operands[1]).is_bool();
  const std::string value = scalar(op.operands[1]);
  statement(op, fmt::format("if ({}) tw::store_one{}({}, {});", condition, cache_text(op),
                            scalar(op.operands[0]), is_bool ? "u8(" + value + ")" : value));
}

// What the block did before happens before it; what it does after sees what it saw.
void Emitter::scalar_atomic(const ir::Op& op) {
  parts_.insert("atomics");
  note_line(op.location);
  barrier();
  std::string condition = "thread == 0";
  if (op.mask()) condition += " && " + atom(scalar(op.mask()));
  std::vector<std::string> values = {scalar(op.operands[1])};
  if (op.kind == OpKind::AtomicCas) values.push_back(scalar(op.operands[2]));
  const std::string call = atomic_call(op, scalar(op.operands[0]), values);
  const ir::Value result = op.result();
  if (uses_[result.id] == 0) {
    statement(op, fmt::format("if ({}) {};", condition, call));
    global_.note(op);
    return;
  }
  const std::string name = new_name(result, "old");
  const std::string slot = names_.make(name + "_shared");
  shared_.add(slot, type_of(result), 1, scratch_of(op), loop_depth_ > 0);
  statement(op, fmt::format("if ({}) {}[0] = {};", condition, slot, call));
  shared_.note_write(slot);
  barrier();
  out_.format("const {} {} = {}[0];", type_of(result), name, slot);
  shared_.note_read(slot);
  scalars_[result.id] = name;
}

// One line per operand, as ir/interpret prints it.
void Emitter::print_scalars(const ir::Op& op) {
  if (op.operands.empty())
    statement(op, fmt::format("if (thread == 0) {}", print_call(op, {}, "", "")));
  for (ir::Value value : op.operands)
    statement(op, fmt::format("if (thread == 0) {}", print_call(op, value, "", scalar(value))));
}

std::string Emitter::print_call(const ir::Op& op, ir::Value value, const std::string& index,
                                const std::string& text) {
  std::string format = "pid (%u, %u, %u)";
  std::string arguments = ", blockIdx.x, blockIdx.y, blockIdx.z";
  if (!index.empty()) {
    format += " idx %d";
    arguments += ", " + index;
  }
  format += " %s";
  arguments += ", " + cpp_string(op.text("prefix"));
  if (value) {
    const ir::Type& type = kernel_.type(value);
    const bool is_hex = (op.integer("hex") != 0 && !type.is_float()) || type.is_pointer;
    format += is_hex ? "0x%llx" : type.is_float() ? "%g" : is_signed(type.dtype) ? "%lld" : "%llu";
    const bool is_wide = type.dtype == DType::Float64 || type.dtype == DType::Float32;
    if (type.is_float())
      arguments += fmt::format(", f64({})", is_wide ? text : "tw::to_f32(" + text + ")");
    else
      arguments +=
          fmt::format(", ({}){}", is_hex || !is_signed(type.dtype) ? "u64" : "i64", atom(text));
  }
  return fmt::format("printf(\"{}\\n\"{});", format, arguments);
}

void Emitter::assert_scalar(const ir::Op& op) {
  std::string condition = "!" + atom(scalar(op.operands[0]));
  if (op.operands.size() > 1) condition += " && " + atom(scalar(op.operands[1]));
  parts_.insert("check");
  statement(
      op, fmt::format("if ({}) tw::assert_failed({});", condition, cpp_string(op.text("message"))));
}

}  // namespace tilewright
