// SPDX-License-Identifier: Apache-2.0
// frontend/python/methods.cpp — methods of lists, dictionaries, sets, strings and tensors.
#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "frontend/python/interpreter.h"

namespace tilewright::python {
namespace {

[[noreturn]] void unknown(const Value& owner, std::string_view name) {
  throw Unsupported{fmt::format("'.{}()' of {} is not evaluated", name, type_name(owner))};
}

const Value& only(const Arguments& arguments) {
  if (arguments.values.size() != 1)
    throw Unsupported{
        fmt::format("a method with {} arguments is not evaluated", arguments.values.size())};
  return arguments.values[0];
}

Value list_method(const Value& owner, std::string_view name, const Arguments& arguments) {
  auto& items = (*owner.get_if<std::shared_ptr<ListValue>>())->items;
  if (name == "copy") return make_list(items);
  if (name == "append" || name == "extend") {
    auto& list = **owner.get_if<std::shared_ptr<ListValue>>();
    const Value& value = only(arguments);
    const std::vector<Value> added =
        name == "append" ? std::vector<Value>{value} : arguments.iterate(value);
    for (const Value& item : added) {
      if (holds(item, &list)) throw Unsupported{"a list that holds itself is not evaluated"};
      nest(list.depth, item);
      items.push_back(item);
    }
    if (items.size() > std::size_t{1} << 20) throw Unsupported{"the list is too long to be read"};
    return {};
  }
  if (name == "index" || name == "count") {
    const Value& wanted = only(arguments);
    const auto same = [&](const Value& item) { return equal(item, wanted); };
    if (name == "count")
      return static_cast<std::int64_t>(std::count_if(items.begin(), items.end(), same));
    const auto found = std::find_if(items.begin(), items.end(), same);
    if (found == items.end()) throw Unsupported{fmt::format("{} is not in the list", repr(wanted))};
    return static_cast<std::int64_t>(found - items.begin());
  }
  unknown(owner, name);
}

Value dict_method(const Value& owner, std::string_view name, const Arguments& arguments) {
  auto& dict = **owner.get_if<std::shared_ptr<DictValue>>();
  if (name == "get" || name == "pop") {
    if (arguments.values.empty() || arguments.values.size() > 2) unknown(owner, name);
    const Value* found = dict.find(arguments.values[0]);
    const Value result = found != nullptr               ? *found
                         : arguments.values.size() == 2 ? arguments.values[1]
                                                        : Value();
    if (found == nullptr && name == "pop" && arguments.values.size() == 1)
      throw Unsupported{fmt::format("there is no key {}", repr(arguments.values[0]))};
    if (name == "pop")
      std::erase_if(dict.items,
                    [&](const auto& item) { return equal(item.first, arguments.values[0]); });
    return result;
  }
  if (name == "copy") return make_dict(dict.items);
  if (name == "update") {
    if (!arguments.values.empty()) {
      if (only(arguments).dict() == nullptr) unknown(owner, name);
      const auto items = only(arguments).dict()->items;
      for (const auto& [key, value] : items) {
        if (holds(value, &dict)) throw Unsupported{"a dict that holds itself is not evaluated"};
        dict.set(key, value);
      }
    }
    for (const auto& [key, value] : arguments.keywords) dict.set(key, value);
    return {};
  }
  std::vector<Value> all;
  for (const auto& [key, value] : dict.items) {
    if (name == "keys") all.push_back(key);
    else if (name == "values") all.push_back(value);
    else if (name == "items") all.push_back(make_tuple({key, value}));
  }
  if (name != "keys" && name != "values" && name != "items") unknown(owner, name);
  return make_list(std::move(all));
}

std::string changed_case(std::string text, int (*change)(int)) {
  for (char& c : text) c = static_cast<char>(change(static_cast<unsigned char>(c)));
  return text;
}

Value string_method(const Value& owner, std::string_view name, const Arguments& arguments) {
  const auto& text = *owner.get_if<std::string>();
  if (name == "lower") return changed_case(text, std::tolower);
  if (name == "upper") return changed_case(text, std::toupper);
  if (name == "join") {
    std::string all;
    bool first = true;
    for (const Value& item : arguments.iterate(only(arguments))) {
      all += (first ? "" : text) + str(item);
      first = false;
      if (all.size() > max_string_bytes) throw Unsupported{"the string is too long to be read"};
    }
    return all;
  }
  const auto* part = arguments.values.empty() ? nullptr : arguments.values[0].get_if<std::string>();
  if (name == "startswith" && part != nullptr) return text.starts_with(*part);
  if (name == "endswith" && part != nullptr) return text.ends_with(*part);
  unknown(owner, name);
}

std::int64_t element_size(const std::string& dtype) {
  const std::size_t digits = dtype.find_last_not_of("0123456789");
  const bool eight_bits = dtype.find("float8") != std::string::npos || dtype.ends_with("bool");
  if (eight_bits || digits + 1 == dtype.size()) return 1;
  return std::stoll(dtype.substr(digits + 1)) / 8;
}

Value tensor_method(const Value& owner, std::string_view name, const Arguments& arguments) {
  const auto& tensor = *owner.get_if<TensorValue>();
  if (name == "numel") {
    std::int64_t count = 1;
    for (const std::int64_t size : tensor.shape) count *= size;
    return count;
  }
  if (name == "dim") return static_cast<std::int64_t>(tensor.shape.size());
  if (name == "element_size") return element_size(tensor.dtype);
  if (name != "size" && name != "stride") unknown(owner, name);
  const auto& numbers = name == "size" ? tensor.shape : tensor.strides;
  const Value all = make_tuple({numbers.begin(), numbers.end()});
  return arguments.values.empty() ? all : element(all, only(arguments));
}

}  // namespace

Value call_method(const Value& owner, std::string_view name, const Arguments& arguments) {
  if (owner.list() != nullptr) return list_method(owner, name, arguments);
  if (owner.dict() != nullptr) return dict_method(owner, name, arguments);
  if (owner.is<std::string>()) return string_method(owner, name, arguments);
  if (owner.is<TensorValue>()) return tensor_method(owner, name, arguments);
  if (owner.config() != nullptr && name == "all_kwargs") {
    std::vector<std::pair<Value, Value>> all = owner.config()->meta.items;
    all.emplace_back("num_warps", owner.config()->num_warps);
    all.emplace_back("num_ctas", owner.config()->num_ctas);
    all.emplace_back("num_stages", owner.config()->num_stages);
    return make_dict(std::move(all));
  }
  if (owner.integer() && name == "bit_length") {
    std::int64_t bits = 0;
    const std::int64_t value = *owner.integer();
    const auto plain = static_cast<std::uint64_t>(value);
    for (std::uint64_t rest = value < 0 ? 0 - plain : plain; rest != 0; rest >>= 1) ++bits;
    return bits;
  }
  unknown(owner, name);
}

}  // namespace tilewright::python
