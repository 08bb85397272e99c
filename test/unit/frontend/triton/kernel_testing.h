// SPDX-License-Identifier: Apache-2.0
// frontend/triton/kernel_testing.h — builds kernels out of operators and builtins, as the lowering
// of a source would, and runs them.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/triton/builtins.h"
#include "frontend/triton/semantic.h"
#include "frontend/triton/value.h"
#include "ir/builder.h"
#include "ir/kernel.h"

namespace tilewright::triton {

using Keywords = std::vector<std::pair<std::string, Value>>;

// Combine functions are C++ functions here, found by name.
class TestHost : public Host {
 public:
  using Body = std::function<Value(const std::vector<Value>&)>;

  Value call(const Value& function, const CallArguments& arguments) override;
  void note(const std::string& message) override { notes.push_back(message); }
  void print(const std::string& line) override { printed.push_back(line); }

  Semantic* semantic = nullptr;
  std::map<std::string, Body> functions;
  std::vector<std::string> notes;
  std::vector<std::string> printed;
};

class KernelTest {
 public:
  explicit KernelTest(SemanticOptions options = {}) : semantic(builder, options) {
    host.semantic = &semantic;
  }

  ir::Kernel kernel;
  ir::Builder builder{kernel};
  Semantic semantic;
  TestHost host;

  Value tl(std::string_view name, std::vector<Value> positional, Keywords keywords = {});
  Value libdevice(std::string_view name, std::vector<Value> positional);
  Value full(std::string_view name, std::vector<Value> positional, Keywords keywords = {});
  Value method(const Value& owner, std::string_view name, std::vector<Value> positional = {},
               Keywords keywords = {});
  Value get(const Value& owner, std::string_view name) { return attribute(semantic, owner, name); }
  Value binary(python::BinaryOperator op, const Value& a, const Value& b) {
    return semantic.binary(op, a, b);
  }
  Value function(const std::string& name, TestHost::Body body);

  // A kernel argument: a number, or a pointer to memory that holds these values.
  Value number(DType dtype, double value = 0);
  Value memory(DType dtype, std::vector<double> values);
  // A tile that is not known at compile time.
  Value tile(DType dtype, std::vector<std::int64_t> shape, std::vector<double> values = {});

  // Runs the kernel with one program and gives the elements of `result`.
  std::vector<double> run(const Value& result);
  // The same without a result; then the memory of argument `index` can be looked at.
  void run();
  std::vector<double> content(std::size_t index) const;
  std::vector<std::string> printed;

 private:
  struct Argument {
    DType dtype;
    bool is_pointer;
    std::vector<double> values;
    std::vector<unsigned char> bytes;
  };
  std::vector<Argument> arguments_;
};

// The type of a tensor, or how a constant is written: "float16[4]", "3".
std::string type_text(KernelTest& test, const Value& value);
// "message" or "message (hint)" of the Mistake that `action` must throw.
std::string mistake(const std::function<void()>& action);

Value slice(Value start = {}, Value stop = {}, Value step = {});
Value integers(const std::vector<std::int64_t>& values);
inline Value num(double value) { return Value::number(value); }
inline Value integer(std::int64_t value) { return Value::integer(value); }
inline Value flag(bool value) { return Value::boolean(value); }
inline Value text(std::string value) { return Value::text(std::move(value)); }
inline Value type_value(DType dtype) { return TypeValue{ir::Type::scalar(dtype)}; }

}  // namespace tilewright::triton
