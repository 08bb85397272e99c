// SPDX-License-Identifier: Apache-2.0
// frontend/triton/builtins_python.cpp — Python's own functions, those of its math module, and the
// few of Triton outside tl.
#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "frontend/triton/builtin_ops.h"
#include "frontend/triton/builtin_tables.h"
#include "frontend/triton/builtins.h"
#include "frontend/triton/constants.h"
#include "frontend/triton/printing.h"

namespace tilewright::triton {
namespace {

Value len(Call& call) {
  const Value& value = call["x"];
  if (const Tuple* tuple = value.tuple())
    return Value::integer(static_cast<Int128>(tuple->items.size()));
  if (const Constant* constant = value.get_if<Constant>())
    if (const auto* text = std::get_if<std::string>(&constant->value))
      return Value::integer(static_cast<Int128>(text->size()));
  call.fail(fmt::format("does not work on {}", call.describe(value)),
            value.is_tensor() ? "use x.shape[0]" : "");
}

// Constants fold; with a tensor it is tl.minimum or tl.maximum.
Value extreme(Call& call, ir::OpKind kind) {
  Semantic& semantic = call.semantic;
  const std::vector<Value> values = unpacked(call["values"]);
  if (values.empty()) call.fail("needs values");
  const auto compare = kind == ir::OpKind::Maximum ? python::CompareOperator::Greater
                                                   : python::CompareOperator::Less;
  Value best = values[0];
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (!best.is_tensor() && !values[i].is_tensor()) {
      if (fold(compare, values[i], best)) best = values[i];
      continue;
    }
    const auto [x, y] = semantic.operands(lift_bfloat16(semantic, semantic.tensor(best)),
                                          lift_bfloat16(semantic, semantic.tensor(values[i])),
                                          call.name, Literals::Strong);
    best = extremum(semantic, kind, x, y);
  }
  return best;
}

Value min(Call& call) { return extreme(call, ir::OpKind::Minimum); }
Value max(Call& call) { return extreme(call, ir::OpKind::Maximum); }

Value abs(Call& call) {
  const Value& x = call["x"];
  if (!x.is_tensor()) {
    if (fold(python::CompareOperator::Less, x, Value::integer(0)))
      return fold(python::UnaryOperator::Negate, x);
    return x;
  }
  return call_builtin(call.semantic, call.host, {"triton.language.abs"}, {.positional = {x}});
}

[[noreturn]] void fail_cast(Call& call, std::string_view type) {
  call.fail(fmt::format("does not work on {}", call.describe(call["x"])),
            call["x"].is_tensor() ? fmt::format("use .to(tl.{})", type) : "");
}

Value to_int(Call& call) {
  const Value& x = call["x"];
  if (const auto integer = integer_of(x)) return Value::integer(*integer);
  if (const auto number = number_of(x);
      number && std::isfinite(*number) && std::fabs(*number) < 0x1p126)
    return Value::integer(static_cast<Int128>(*number));
  fail_cast(call, "int32");
}

Value to_float(Call& call) {
  const Value& x = call["x"];
  if (const auto number = number_of(x)) return Value::number(*number);
  const Constant* constant = x.get_if<Constant>();
  const auto* text = constant ? std::get_if<std::string>(&constant->value) : nullptr;
  if (!text) fail_cast(call, "float32");
  char* end = nullptr;
  const double value = std::strtod(text->c_str(), &end);
  if (text->empty() || *end != '\0') call.fail(fmt::format("does not know the number '{}'", *text));
  return Value::number(value);
}

Value to_bool(Call& call) {
  if (call["x"].is_tensor()) fail_cast(call, "int1");
  return Value::boolean(call.semantic.truth(call["x"]));
}

Value to_tuple(Call& call) {
  if (const Tuple* tuple = call["x"].tuple()) return Value::tuple(tuple->items);
  call.fail(fmt::format("does not work on {}", call.describe(call["x"])));
}

Value to_str(Call& call) { return Value::text(print_text(call["x"], call.semantic.kernel())); }

// print("prefix", x): a device_print; constants alone are printed when the kernel is compiled.
Value print(Call& call) {
  std::vector<Value> values = call["values"].tuple()->items;
  std::string prefix;
  if (!values.empty() && values[0].is_constant() && !is_number(values[0])) {
    prefix = print_text(values[0], call.semantic.kernel());
    values.erase(values.begin());
  }
  return print_tensors(call, prefix, values, call.flag("hex"));
}

// ---- Questions

bool is_instance(Call& call, const Value& value, const Value& type) {
  if (const Tuple* types = type.tuple()) {
    for (const Value& item : types->items)
      if (is_instance(call, value, item)) return true;
    return false;
  }
  const Builtin* builtin = type.get_if<Builtin>();
  if (!builtin) call.fail(fmt::format("does not know the type {}", call.describe(type)));
  const Constant* constant = value.get_if<Constant>();
  const std::string& name = builtin->name;
  if (name == "triton.language.constexpr") return constant != nullptr;
  if (name == "triton.language.tensor") return value.is_tensor();
  if (name == "triton.language.dtype") return value.get_if<TypeValue>() != nullptr;
  if (name == "triton.language.tensor_descriptor") return value.descriptor() != nullptr;
  if (name == "triton.language.tuple" || name == "builtins.tuple" || name == "builtins.list")
    return value.tuple() != nullptr;
  if (name == "builtins.bool") return constant && std::holds_alternative<bool>(constant->value);
  if (name == "builtins.int") return integer_of(value).has_value();
  if (name == "builtins.float") return constant && std::holds_alternative<double>(constant->value);
  if (name == "builtins.str")
    return constant && std::holds_alternative<std::string>(constant->value);
  if (name == "triton.language.pointer_type" || name == "triton.language.block_type") {
    const TypeValue* type_value = value.get_if<TypeValue>();
    return type_value && (name == "triton.language.block_type"
                              ? type_value->type.is_tile()
                              : type_value->type.is_pointer && type_value->type.is_scalar());
  }
  call.fail(fmt::format("does not know the type {}", call.describe(type)));
}

Value isinstance(Call& call) { return Value::boolean(is_instance(call, call["x"], call["type"])); }

Value hasattr(Call& call) {
  const std::string name = call.text("name");
  try {
    attribute(call.semantic, call["x"], name);
    return Value::boolean(true);
  } catch (const Mistake&) {
    return Value::boolean(false);
  }
}

Value getattr(Call& call) {
  const std::string name = call.text("name");
  try {
    return attribute(call.semantic, call["x"], name);
  } catch (const Mistake&) {
    if (!call.is_given("otherwise")) throw;
    return call["otherwise"];
  }
}

Value range(Call& call) { call.fail("is only for 'for' loops"); }

constexpr BuiltinRow python_rows[] = {
    {"len", "x", len},
    {"min", "*values", min},
    {"max", "*values", max},
    {"abs", "x", abs},
    {"int", "x=0", to_int},
    {"float", "x=0", to_float},
    {"bool", "x=False", to_bool},
    {"str", "x=\"\"", to_str},
    {"list", "x=()", to_tuple},
    {"tuple", "x=()", to_tuple},
    {"print", "*values, hex=False", print},
    {"isinstance", "x, type", isinstance},
    {"hasattr", "x, name", hasattr},
    {"getattr", "x, name, otherwise=None", getattr},
    {"range", "*arguments", range},
};

// ---- Python's math module: constants only

double constant_of(Call& call, std::string_view parameter) {
  if (const auto number = number_of(call[parameter])) return *number;
  call.fail(fmt::format("works on constants, not on {}", call.describe(call[parameter])),
            "use the function of tl");
}

template <double (*function)(double)>
Value math_function(Call& call) {
  return Value::number(function(constant_of(call, "x")));
}

Value math_log(Call& call) {
  const double value = std::log(constant_of(call, "x"));
  return Value::number(call.has("base") ? value / std::log(constant_of(call, "base")) : value);
}
Value math_pow(Call& call) {
  return Value::number(std::pow(constant_of(call, "x"), constant_of(call, "y")));
}
Value math_floor(Call& call) {
  return Value::integer(static_cast<Int128>(std::floor(constant_of(call, "x"))));
}
Value math_ceil(Call& call) {
  return Value::integer(static_cast<Int128>(std::ceil(constant_of(call, "x"))));
}

constexpr BuiltinRow python_math_rows[] = {
    {"sqrt", "x", math_function<std::sqrt>},
    {"exp", "x", math_function<std::exp>},
    {"log2", "x", math_function<std::log2>},
    {"log", "x, base=None", math_log},
    {"pow", "x, y", math_pow},
    {"floor", "x", math_floor},
    {"ceil", "x", math_ceil},
};

// ---- triton.*

Value cdiv(Call& call) {
  return call_builtin(call.semantic, call.host, {"triton.language.cdiv"},
                      {.positional = {call["x"], call["y"]}});
}

Value next_power_of_2(Call& call) {
  const std::int64_t n = call.integer("n");
  if (n <= 1) return Value::integer(1);
  return Value::integer(Int128{1} << std::bit_width(static_cast<std::uint64_t>(n - 1)));
}

constexpr BuiltinRow triton_rows[] = {
    {"cdiv", "x, y", cdiv},
    {"next_power_of_2", "n", next_power_of_2},
};

}  // namespace

std::span<const BuiltinRow> python_builtins() { return python_rows; }
std::span<const BuiltinRow> python_math_builtins() { return python_math_rows; }
std::span<const BuiltinRow> triton_builtins() { return triton_rows; }

}  // namespace tilewright::triton
