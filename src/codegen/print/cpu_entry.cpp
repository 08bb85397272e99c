// SPDX-License-Identifier: Apache-2.0
// codegen/print/cpu_entry.cpp — the two functions of a kernel on the host.
#include "codegen/print/cpu_entry.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "codegen/text/expressions.h"
#include "machine/library.h"

namespace tilewright {

using ir::OpKind;

namespace {

const ir::Op& programs_of(const ir::Kernel& kernel) {
  const auto& ops = kernel.body.ops;
  const auto found = std::find_if(ops.begin(), ops.end(),
                                  [](const ir::Op* op) { return op->kind == OpKind::ForPrograms; });
  TW_CHECK(found != ops.end(), "kernel '{}' runs no programs", kernel.name);
  return **found;
}

// Parameters of the user's may be called like this.
std::string free_name(const ir::Kernel& kernel, const std::string& wanted) {
  const std::vector<ir::Value>& taken = programs_of(kernel).regions[0].arguments;
  std::string name = wanted;
  for (int copy = 2; std::any_of(taken.begin(), taken.end(),
                                 [&](ir::Value value) { return kernel.name_of(value) == name; });
       ++copy)
    name = fmt::format("{}_{}", wanted, copy);
  return name;
}

}  // namespace

std::int64_t arena_bytes_of(const ir::Kernel& kernel) {
  std::int64_t bytes = 0;
  ir::walk(kernel.body, [&](const ir::Op& op) {
    if (op.kind != OpKind::Array || kernel.type(op.result()).space != ir::Space::Arena) return;
    constexpr std::int64_t line = 64;
    const auto element = static_cast<std::int64_t>(kernel.type(op.result()).element_bytes());
    const std::int64_t end = op.integer("offset") + op.integer("count") * element;
    bytes = std::max(bytes, (end + line - 1) / line * line);
  });
  return bytes;
}

bool calls_function(const ir::Kernel& kernel, std::string_view function) {
  bool found = false;
  ir::walk(kernel.body, [&](const ir::Op& op) {
    found |= op.kind == OpKind::Call && op.text("function") == function;
  });
  return found;
}

void write_wrapped(TextWriter& out, const std::string& head, const std::vector<std::string>& items,
                   const std::string& tail) {
  std::string line = head;
  for (std::size_t k = 0; k < items.size(); ++k) {
    const std::string item = items[k] + (k + 1 < items.size() ? "," : tail);
    if (line.size() + item.size() > 100 && k > 0) {
      out.line(line);
      line = "    " + item;
    } else {
      line += (k == 0 ? "" : " ") + item;
    }
  }
  out.line(line);
}

void write_indented(TextWriter& out, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    out.raw(line.empty() ? "\n" : "  " + line + "\n");
    at = end + 1;
  }
}

void write_communicates(TextWriter& out, const std::string& symbol) {
  out.line();
  out.line("// Its programs wait for each other: the library may have to run all at once.");
  out.format("extern \"C\" const int {0}_communicates;", symbol);
  out.format("const int {0}_communicates = 1;", symbol);
}

void write_program_id(TextWriter& out, const std::string& number, const std::string& row) {
  out.open(fmt::format("for (u64 {0} = first; {0} < last; ++{0})", number));
  out.format("const u64 {} = {} / launch->grid[0];", row, number);
  out.format("const i32 id[3] = {{i32({} % launch->grid[0]), i32({} % launch->grid[1]),", number,
             row);
  out.format("                   i32({} / launch->grid[1])}};", row);
}

std::string print_program(const ir::Kernel& kernel, const std::string& symbol,
                          const LineText& line_text) {
  const ir::Region& region = programs_of(kernel).regions[0];
  TextWriter body, out;
  StatementPrinter(kernel, line_text, body).region(region);
  const ExpressionPrinter expressions(kernel);
  std::vector<std::string> list = {"const TwCpuLaunch* launch", "const i32 (&id)[3]",
                                   "const i32 (&programs)[3]"};
  if (arena_bytes_of(kernel) > 0) list.emplace_back("u8* arena");
  for (const ir::Value value : region.arguments)
    list.push_back(fmt::format("{} {}", expressions.type(value), kernel.name_of(value)));
  out.line("// Runs the program with this id.");
  write_wrapped(out, fmt::format("static void {}_program(", symbol), list, ") {");
  write_indented(out, body.text());
  out.line("}");
  if (calls_function(kernel, name_of(LibraryKind::WaitAMoment))) write_communicates(out, symbol);
  return out.take();
}

std::string print_entry(const ir::Kernel& kernel, const std::string& symbol) {
  const ir::Op& programs = programs_of(kernel);
  const std::vector<ir::Value>& names = programs.regions[0].arguments;
  const LineText no_lines;
  TextWriter out;
  StatementPrinter statements(kernel, no_lines, out);
  out.line("// Runs programs `first` to `last` of the grid, x fastest.");
  out.open(
      fmt::format("extern \"C\" void {}(const TwCpuLaunch* launch, void* const* parameters, "
                  "unsigned long first, unsigned long last)",
                  symbol));
  out.line(
      "const i32 programs[3] = {i32(launch->grid[0]), i32(launch->grid[1]), "
      "i32(launch->grid[2])};");
  std::string arguments = "launch, id, programs";
  if (const std::int64_t bytes = arena_bytes_of(kernel); bytes > 0) {
    out.format("const tw::Arena arena({});", bytes);
    arguments += ", arena.bytes";
  }
  const auto at = std::find(kernel.body.ops.begin(), kernel.body.ops.end(), &programs);
  for (auto op = kernel.body.ops.begin(); op != at; ++op) statements.statement(**op);
  for (std::size_t k = 0; k < names.size(); ++k) {
    arguments += ", " + kernel.name_of(names[k]);
    for (std::size_t number = 0; number < kernel.arguments.size(); ++number) {
      if (kernel.arguments[number].value != programs.operands[k]) continue;
      const std::string& name = kernel.name_of(names[k]);
      const std::string type = type_text(kernel.type(names[k]));
      if (type == "bool")
        out.format("const bool {} = *(const u8*)parameters[{}] != 0;", name, number);
      else out.format("const auto {} = *({}*)parameters[{}];", name, type, number);
    }
  }
  write_program_id(out, free_name(kernel, "number"), free_name(kernel, "grid_row"));
  out.format("{}_program({});", symbol, arguments);
  out.close();
  for (auto op = at + 1; op != kernel.body.ops.end(); ++op) statements.statement(**op);
  out.close();
  return out.take();
}

}  // namespace tilewright
