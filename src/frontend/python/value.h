// SPDX-License-Identifier: Apache-2.0
// frontend/python/value.h — the values of the small evaluator that reads config lists, heuristics
// and grids.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "frontend/python/module_loader.h"

namespace tilewright::python {

class Value;

// What cannot be evaluated, without its place; the evaluator adds that.
struct Unsupported {
  std::string message;
};

// Containers nest at most this deep, and what walks over them stops at this many items: shared
// parts could otherwise make a short program take forever.
inline constexpr int max_container_depth = 100;
inline constexpr long max_walked_items = 1'000'000;
inline constexpr std::size_t max_string_bytes = std::size_t{1} << 20;

// Lists, dictionaries and sets are shared, as in Python: a change through one name is seen through
// all.
struct ListValue {
  std::vector<Value> items;
  int depth = 1;
};
struct TupleValue {
  std::vector<Value> items;
  int depth = 1;
};
struct SetValue {
  std::vector<Value> items;  // without equal ones, in order of insertion
  int depth = 1;
};
struct DictValue {
  std::vector<std::pair<Value, Value>> items;  // in order of insertion
  int depth = 1;

  const Value* find(const Value& key) const;
  const Value* find(const std::string& key) const;
  void set(const Value& key, Value value);
};

struct Scope;

// A `def` or `lambda` with the names around it. The evaluator that made it owns the scope and must
// outlive the value.
struct FunctionValue {
  const LoadedModule* module = nullptr;
  const Node* node = nullptr;  // FunctionDef or Lambda
  Scope* scope = nullptr;
};

// Something outside the files: torch.float32, triton.cdiv, the module math.
struct ExternalValue {
  std::string name;
};

// functools.partial(function, ...)
struct PartialValue;

// packaging.version.parse("3.6.0"): the numbers in front, without zeros at the end.
struct VersionValue {
  std::vector<std::int64_t> release;
  std::string text;
};

struct ModuleValue {
  const LoadedModule* module = nullptr;
};

// triton.Config(...)
struct ConfigValue {
  DictValue meta;
  std::int64_t num_warps = 4;
  std::int64_t num_stages = 3;
  std::int64_t num_ctas = 1;
  std::optional<std::int64_t> maxnreg;
  std::shared_ptr<const Value> pre_hook = {};  // a function; null without one
};

// What a pre_hook does to an argument.
struct TensorEffects {
  bool is_zeroed = false;
  std::optional<std::vector<std::int64_t>> block_shape;  // of a descriptor
};

// A tensor argument, as heuristics and grids may ask about it.
struct TensorValue {
  std::string dtype;  // "torch.float32"
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  bool has_shape = true;
  bool is_descriptor = false;
  std::shared_ptr<TensorEffects> effects = {};  // for pre_hooks; null where nothing may be changed
};

class Value {
 public:
  using Storage = std::variant<std::monostate, bool, std::int64_t, double, std::string,
                               std::shared_ptr<ListValue>, std::shared_ptr<TupleValue>,
                               std::shared_ptr<SetValue>, std::shared_ptr<DictValue>, FunctionValue,
                               ExternalValue, ModuleValue, std::shared_ptr<ConfigValue>,
                               TensorValue, std::shared_ptr<PartialValue>, VersionValue>;

  Value() = default;  // None
  Value(const char* value) : storage_(std::string(value)) {}
  // Exact types only: a pointer must not become a bool, nor a float an int.
  template <std::same_as<int> T>
  Value(T value) : storage_(std::int64_t{value}) {}
  template <class T>
  requires std::is_constructible_v<Storage, std::in_place_type_t<T>, T> Value(T value)
      : storage_(std::in_place_type<T>, std::move(value)) {}

  template <class T>
  bool is() const {
    return std::holds_alternative<T>(storage_);
  }
  template <class T>
  const T* get_if() const {
    return std::get_if<T>(&storage_);
  }
  bool is_none() const { return is<std::monostate>(); }
  const Storage& storage() const { return storage_; }

  const ListValue* list() const { return pointer<ListValue>(); }
  const TupleValue* tuple() const { return pointer<TupleValue>(); }
  const SetValue* set() const { return pointer<SetValue>(); }
  const DictValue* dict() const { return pointer<DictValue>(); }
  const ConfigValue* config() const { return pointer<ConfigValue>(); }
  const PartialValue* partial() const { return pointer<PartialValue>(); }
  // The items of a list, tuple or set; null for all else.
  const std::vector<Value>* items() const;
  // A bool counts as 0 or 1.
  std::optional<std::int64_t> integer() const;
  // An int or bool as well.
  std::optional<double> number() const;

 private:
  template <class T>
  const T* pointer() const {
    const auto* shared = std::get_if<std::shared_ptr<T>>(&storage_);
    return shared == nullptr ? nullptr : shared->get();
  }

  Storage storage_;
};

struct PartialValue {
  Value function;
  std::vector<Value> arguments;
  std::vector<std::pair<std::string, Value>> keywords;
};

// Can it be called: a def, a lambda, or a functools.partial?
bool is_function(const Value& value);

Value make_list(std::vector<Value> items);
Value make_tuple(std::vector<Value> items);
Value make_set(std::vector<Value> items);
Value make_dict(std::vector<std::pair<Value, Value>> items);

// Notes that a container of this depth is given one more item; throws Unsupported when it would
// nest too deep.
void nest(int& depth, const Value& item);

// Does `value` hold `container`, directly or further down? Values never hold themselves: it would
// be a cycle.
bool holds(const Value& value, const void* container);

// Python's `==`: numbers by value across types, containers by content, externals by name.
bool equal(const Value& left, const Value& right);
// Python's `bool(value)`.
bool truth(const Value& value);
// "int", "list", "triton.Config".
std::string type_name(const Value& value);
// Python's repr, and its str (which differs for strings).
std::string repr(const Value& value);
std::string str(const Value& value);

}  // namespace tilewright::python
