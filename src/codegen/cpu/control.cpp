// SPDX-License-Identifier: Apache-2.0
// codegen/cpu/control.cpp — for, while and if: carried scalars are variables, carried tiles arrays.
#include <algorithm>

#include "base/check.h"
#include "codegen/cpu/program.h"
#include "codegen/lower/waiting.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

namespace {

// At the end of a region every array of it is there.
const Step region_end{.kind = Step::Kind::Control, .order = 1 << 30};

}  // namespace

void ProgramWriter::control(const Step& step) {
  switch (ir::control_op(step.op->kind)) {
    case ir::ControlOp::For:
      return for_loop(step);
    case ir::ControlOp::While:
      return while_loop(step);
    case ir::ControlOp::If:
      return branch(step);
    case ir::ControlOp::Sweep:
      break;
  }
  TW_UNREACHABLE("'{}' is written as the loop that it holds", step.op->facts().name);
}

// Variables and arrays `to` with the values of `from` as they are before the step.
void ProgramWriter::begin_carried(const Step& step, const std::vector<ir::Value>& to,
                                  const std::vector<ir::Value>& from) {
  std::vector<std::pair<ir::Value, ir::Value>> copies;
  for (std::size_t k = 0; k < to.size(); ++k) {
    const Type& type = kernel_.type(to[k]);
    if (type.is_scalar()) {
      const std::string name = names_.make(kernel_.name_of(to[k]), "carried");
      const std::string start = from.empty() ? "{}" : " = " + text(from[k]);
      out_.format("{} {}{};", type_text(type), name, start);
      texts_[to[k].id] = name;
    } else if (!from.empty()) {
      const bool is_shared =
          schedule_.is_placed(from[k]) && schedule_.storage(from[k]) == schedule_.storage(to[k]);
      if (!is_shared) copies.emplace_back(to[k], from[k]);
    }
  }
  copy(step, copies);
}

// to = from, all at once, at the end of a region.
void ProgramWriter::assign(const std::vector<ir::Value>& to, const std::vector<ir::Value>& from) {
  std::vector<std::pair<ir::Value, ir::Value>> copies;
  std::vector<std::pair<std::string, std::string>> scalars;
  for (std::size_t k = 0; k < to.size(); ++k) {
    if (kernel_.type(to[k]).is_scalar()) {
      if (text(to[k]) != text(from[k])) scalars.emplace_back(text(to[k]), text(from[k]));
      continue;
    }
    const bool is_shared =
        schedule_.is_placed(from[k]) && schedule_.storage(from[k]) == schedule_.storage(to[k]);
    if (!is_shared) copies.emplace_back(to[k], from[k]);
  }
  copy(region_end, copies);
  // A source that is itself assigned here must be read first.
  for (auto& [target, source] : scalars) {
    const auto is_target = [&](const auto& other) { return other.first == source; };
    if (std::none_of(scalars.begin(), scalars.end(), is_target)) continue;
    const std::string name = names_.make(source, "next");
    out_.format("const auto {} = {};", name, source);
    source = name;
  }
  for (const auto& [target, source] : scalars) out_.format("{} = {};", target, source);
}

void ProgramWriter::share_names(const std::vector<ir::Value>& to,
                                const std::vector<ir::Value>& from) {
  for (std::size_t k = 0; k < to.size(); ++k)
    if (kernel_.type(to[k]).is_scalar()) texts_[to[k].id] = text(from[k]);
}

void ProgramWriter::for_loop(const Step& step) {
  const ir::Op& op = *step.op;
  const ir::Region& body = op.regions[0];
  const std::vector<ir::Value> carried(body.arguments.begin() + 1, body.arguments.end());
  const std::vector<ir::Value> initial(op.operands.begin() + 3, op.operands.end());
  begin_carried(step, carried, initial);

  const ir::Value index = body.arguments[0];
  const std::string name = names_.make(kernel_.name_of(index), "index");
  texts_[index.id] = name;
  const std::string to = text(op.operands[1]), by = text(op.operands[2]);
  const std::optional<std::int64_t> known = constant(op.operands[2]);
  std::string test = fmt::format("{} > 0 ? {} < {} : {} > {}", atom(by), name, to, name, to);
  if (known) test = fmt::format("{} {} {}", name, *known > 0 ? "<" : ">", to);
  const std::string next = known && *known == 1 ? "++" + name : fmt::format("{} += {}", name, by);
  out_.open(fmt::format("for ({} {} = {}; {}; {})", type_text(kernel_.type(index)), name,
                        text(op.operands[0]), test, next));
  steps(step.regions[0]);
  assign(carried, body.ops.back()->operands);
  out_.close();
  share_names(op.results, carried);
}

// Region 0 decides; its values are the results, or what region 1 goes on with.
void ProgramWriter::while_loop(const Step& step) {
  const ir::Op& op = *step.op;
  const ir::Op& decision = *op.regions[0].ops.back();
  const std::vector<ir::Value>& inside = op.regions[1].arguments;
  begin_carried(step, op.regions[0].arguments, op.operands);
  begin_carried(step, inside, {});
  const bool waits = is_waiting(kernel_, op);
  std::string rounds;
  if (waits) {
    rounds = names_.make("rounds");
    out_.format("u32 {} = 0;", rounds);
  }
  out_.open("for (;;)");
  steps(step.regions[0]);
  const std::vector<ir::Value> values(decision.operands.begin() + 1, decision.operands.end());
  const std::string goes_on = text(decision.operands[0]);
  assign(inside, values);
  out_.format("if (!{}) break;", atom(goes_on));
  steps(step.regions[1]);
  assign(op.regions[0].arguments, op.regions[1].ops.back()->operands);
  // Another program may have to run before this one can go on.
  communicates_ |= waits;
  if (waits) out_.format("tw::wait_a_moment(launch, {});", rounds);
  out_.close();
  share_names(op.results, inside);
}

void ProgramWriter::branch(const Step& step) {
  const ir::Op& op = *step.op;
  begin_carried(step, op.results, {});
  const auto side = [&](std::size_t k) {
    steps(step.regions[k]);
    assign(op.results, op.regions[k].ops.back()->operands);
  };
  out_.open(fmt::format("if ({})", text(op.operands[0])));
  side(0);
  if (op.regions[1].ops.size() > 1 || !op.results.empty()) {
    out_.outdent();
    out_.open("} else");
    side(1);
  }
  out_.close();
}

}  // namespace tilewright
