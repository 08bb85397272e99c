// SPDX-License-Identifier: Apache-2.0
// codegen/print/cpu_entry.cpp — the two functions of a kernel on the host.
#include "codegen/print/cpu_entry.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "codegen/text/expressions.h"
#include "ir/calls.h"

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

// With its padding: arrays begin at a cache line.
std::int64_t padded_bytes(const ir::Kernel& kernel, ir::Value array, std::int64_t count) {
  constexpr std::int64_t line = 64;
  const auto element = static_cast<std::int64_t>(kernel.type(array).element_bytes());
  return (count * element + line - 1) / line * line;
}

// Of one of the two.
std::int64_t bytes_by_turns(const ir::Kernel& kernel, const ir::Op& op) {
  return padded_bytes(kernel, op.result(), op.integers("numbers")[0]);
}

// What the arrays of a program need of the arena.
std::int64_t program_arena_bytes(const ir::Kernel& kernel) {
  std::int64_t bytes = 0;
  ir::walk(kernel.body, [&](const ir::Op& op) {
    if (op.kind != OpKind::Array || kernel.type(op.result()).space != ir::Space::Arena) return;
    bytes = std::max(bytes,
                     op.integer("offset") + padded_bytes(kernel, op.result(), op.integer("count")));
  });
  return bytes;
}

// The call that leaves a row to the next program; null: there is none.
const ir::Op* deferred_row_of(const ir::Kernel& kernel) {
  const ir::Op* found = nullptr;
  ir::walk(kernel.body, [&](const ir::Op& op) {
    if (ir::calls(op, LibraryKind::Defer)) found = &op;
  });
  return found;
}

std::string late_type(const ir::Kernel& kernel, const ir::Op& row, const std::string& symbol) {
  const ir::Type element = kernel.type(row.operands[0]).pointee();
  return fmt::format("tw::Late<{}_late, {}>", symbol, type_text(element));
}

// Of an array that programs get by turns, that of program `number`.
std::string array_of_program(const ir::Kernel& kernel, const ir::Op& op,
                             const std::string& number) {
  const std::string& name = kernel.name_of(op.result());
  if (kernel.type(op.result()).space == ir::Space::Stack)
    return fmt::format("{}[{} & 1]", name, number);
  return fmt::format("({}*)(arena.bytes + {} + ({} & 1) * {})",
                     type_text(kernel.type(op.result()).element()), op.integers("numbers")[1],
                     number, bytes_by_turns(kernel, op));
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
  std::int64_t bytes = program_arena_bytes(kernel);
  for (const ir::Op* op : kernel.body.ops)
    if (ir::calls(*op, LibraryKind::ByTurns) && kernel.type(op->result()).space == ir::Space::Arena)
      bytes = std::max(bytes, op->integers("numbers")[1] + 2 * bytes_by_turns(kernel, *op));
  return bytes;
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
  const ir::Op* deferred = deferred_row_of(kernel);
  if (deferred) StatementPrinter(kernel, line_text, out).deferred_row(*deferred, symbol);
  StatementPrinter(kernel, line_text, body).region(region);
  const ExpressionPrinter expressions(kernel);
  std::vector<std::string> list = {"const TwCpuLaunch* launch", "const i32 (&id)[3]",
                                   "const i32 (&programs)[3]"};
  if (program_arena_bytes(kernel) > 0) list.emplace_back("u8* arena");
  for (std::size_t k = 0; k < region.arguments.size(); ++k) {
    const ir::Value value = region.arguments[k];
    list.push_back(fmt::format("{} {}", expressions.type(value), kernel.name_of(value)));
    const ir::Op* maker = kernel.maker(programs_of(kernel).operands[k]);
    if (deferred && maker && ir::calls(*maker, LibraryKind::IsLarge))
      list.push_back(late_type(kernel, *deferred, symbol) + "& late");
  }
  out.line("// Runs the program with this id.");
  write_wrapped(out, fmt::format("static void {}_program(", symbol), list, ") {");
  write_indented(out, body.text());
  out.line("}");
  if (ir::calls(kernel, LibraryKind::WaitAMoment)) write_communicates(out, symbol);
  return out.take();
}

namespace {

// What the caller gave for an argument of the kernel, in a variable of its type.
void write_parameters(TextWriter& out, const ir::Kernel& kernel, ir::Value given, ir::Value own) {
  for (std::size_t place = 0; place < kernel.arguments.size(); ++place) {
    if (kernel.arguments[place].value != given) continue;
    const std::string type = type_text(kernel.type(own)), &name = kernel.name_of(own);
    if (type == "bool") out.format("const bool {} = *(const u8*)parameters[{}] != 0;", name, place);
    else out.format("const auto {} = *({}*)parameters[{}];", name, type, place);
  }
}

// What a program is called with, behind variables for what the entry was given.
std::string write_arguments(TextWriter& out, const ir::Kernel& kernel, const std::string& symbol,
                            const std::string& number) {
  const ir::Op& programs = programs_of(kernel);
  const std::vector<ir::Value>& own = programs.regions[0].arguments;
  const ir::Op* deferred = deferred_row_of(kernel);
  std::string arguments = "launch, id, programs";
  if (program_arena_bytes(kernel) > 0) arguments += ", arena.bytes";
  for (std::size_t k = 0; k < own.size(); ++k) {
    const ir::Op* maker = kernel.maker(programs.operands[k]);
    const std::string& name = kernel.name_of(own[k]);
    if (maker && ir::calls(*maker, LibraryKind::ByTurns)) {
      arguments += ", " + array_of_program(kernel, *maker, number);
      continue;
    }
    arguments += ", " + name;
    if (deferred && maker && ir::calls(*maker, LibraryKind::IsLarge)) {
      out.format("{} late({});", late_type(kernel, *deferred, symbol), name);
      arguments += ", late";
    }
    write_parameters(out, kernel, programs.operands[k], own[k]);
  }
  return arguments;
}

}  // namespace

std::string print_entry(const ir::Kernel& kernel, const std::string& symbol) {
  const ir::Op& programs = programs_of(kernel);
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
  const auto at = std::find(kernel.body.ops.begin(), kernel.body.ops.end(), &programs);
  for (auto op = kernel.body.ops.begin(); op != at; ++op)
    if (ir::calls(**op, LibraryKind::ByTurns) &&
        kernel.type((*op)->result()).space == ir::Space::Stack)
      out.format("alignas(64) {} {}[2][{}];", type_text(kernel.type((*op)->result()).element()),
                 kernel.name_of((*op)->result()), (*op)->integers("numbers")[0]);
  if (const std::int64_t bytes = arena_bytes_of(kernel); bytes > 0)
    out.format("const tw::Arena arena({});", bytes);
  for (auto op = kernel.body.ops.begin(); op != at; ++op)
    if (!ir::calls(**op, LibraryKind::ByTurns)) statements.statement(**op);
  const std::string number = free_name(kernel, "number");
  const std::string arguments = write_arguments(out, kernel, symbol, number);
  write_program_id(out, number, free_name(kernel, "grid_row"));
  out.format("{}_program({});", symbol, arguments);
  out.close();
  for (auto op = at + 1; op != kernel.body.ops.end(); ++op) statements.statement(**op);
  out.close();
  return out.take();
}

}  // namespace tilewright
