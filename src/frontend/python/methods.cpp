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

// insert(at, item), pop(at), remove(item)
Value change_list(const Value& owner, std::string_view name, const Arguments& arguments) {
  auto& list = **owner.get_if<std::shared_ptr<ListValue>>();
  const auto size = static_cast<std::int64_t>(list.items.size());
  const auto at = [&](std::int64_t absent) {
    const auto& values = arguments.values;
    const std::int64_t place =
        values.empty() || !values[0].integer() ? absent : *values[0].integer();
    return place < 0 ? place + size : place;
  };
  if (name == "insert") {
    if (arguments.values.size() != 2) unknown(owner, name);
    const Value& item = arguments.values[1];
    if (holds(item, &list)) throw Unsupported{"a list that holds itself is not evaluated"};
    nest(list.depth, item);
    list.items.insert(list.items.begin() + std::clamp<std::int64_t>(at(0), 0, size), item);
    return {};
  }
  if (name == "pop") {
    const std::int64_t place = at(size - 1);
    if (place < 0 || place >= size) throw Unsupported{"pop from an index outside the list"};
    const Value item = list.items[static_cast<std::size_t>(place)];
    list.items.erase(list.items.begin() + place);
    return item;
  }
  const auto same = [&](const Value& item) { return equal(item, only(arguments)); };
  const auto found = std::find_if(list.items.begin(), list.items.end(), same);
  if (found == list.items.end())
    throw Unsupported{fmt::format("{} is not in the list", repr(only(arguments)))};
  list.items.erase(found);
  return {};
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
  if (name == "reverse" || name == "sort") {
    const std::vector<Value> list = {owner};
    const Arguments ordered{list, arguments.keywords, arguments.call, arguments.iterate};
    const Value result =
        find_builtin(name == "sort" ? "builtins.sorted" : "builtins.reversed")(ordered);
    items = *result.items();
    return {};
  }
  if (name == "clear") return items.clear(), Value();
  if (name == "insert" || name == "pop" || name == "remove")
    return change_list(owner, name, arguments);
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

std::string stripped(const std::string& text, const std::string& characters) {
  const std::size_t first = text.find_first_not_of(characters);
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(characters) - first + 1);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
    if (text.size() > max_string_bytes) throw Unsupported{"the string is too long to be read"};
  }
  return text;
}

// split(), split("."), strip(), strip("+")
Value parts_of(const Value& owner, std::string_view name, const Arguments& arguments) {
  constexpr const char* spaces = " \t\n\r\f\v";
  const std::string& text = *owner.get_if<std::string>();
  const auto* given =
      arguments.values.empty() ? nullptr : arguments.values[0].get_if<std::string>();
  if (arguments.values.size() > 1 || !arguments.keywords.empty() || (given && given->empty()))
    unknown(owner, name);
  if (name == "strip") return stripped(text, given ? *given : spaces);
  std::vector<Value> parts;
  std::size_t begin = given ? 0 : text.find_first_not_of(spaces);
  while (begin != std::string::npos) {
    const std::size_t end = given ? text.find(*given, begin) : text.find_first_of(spaces, begin);
    parts.emplace_back(text.substr(begin, end - begin));
    if (end == std::string::npos) break;
    begin = given ? end + given->size() : text.find_first_not_of(spaces, end);
  }
  return make_list(std::move(parts));
}

// What a field of str.format names: "{}" the next argument, "{0}" one by position, "{name}" a
// keyword.
const Value& format_argument(const std::string& field, std::size_t& next,
                             const Arguments& arguments) {
  for (const auto& [name, value] : arguments.keywords)
    if (name == field) return value;
  const bool is_number = !field.empty() && field.size() < 4 &&
                         field.find_first_not_of("0123456789") == std::string::npos;
  const std::size_t at = is_number ? std::stoul(field) : next;
  if (field.empty()) ++next;
  else if (!is_number)
    throw Unsupported{fmt::format("the field '{{{}}}' of a format is not evaluated", field)};
  if (at >= arguments.values.size())
    throw Unsupported{fmt::format("there is no argument {} for the format", at)};
  return arguments.values[at];
}

std::string formatted(const std::string& text, const Arguments& arguments) {
  std::string out;
  std::size_t next = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_brace = text[i] == '{' || text[i] == '}';
    if (!is_brace || (i + 1 < text.size() && text[i + 1] == text[i])) {
      out += text[i];
      i += is_brace ? 1 : 0;
      continue;
    }
    const std::size_t end = text.find('}', i);
    if (text[i] == '}' || end == std::string::npos)
      throw Unsupported{"a format with a single brace is not evaluated"};
    out += str(format_argument(text.substr(i + 1, end - i - 1), next, arguments));
    i = end;
    if (out.size() > max_string_bytes) throw Unsupported{"the string is too long to be read"};
  }
  return out;
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
  if (name == "format") return formatted(text, arguments);
  if (name == "split" || name == "strip") return parts_of(owner, name, arguments);
  if (name == "isdigit")
    return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  if (name == "replace" && part != nullptr && arguments.values.size() == 2 && !part->empty())
    return replaced(text, *part, str(arguments.values[1]));
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

// Shapes and strides are no part of what a kernel is compiled for: heuristics that ask for them
// would give what an earlier launch had.
const std::vector<std::int64_t>& shape_of(const TensorValue& tensor) {
  if (!tensor.has_shape)
    throw Unsupported{
        "the shape and the strides of a tensor are not known here; pass the size to the kernel and "
        "ask for that"};
  return tensor.shape;
}

const std::vector<std::int64_t>& strides_of(const TensorValue& tensor) {
  static_cast<void>(shape_of(tensor));
  return tensor.strides;
}

Value tensor_method(const Value& owner, std::string_view name, const Arguments& arguments) {
  const auto& tensor = *owner.get_if<TensorValue>();
  if (name == "element_size") return element_size(tensor.dtype);
  if (name == "zero_" && tensor.effects != nullptr) {
    tensor.effects->is_zeroed = true;
    return owner;
  }
  if (name == "numel") {
    std::int64_t count = 1;
    for (const std::int64_t size : shape_of(tensor)) count *= size;
    return count;
  }
  if (name == "dim") return static_cast<std::int64_t>(shape_of(tensor).size());
  if (name != "size" && name != "stride") unknown(owner, name);
  const auto& numbers = name == "size" ? shape_of(tensor) : strides_of(tensor);
  const Value all = make_tuple({numbers.begin(), numbers.end()});
  return arguments.values.empty() ? all : element(all, only(arguments));
}

std::optional<Value> member_of_config(const ConfigValue& config, std::string_view name) {
  if (name == "kwargs") return make_dict(config.meta.items);
  if (name == "num_warps") return config.num_warps;
  if (name == "num_stages") return config.num_stages;
  if (name == "num_ctas") return config.num_ctas;
  if (name == "maxnreg") return config.maxnreg ? Value(*config.maxnreg) : Value();
  if (name == "pre_hook") return config.pre_hook != nullptr ? *config.pre_hook : Value();
  return std::nullopt;
}

std::optional<Value> member_of_tensor(const TensorValue& tensor, std::string_view name) {
  if (name == "dtype") return ExternalValue{tensor.dtype};
  if (name == "shape") return make_tuple({shape_of(tensor).begin(), shape_of(tensor).end()});
  if (name == "ndim") return static_cast<std::int64_t>(shape_of(tensor).size());
  return std::nullopt;
}

std::optional<Value> member_of_version(const VersionValue& version, std::string_view name) {
  const auto part = [&](std::size_t i) {
    return i < version.release.size() ? version.release[i] : std::int64_t{0};
  };
  if (name == "major") return part(0);
  if (name == "minor") return part(1);
  if (name == "micro") return part(2);
  if (name == "release") return make_tuple({part(0), part(1), part(2)});
  if (name == "base_version") return Value(fmt::format("{}.{}.{}", part(0), part(1), part(2)));
  return std::nullopt;
}

}  // namespace

std::optional<Value> member_of(const Value& owner, std::string_view name) {
  if (const ConfigValue* config = owner.config()) return member_of_config(*config, name);
  if (const auto* tensor = owner.get_if<TensorValue>()) return member_of_tensor(*tensor, name);
  if (const auto* version = owner.get_if<VersionValue>()) return member_of_version(*version, name);
  if (name == "value" && (owner.number() || owner.is<std::string>())) return owner;  // constexpr
  return std::nullopt;
}

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
