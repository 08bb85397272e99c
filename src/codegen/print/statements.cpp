// SPDX-License-Identifier: Apache-2.0
// codegen/print/statements.cpp — statements, one op at a time.
#include "codegen/print/statements.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "base/quote.h"
#include "base/unicode.h"
#include "codegen/text/expressions.h"
#include "ir/calls.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

namespace {

// Arrays begin at a cache line.
constexpr int array_bytes_at = 64;

bool parts_roles(const ir::Kernel& kernel, const ir::Op& branch) {
  const ir::Op* asked = kernel.maker(branch.operands[0]);
  return asked && asked->kind == OpKind::IsProducer;
}

}  // namespace

std::string source_comment(const ir::Kernel& kernel, const LineText& line_text,
                           const ir::Location& place) {
  const std::string file =
      place.file < kernel.files.size() ? kernel.files[place.file] : kernel.name;
  std::string text = line_text ? std::string(line_text(place.file, place.line)) : "";
  text.erase(0, text.find_first_not_of(" \t"));
  while (!text.empty() && (text.back() == '\\' || text.back() == '\r' || text.back() == ' '))
    text.pop_back();
  if (text.size() > 90) text = std::string(cut_utf8(text, 87)) + "...";
  const std::string where = fmt::format("{}:{}", file.substr(file.rfind('/') + 1), place.line);
  return cpp_comment(text.empty() ? where : fmt::format("{}: {}", where, text));
}

std::string assertion_text(const ir::Kernel& kernel, const ir::Op& op,
                           const std::string& condition) {
  std::string place = fmt::format("kernel '{}'", kernel.name);
  if (op.location.line > 0 && op.location.file < kernel.files.size())
    place = fmt::format("{}:{}:{}: {}", kernel.files[op.location.file], op.location.line,
                        op.location.column, place);
  return fmt::format(
      "if (!{}) tw::fail(launch, id, {});", atom(condition),
      cpp_string(fmt::format("{}: assertion failed: {}", place, op.text("message"))));
}

void StatementPrinter::comment(const ir::Location& place) {
  if (depth_of_elements_ > 0 || place.line <= 0 ||
      (place.line == last_location_.line && place.file == last_location_.file))
    return;
  last_location_ = place;
  out_.line(source_comment(kernel_, line_text_, place));
}

void StatementPrinter::region(const ir::Region& region) {
  for (const ir::Op* op : region.ops)
    if (!op->facts().is(ir::Family::Ends)) statement(*op);
}

void StatementPrinter::statement(const ir::Op& op) {
  if (op.facts().is_atomic() && op.facts().is(ir::Family::Access)) {
    comment(op.location);
    return atomic(op);
  }
  if (expressions_.is_inlined(op)) return;
  comment(op.location);
  switch (op.facts().family) {
    case ir::Family::Source:
    case ir::Family::View:
    case ir::Family::Elementwise:
      return define(op);
    case ir::Family::Access:
      return op.results.empty() ? move(op) : define(op);
    case ir::Family::Final:
      return final_statement(op);
    case ir::Family::Control:
      if (op.kind == OpKind::For) return for_loop(op);
      if (op.kind == OpKind::If && parts_roles(kernel_, op)) return roles(op);
      return op.kind == OpKind::While ? while_loop(op) : branch(op);
    case ir::Family::Check:
      return check(op);
    case ir::Family::Sync:
      return barrier(op);
    case ir::Family::Ends:
      return;
    case ir::Family::Across:
      if (op.kind == OpKind::Print) return print(op);
      break;
    case ir::Family::Reduction:
      break;
  }
  TW_UNREACHABLE("'{}' has no text at stage final", op.facts().name);
}

void StatementPrinter::final_statement(const ir::Op& op) {
  switch (ir::final_op(op.kind)) {
    case ir::FinalOp::Array:
      return array(op);
    case ir::FinalOp::Group:
      return group(op);
    case ir::FinalOp::Write:
      return write(op);
    case ir::FinalOp::Call:
      return op.results.empty() ? call(op) : define(op);
    case ir::FinalOp::Lines: {
      const std::vector<std::int64_t> files = op.integers("files"), lines = op.integers("numbers");
      for (std::size_t k = 0; k < lines.size(); ++k)
        comment({static_cast<std::uint16_t>(files[k]), static_cast<std::int32_t>(lines[k]), 0});
      return;
    }
    case ir::FinalOp::LoadTo:
    case ir::FinalOp::StoreFrom:
    case ir::FinalOp::CopyTo:
      return move(op);
    case ir::FinalOp::ArrayView:
    case ir::FinalOp::Read:
    case ir::FinalOp::Linear:
    case ir::FinalOp::Digit:
    case ir::FinalOp::All:
    case ir::FinalOp::Thread:
      return define(op);
    case ir::FinalOp::ForPrograms:
      break;
  }
  TW_UNREACHABLE("'{}' stands in no program", op.facts().name);
}

// ---- Values and arrays

void StatementPrinter::define(const ir::Op& op) {
  const Type& type = kernel_.type(op.result());
  const std::string text = expressions_.type(op.result());
  const std::string prefix = is_divisor(op)                       ? "const auto"
                             : type.is_pointer || type.is_array() ? text + " const"
                                                                  : "const " + text;
  out_.format("{} {} = {};", prefix, kernel_.name_of(op.result()), expressions_.expression(op));
}

void StatementPrinter::array(const ir::Op& op) {
  const Type& type = kernel_.type(op.result());
  const std::string element = type_text(type.element());
  const std::string& name = kernel_.name_of(op.result());
  switch (type.space) {
    case ir::Space::Registers:
      return out_.line(op.operands.empty()
                           ? fmt::format("{} {}{{}};", element, name)
                           : fmt::format("{} {} = {};", element, name, operand(op.operands[0])));
    case ir::Space::Stack:
      return out_.format("alignas({}) {} {}[{}];", array_bytes_at, element, name,
                         op.integer("count"));
    case ir::Space::Arena:
      return out_.format("{0}* const {1} = ({0}*)(arena + {2});", element, name,
                         op.integer("offset"));
    case ir::Space::Staging:
      return out_.format("alignas({}) {} {}[tw::part_size];", array_bytes_at, element, name);
    case ir::Space::Shared:
    case ir::Space::None:
      break;
  }
  TW_UNREACHABLE("an array without a place");
}

void StatementPrinter::write(const ir::Op& op) {
  const bool is_variable = kernel_.type(op.operands[0]).space == ir::Space::Registers;
  const ir::Op* maker = kernel_.maker(op.operands[2]);
  const bool is_open = (is_variable || opens_values_) && maker && maker->kind != OpKind::Constant &&
                       expressions_.is_inlined(*maker);
  const std::string line =
      fmt::format("{} = {};", expressions_.element(op.operands[0], op.operands[1]),
                  is_open ? expressions_.expression(*maker) : operand(op.operands[2]));
  if (op.operands.size() < 4) out_.line(line);
  else out_.format("if ({}) {}", expressions_.condition(op.operands[3]), line);
}

namespace {

[[noreturn]] void refuse(const ir::Op& op) {
  TW_UNREACHABLE("'{}' is of the program of a thread", op.facts().name);
}

}  // namespace

void StatementPrinter::group(const ir::Op& op) { refuse(op); }
void StatementPrinter::call_of_thread(const ir::Op& op) { refuse(op); }
void StatementPrinter::roles(const ir::Op& op) { refuse(op); }

void StatementPrinter::move(const ir::Op& op) {
  if (op.kind != OpKind::Store) refuse(op);
  const std::string line =
      fmt::format("{} = {};", expressions_.place(op.operands[0]), operand(op.operands[1]));
  if (op.operands.size() < 3) out_.line(line);
  else out_.format("if ({}) {}", operand(op.operands[2]), line);
}

void StatementPrinter::atomic(const ir::Op& op) {
  const std::string update = expressions_.expression(op);
  const std::string& name = kernel_.name_of(op.result());
  const std::string type = type_text(kernel_.type(op.result()));
  const std::string condition = op.mask() ? operand(op.mask()) : "";
  const std::string open =
      op.mask() && has_short_branches_ ? expressions_.condition(op.mask()) : condition;
  if (name.empty())
    out_.line(condition.empty() ? update + ";" : fmt::format("if ({}) {};", open, update));
  else if (condition.empty()) out_.format("const {} {} = {};", type, name, update);
  else out_.format("const {0} {1} = {2} ? {3} : {0}{{}};", type, name, condition, update);
}

void StatementPrinter::check(const ir::Op& op) {
  if (op.kind == OpKind::Assume) return;
  std::string condition = operand(op.operands[0]);
  if (op.mask()) condition = fmt::format("({} || !{})", condition, operand(op.mask()));
  out_.line(assertion_text(kernel_, op, condition));
}

// ---- Functions of the library

void StatementPrinter::call(const ir::Op& op) {
  const LibraryFunction& function = ir::function_of(op);
  if (!function.is(LibraryFamily::Host)) return call_of_thread(op);
  const auto& in = op.operands;
  switch (host_call(function)) {
    case HostCall::Stream:
      return out_.format("if ({}) tw::stream(launch, &{}, {}, {});", operand(in[0]),
                         expressions_.place(in[1]), operand(in[2]), expressions_.argument(in[3]));
    case HostCall::FinishStreams:
      return out_.format("if ({}) tw::finish_streams();", operand(in[0]));
    case HostCall::Map:
    case HostCall::Sum:
    case HostCall::SumF64:
    case HostCall::SumBeside:
    case HostCall::SumKept:
    case HostCall::Largest:
    case HostCall::LargestOrNan:
      return row_call(op, function);
    case HostCall::FetchAhead:
      return out_.format("if ({}) tw::fetch_ahead({}, {});", operand(in[0]),
                         expressions_.address(in[1]), expressions_.argument(in[2]));
    case HostCall::FetchBlock:
      return out_.format("if ({}) tw::fetch_block({});", operand(in[0]),
                         expressions_.address(in[1]));
    case HostCall::Defer:
      return defer(op);
    case HostCall::RunDeferred:
      return out_.line("late.step();");
    case HostCall::FinishDeferred:
      return out_.line("late.finish(launch);");
    case HostCall::Dot:
    case HostCall::RunningSum:
    case HostCall::MergeRuns:
      return tile_call(op);
    case HostCall::WaitAMoment:
      return out_.format("tw::wait_a_moment(launch, {});", operand(in[0]));
  }
}

}  // namespace tilewright
