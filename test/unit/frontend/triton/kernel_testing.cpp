// SPDX-License-Identifier: Apache-2.0
// frontend/triton/kernel_testing.cpp — a test kernel stores its result through a pointer argument
// that is added last.
#include "kernel_testing.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "frontend/triton/constants.h"
#include "frontend/triton/types.h"
#include "ir/interpret/interpret.h"
#include "ir/interpret/tile.h"
#include "ir/verify.h"

namespace tilewright::triton {
namespace {

double to_double(DType dtype, ir::Element element) {
  return is_floating(dtype) ? element.f
         : dtype == u64     ? static_cast<double>(static_cast<std::uint64_t>(element.i))
                            : static_cast<double>(element.i);
}

ir::Element to_element(DType dtype, double value) {
  if (is_floating(dtype)) return {.f = value};
  return {.i = value >= 0x1p63 ? static_cast<std::int64_t>(static_cast<std::uint64_t>(value))
                               : static_cast<std::int64_t>(value)};
}

}  // namespace

Value TestHost::call(const Value& function, const CallArguments& arguments) {
  if (const Builtin* builtin = function.get_if<Builtin>())
    return call_builtin(*semantic, *this, *builtin, arguments);
  return functions.at(function.get_if<Function>()->name)(arguments.positional);
}

Value KernelTest::full(std::string_view name, std::vector<Value> positional, Keywords keywords) {
  const Value found = external_value(name);
  return call_builtin(semantic, host, *found.get_if<Builtin>(),
                      {std::move(positional), std::move(keywords)});
}

Value KernelTest::tl(std::string_view name, std::vector<Value> positional, Keywords keywords) {
  return full(fmt::format("triton.language.{}", name), std::move(positional), std::move(keywords));
}

Value KernelTest::libdevice(std::string_view name, std::vector<Value> positional) {
  return full(fmt::format("triton.language.extra.libdevice.{}", name), std::move(positional));
}

Value KernelTest::method(const Value& owner, std::string_view name, std::vector<Value> positional,
                         Keywords keywords) {
  const Value found = attribute(semantic, owner, name);
  return call_method(semantic, host, *found.get_if<Method>(),
                     {std::move(positional), std::move(keywords)});
}

Value KernelTest::function(const std::string& name, TestHost::Body body) {
  host.functions[name] = std::move(body);
  return Function{.name = name};
}

Value KernelTest::number(DType dtype, double value) {
  arguments_.push_back({dtype, false, {value}, {}});
  return kernel.add_argument(ir::Type::scalar(dtype), fmt::format("a{}", arguments_.size()));
}

Value KernelTest::memory(DType dtype, std::vector<double> values) {
  Argument argument{dtype, true, values,
                    std::vector<unsigned char>(values.size() * size_of(dtype))};
  for (std::size_t i = 0; i < values.size(); ++i)
    ir::write_element(dtype, to_element(dtype, values[i]),
                      argument.bytes.data() + i * size_of(dtype));
  arguments_.push_back(std::move(argument));
  return kernel.add_argument(ir::Type::pointer(dtype), fmt::format("p{}", arguments_.size()));
}

Value KernelTest::tile(DType dtype, std::vector<std::int64_t> shape, std::vector<double> values) {
  const ir::Type type = ir::Type::tile(dtype, shape);
  values.resize(static_cast<std::size_t>(type.numel()));
  const ir::Value base = *memory(dtype, values).get_if<ir::Value>();
  const ir::Value index = builder.arange(0, type.numel());
  const ir::Value pointers = builder.offset(builder.splat(base, builder.type(index)), index);
  return builder.reshape(builder.load(pointers), shape);
}

std::vector<double> KernelTest::run(const Value& result) {
  const ir::Value tensor = semantic.tensor(result);
  const ir::Type type = builder.type(tensor);
  const auto count = static_cast<std::size_t>(type.numel());
  const ir::Value base = *memory(type.dtype, std::vector<double>(count, 0)).get_if<ir::Value>();
  if (type.is_scalar()) {
    builder.store(base, tensor);
  } else {
    const ir::Value index = builder.arange(0, type.numel());
    const ir::Value pointers = builder.offset(builder.splat(base, builder.type(index)), index);
    builder.store(pointers, builder.reshape(tensor, {type.numel()}));
  }
  run();
  return content(arguments_.size() - 1);
}

void KernelTest::run() {
  ir::verify(kernel);
  std::vector<ir::InterpretBuffer> buffers;
  std::vector<ir::InterpretArgument> values;
  for (Argument& argument : arguments_) {
    if (argument.is_pointer) {
      values.push_back(ir::InterpretPointer{static_cast<int>(buffers.size())});
      buffers.push_back(
          {.name = "memory", .data = argument.bytes.data(), .bytes = argument.bytes.size()});
    } else if (is_floating(argument.dtype)) {
      values.push_back(argument.values[0]);
    } else {
      values.push_back(to_element(argument.dtype, argument.values[0]).i);
    }
  }
  ir::interpret(kernel, buffers, values,
                {.print = [this](const std::string& line) { printed.push_back(line); }});
}

std::vector<double> KernelTest::content(std::size_t index) const {
  const Argument& argument = arguments_[index];
  std::vector<double> values;
  for (std::size_t at = 0; at < argument.bytes.size(); at += size_of(argument.dtype))
    values.push_back(
        to_double(argument.dtype, ir::read_element(argument.dtype, argument.bytes.data() + at)));
  return values;
}

std::string type_text(KernelTest& test, const Value& value) {
  if (const ir::Value* tensor = value.get_if<ir::Value>())
    return text_of(test.builder.type(*tensor));
  if (const Constant* constant = value.get_if<Constant>()) return text_of(*constant);
  if (const TypeValue* type = value.get_if<TypeValue>()) return "type " + text_of(type->type);
  return describe(test.kernel, value);
}

std::string mistake(const std::function<void()>& action) {
  try {
    action();
  } catch (const Mistake& found) {
    return found.hint.empty() ? found.message : fmt::format("{} ({})", found.message, found.hint);
  }
  return "no mistake";
}

Value slice(Value start, Value stop, Value step) {
  return std::make_shared<const Tuple>(
      Tuple{.items = {std::move(start), std::move(stop), std::move(step)}, .class_name = "slice"});
}

Value integers(const std::vector<std::int64_t>& values) {
  std::vector<Value> items;
  for (const std::int64_t value : values) items.push_back(Value::integer(value));
  return Value::tuple(std::move(items));
}

}  // namespace tilewright::triton
