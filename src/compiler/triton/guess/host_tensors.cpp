// SPDX-License-Identifier: Apache-2.0
// compiler/triton/guess/host_tensors.cpp — the few makers and views that stand in front of launches.
#include "compiler/triton/guess/host_tensors.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include <fmt/format.h>

#include "tilewright/error.h"

namespace tilewright {
namespace {

using namespace python;

[[noreturn]] void refuse(std::string_view what) {
  throw ArgumentError(fmt::format("{} is not evaluated", what));
}

const Node* keyword_of(const Call& call, std::string_view name) {
  for (const Node* node : call.keywords)
    if (cast<Keyword>(node).name == name) return cast<Keyword>(node).value;
  return nullptr;
}

std::string dtype_of_call(const Call& call, const HostOperand& operand, std::string fallback) {
  const Node* given = keyword_of(call, "dtype");
  if (given == nullptr) return fallback;
  const Value value = operand(given).value;
  if (value.is_none()) return fallback;
  const auto* type = value.get_if<ExternalValue>();
  if (type == nullptr) refuse("this dtype");
  return type->name;
}

// (m, n), [m, n] or m, n from operand `first` on.
std::vector<std::int64_t> shape_of_call(const Call& call, std::size_t first,
                                        const HostOperand& operand) {
  std::vector<std::int64_t> shape;
  const auto add = [&](const Value& value) {
    if (!value.integer()) refuse("a size that is no whole number");
    shape.push_back(*value.integer());
  };
  const Node* size = keyword_of(call, "size");
  std::vector<const Node*> nodes(call.arguments.begin(), call.arguments.end());
  if (size != nullptr) nodes.insert(nodes.begin() + static_cast<std::ptrdiff_t>(first), size);
  for (std::size_t i = first; i < nodes.size(); ++i) {
    const auto* starred = cast_if<Starred>(nodes[i]);
    const Value value = operand(starred != nullptr ? starred->value : nodes[i]).value;
    if (value.items() != nullptr)
      for (const Value& item : *value.items()) add(item);
    else add(value);
    if (value.items() != nullptr && starred == nullptr) break;  // what follows is no size
  }
  return shape;
}

// Refuses what no memory holds, before anything overflows.
std::int64_t count_of(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape)
    if (__builtin_mul_overflow(count, size, &count) || std::abs(count) > std::int64_t{1} << 50)
      refuse("a tensor of this size");
  return count;
}

WrapperValue made(std::string maker, std::string dtype, std::vector<std::int64_t> shape) {
  for (const std::int64_t size : shape)
    if (size < 0) refuse("a negative size");
  static_cast<void>(count_of(shape));
  std::vector<std::int64_t> strides = dense_strides(shape);
  return {TensorValue{std::move(dtype), std::move(shape), std::move(strides)}, std::move(maker)};
}

double number_of(const Node* node, const HostOperand& operand) {
  const auto number = operand(node).value.number();
  if (!number) refuse("a fill that is no number");
  return *number;
}

// One size may be -1. Views of what is not contiguous would need torch's rules.
WrapperValue reshaped(const WrapperValue& owner, std::vector<std::int64_t> shape) {
  const TensorValue& tensor = *owner.tensor();
  if (tensor.strides != dense_strides(tensor.shape)) refuse("a view of a strided tensor");
  const std::int64_t count = count_of(tensor.shape);
  for (std::int64_t& size : shape)
    if (size == -1) size = count_of(shape) == 0 ? 0 : -count / count_of(shape);
  if (count_of(shape) != count) refuse("a view of another size");
  WrapperValue view = made(owner.maker, tensor.dtype, shape);
  view.fill = owner.fill;
  return view;
}

WrapperValue transposed(const WrapperValue& owner, std::int64_t a, std::int64_t b) {
  WrapperValue view = owner;
  TensorValue tensor = *owner.tensor();
  const auto rank = static_cast<std::int64_t>(tensor.shape.size());
  a += a < 0 ? rank : 0;
  b += b < 0 ? rank : 0;
  if (a < 0 || b < 0 || a >= rank || b >= rank) refuse("a dimension that is none");
  std::swap(tensor.shape[static_cast<std::size_t>(a)], tensor.shape[static_cast<std::size_t>(b)]);
  std::swap(tensor.strides[static_cast<std::size_t>(a)],
            tensor.strides[static_cast<std::size_t>(b)]);
  view.value = tensor;
  return view;
}

WrapperValue converted(const WrapperValue& owner, std::string dtype) {
  WrapperValue result = owner;
  TensorValue tensor = *owner.tensor();
  tensor.dtype = std::move(dtype);
  result.value = tensor;
  return result;
}

}  // namespace

std::vector<std::int64_t> dense_strides(const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

std::optional<WrapperValue> made_by_torch(std::string_view name, const Call& call,
                                          const HostOperand& operand) {
  if (!name.starts_with("torch.")) return std::nullopt;
  name.remove_prefix(6);
  static constexpr std::array<std::string_view, 5> plain = {"empty", "zeros", "ones", "rand",
                                                            "randn"};
  const bool is_like = name.ends_with("_like");
  const std::string maker(is_like ? name.substr(0, name.size() - 5) : name);
  const bool is_plain = std::find(plain.begin(), plain.end(), maker) != plain.end();
  if (!is_plain && maker != "full" && maker != "arange") return std::nullopt;
  if (is_like) {
    if (call.arguments.empty()) refuse("a _like of nothing");
    const WrapperValue like = operand(call.arguments[0]);
    if (like.tensor() == nullptr) refuse("a _like of no tensor");
    WrapperValue result =
        made(maker, dtype_of_call(call, operand, like.tensor()->dtype), like.tensor()->shape);
    if (maker == "full" && call.arguments.size() > 1)
      result.fill = number_of(call.arguments[1], operand);
    return result;
  }
  if (maker == "arange") {
    if (call.arguments.size() != 1) return std::nullopt;
    return made(maker, dtype_of_call(call, operand, "torch.int64"),
                shape_of_call(call, 0, operand));
  }
  WrapperValue result =
      made(maker, dtype_of_call(call, operand, "torch.float32"), shape_of_call(call, 0, operand));
  if (maker == "full") {
    if (call.arguments.size() < 2) return std::nullopt;
    result.fill = number_of(call.arguments[1], operand);
  }
  return result;
}

std::optional<WrapperValue> made_by_method(const WrapperValue& owner, std::string_view name,
                                           const Call& call, const HostOperand& operand) {
  const TensorValue& tensor = *owner.tensor();
  static constexpr std::array<std::string_view, 7> same = {
      "detach", "cuda", "cpu", "clone", "requires_grad_", "data", "squeeze_"};
  if (std::find(same.begin(), same.end(), name) != same.end()) return owner;
  if (name == "contiguous") {
    WrapperValue dense = made(owner.maker, tensor.dtype, tensor.shape);
    dense.fill = owner.fill;
    return dense;
  }
  if (name == "float") return converted(owner, "torch.float32");
  if (name == "half") return converted(owner, "torch.float16");
  if (name == "bfloat16") return converted(owner, "torch.bfloat16");
  if (name == "to") {
    for (const Node* node : call.arguments)
      if (const Value value = operand(node).value; value.is<ExternalValue>())
        if (const auto& type = value.get_if<ExternalValue>()->name; type.starts_with("torch."))
          return converted(owner, type);
    return converted(owner, dtype_of_call(call, operand, tensor.dtype));
  }
  if (name == "view" || name == "reshape") return reshaped(owner, shape_of_call(call, 0, operand));
  if (name == "flatten" && call.arguments.empty()) return reshaped(owner, {-1});
  if (name == "t" && tensor.shape.size() == 2) return transposed(owner, 0, 1);
  if (name == "transpose") {
    const auto sizes = shape_of_call(call, 0, operand);
    if (sizes.size() == 2) return transposed(owner, sizes[0], sizes[1]);
  }
  for (const std::string_view maker : {"empty", "zeros", "ones"})
    if (name == fmt::format("new_{}", maker))
      return made(std::string(maker), dtype_of_call(call, operand, tensor.dtype),
                  shape_of_call(call, 0, operand));
  return std::nullopt;
}

}  // namespace tilewright
