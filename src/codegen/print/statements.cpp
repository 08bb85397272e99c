// SPDX-License-Identifier: Apache-2.0
// codegen/print/statements.cpp — statements, one op at a time.
#include "codegen/print/statements.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "base/quote.h"
#include "base/unicode.h"
#include "codegen/text/expressions.h"
#include "machine/library.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

namespace {

// Arrays begin at a cache line.
constexpr int array_bytes_at = 64;

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
      return op.results.empty() ? store(op) : define(op);
    case ir::Family::Final:
      return final_statement(op);
    case ir::Family::Control:
      if (op.kind == OpKind::For) return for_loop(op);
      if (op.kind == OpKind::If && parts_roles(op)) return roles(op);
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
      return vector(op);
    case ir::FinalOp::CopyTo:
      return copy(op);
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
  const bool is_divisor = op.kind == OpKind::Call && op.text("function").ends_with("Divisor");
  const std::string prefix = is_divisor                           ? "const auto"
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
  const bool is_open =
      (is_variable || opens_values_) && maker && maker->kind != OpKind::Constant && expressions_.is_inlined(*maker);
  const std::string line =
      fmt::format("{} = {};", expressions_.element(op.operands[0], op.operands[1]),
                  is_open ? expressions_.expression(*maker) : operand(op.operands[2]));
  if (op.operands.size() < 4) out_.line(line);
  else out_.format("if ({}) {}", expressions_.condition(op.operands[3]), line);
}

void StatementPrinter::group(const ir::Op& op) {
  TW_UNREACHABLE("'{}' is of the program of a thread", op.facts().name);
}

void StatementPrinter::meeting(const ir::Op& op) {
  TW_UNREACHABLE("'{}' is of the program of a thread", op.facts().name);
}

bool StatementPrinter::parts_roles(const ir::Op& op) const {
  const ir::Op* asked = kernel_.maker(op.operands[0]);
  return asked && asked->kind == OpKind::IsProducer;
}

void StatementPrinter::roles(const ir::Op& op) {
  TW_UNREACHABLE("'{}' of roles is of the program of a thread", op.facts().name);
}

void StatementPrinter::vector(const ir::Op& op) {
  TW_UNREACHABLE("'{}' is of the program of a thread", op.facts().name);
}

void StatementPrinter::copy(const ir::Op& op) {
  TW_UNREACHABLE("'{}' is of the program of a thread", op.facts().name);
}

void StatementPrinter::store(const ir::Op& op) {
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
  const LibraryFunction* function = find_library_function(op.text("function"));
  TW_CHECK(function, "the library has no function '{}'", op.text("function"));
  const auto& in = op.operands;
  switch (function->kind) {
    case LibraryKind::Stream:
      return out_.format("if ({}) tw::stream(launch, &{}, {}, {});", operand(in[0]),
                         expressions_.place(in[1]), operand(in[2]), expressions_.argument(in[3]));
    case LibraryKind::FinishStreams:
      return out_.format("if ({}) tw::finish_streams();", operand(in[0]));
    case LibraryKind::Map:
    case LibraryKind::Sum:
    case LibraryKind::SumF64:
    case LibraryKind::SumBeside:
    case LibraryKind::SumKept:
    case LibraryKind::Largest:
      return row_call(op, *function);
    case LibraryKind::FetchAhead:
      return out_.format("if ({}) tw::fetch_ahead({}, {});", operand(in[0]),
                         expressions_.address(in[1]), expressions_.argument(in[2]));
    case LibraryKind::FetchBlock:
    case LibraryKind::FetchFarBlock:
      return out_.format("if ({}) tw::{}({});", operand(in[0]), function->name,
                         expressions_.address(in[1]));
    case LibraryKind::Defer:
      return defer(op);
    case LibraryKind::RunDeferred:
      return out_.line("late.step();");
    case LibraryKind::FinishDeferred:
      return out_.line("late.finish(launch);");
    case LibraryKind::Dot:
    case LibraryKind::RunningSum:
    case LibraryKind::MergeRuns:
      return tile_call(op);
    case LibraryKind::ReduceLanes:
    case LibraryKind::ReduceBlock:
    case LibraryKind::ReduceCluster:
    case LibraryKind::ClusterWait:
    case LibraryKind::FinishCopies:
    case LibraryKind::ScanLanes:
    case LibraryKind::ScanBlock:
    case LibraryKind::BeforeLanes:
    case LibraryKind::BeforeBlock:
    case LibraryKind::SortBlock:
    case LibraryKind::CountOne:
    case LibraryKind::LoadMatrices:
    case LibraryKind::Mma:
    case LibraryKind::SwapLanes:
    case LibraryKind::ShowToProducts:
    case LibraryKind::BeginProducts:
    case LibraryKind::StartProduct:
    case LibraryKind::CommitProducts:
    case LibraryKind::WaitProducts:
    case LibraryKind::TakeProducts:
    case LibraryKind::ComputeBefore:
    case LibraryKind::SetUpRing:
    case LibraryKind::PrefetchMap:
    case LibraryKind::AcquireSlot:
    case LibraryKind::CopyBox:
    case LibraryKind::AwaitSlot:
    case LibraryKind::ReleaseSlot:
    case LibraryKind::StoreBox:
    case LibraryKind::WaitBoxes:
      return meeting(op);
    case LibraryKind::WaitAMoment:
      return out_.format("tw::wait_a_moment(launch, {});", operand(in[0]));
    case LibraryKind::Clip:
    case LibraryKind::Copy:
    case LibraryKind::ExpPlus:
    case LibraryKind::DivideFast:
    case LibraryKind::Divisor:
    case LibraryKind::PlainDivisor:
    case LibraryKind::Divide:
    case LibraryKind::IsLarge:
    case LibraryKind::IsAligned:
    case LibraryKind::IsRun:
    case LibraryKind::RowOf:
    case LibraryKind::InPlace:
    case LibraryKind::Rotated:
    case LibraryKind::OwnRow:
    case LibraryKind::WordOf:
    case LibraryKind::WordAt:
    case LibraryKind::Here:
    case LibraryKind::Uniform:
    case LibraryKind::Settled:
    case LibraryKind::Advanced:
    case LibraryKind::Describe:
    case LibraryKind::Further:
      break;
    case LibraryKind::ByTurns:
      TW_UNREACHABLE("'{}' is written with the entry", function->name);
  }
  TW_UNREACHABLE("'{}' is an expression", function->name);
}

}  // namespace tilewright
