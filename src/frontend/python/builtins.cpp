// SPDX-License-Identifier: Apache-2.0
// frontend/python/builtins.cpp — the functions of Python, math, itertools and Triton that host code
// around kernels calls.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "frontend/python/arithmetic.h"
#include "frontend/python/interpreter.h"

namespace tilewright::python {
namespace {

void expect_count(const Arguments& arguments, std::size_t least, std::size_t most) {
  const std::size_t count = arguments.values.size();
  if (count < least || count > most)
    throw Unsupported{fmt::format("a call with {} arguments is not evaluated", count)};
}

std::int64_t whole(const Value& value) {
  if (!value.integer())
    throw Unsupported{fmt::format("an int is needed, not {}", type_name(value))};
  return *value.integer();
}

double real(const Value& value) {
  if (!value.number())
    throw Unsupported{fmt::format("a number is needed, not {}", type_name(value))};
  return *value.number();
}

const Value* keyword(const Arguments& arguments, std::string_view name) {
  for (const auto& [known, value] : arguments.keywords)
    if (known == name) return &value;
  return nullptr;
}

// The arguments themselves, or the items of a single one.
std::vector<Value> all_values(const Arguments& arguments) {
  if (arguments.values.size() == 1) return arguments.iterate(arguments.values[0]);
  return arguments.values;
}

Value extreme(const Arguments& arguments, bool largest) {
  const std::vector<Value> values = all_values(arguments);
  const Value* key = keyword(arguments, "key");
  if (values.empty()) {
    if (const Value* fallback = keyword(arguments, "default")) return *fallback;
    throw Unsupported{"min and max need at least one value"};
  }
  const auto rank = [&](const Value& value) {
    return key == nullptr ? value : arguments.call(*key, {value});
  };
  Value best = values[0];
  Value best_rank = rank(best);
  for (std::size_t i = 1; i < values.size(); ++i) {
    const Value next = rank(values[i]);
    if (largest ? !less(best_rank, next) : !less(next, best_rank)) continue;
    best = values[i];
    best_rank = next;
  }
  return best;
}

Value minimum(const Arguments& arguments) { return extreme(arguments, false); }
Value maximum(const Arguments& arguments) { return extreme(arguments, true); }

Value cdiv(const Arguments& arguments) {
  expect_count(arguments, 2, 2);
  const std::int64_t left = whole(arguments.values[0]);
  const std::int64_t right = whole(arguments.values[1]);
  return floor_divide(checked_add(left, checked_add(right, -1)), right);
}

Value next_power_of_2(const Arguments& arguments) {
  expect_count(arguments, 1, 1);
  const std::int64_t value = whole(arguments.values[0]);
  if (value > std::int64_t{1} << 62) throw Unsupported{"the integer result does not fit 64 bits"};
  if (value <= 0) return 0;  // as Triton's bit trick gives
  std::int64_t power = 1;
  while (power < value) power *= 2;
  return power;
}

Value length(const Arguments& arguments) {
  expect_count(arguments, 1, 1);
  return static_cast<std::int64_t>(arguments.iterate(arguments.values[0]).size());
}

Value range(const Arguments& arguments) {
  expect_count(arguments, 1, 3);
  const auto& values = arguments.values;
  const std::int64_t start = values.size() == 1 ? 0 : whole(values[0]);
  const std::int64_t stop = whole(values[values.size() == 1 ? 0 : 1]);
  const std::int64_t step = values.size() == 3 ? whole(values[2]) : 1;
  if (step == 0) throw Unsupported{"range() step must not be zero"};
  const double count =
      (static_cast<double>(stop) - static_cast<double>(start)) / static_cast<double>(step);
  if (count > static_cast<double>(max_items)) throw Unsupported{"the range is too long to be read"};
  std::vector<Value> items;
  for (std::int64_t at = start; step > 0 ? at < stop : at > stop;) {
    items.emplace_back(at);
    if (__builtin_add_overflow(at, step, &at)) break;
  }
  return make_tuple(std::move(items));
}

Value to_int(const Arguments& arguments) {
  expect_count(arguments, 0, 1);
  if (arguments.values.empty()) return 0;
  const Value& value = arguments.values[0];
  if (value.integer()) return *value.integer();
  double number = 0;
  if (const auto* text = value.get_if<std::string>()) {
    char* end = nullptr;
    errno = 0;
    const long long parsed = std::strtoll(text->c_str(), &end, 10);
    if (text->empty() || *end != '\0' || errno != 0)
      throw Unsupported{fmt::format("{} is no integer", repr(value))};
    return static_cast<std::int64_t>(parsed);
  }
  number = std::trunc(real(value));
  if (!(std::fabs(number) < 9.2e18)) throw Unsupported{"the number does not fit 64 bits"};
  return static_cast<std::int64_t>(number);
}

Value to_float(const Arguments& arguments) {
  expect_count(arguments, 0, 1);
  if (arguments.values.empty()) return 0.0;
  if (const auto* text = arguments.values[0].get_if<std::string>()) {
    char* end = nullptr;
    const double parsed = std::strtod(text->c_str(), &end);
    if (text->empty() || *end != '\0')
      throw Unsupported{fmt::format("{} is no number", repr(arguments.values[0]))};
    return parsed;
  }
  return real(arguments.values[0]);
}

Value to_bool(const Arguments& arguments) {
  expect_count(arguments, 0, 1);
  return !arguments.values.empty() && truth(arguments.values[0]);
}

Value to_str(const Arguments& arguments) {
  expect_count(arguments, 0, 1);
  return arguments.values.empty() ? std::string() : str(arguments.values[0]);
}

std::vector<Value> items_or_none(const Arguments& arguments) {
  expect_count(arguments, 0, 1);
  if (arguments.values.empty()) return {};
  return arguments.iterate(arguments.values[0]);
}

Value to_list(const Arguments& arguments) { return make_list(items_or_none(arguments)); }
Value to_tuple(const Arguments& arguments) { return make_tuple(items_or_none(arguments)); }
Value to_set(const Arguments& arguments) { return make_set(items_or_none(arguments)); }

Value to_dict(const Arguments& arguments) {
  expect_count(arguments, 0, 1);
  std::vector<std::pair<Value, Value>> items;
  if (!arguments.values.empty()) {
    const Value& source = arguments.values[0];
    if (source.dict() != nullptr) items = source.dict()->items;
    else
      for (const Value& pair : arguments.iterate(source))
        items.emplace_back(element(pair, 0), element(pair, 1));
  }
  for (const auto& [name, value] : arguments.keywords) items.emplace_back(name, value);
  return make_dict(std::move(items));
}

Value absolute(const Arguments& arguments) {
  expect_count(arguments, 1, 1);
  const Value& value = arguments.values[0];
  return real(value) < 0 ? apply(UnaryOperator::Negate, value) : apply(UnaryOperator::Plus, value);
}

Value sum(const Arguments& arguments) {
  expect_count(arguments, 1, 2);
  Value total = arguments.values.size() == 2 ? arguments.values[1] : Value(0);
  for (const Value& item : arguments.iterate(arguments.values[0]))
    total = apply(BinaryOperator::Add, total, item);
  return total;
}

Value product(const Arguments& arguments) {
  expect_count(arguments, 1, 1);
  Value total = 1;
  for (const Value& item : arguments.iterate(arguments.values[0]))
    total = apply(BinaryOperator::Multiply, total, item);
  return total;
}

Value sorted(const Arguments& arguments) {
  expect_count(arguments, 1, 1);
  const Value* key = keyword(arguments, "key");
  const Value* reverse = keyword(arguments, "reverse");
  std::vector<std::pair<Value, Value>> ranked;
  for (const Value& item : arguments.iterate(arguments.values[0]))
    ranked.emplace_back(key == nullptr ? item : arguments.call(*key, {item}), item);
  const bool descending = reverse != nullptr && truth(*reverse);
  std::stable_sort(ranked.begin(), ranked.end(), [&](const auto& left, const auto& right) {
    return descending ? less(right.first, left.first) : less(left.first, right.first);
  });
  std::vector<Value> items;
  for (auto& [rank, item] : ranked) items.push_back(std::move(item));
  return make_list(std::move(items));
}

Value reversed(const Arguments& arguments) {
  std::vector<Value> items = items_or_none(arguments);
  std::reverse(items.begin(), items.end());
  return make_list(std::move(items));
}

Value enumerate(const Arguments& arguments) {
  expect_count(arguments, 1, 2);
  std::int64_t at = arguments.values.size() == 2 ? whole(arguments.values[1]) : 0;
  std::vector<Value> items;
  for (const Value& item : arguments.iterate(arguments.values[0]))
    items.push_back(make_tuple({at++, item}));
  return make_list(std::move(items));
}

std::vector<std::vector<Value>> columns_of(const Arguments& arguments) {
  std::vector<std::vector<Value>> columns;
  for (const Value& value : arguments.values) columns.push_back(arguments.iterate(value));
  return columns;
}

Value zip(const Arguments& arguments) {
  const auto columns = columns_of(arguments);
  std::vector<Value> rows;
  for (std::size_t row = 0; !columns.empty(); ++row) {
    std::vector<Value> items;
    for (const auto& column : columns)
      if (row < column.size()) items.push_back(column[row]);
    if (items.size() < columns.size()) break;
    rows.push_back(make_tuple(std::move(items)));
  }
  return make_list(std::move(rows));
}

// itertools.product: the last column changes fastest.
Value cartesian(const Arguments& arguments) {
  auto columns = columns_of(arguments);
  if (const Value* repeat = keyword(arguments, "repeat")) {
    const auto once = columns;
    if (whole(*repeat) > 16) throw Unsupported{"the product is too long to be read"};
    for (std::int64_t i = 1; i < whole(*repeat); ++i)
      columns.insert(columns.end(), once.begin(), once.end());
  }
  std::vector<std::vector<Value>> rows = {{}};
  for (const auto& column : columns) {
    std::vector<std::vector<Value>> longer;
    for (const auto& row : rows) {
      for (const Value& item : column) {
        longer.push_back(row);
        longer.back().push_back(item);
        if (longer.size() > max_items) throw Unsupported{"the product is too long to be read"};
      }
    }
    rows = std::move(longer);
  }
  std::vector<Value> items;
  for (auto& row : rows) items.push_back(make_tuple(std::move(row)));
  return make_list(std::move(items));
}

Value chain(const Arguments& arguments) {
  std::vector<Value> items;
  for (const auto& column : columns_of(arguments))
    items.insert(items.end(), column.begin(), column.end());
  return make_list(std::move(items));
}

Value any(const Arguments& arguments) {
  const auto items = items_or_none(arguments);
  return std::any_of(items.begin(), items.end(), truth);
}
Value all(const Arguments& arguments) {
  const auto items = items_or_none(arguments);
  return std::all_of(items.begin(), items.end(), truth);
}

Value map(const Arguments& arguments) {
  expect_count(arguments, 2, 2);
  std::vector<Value> items;
  for (const Value& item : arguments.iterate(arguments.values[1]))
    items.push_back(arguments.call(arguments.values[0], {item}));
  return make_list(std::move(items));
}

Value filter(const Arguments& arguments) {
  expect_count(arguments, 2, 2);
  std::vector<Value> items;
  for (const Value& item : arguments.iterate(arguments.values[1])) {
    const Value& test = arguments.values[0];
    if (truth(test.is_none() ? item : arguments.call(test, {item}))) items.push_back(item);
  }
  return make_list(std::move(items));
}

bool is_instance(const Value& value, const Value& type) {
  if (type.tuple() != nullptr) {
    for (const Value& one : type.tuple()->items)
      if (is_instance(value, one)) return true;
    return false;
  }
  const auto* outside = type.get_if<ExternalValue>();
  if (outside == nullptr) throw Unsupported{"isinstance needs a type"};
  const std::string& name = outside->name;
  const std::string own = type_name(value);
  if (const auto* tensor = value.get_if<TensorValue>(); tensor && tensor->is_descriptor)
    return name.ends_with(".TensorDescriptor");
  if (name == "builtins.int") return own == "int" || own == "bool";
  return name == own || name == "builtins." + own;
}

Value isinstance(const Arguments& arguments) {
  expect_count(arguments, 2, 2);
  return is_instance(arguments.values[0], arguments.values[1]);
}

Value round(const Arguments& arguments) {
  expect_count(arguments, 1, 1);
  return static_cast<std::int64_t>(std::nearbyint(real(arguments.values[0])));
}

Value divmod(const Arguments& arguments) {
  expect_count(arguments, 2, 2);
  return make_tuple({apply(BinaryOperator::FloorDivide, arguments.values[0], arguments.values[1]),
                     apply(BinaryOperator::Modulo, arguments.values[0], arguments.values[1])});
}

Value power(const Arguments& arguments) {
  expect_count(arguments, 2, 2);
  return apply(BinaryOperator::Power, arguments.values[0], arguments.values[1]);
}

Value to_integer(double number) {
  if (!(std::fabs(number) < 9.2e18)) throw Unsupported{"the number does not fit 64 bits"};
  return static_cast<std::int64_t>(number);
}
Value ceil(const Arguments& arguments) {
  expect_count(arguments, 1, 1);
  return arguments.values[0].integer() ? Value(*arguments.values[0].integer())
                                       : to_integer(std::ceil(real(arguments.values[0])));
}
Value floor(const Arguments& arguments) {
  expect_count(arguments, 1, 1);
  return arguments.values[0].integer() ? Value(*arguments.values[0].integer())
                                       : to_integer(std::floor(real(arguments.values[0])));
}
template <double (*Function)(double)>
Value of_float(const Arguments& arguments) {
  expect_count(arguments, 1, 1);
  return Function(real(arguments.values[0]));
}
Value log(const Arguments& arguments) {
  expect_count(arguments, 1, 2);
  const double value = std::log(real(arguments.values[0]));
  return arguments.values.size() == 1 ? value : value / std::log(real(arguments.values[1]));
}

// triton.Config(kwargs, num_warps=4, num_stages=3, num_ctas=1, maxnreg=None, pre_hook=None)
Value config(const Arguments& arguments) {
  static constexpr std::string_view positions[] = {"kwargs",   "num_warps", "num_stages",
                                                   "num_ctas", "maxnreg",   "pre_hook"};
  auto result = std::make_shared<ConfigValue>();
  const auto set = [&](std::string_view name, const Value& value) {
    if (name == "kwargs" && value.dict() != nullptr) result->meta = *value.dict();
    else if (name == "kwargs") throw Unsupported{"triton.Config needs a dict"};
    else if (name == "num_warps") result->num_warps = whole(value);
    else if (name == "num_stages") result->num_stages = whole(value);
    else if (name == "num_ctas") result->num_ctas = whole(value);
    else if (name == "maxnreg" && !value.is_none()) result->maxnreg = whole(value);
    else if (name == "pre_hook" && is_function(value))
      result->pre_hook = std::make_shared<const Value>(value);
    else if (name == "pre_hook" && !value.is_none())
      throw Unsupported{"the pre_hook of a triton.Config must be a function"};
  };
  expect_count(arguments, 0, std::size(positions));
  for (std::size_t i = 0; i < arguments.values.size(); ++i) set(positions[i], arguments.values[i]);
  for (const auto& [name, value] : arguments.keywords) set(name, value);
  return result;
}

// tl.constexpr(x), copy.deepcopy(x): the value itself.
Value identity(const Arguments& arguments) {
  expect_count(arguments, 1, 1);
  return arguments.values[0];
}

// torch.iinfo(torch.int32) stays a name, whose `.max` is a known constant.
template <bool Integers>
Value type_limits(const Arguments& arguments) {
  expect_count(arguments, 1, 1);
  const auto* type = arguments.values[0].get_if<ExternalValue>();
  if (type == nullptr) throw Unsupported{"a dtype is needed"};
  return ExternalValue{fmt::format("torch.{}({})", Integers ? "iinfo" : "finfo", type->name)};
}

}  // namespace

Builtin find_builtin(std::string_view name) {
  static const std::map<std::string_view, Builtin> known = {
      {"builtins.abs", absolute},
      {"builtins.all", all},
      {"builtins.any", any},
      {"builtins.bool", to_bool},
      {"builtins.dict", to_dict},
      {"builtins.divmod", divmod},
      {"builtins.enumerate", enumerate},
      {"builtins.filter", filter},
      {"builtins.float", to_float},
      {"builtins.frozenset", to_set},
      {"builtins.int", to_int},
      {"builtins.isinstance", isinstance},
      {"builtins.len", length},
      {"builtins.list", to_list},
      {"builtins.map", map},
      {"builtins.max", maximum},
      {"builtins.min", minimum},
      {"builtins.pow", power},
      {"builtins.range", range},
      {"builtins.reversed", reversed},
      {"builtins.round", round},
      {"builtins.set", to_set},
      {"builtins.sorted", sorted},
      {"builtins.str", to_str},
      {"builtins.sum", sum},
      {"builtins.tuple", to_tuple},
      {"builtins.zip", zip},
      {"copy.copy", identity},
      {"copy.deepcopy", identity},
      {"itertools.chain", chain},
      {"itertools.product", cartesian},
      {"math.ceil", ceil},
      {"math.exp", of_float<std::exp>},
      {"math.floor", floor},
      {"math.log", log},
      {"math.log2", of_float<std::log2>},
      {"math.pow", power},
      {"math.prod", product},
      {"math.sqrt", of_float<std::sqrt>},
      {"torch.finfo", type_limits<false>},
      {"torch.iinfo", type_limits<true>},
      {"triton.Config", config},
      {"triton.cdiv", cdiv},
      {"triton.language.cdiv", cdiv},
      {"triton.language.constexpr", identity},
      {"triton.next_power_of_2", next_power_of_2},
      {"triton.runtime.Config", config},
      {"triton.runtime.autotuner.Config", config},
      {"triton.language.next_power_of_2", next_power_of_2},
  };
  const auto found = known.find(name);
  return found == known.end() ? find_host_builtin(name) : found->second;
}

}  // namespace tilewright::python
