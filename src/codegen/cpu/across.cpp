// SPDX-License-Identifier: Apache-2.0
// codegen/cpu/across.cpp — ops that move data between elements: scan, sort, gather,
// concatenate, histogram, print (dot has its own file).
#include <algorithm>

#include "base/check.h"
#include "base/quote.h"
#include "codegen/cpu/program.h"
#include "codegen/lower/reduction_facts.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

namespace {

constexpr const char* simd = "#pragma omp simd";

}  // namespace

void ProgramWriter::across(const Step& step) {
  switch (ir::across_op(step.op->kind)) {
    case ir::AcrossOp::Scan:
      return scan(step);
    case ir::AcrossOp::Dot:
      return dot(step);
    case ir::AcrossOp::Gather:
      return gather(step);
    case ir::AcrossOp::Concatenate:
      return concatenate(step);
    case ir::AcrossOp::Sort:
      return sort(step);
    case ir::AcrossOp::Histogram:
      return histogram(step);
    case ir::AcrossOp::Print:
      return print(step);
    case ir::AcrossOp::ReadBuffer:
      break;
  }
  TW_UNREACHABLE("'{}' is for machines that copy asynchronously", step.op->facts().name);
}

// In the result's array, one slice after the other along the axis.
void ProgramWriter::scan(const Step& step) {
  const ir::Op& op = *step.op;
  std::vector<std::pair<ir::Value, ir::Value>> copies;
  for (std::size_t k = 0; k < op.results.size(); ++k)
    copies.emplace_back(op.results[k], op.operands[k]);
  copy(step, copies);
  const Type& type = kernel_.type(op.result());
  const auto axis = static_cast<int>(op.integer("axis"));
  std::int64_t outer = 1, inner = 1;
  for (int d = 0; d < type.rank; ++d)
    (d < axis ? outer : d > axis ? inner : outer) *= d == axis ? 1 : type.size(d);
  const std::int64_t length = type.size(axis);
  const bool is_reverse = op.integer("reverse") != 0;

  // Sums of neighbours have a function of their own.
  const ir::Op* const only = only_op(op);
  const bool is_wide = type.is_float() || type.is_int();
  if (only && only->kind == OpKind::Add && inner == 1 && is_wide && size_of(type.dtype) >= 4) {
    names_.reserve("o");
    if (outer > 1) out_.line(fmt::format("for (i32 o = 0; o < {}; ++o)", outer));
    out_.format("{}tw::running_sum<{}>({}{}, {});", outer > 1 ? "  " : "", is_reverse,
                array(op.result()), outer > 1 ? fmt::format(" + o * {}", length) : "", length);
    return;
  }

  std::vector<std::string> before, here;
  for (const ir::Value result : op.results) {
    before.push_back(fmt::format("{}[at {} {}]", array(result), is_reverse ? "+" : "-", inner));
    here.push_back(fmt::format("{}[at]", array(result)));
  }
  std::vector<std::string> lines;
  for (const char* loop_name : {"o", "k", "n", "at"}) names_.reserve(loop_name);
  combine(op, before, here, here, lines);
  out_.open(fmt::format("for (i32 o = 0; o < {}; ++o)", outer));
  if (is_reverse) out_.open(fmt::format("for (i32 k = {}; k >= 0; --k)", length - 2));
  else out_.open(fmt::format("for (i32 k = 1; k < {}; ++k)", length));
  if (inner > 1 && lines.size() == 1) out_.line(simd);
  out_.open(fmt::format("for (i32 n = 0; n < {}; ++n)", inner));
  out_.format("const i32 at = (o * {} + k) * {} + n;", length, inner);
  for (const std::string& line : lines) out_.line(line);
  for (int k = 0; k < 3; ++k) out_.close();
}

void ProgramWriter::gather(const Step& step) {
  const ir::Op& op = *step.op;
  const Type& type = kernel_.type(op.result());
  const auto axis = static_cast<std::size_t>(op.integer("axis"));
  Nest nest = make_nest(step, type, {});
  print_nest(nest, {simd}, [&] {
    const Placed wanted = element(nest, op.operands[1], nest.own);
    Index from{nest.own.at, {}};
    // An index outside the tile is the user's mistake; it must not read outside the array.
    const std::int64_t last = kernel_.type(op.operands[0]).size(static_cast<int>(axis)) - 1;
    from.at[axis] = {fmt::format("({} & {})", atom(wanted.text), last), nest.depth()};
    const Placed value = element(nest, op.operands[0], from);
    nest.lines.back().push_back(
        fmt::format("{}[{}] = {};", array(op.result()), linear(type, nest.own).text, value.text));
  });
}

void ProgramWriter::concatenate(const Step& step) {
  const ir::Op& op = *step.op;
  const auto axis = static_cast<std::size_t>(op.integer("axis"));
  const Type& half = kernel_.type(op.operands[0]);
  for (std::size_t side = 0; side < 2; ++side) {
    Nest nest = make_nest(step, half, {});
    print_nest(nest, {simd}, [&] {
      Index to{nest.own.at, {}};
      if (side == 1)
        to.at[axis].text =
            fmt::format("({} + {})", to.at[axis].text, half.size(static_cast<int>(axis)));
      const Placed value = element(nest, op.operands[side], nest.own);
      nest.lines.back().push_back(fmt::format("{}[{}] = {};", array(op.result()),
                                              linear(kernel_.type(op.result()), to).text,
                                              value.text));
    });
  }
}

// In the result's array.
void ProgramWriter::sort(const Step& step) {
  const ir::Op& op = *step.op;
  copy(step, {{op.result(), op.operands[0]}});
  out_.format("tw::merge_runs<{}, {}, tw::SortOrder::{}>({}, {});", op.integer("first"),
              op.integer("last"), op.text("order"), array(op.result()),
              kernel_.type(op.result()).numel());
}

void ProgramWriter::histogram(const Step& step) {
  const ir::Op& op = *step.op;
  const Type& type = kernel_.type(op.result());
  out_.format("for (i32 i = 0; i < {}; ++i) {}[i] = 0;", type.numel(), array(op.result()));
  Nest nest = make_nest(step, kernel_.type(op.operands[0]), {});
  print_nest(nest, {}, [&] {
    const Placed bin = element(nest, op.operands[0], nest.own);
    std::string condition_text = fmt::format("u64(i64({})) < {}ull", bin.text, type.numel());
    if (op.operands.size() > 1)
      condition_text =
          fmt::format("{} && {}", element(nest, op.operands[1], nest.own).text, condition_text);
    nest.lines.back().push_back(
        fmt::format("if ({}) ++{}[{}];", condition_text, array(op.result()), bin.text));
  });
}

// One line per element, as the interpreter prints it.
void ProgramWriter::print(const Step& step) {
  const ir::Op& op = *step.op;
  const std::string prefix = cpp_string(op.text("prefix"));
  if (op.operands.empty()) {
    out_.format("tw::print_line(id, -1, {}, {{}});", prefix);
    return;
  }
  for (const ir::Value value : op.operands) {
    const Type& type = kernel_.type(value);
    Nest nest = make_nest(step, type, {});
    print_nest(nest, {}, [&] {
      const std::string written = element(nest, value, nest.own).text;
      std::string shown = fmt::format("tw::print_text({})", written);
      if (type.is_pointer || (op.integer("hex") != 0 && !type.is_float()))
        shown = fmt::format("tw::print_hex((u64)({}))", written);
      else if (!type.is_float())
        shown = fmt::format("tw::print_text({}({}))", type.dtype == DType::UInt64 ? "u64" : "i64",
                            written);
      nest.lines.back().push_back(fmt::format("tw::print_line(id, {}, {}, {});",
                                              type.is_scalar() ? "-1" : linear(type, nest.own).text,
                                              prefix, shown));
    });
  }
}

}  // namespace tilewright
