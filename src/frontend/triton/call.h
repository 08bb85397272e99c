// SPDX-License-Identifier: Apache-2.0
// frontend/triton/call.h — one call of a builtin: its arguments matched with its parameters, and
// the ways lowerings ask for them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frontend/triton/semantic.h"
#include "frontend/triton/value.h"

namespace tilewright::triton {

class Call;
using Lower = Value (*)(Call&);

// One row of a table of builtins.
struct BuiltinRow {
  std::string_view name;        // "load"
  std::string_view parameters;  // "pointer, mask=None, *, volatile=False"; "*shape" takes the rest
  Lower lower;
  bool is_method = false;  // also x.name(...), with x as the first argument
};

class Call {
 public:
  // `shown` is how messages write the function: "tl.load". Throws Mistake for arguments that do not
  // match the parameters.
  Call(Semantic& the_semantic, Host& the_host, std::string shown, const BuiltinRow& row,
       const CallArguments& arguments);

  Semantic& semantic;
  Host& host;
  const std::string name;
  const BuiltinRow& row;

  ir::Builder& builder() const { return semantic.builder(); }
  const ir::Type& type(ir::Value value) const { return semantic.type(value); }

  // The argument, or the parameter's default.
  const Value& operator[](std::string_view parameter) const;
  bool has(std::string_view parameter) const { return !(*this)[parameter].is_none(); }
  // Was it written by the user?
  bool is_given(std::string_view parameter) const;

  ir::Value tensor(std::string_view parameter);  // a number becomes one
  ir::Value tile(std::string_view parameter);    // a tensor of rank 1 or more
  std::int64_t integer(std::string_view parameter);
  bool flag(std::string_view parameter);
  std::string text(std::string_view parameter);
  std::vector<std::int64_t> shape(std::string_view parameter);
  // A tuple of integers, or one of them.
  std::vector<std::int64_t> integers(std::string_view parameter);
  ir::Type element_type(std::string_view parameter);  // a dtype; text like "float32" as well
  // An axis of a tile of this rank, counted from the front.
  int axis(std::string_view parameter, int rank);
  std::string what(std::string_view parameter) const;  // "mask of tl.load"

  [[noreturn]] void fail(std::string_view problem, std::string_view hint = {}) const;
  std::string describe(const Value& value) const;

 private:
  struct Argument {
    std::string_view name;
    Value value;
    bool is_given = false;
  };
  Argument* find(std::string_view parameter);
  void set(Argument& argument, const Value& value);

  std::vector<Argument> arguments_;
};

// The items of a tuple, or the value alone: f(x, 2, 4) and f(x, (2, 4)) mean the same.
std::vector<Value> unpacked(const Value& value);

}  // namespace tilewright::triton
