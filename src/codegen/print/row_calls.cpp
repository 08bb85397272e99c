// SPDX-License-Identifier: Apache-2.0
// codegen/print/row_calls.cpp — functions of the library that go along a row and are handed what
// they do for an element.
#include <map>
#include <set>

#include <fmt/format.h>

#include "codegen/print/statements.h"
#include "machine/library.h"

namespace tilewright {

// "HEAD, [&](i64 i) TW_ALWAYS {" and what the function does.
void StatementPrinter::open_function(const std::string& head, const ir::Region& body) {
  out_.open(fmt::format("{}, [&](i64 {}) TW_ALWAYS", head, kernel_.name_of(body.arguments[0])));
  function_body(body);
}

void StatementPrinter::function_body(const ir::Region& body) {
  ++depth_of_elements_;
  region(body);
  --depth_of_elements_;
  const std::vector<ir::Value>& given = body.ops.back()->operands;
  if (!given.empty()) out_.format("return {};", operand(given[0]));
}

void StatementPrinter::row_call(const ir::Op& op, const LibraryFunction& function) {
  const auto argument = [&](std::size_t k) { return expressions_.argument(op.operands[k]); };
  const std::string first = operand(op.operands[0]);
  std::string head =
      fmt::format("{} += tw::{}({}, {}", first, function.name, argument(1), argument(2));
  if (function.kind == LibraryKind::SumBeside)
    head = fmt::format("{} += tw::sum({}, {}", first, argument(1), argument(2));
  if (function.kind == LibraryKind::SumKept) head += ", " + operand(op.operands[3]);
  const bool keeps_nan = function.kind == LibraryKind::LargestOrNan;
  const bool is_largest = keeps_nan || function.kind == LibraryKind::Largest;
  if (is_largest)
    head = fmt::format("{0} = tw::{3}({0}, tw::{4}({1}, {2}", first, argument(1), argument(2),
                       keeps_nan ? "max_nan" : "max_number", function.name);
  if (function.kind == LibraryKind::Map)
    head = fmt::format("tw::map({}, {}, &{}, {}", argument(0), argument(1),
                       expressions_.place(op.operands[2]), operand(op.operands[3]));
  open_function(head, op.regions[0]);
  if (op.regions.size() > 1) {
    out_.outdent();
    open_function("}", op.regions[1]);
  }
  out_.outdent();
  out_.line(is_largest ? "}));" : "});");
}

// ---- The row that is left to the next program (device_lib/cpu/late.h)

std::map<std::string, std::string> StatementPrinter::seen_outside(const ir::Region& region) const {
  std::set<std::uint32_t> own;
  for (const ir::Value value : region.arguments) own.insert(value.id);
  ir::walk(region, [&](const ir::Op& op) {
    for (const ir::Value value : op.results) own.insert(value.id);
    for (const ir::Region& inner : op.regions)
      for (const ir::Value value : inner.arguments) own.insert(value.id);
  });
  std::map<std::string, std::string> seen;
  ir::walk(region, [&](const ir::Op& op) {
    for (const ir::Value value : op.operands)
      if (!own.contains(value.id)) seen[operand(value)] = expressions_.copied_type(value);
  });
  return seen;
}

void StatementPrinter::defer(const ir::Op& op) {
  std::string values;
  for (const auto& [name, type] : seen_outside(op.regions[0]))
    values += (values.empty() ? "" : ", ") + name;
  out_.format("late.begin(launch, {{{}}}, &{}, {});", values, expressions_.place(op.operands[0]),
              expressions_.argument(op.operands[1]));
}

void StatementPrinter::deferred_row(const ir::Op& op, const std::string& symbol) {
  const ir::Region& body = op.regions[0];
  out_.line("// An element of the row that a program leaves to be written beside the next one.");
  out_.open(fmt::format("struct {}_late", symbol));
  for (const auto& [name, type] : seen_outside(body)) out_.format("{} {};", type, name);
  out_.open(
      fmt::format("TW_ALWAYS f32 operator()(i64 {}) const", kernel_.name_of(body.arguments[0])));
  function_body(body);
  out_.close();
  out_.close(";");
  out_.line();
}

}  // namespace tilewright
