// SPDX-License-Identifier: Apache-2.0
// frontend/python/value.cpp — equality, truth and text of values.
#include "frontend/python/value.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace tilewright::python {
namespace {

// Counts the items that one walk visits.
class Budget {
 public:
  void spend() {
    if (--left_ < 0) throw Unsupported{"the value is too large to be read"};
  }

 private:
  long left_ = max_walked_items;
};

class Equality {
 public:
  bool operator()(const Value& left, const Value& right) {
    budget_.spend();
    if (left.integer() && right.integer()) return *left.integer() == *right.integer();
    if (left.number() && right.number()) return *left.number() == *right.number();
    if (left.storage().index() != right.storage().index()) return false;
    if (left.is_none()) return true;
    if (const auto* text = left.get_if<std::string>()) return *text == *right.get_if<std::string>();
    if (left.items() != nullptr) return items(*left.items(), *right.items());
    if (left.dict() != nullptr) return dicts(*left.dict(), *right.dict());
    if (const auto* outside = left.get_if<ExternalValue>())
      return outside->name == right.get_if<ExternalValue>()->name;
    if (const auto* function = left.get_if<FunctionValue>())
      return function->node == right.get_if<FunctionValue>()->node;
    if (left.config() != nullptr) return left.config() == right.config();
    if (left.partial() != nullptr) return left.partial() == right.partial();
    if (const auto* version = left.get_if<VersionValue>())
      return version->release == right.get_if<VersionValue>()->release;
    return false;
  }

 private:
  bool items(const std::vector<Value>& left, const std::vector<Value>& right) {
    if (left.size() != right.size()) return false;
    for (std::size_t i = 0; i < left.size(); ++i)
      if (!(*this)(left[i], right[i])) return false;
    return true;
  }

  bool dicts(const DictValue& left, const DictValue& right) {
    if (left.items.size() != right.items.size()) return false;
    for (const auto& [key, value] : left.items) {
      const Value* other = right.find(key);
      if (other == nullptr || !(*this)(value, *other)) return false;
    }
    return true;
  }

  Budget budget_;
};

class Holding {
 public:
  explicit Holding(const void* container) : container_(container) {}

  bool operator()(const Value& value) {
    budget_.spend();
    const void* self = value.list();
    if (self == nullptr) self = value.dict();
    if (self == nullptr) self = value.set();
    if (self == container_ && self != nullptr) return true;
    if (value.items() != nullptr) {
      for (const Value& item : *value.items())
        if ((*this)(item)) return true;
    }
    if (value.dict() != nullptr) return in_dict(*value.dict());
    return value.config() != nullptr && in_dict(value.config()->meta);
  }

 private:
  bool in_dict(const DictValue& dict) {
    for (const auto& [key, item] : dict.items)
      if ((*this)(item)) return true;
    return false;
  }

  const void* container_;
  Budget budget_;
};

int depth_of(const Value& value) {
  if (value.list() != nullptr) return value.list()->depth;
  if (value.tuple() != nullptr) return value.tuple()->depth;
  if (value.set() != nullptr) return value.set()->depth;
  if (value.dict() != nullptr) return value.dict()->depth;
  return value.config() != nullptr ? value.config()->meta.depth : 0;
}

std::string repr_string(const std::string& text) {
  const char quote =
      text.find('\'') != std::string::npos && text.find('"') == std::string::npos ? '"' : '\'';
  std::string out(1, quote);
  for (const char c : text) {
    if (c == quote || c == '\\') out += '\\';
    if (c == '\n') out += "\\n";
    else out += c;
  }
  return out + quote;
}

std::string repr_double(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  std::string text = fmt::format("{}", number);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

class Repr {
 public:
  std::string operator()(std::monostate) { return "None"; }
  std::string operator()(bool value) { return value ? "True" : "False"; }
  std::string operator()(std::int64_t value) { return fmt::format("{}", value); }
  std::string operator()(double value) { return repr_double(value); }
  std::string operator()(const std::string& value) { return repr_string(value); }
  std::string operator()(const std::shared_ptr<ListValue>& value) {
    return "[" + joined(value->items) + "]";
  }
  std::string operator()(const std::shared_ptr<TupleValue>& value) {
    return "(" + joined(value->items) + (value->items.size() == 1 ? ",)" : ")");
  }
  std::string operator()(const std::shared_ptr<SetValue>& value) {
    return value->items.empty() ? "set()" : "{" + joined(value->items) + "}";
  }
  std::string operator()(const std::shared_ptr<DictValue>& value) { return dict(*value); }
  std::string operator()(const FunctionValue& value) {
    const auto* function = cast_if<FunctionDef>(value.node);
    return function == nullptr ? "<lambda>" : fmt::format("<function {}>", function->name);
  }
  std::string operator()(const ExternalValue& value) { return value.name; }
  std::string operator()(const ModuleValue& value) {
    return fmt::format("<module {}>", value.module->name);
  }
  std::string operator()(const std::shared_ptr<ConfigValue>& value) {
    return fmt::format("Config({}, num_warps={}, num_stages={})", dict(value->meta),
                       value->num_warps, value->num_stages);
  }
  std::string operator()(const TensorValue& value) {
    return fmt::format("<tensor {}>", value.dtype);
  }
  std::string operator()(const std::shared_ptr<PartialValue>& value) {
    return fmt::format("functools.partial({})", text(value->function));
  }
  std::string operator()(const VersionValue& value) { return value.text; }

 private:
  std::string text(const Value& value) {
    budget_.spend();
    return std::visit(*this, value.storage());
  }

  std::string joined(const std::vector<Value>& items) {
    std::string out;
    for (const Value& item : items) out += (out.empty() ? "" : ", ") + text(item);
    return out;
  }

  std::string dict(const DictValue& dict) {
    std::string out;
    for (const auto& [key, value] : dict.items)
      out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", text(key), text(value));
    return "{" + out + "}";
  }

  Budget budget_;
};

}  // namespace

const Value* DictValue::find(const Value& key) const {
  for (const auto& [known, value] : items)
    if (equal(known, key)) return &value;
  return nullptr;
}

const Value* DictValue::find(const std::string& key) const { return find(Value(key)); }

void DictValue::set(const Value& key, Value value) {
  nest(depth, key);
  nest(depth, value);
  for (auto& [known, old] : items) {
    if (!equal(known, key)) continue;
    old = std::move(value);
    return;
  }
  items.emplace_back(key, std::move(value));
}

const std::vector<Value>* Value::items() const {
  if (list() != nullptr) return &list()->items;
  if (tuple() != nullptr) return &tuple()->items;
  if (set() != nullptr) return &set()->items;
  return nullptr;
}

std::optional<std::int64_t> Value::integer() const {
  if (const auto* flag = get_if<bool>()) return *flag ? 1 : 0;
  if (const auto* number = get_if<std::int64_t>()) return *number;
  return std::nullopt;
}

std::optional<double> Value::number() const {
  if (const auto* real = get_if<double>()) return *real;
  if (const auto whole = integer()) return static_cast<double>(*whole);
  return std::nullopt;
}

bool is_function(const Value& value) {
  return value.is<FunctionValue>() || value.partial() != nullptr;
}

Value make_list(std::vector<Value> items) {
  auto result = std::make_shared<ListValue>();
  for (const Value& item : items) nest(result->depth, item);
  result->items = std::move(items);
  return result;
}
Value make_tuple(std::vector<Value> items) {
  auto result = std::make_shared<TupleValue>();
  for (const Value& item : items) nest(result->depth, item);
  result->items = std::move(items);
  return result;
}
Value make_set(std::vector<Value> items) {
  auto result = std::make_shared<SetValue>();
  for (Value& item : items) {
    bool known = false;
    for (const Value& other : result->items) known |= equal(item, other);
    if (known) continue;
    nest(result->depth, item);
    result->items.push_back(std::move(item));
  }
  return result;
}
Value make_dict(std::vector<std::pair<Value, Value>> items) {
  auto result = std::make_shared<DictValue>();
  for (auto& [key, value] : items) result->set(key, std::move(value));
  return result;
}

void nest(int& depth, const Value& item) {
  depth = std::max(depth, depth_of(item) + 1);
  if (depth > max_container_depth) throw Unsupported{"the value is nested too deeply to be read"};
}

bool holds(const Value& value, const void* container) { return Holding(container)(value); }

bool equal(const Value& left, const Value& right) { return Equality()(left, right); }

bool truth(const Value& value) {
  if (value.is_none()) return false;
  if (value.number()) return *value.number() != 0;
  if (const auto* text = value.get_if<std::string>()) return !text->empty();
  if (value.items() != nullptr) return !value.items()->empty();
  if (value.dict() != nullptr) return !value.dict()->items.empty();
  return true;
}

std::string type_name(const Value& value) {
  static constexpr const char* names[] = {
      "NoneType",      "bool",   "int",           "float",        "str",
      "list",          "tuple",  "set",           "dict",         "function",
      "external name", "module", "triton.Config", "torch.Tensor", "functools.partial",
      "version"};
  static_assert(std::size(names) == std::variant_size_v<Value::Storage>);
  return names[value.storage().index()];
}

std::string repr(const Value& value) {
  Repr repr;
  return std::visit(repr, value.storage());
}

std::string str(const Value& value) {
  const auto* text = value.get_if<std::string>();
  return text == nullptr ? repr(value) : *text;
}

}  // namespace tilewright::python
