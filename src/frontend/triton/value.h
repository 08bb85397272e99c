// SPDX-License-Identifier: Apache-2.0
// frontend/triton/value.h — what an expression inside a @triton.jit function can be.
//
// A constexpr is known at compile time and folds as Python does; a tensor is a value of the IR (a
// scalar is a tensor of rank 0); the rest exists only while a kernel is lowered.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "frontend/python/module_loader.h"
#include "frontend/python/value.h"
#include "ir/kernel.h"

namespace tilewright::triton {

class Value;

// A mistake in the user's program, without its place; the lowering adds file, line and caret.
struct Mistake {
  std::string message;  // one sentence, no full stop
  std::string hint;     // what to write instead; may be empty
};

__extension__ using Int128 = __int128;  // wide enough for every constant that fits a tensor

struct None {
  friend bool operator==(None, None) = default;
};

// A compile-time number or text. `1 == True` and `1 == 1.0` as in Python: compare with equal().
struct Constant {
  std::variant<None, bool, Int128, double, std::string> value;
};

// A type as a value: tl.float32, x.dtype, tl.pointer_type(tl.int8), x.type (with its shape).
struct TypeValue {
  ir::Type type;
};

// The fields of a namedtuple have names; those of a tuple or list do not.
struct Tuple {
  std::vector<Value> items;
  std::vector<std::string> names;
  std::string class_name;
};

// A function of the files: @triton.jit, or a plain Python function that is evaluated.
struct Function {
  std::string name;
  const python::LoadedModule* module = nullptr;
  const python::FunctionDef* node = nullptr;
  bool is_jit = true;
};

// A function of Triton or Python that we implement: "triton.language.load", "builtins.min".
struct Builtin {
  std::string name;
};

// x.to, x.sum, dtype.is_floating: a method with the value it is called on.
struct Method {
  std::shared_ptr<const Value> owner;
  std::string name;
};

// A module or an external prefix: `tl`, `tl.math`, `utils`.
struct Namespace {
  const python::LoadedModule* module = nullptr;
  std::string external;  // "triton.language" when there is no module
};

// A class with named fields (NamedTuple, tl.core._aggregate); called, it makes a Tuple of them.
struct Class {
  std::string name;
  const python::LoadedModule* module = nullptr;
  const python::ClassDef* node = nullptr;
};

// tl.make_block_ptr: becomes pointers and masks where it is used.
struct BlockPointer {
  ir::Value base;
  std::vector<ir::Value> shape;    // int64 scalars
  std::vector<ir::Value> strides;  // int64 scalars
  std::vector<ir::Value> offsets;  // int32 scalars
  std::vector<std::int64_t> block_shape;
};

// tl.make_tensor_descriptor, or one that the host made.
struct Descriptor {
  BlockPointer block;
  bool pads_with_nan = false;
};

class Value {
 public:
  using Storage =
      std::variant<Constant, ir::Value, TypeValue, std::shared_ptr<const Tuple>, Function, Builtin,
                   Method, Namespace, std::shared_ptr<const BlockPointer>,
                   std::shared_ptr<const Descriptor>, Class>;

  Value() : storage_(Constant{None{}}) {}
  template <class T>
  requires std::is_constructible_v<Storage, std::in_place_type_t<T>, T> Value(T value)
      : storage_(std::in_place_type<T>, std::move(value)) {}
  static Value integer(Int128 value) { return Constant{value}; }
  static Value boolean(bool value) { return Constant{value}; }
  static Value number(double value) { return Constant{value}; }
  static Value text(std::string value) { return Constant{std::move(value)}; }
  static Value tuple(std::vector<Value> items);

  template <class T>
  const T* get_if() const {
    return std::get_if<T>(&storage_);
  }
  bool is_constant() const { return get_if<Constant>() != nullptr; }
  bool is_tensor() const { return get_if<ir::Value>() != nullptr; }
  bool is_none() const;
  const Tuple* tuple() const;
  const BlockPointer* block_pointer() const;
  const Descriptor* descriptor() const;
  const Storage& storage() const { return storage_; }

 private:
  Storage storage_;
};

struct CallArguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> keywords;
};

// What builtins need from the lowering that calls them.
class Host {
 public:
  virtual ~Host() = default;
  // Calls a jit function (a combine function of tl.reduce) at the builder's place.
  virtual Value call(const Value& function, const CallArguments& arguments) = 0;
  // A note to the user that does not stop the compilation (a deprecated use, an ignored hint).
  virtual void note(const std::string& message) = 0;
  // A line of tl.static_print.
  virtual void print(const std::string& line) = 0;
  // How many warps run a program; to ask makes the number binding.
  virtual int num_warps() { return 4; }
  // Whether zeros that pad a block are operands of its load, although they are what it gives
  // anyway.
  virtual bool writes_padding() const { return false; }
};

// "int32[64, 32]", "pointer<float32>", "int1": how messages name a type.
std::string describe(const ir::Type& type);
// The type of a tensor; "the constant 3", "a tuple of 2": how messages name a value.
std::string describe(const ir::Kernel& kernel, const Value& value);

}  // namespace tilewright::triton
