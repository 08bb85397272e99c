// SPDX-License-Identifier: Apache-2.0
// codegen/print/control.cpp — loops and branches: what is carried is a variable.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "codegen/print/statements.h"

namespace tilewright {

using ir::OpKind;

namespace {

std::string_view sign_of(std::string_view op) {
  constexpr std::pair<std::string_view, std::string_view> signs[] = {
      {"add", "+"}, {"sum", "tw_sum"}, {"mul", "*"}, {"and", "&"}, {"or", "|"}, {"xor", "^"}};
  for (const auto& [name, sign] : signs)
    if (name == op) return sign;
  return op;  // min and max are names in either language
}

}  // namespace

void StatementPrinter::declare(const std::vector<ir::Value>& variables,
                               const std::vector<ir::Value>& initial) {
  for (std::size_t k = 0; k < variables.size(); ++k)
    out_.format("{} {}{};", expressions_.type(variables[k]), kernel_.name_of(variables[k]),
                initial.empty() ? "{}" : " = " + operand(initial[k]));
}

// to = from; no source is a variable that is assigned here.
void StatementPrinter::assign(const std::vector<ir::Value>& to,
                              const std::vector<ir::Value>& from) {
  for (std::size_t k = 0; k < to.size(); ++k)
    if (operand(to[k]) != operand(from[k]))
      out_.format("{} = {};", operand(to[k]), operand(from[k]));
}

void StatementPrinter::for_loop(const ir::Op& op) {
  if (op.text("over") != "rounds") return element_loop(op);
  const ir::Region& body = op.regions[0];
  const std::vector<ir::Value> carried(body.arguments.begin() + 1, body.arguments.end());
  declare(carried, {op.operands.begin() + 3, op.operands.end()});
  const std::string& name = kernel_.name_of(body.arguments[0]);
  const std::string to = operand(op.operands[1]), by = operand(op.operands[2]);
  const ir::Op* step = kernel_.maker(op.operands[2]);
  const bool is_known = step && step->kind == OpKind::Constant;
  const std::int64_t known = is_known ? step->integer("value") : 0;
  std::string test = fmt::format("{} > 0 ? {} < {} : {} > {}", by, name, to, name, to);
  if (is_known || is_rising(op))
    test = fmt::format("{} {} {}", name, !is_known || known > 0 ? "<" : ">", to);
  const std::string next = round_step(name, by);
  loop_pragma(op);
  out_.open(fmt::format("for ({} {} = {}; {}; {})", expressions_.type(body.arguments[0]), name,
                        operand(op.operands[0]), test, next));
  region(body);
  assign(carried, body.ops.back()->operands);
  out_.close();
}

std::string StatementPrinter::index_type(ir::Value index) const { return expressions_.type(index); }

std::string StatementPrinter::round_step(const std::string& index, const std::string& by) const {
  return by == "1" || by == "1ll" ? "++" + index : fmt::format("{} += {}", index, by);
}

bool StatementPrinter::is_rising(const ir::Op&) const { return false; }

void StatementPrinter::loop_pragma(const ir::Op& op) {
  if (op.integer("simd") == 0) return;
  std::string clauses;
  for (const std::string& clause : op.texts("reduces")) {
    const std::size_t space = clause.find(' ');
    clauses += fmt::format(" reduction({} : {})", sign_of(clause.substr(0, space)),
                           clause.substr(space + 1));
  }
  out_.line("#pragma omp simd" + clauses);
}

void StatementPrinter::element_loop(const ir::Op& op) {
  loop_pragma(op);
  if (op.text("over") == "registers") return register_loop(op);
  const ir::Region& body = op.regions[0];
  const std::string& name = kernel_.name_of(body.arguments[0]);
  const ir::Op* step = kernel_.maker(op.operands[2]);
  const bool is_known = step && step->kind == OpKind::Constant;
  const std::int64_t by = is_known ? step->integer("value") : 0;
  const std::string next = by == 1    ? "++" + name
                           : by == -1 ? "--" + name
                                      : fmt::format("{} += {}", name, operand(op.operands[2]));
  out_.open(fmt::format("for ({} {} = {}; {} {} {}; {})", index_type(body.arguments[0]), name,
                        expressions_.argument(op.operands[0]), name, by < 0 ? ">" : "<",
                        expressions_.argument(op.operands[1]), next));
  ++depth_of_elements_;
  region(body);
  --depth_of_elements_;
  out_.close();
}

// "for (int k = 0; k < 4; ++k) x[k] = y[k];"
void StatementPrinter::register_loop(const ir::Op& op) {
  TextWriter outside = std::exchange(out_, TextWriter{});
  region(op.regions[0]);
  std::string body = std::exchange(out_, std::move(outside)).take();
  while (body.ends_with('\n')) body.pop_back();
  out_.format("for (int {0} = 0; {0} < {1}; ++{0}) {2}",
              kernel_.name_of(op.regions[0].arguments[0]), operand(op.operands[1]), body);
}

// Region 0 decides; its values are the results, or what region 1 goes on with.
void StatementPrinter::while_loop(const ir::Op& op) {
  const ir::Op& decision = *op.regions[0].ops.back();
  const std::vector<ir::Value>& inside = op.regions[1].arguments;
  declare(op.regions[0].arguments, op.operands);
  declare(inside, {});
  loop_pragma(op);
  out_.open(has_short_branches_ ? "while (true)" : "for (;;)");
  region(op.regions[0]);
  const std::string goes_on = operand(decision.operands[0]);
  assign(inside, {decision.operands.begin() + 1, decision.operands.end()});
  out_.format("if (!{}) break;", goes_on);
  region(op.regions[1]);
  assign(op.regions[0].arguments, op.regions[1].ops.back()->operands);
  out_.close();
}

// "if (thread == 0) tw::store_one(p, x);", comments before it. False where it is more than that.
bool StatementPrinter::short_branch(const ir::Op& op, const std::string& condition) {
  if (!has_short_branches_ || !op.results.empty()) return false;
  const ir::Location place = last_location_;
  TextWriter outside = std::exchange(out_, TextWriter{});
  region(op.regions[0]);
  const std::string text = std::exchange(out_, std::move(outside)).take();
  std::vector<std::string> comments, statements;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    const bool is_comment = line.starts_with("//") || line.starts_with("#line");
    (is_comment ? comments : statements).push_back(line);
    at = end + 1;
  }
  const bool is_short = statements.size() == 1 && statements[0].ends_with(';') &&
                        !statements[0].starts_with("if ") && !statements[0].starts_with("const ");
  if (!is_short) {
    last_location_ = place;
    return false;
  }
  for (const std::string& line : comments)
    if (line.starts_with("#")) out_.raw(line + "\n");
    else out_.line(line);
  out_.format("if ({}) {}", condition, statements[0]);
  return true;
}

void StatementPrinter::branch(const ir::Op& op) {
  declare(op.results, {});
  if (op.results.empty() && op.regions[0].ops.size() == 1) {
    out_.open(fmt::format("if (!{})", operand(op.operands[0])));
    region(op.regions[1]);
    return out_.close();
  }
  const std::string condition = expressions_.condition(op.operands[0]);
  const bool is_short = short_branch(op, condition);
  if (!is_short) {
    out_.open(fmt::format("if ({})", condition));
    region(op.regions[0]);
    assign(op.results, op.regions[0].ops.back()->operands);
  }
  const bool has_else = op.regions[1].ops.size() > 1 || !op.results.empty();
  if (is_short && !has_else) return;
  if (has_else) {
    if (!is_short) out_.outdent();
    out_.open(is_short ? "else" : "} else");
    region(op.regions[1]);
    assign(op.results, op.regions[1].ops.back()->operands);
  }
  out_.close();
}

}  // namespace tilewright
