// SPDX-License-Identifier: Apache-2.0
// frontend/numba/indexing.cpp — elements, rows and slices of arrays, items of tuples, and arrays
// that a kernel declares.
#include <algorithm>

#include <fmt/format.h>

#include "frontend/numba/externals.h"
#include "frontend/numba/function.h"

namespace tilewright::numba {

using namespace python;

namespace {

std::string product(const std::string& a, const std::string& b) {
  if (a == "1") return b;
  return b == "1" ? a : fmt::format("{} * {}", a, b);
}

bool is_slice(const Node* node) { return is<Slice>(node) || is<EllipsisLiteral>(node); }

}  // namespace

Value FunctionWriter::subscript(const Subscript& node) {
  const Value owner = expression(node.value);
  if (owner.type.kind == Type::Kind::Unknown) return {};
  if (owner.type.is_tuple()) return tuple_item(owner, node.index, node);
  if (!owner.type.is_array()) fail(node, fmt::format("{} cannot be indexed", text_of(owner.type)));
  return view(owner, node.index, node);
}

Value FunctionWriter::tuple_item(const Value& tuple, const Node* index, const Node& place) {
  const Value at = expression(index);
  if (at.type.is_unknown()) return {};
  if (!at.type.is_integer())
    fail(place, fmt::format("a tuple is indexed with an integer, not {}", text_of(at.type)));
  if (tuple.is_packed) missing(place, "an item of a call's result; give the result a name first");
  const auto count = static_cast<std::int64_t>(tuple.items.size());
  if (const std::optional<std::int64_t> number = at.integer()) {
    if (*number >= count || *number < -count)
      fail(place, fmt::format("item {} of a tuple of {} is asked for", *number, count));
    return tuple.items[static_cast<std::size_t>(*number < 0 ? *number + count : *number)];
  }
  for (const Value& item : tuple.items)
    if (!(item.type == tuple.items.front().type))
      fail(place, "a tuple of different types is indexed with a constant only");
  const DType dtype = tuple.items.front().type.dtype;
  // (i == 0 ? a : i == 1 ? b : c)
  std::string text;
  for (std::int64_t i = 0; i + 1 < count; ++i)
    text += fmt::format("{} == {} ? {} : ", in_parentheses(at), i,
                        typed_text(tuple.items[static_cast<std::size_t>(i)], dtype));
  Value value =
      scalar_value(dtype, fmt::format("({}{})", text, typed_text(tuple.items.back(), dtype)));
  value.is_nonnegative |= std::all_of(tuple.items.begin(), tuple.items.end(),
                                      [](const Value& item) { return item.is_nonnegative; });
  return value;
}

// x[i], x[i, j], x[position], x[i] of two dimensions, x[:, j].
Value FunctionWriter::view(const Value& array, const Node* index, const Node& place) {
  std::vector<const Node*> parts = {index};
  if (const auto* tuple = cast_if<Tuple>(index))
    parts.assign(tuple->elements.begin(), tuple->elements.end());
  if (std::any_of(parts.begin(), parts.end(), is_slice)) return sliced(array, parts, place);
  const Value at = expression(index);
  if (at.type.is_unknown()) return {};
  const std::vector<Value> indices = index_values(array, at, place);
  if (indices.size() == array.shape.size()) return element(array, indices);
  Value rest = array;
  for (const Value& each : indices) rest = row(rest, each);
  return rest;
}

std::vector<Value> FunctionWriter::index_values(const Value& array, const Value& index,
                                                const Node& place) {
  const std::vector<Value> indices =
      index.type.is_tuple() ? index.items : std::vector<Value>{index};
  if (indices.size() > array.shape.size())
    fail(place, fmt::format("{} has {} dimensions and is indexed with {}", text_of(array.type),
                            array.type.ndim, indices.size()));
  for (const Value& each : indices)
    if (!each.type.is_integer())
      fail(place, fmt::format("an array is indexed with integers, not {}", text_of(each.type)),
           each.type.is_float() ? "use // for a division that stays an integer, or int(...)" : "");
  return indices;
}

// Negative indices count from the end.
std::string FunctionWriter::position(const Value& index, const std::string& size) {
  if (const std::optional<std::int64_t> number = index.integer(); number && *number < 0)
    return is_number(size) ? fmt::format("{}", std::stoll(size) + *number)
                           : fmt::format("({} - {})", size, -*number);
  if (index.is_nonnegative || size.empty()) return in_parentheses(index);
  const bool is_int = most_of(index) && (is_number(size) || narrow_names_.contains(size));
  return fmt::format("{}({}, {})", helper(is_int ? "tw_wrap_int" : "tw_wrap"), index.text, size);
}

std::string FunctionWriter::stride_text(const Value& array, std::size_t dimension) {
  if (!array.strides.empty()) return array.strides[dimension];
  std::string stride = "1";
  std::int64_t number = 1;
  bool is_known = true;
  for (std::size_t i = dimension + 1; i < array.shape.size(); ++i) {
    is_known &= is_number(array.shape[i]);
    if (is_known) number *= std::stoll(array.shape[i]);
    stride = product(stride, array.shape[i]);
  }
  return is_known ? fmt::format("{}", number) : stride;
}

Value FunctionWriter::element(const Value& array, const std::vector<Value>& indices) {
  const DType dtype = array.type.dtype;
  if (array.is_declared) {
    std::string text = array.text;
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const Value at = scalar_value(DType::Int64, position(indices[i], array.shape[i]));
      text += fmt::format("[{}]", at.text);
    }
    return scalar_value(dtype, text);
  }
  // Sums of 64 bits: an index of 32 times a size must not overflow.
  std::string sum;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const std::string at = position(indices[i], array.shape[i]);
    const std::string stride = stride_text(array, i);
    const bool is_product = stride.find(' ') != std::string::npos;
    const std::string term =
        stride == "1" ? at : fmt::format("{} * {}", at, is_product ? "(" + stride + ")" : stride);
    // What is small is small times its stride, too: it lies inside of the array.
    const bool is_wide =
        size_of(indices[i].type.dtype) == 8 || indices.size() == 1 || indices[i].most;
    sum += (i == 0 ? "" : " + ") + (is_wide || stride == "1" ? term : "(long long)" + term);
  }
  const Value pointer = scalar_value(dtype, array.text, array.text.find(' ') == std::string::npos);
  return scalar_value(dtype,
                      fmt::format("{}[{}]", in_parentheses(pointer), sum.empty() ? "0" : sum));
}

// The array without its first dimension.
Value FunctionWriter::row(const Value& array, const Value& index) {
  Value from = pointer_array(array);
  const std::string at = position(index, array.shape[0]);
  const std::string stride = stride_text(array, 0);
  from.text = fmt::format("{} + {} * ({})", from.text, at, stride);
  from.shape.erase(from.shape.begin());
  if (!from.strides.empty()) from.strides.erase(from.strides.begin());
  from.type.ndim -= 1;
  from.is_stable = false;
  return from;
}

Value FunctionWriter::sliced(const Value& array, const std::vector<const Node*>& given,
                             const Node& place) {
  std::vector<const Node*> parts;
  for (const Node* part : given) {
    if (!is<EllipsisLiteral>(part)) {
      parts.push_back(part);
      continue;
    }
    for (std::size_t i = given.size() - 1; i < array.shape.size(); ++i) parts.push_back(nullptr);
  }
  parts.resize(std::max(parts.size(), array.shape.size()), nullptr);
  if (parts.size() > array.shape.size())
    fail(place, fmt::format("{} is indexed with {} values", text_of(array.type), given.size()));
  Value from = pointer_array(array);
  Value result = from;
  result.shape.clear();
  result.strides.clear();
  result.is_stable = false;
  bool is_contiguous = from.type.is_contiguous, was_cut = false;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string stride = stride_text(from, i);
    const auto* slice = cast_if<Slice>(parts[i]);
    const bool is_whole =
        parts[i] == nullptr || (slice != nullptr && slice->lower == nullptr &&
                                slice->upper == nullptr && slice->step == nullptr);
    if (is_whole) {
      result.shape.push_back(from.shape[i]);
      result.strides.push_back(stride);
      was_cut = true;
      continue;
    }
    if (slice == nullptr) {
      const Value at = expression(parts[i]);
      if (at.type.is_unknown()) return {};
      static_cast<void>(index_values(array, at, place));
      result.text = fmt::format("{} + {} * ({})", result.text, position(at, from.shape[i]), stride);
      is_contiguous &= !was_cut;
      continue;
    }
    const std::optional<SliceText> bounds = slice_bounds(*slice, from.shape[i]);
    if (!bounds) return {};
    is_contiguous &= !was_cut && bounds->step == "1";
    if (bounds->begin != "0")
      result.text = fmt::format("{} + {} * ({})", result.text, bounds->begin, stride);
    result.shape.push_back(bounds->count);
    result.strides.push_back(bounds->step == "1" ? stride
                                                 : fmt::format("({}) * {}", stride, bounds->step));
    was_cut = true;
  }
  result.type = Type::array(array.type.dtype, static_cast<int>(result.shape.size()), is_contiguous);
  if (is_contiguous) result.strides.clear();
  return result;
}

// Python's bounds: negative ones count from the end, and all are cut to the array.
std::optional<FunctionWriter::SliceText> FunctionWriter::slice_bounds(const Slice& slice,
                                                                      const std::string& size) {
  const auto number = [&](const Node* node, const Value& otherwise) {
    Value value = node == nullptr ? otherwise : expression(node);
    if (!value.type.is_unknown() && !value.type.is_integer())
      fail(*node, fmt::format("a slice has integer bounds, not {}", text_of(value.type)));
    return value;
  };
  const Value step = number(slice.step, integer_constant(1));
  if (step.integer().value_or(-1) <= 0)
    missing(slice, "a slice whose step is not a positive constant");
  const Value begin = number(slice.lower, integer_constant(0));
  const Value end = number(slice.upper, scalar_value(DType::Int64, size, false));
  if (begin.type.is_unknown() || end.type.is_unknown()) return {};
  // The size of dynamic shared memory is the launch's: nothing is cut, and nothing counts from the
  // end.
  if (size.empty()) {
    if (!begin.is_nonnegative || (slice.upper != nullptr && !end.is_nonnegative))
      missing(slice, "a slice of dynamic shared memory with a bound that may be negative");
    const std::string from = converted(begin, DType::Int64).text;
    if (slice.upper == nullptr) return SliceText{"(" + from + ")", "", step.text};
    return SliceText{"(" + from + ")",
                     fmt::format("{}({}, {}, {})", helper("tw_slice_count"), from,
                                 converted(end, DType::Int64).text, step.text),
                     step.text};
  }
  const auto cut = [&](const Value& value) {
    return fmt::format("{}({}, {})", helper("tw_slice_bound"), converted(value, DType::Int64).text,
                       size);
  };
  const std::string first = slice.lower == nullptr ? "0" : cut(begin);
  const std::string last = slice.upper == nullptr ? size : cut(end);
  return SliceText{first,
                   fmt::format("{}({}, {}, {})", helper("tw_slice_count"), first, last, step.text),
                   step.text};
}

// x.view(dtype): the same bytes as elements of another type.
Value FunctionWriter::reinterpreted(const Value& array, const Arguments& given, const Node& place) {
  expect_count(given, 1, 1, "view", place);
  const std::optional<DType> dtype = dtype_named(given.values[0].external);
  if (!dtype || !is_supported(*dtype)) fail(place, "view(...) takes a dtype, such as np.int32");
  const std::size_t from = size_of(array.type.dtype), to = size_of(*dtype);
  if (from != to && !array.type.is_contiguous)
    missing(place, "view(...) of an array with gaps as elements of another size");
  Value result = pointer_array(array);
  result.text = fmt::format("(({}*)({}))", cpp_type(*dtype), result.text);
  result.type.dtype = *dtype;
  result.is_stable = false;
  if (from == to || array.shape.empty()) return result;
  std::string& last = result.shape.back();
  last = is_number(last) ? fmt::format("{}", std::stoll(last) * static_cast<std::int64_t>(from) /
                                                 static_cast<std::int64_t>(to))
                         : fmt::format("((long long){} * {} / {})", last, from, to);
  return result;
}

// A declared array under the address of its first element.
Value FunctionWriter::pointer_array(const Value& array) {
  if (!array.is_declared) return array;
  Value result = array;
  result.is_declared = false;
  std::string zeros;
  for (std::size_t i = 0; i < array.shape.size(); ++i) zeros += "[0]";
  result.text = "&" + array.text + zeros;
  return result;
}

// cuda.shared.array(shape, dtype), cuda.local.array(shape, dtype)
Value FunctionWriter::declare_array(const Arguments& given, const Node& place, bool is_shared) {
  const char* const function = is_shared ? "cuda.shared.array" : "cuda.local.array";
  Value shape, element_type;
  if (given.size() > 0) shape = given.values[0];
  if (given.size() > 1) element_type = given.values[1];
  for (const auto& [keyword, value] : given.keywords) {
    if (keyword == "shape") shape = value;
    if (keyword == "dtype" || keyword == "type") element_type = value;
  }
  if (is_complex_name(element_type.external)) fail(place, no_complex_arrays);
  const std::optional<DType> dtype = dtype_named(element_type.external);
  if (!dtype || !is_supported(*dtype))
    fail(place, fmt::format("{} needs a dtype, such as float32", function));
  std::vector<Value> sizes = shape.type.is_tuple() ? shape.items : std::vector<Value>{shape};
  Value array;
  for (const Value& size : sizes) {
    if (!size.integer())
      fail(place,
           fmt::format("the shape of {} must be constants, and {} is known only when the kernel "
                       "runs",
                       function, size.text.empty() ? "one of its sizes" : "'" + size.text + "'"),
           "use numbers or constants of the module");
    if (*size.integer() < 0 || (*size.integer() == 0 && !(is_shared && sizes.size() == 1)))
      fail(place, fmt::format("a size of {} is {}", function, *size.integer()));
    array.shape.push_back(fmt::format("{}", *size.integer()));
  }
  array.type = Type::array(*dtype, static_cast<int>(sizes.size()), true);
  array.is_declared = true;
  array.is_stable = true;
  if (is_shared) need_threads();
  if (!is_final_) return array;
  if (is_shared) check_shared_bytes(array, place);
  array.text = array_name_.empty() ? names_.make(is_shared ? "shared" : "local") : array_name_;
  array_name_.clear();
  if (array.shape[0] == "0") return dynamic_shared(array);
  std::string declared;
  for (const std::string& size : array.shape) declared += fmt::format("[{}]", size);
  if (declared_.insert(array.text).second)
    arrays_ += fmt::format("  {}{} {}{};\n", is_shared ? "__shared__ " : "", cpp_type(*dtype),
                           array.text, declared);
  return array;
}

void FunctionWriter::check_shared_bytes(const Value& array, const Node& place) {
  constexpr std::int64_t most_bytes = 48 << 10;
  std::int64_t bytes = static_cast<std::int64_t>(size_of(array.type.dtype));
  for (const std::string& size : array.shape) {
    const std::int64_t number = std::stoll(size);
    bytes = number != 0 && bytes > (std::int64_t{1} << 40) / number ? std::int64_t{1} << 40
                                                                    : bytes * number;
  }
  shared_bytes_ += bytes;
  if (shared_bytes_ > most_bytes)
    fail(place,
         fmt::format("the shared arrays of '{}' take {} bytes; {} are the most", function_.name,
                     shared_bytes_, most_bytes),
         "for more, use cuda.shared.array(0, dtype) and give the launch its bytes");
}

// All of them lie in the same memory, whose size is the launch's.
Value FunctionWriter::dynamic_shared(Value array) {
  const std::string memory = "tw_dynamic";
  if (declared_.insert(memory).second)
    arrays_ += fmt::format("  extern __shared__ double {}[];\n", memory);
  arrays_ += fmt::format("  {0}* const {1} = ({0}*){2};\n", cpp_type(array.type.dtype), array.text,
                         memory);
  array.is_declared = false;
  array.shape[0].clear();
  return array;
}

}  // namespace tilewright::numba
