// SPDX-License-Identifier: Apache-2.0
// graph/print/triton.cpp — one line of Triton for each op; scalars stand for splats of them.
#include "graph/print/triton.h"

#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"

namespace tilewright::graph {
namespace {

using Kind = ir::OpKind;

std::string triton_dtype(DType dtype) {
  switch (dtype) {
    case DType::Bool:
      return "tl.int1";
    case DType::Float8E4M3:
      return "tl.float8e4nv";
    case DType::Float8E5M2:
      return "tl.float8e5";
    default:
      return fmt::format("tl.{}", name_of(dtype));
  }
}

// Functions that tl has; the others are libdevice's.
const std::set<std::string_view> plain_functions = {
    "exp", "exp2", "log", "log2", "sqrt", "sqrt_rn", "rsqrt", "sin", "cos", "floor", "ceil", "erf"};

class TritonPrinter {
 public:
  explicit TritonPrinter(const ir::Kernel& kernel) : kernel_(kernel) {}

  std::string run() {
    std::vector<std::string> names;
    for (const ir::KernelArgument& argument : kernel_.arguments) {
      names.push_back(kernel_.name_of(argument.value));
      names_[argument.value.id] = names.back();
      // A Python float is a float32 of Triton's unless the parameter says otherwise.
      const ir::Type& type = kernel_.type(argument.value);
      if (type.is_scalar() && type.is_float() && type.dtype == DType::Float64)
        names.back() += ": tl.float64";
    }
    print_region(kernel_.body);
    return helpers_ +
           fmt::format("@triton.jit\ndef {}({}):\n", kernel_.name, fmt::join(names, ", ")) + text_;
  }

 private:
  std::string name(ir::Value value) const { return names_.at(value.id); }
  std::string fresh() { return fmt::format("v{}", next_++); }

  void line(const std::string& content) {
    text_ += std::string(static_cast<std::size_t>(4 * depth_), ' ') + content + "\n";
  }
  void define(const ir::Op& op, const std::string& content) {
    names_[op.result().id] = fresh();
    line(name(op.result()) + " = " + content);
  }

  void print_region(const ir::Region& region) {
    for (const ir::Op* op : region.ops) print(*op);
  }

  static std::string number(const ir::Op& op, const ir::Type& type) {
    if (!type.is_float()) {
      const std::int64_t value = op.integer("value");
      return type.is_bool() ? (value != 0 ? "True" : "False") : std::to_string(value);
    }
    const auto* const integer = std::get_if<std::int64_t>(op.find("value"));
    const double value = integer != nullptr ? static_cast<double>(*integer) : op.number("value", 0);
    if (std::isnan(value)) return "float(\"nan\")";
    if (std::isinf(value)) return value > 0 ? "float(\"inf\")" : "float(\"-inf\")";
    return fmt::format("{}", value);
  }

  std::string shape_of(const ir::Type& type) const {
    return fmt::format("[{}]", fmt::join(type.shape(), ", "));
  }

  void print_constant(const ir::Op& op) {
    const ir::Type& type = kernel_.type(op.result());
    const std::string text = number(op, type);
    if (text == "-0")  // no constant of Triton's is -0
      return define(
          op, fmt::format("tl.full({}, 0.0, {}) * -1.0", shape_of(type), triton_dtype(type.dtype)));
    define(op, fmt::format("tl.full({}, {}, {})", shape_of(type), text, triton_dtype(type.dtype)));
  }

  std::string operand(const ir::Op& op, std::size_t i) const { return name(op.operands[i]); }
  std::string between(const ir::Op& op, const char* sign) const {
    return fmt::format("{} {} {}", operand(op, 0), sign, operand(op, 1));
  }

  std::string extreme(const ir::Op& op, const char* function) const {
    return fmt::format("{}({}, {}{})", function, operand(op, 0), operand(op, 1),
                       op.find("nan") != nullptr ? ", propagate_nan=tl.PropagateNan.ALL" : "");
  }

  std::string division(const ir::Op& op) const {
    const ir::Type& type = kernel_.type(op.result());
    if (!type.is_float()) return between(op, "//");
    const bool is_exact = op.integer("exact") != 0 && type.dtype == DType::Float32;
    return is_exact ? fmt::format("tl.div_rn({}, {})", operand(op, 0), operand(op, 1))
                    : between(op, "/");
  }

  std::string math(const ir::Op& op) const {
    std::vector<std::string> operands;
    for (const ir::Value value : op.operands) operands.push_back(name(value));
    std::string_view function = op.text("function");
    // tl has that of float32 alone; of float64 the plain one is exact.
    if (function == "sqrt_rn" && kernel_.type(op.result()).dtype == DType::Float64)
      function = "sqrt";
    return fmt::format("{}.{}({})", plain_functions.contains(function) ? "tl" : "libdevice",
                       function, fmt::join(operands, ", "));
  }

  static const char* sign_of(std::string_view is) {
    const std::map<std::string_view, const char*> signs = {
        {"eq", "=="}, {"ne", "!="}, {"lt", "<"}, {"le", "<="}, {"gt", ">"}, {"ge", ">="}};
    return signs.at(is);
  }

  void print_load(const ir::Op& op) {
    std::string arguments = operand(op, 0);
    if (op.operands.size() > 1) arguments += ", mask=" + operand(op, 1);
    if (op.operands.size() > 1)
      arguments += ", other=" + (op.operands.size() > 2 ? operand(op, 2) : std::string("0"));
    define(op, fmt::format("tl.load({})", arguments));
  }

  void print_store(const ir::Op& op) {
    line(fmt::format("tl.store({}, {}{})", operand(op, 0), operand(op, 1),
                     op.operands.size() > 2 ? ", mask=" + operand(op, 2) : ""));
  }

  // The combining function is printed before the kernel, as a function of its own.
  void print_reduce(const ir::Op& op) {
    const std::string function = fmt::format("{}_combine{}", kernel_.name, combines_++);
    const std::string outer = std::exchange(text_, {});
    const int depth = std::exchange(depth_, 1);
    std::vector<std::string> parameters;
    for (const ir::Value value : op.regions[0].arguments)
      parameters.push_back(names_[value.id] = fresh());
    for (const ir::Op* inner : op.regions[0].ops) {
      if (inner->kind != Kind::Yield) {
        print(*inner);
        continue;
      }
      line(fmt::format("return {}", names_of(inner->operands)));
    }
    helpers_ += fmt::format("@triton.jit\ndef {}({}):\n{}\n\n", function,
                            fmt::join(parameters, ", "), text_);
    text_ = outer;
    depth_ = depth;
    for (const ir::Value value : op.results) names_[value.id] = fresh();
    const std::string operands =
        op.operands.size() == 1 ? operand(op, 0) : fmt::format("({})", names_of(op.operands));
    line(fmt::format("{} = tl.reduce({}, {}, {})", names_of(op.results), operands,
                     op.integer("axis"), function));
  }

  std::string names_of(const std::vector<ir::Value>& values) const {
    std::vector<std::string> all;
    for (const ir::Value value : values) all.push_back(name(value));
    return fmt::format("{}", fmt::join(all, ", "));
  }

  void print_for(const ir::Op& op) {
    const ir::Region& region = op.regions[0];
    std::vector<std::string> carried;
    for (std::size_t i = 0; i < op.results.size(); ++i) {
      carried.push_back(fresh());
      line(fmt::format("{} = {}", carried[i], name(op.operands[i + 3])));
      names_[op.results[i].id] = names_[region.arguments[i + 1].id] = carried[i];
    }
    const std::string index = names_[region.arguments[0].id] = fresh();
    line(fmt::format("for {} in range({}, {}, {}):", index, operand(op, 0), operand(op, 1),
                     operand(op, 2)));
    ++depth_;
    for (const ir::Op* inner : region.ops) {
      if (inner->kind != Kind::Yield) {
        print(*inner);
        continue;
      }
      if (!carried.empty())
        line(fmt::format("{} = {}", fmt::join(carried, ", "), names_of(inner->operands)));
    }
    --depth_;
  }

  // Branches of ours have no results.
  void print_if(const ir::Op& op) {
    TW_CHECK(op.results.empty(), "a branch with results has no text in Triton here");
    for (const std::size_t side : {0u, 1u}) {
      line(side == 0 ? fmt::format("if {}:", operand(op, 0)) : "else:");
      ++depth_;
      for (const ir::Op* inner : op.regions[side].ops)
        if (inner->kind != Kind::Yield) print(*inner);
      --depth_;
    }
  }

  void print_reshape(const ir::Op& op) {
    define(op,
           fmt::format("tl.reshape({}, {})", operand(op, 0), shape_of(kernel_.type(op.result()))));
  }

  void print(const ir::Op& op) {
    switch (op.kind) {
      case Kind::Constant:
        return print_constant(op);
      case Kind::ProgramId:
        return define(op, fmt::format("tl.program_id({})", op.integer("axis")));
      case Kind::Arange: {
        const std::int64_t start = op.integer("start");
        return define(
            op, fmt::format("tl.arange({}, {})", start, start + kernel_.type(op.result()).numel()));
      }
      case Kind::Splat:
        names_[op.result().id] = operand(op, 0);
        return;
      case Kind::Broadcast:
        return define(op, fmt::format("tl.broadcast_to({}, {})", operand(op, 0),
                                      shape_of(kernel_.type(op.result()))));
      case Kind::Reshape:
        return print_reshape(op);
      case Kind::Add:
      case Kind::Offset:
        return define(op, between(op, "+"));
      case Kind::Subtract:
        return define(op, between(op, "-"));
      case Kind::Multiply:
        return define(op, between(op, "*"));
      case Kind::Divide:
        return define(op, division(op));
      case Kind::Remainder:
        return define(op, between(op, "%"));
      case Kind::Minimum:
        return define(op, extreme(op, "tl.minimum"));
      case Kind::Maximum:
        return define(op, extreme(op, "tl.maximum"));
      case Kind::And:
        return define(op, between(op, "&"));
      case Kind::Or:
        return define(op, between(op, "|"));
      case Kind::Xor:
        return define(op, between(op, "^"));
      case Kind::ShiftRight:
        return define(op, between(op, ">>"));
      case Kind::Negate:  // Triton's -x is 0 - x
        return define(op, kernel_.type(op.result()).is_float() ? operand(op, 0) + " * -1.0"
                                                               : "-" + operand(op, 0));
      case Kind::Absolute:
        return define(op, fmt::format("tl.abs({})", operand(op, 0)));
      case Kind::Compare:
        return define(op, between(op, sign_of(op.text("is"))));
      case Kind::Select:
        return define(op, fmt::format("tl.where({}, {}, {})", operand(op, 0), operand(op, 1),
                                      operand(op, 2)));
      case Kind::Cast: {
        const DType to = kernel_.type(op.result()).dtype;
        if (to == DType::Bool) return define(op, operand(op, 0) + " != 0");
        // A number of the launch may be a constant there, which has no methods.
        if (kernel_.maker(op.operands[0]) == nullptr)
          return define(op, fmt::format("tl.cast({}, {})", operand(op, 0), triton_dtype(to)));
        return define(op, fmt::format("{}.to({})", operand(op, 0), triton_dtype(to)));
      }
      case Kind::Math:
        return define(op, math(op));
      case Kind::Load:
        return print_load(op);
      case Kind::Store:
        return print_store(op);
      case Kind::Reduce:
        return print_reduce(op);
      case Kind::For:
        return print_for(op);
      case Kind::If:
        return print_if(op);
      default:
        TW_UNREACHABLE("'{}' has no text in Triton here", op.facts().name);
    }
  }

  const ir::Kernel& kernel_;
  std::map<std::uint32_t, std::string> names_;
  std::string helpers_, text_;
  int next_ = 0, combines_ = 0, depth_ = 1;
};

}  // namespace

std::string to_triton(const ir::Kernel& kernel) { return TritonPrinter(kernel).run(); }

std::string triton_imports() {
  return "import triton\nimport triton.language as tl\n"
         "from triton.language.extra import libdevice\n\n\n";
}

}  // namespace tilewright::graph
