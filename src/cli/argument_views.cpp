// SPDX-License-Identifier: Apache-2.0
// cli/argument_views.cpp — tensors over the buffers of other arguments.
#include "cli/argument_views.h"

#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "base/nearest.h"
#include "cli/kernel_path.h"

namespace tilewright::cli {
namespace {

// The parts of "@x+4[8,8]".
struct ViewText {
  std::string name;    // of the argument
  std::string text;    // the whole value, for messages
  std::string source;  // x
  std::int64_t offset = 0;
  std::optional<Shape> shape;
  std::optional<Shape> strides;  // @x[8,8]@strides(16,1)
};

[[noreturn]] void fail_view(const ViewText& view, const std::string& problem) {
  throw ArgumentError(fmt::format("{}={}: {}", view.name, view.text, problem));
}

std::int64_t parse_count(const ViewText& view, std::string_view text) {
  std::int64_t count = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (text.empty() || status != std::errc{} || end != text.data() + text.size() || count < 0)
    fail_view(view, fmt::format("'{}' is no number of elements; memory of another argument is "
                                "written as @x, @x+4 or @x+4[8,8]",
                                text));
  return count;
}

ViewText parse_view(const std::string& assignment) {
  const auto [name, text] = parse_assignment(assignment, "NAME=VALUE");
  ViewText view{.name = name, .text = text};
  const StridedText strided = split_strides(name, text);
  view.strides = strided.strides;
  std::string_view rest = std::string_view(strided.text).substr(1);
  if (const std::size_t open = rest.find('['); open != std::string_view::npos) {
    if (!rest.ends_with(']')) fail_view(view, "its shape does not end with ]");
    std::string_view sizes = rest.substr(open + 1, rest.size() - open - 2);
    view.shape.emplace();
    while (true) {
      const std::size_t comma = sizes.find(',');
      view.shape->push_back(parse_count(view, sizes.substr(0, comma)));
      if (comma == std::string_view::npos) break;
      sizes.remove_prefix(comma + 1);
    }
    rest = rest.substr(0, open);
  }
  const std::size_t plus = rest.find('+');
  view.source = rest.substr(0, plus);
  if (plus != std::string_view::npos) view.offset = parse_count(view, rest.substr(plus + 1));
  return view;
}

// Elements from the first to the last, those between rows included.
std::int64_t reach_of(const Tensor& tensor) {
  if (tensor.numel() == 0) return 0;
  std::int64_t last = 0;
  for (int i = 0; i < tensor.rank(); ++i) last += (tensor.size(i) - 1) * tensor.stride(i);
  return last + 1;
}

Shape dense_strides_of(const ViewText& view, const Shape& shape, std::int64_t room) {
  Shape strides(shape.size(), 1);
  std::int64_t count = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = count;
    if (__builtin_mul_overflow(count, shape[i], &count) || count > room)
      fail_view(view, fmt::format("'{}' has {} elements from there on", view.source, room));
  }
  return strides;
}

Tensor view_over(const ViewText& view, const Tensor& source) {
  if (view.offset == 0 && !view.shape && !view.strides) return source;
  const std::int64_t room = reach_of(source) - view.offset;
  if (room < 0) fail_view(view, fmt::format("'{}' has {} elements", view.source, reach_of(source)));
  if (view.strides && !view.shape) fail_view(view, "strides need a shape: @x[8,8]@strides(16,1)");
  const Shape shape = view.shape.value_or(Shape{room});
  const Shape strides = view.strides ? *view.strides : dense_strides_of(view, shape, room);
  try {
    return Tensor(source.buffer(), source.dtype(), shape, strides, source.offset() + view.offset);
  } catch (const ArgumentError& error) {
    fail_view(view, error.what());
  }
}

const Tensor* tensor_named(const std::vector<NamedValue>& values, const std::string& name) {
  for (const NamedValue& value : values)
    if (value.name == name) return value.tensor();
  return nullptr;
}

[[noreturn]] void throw_no_tensor(const ViewText& view, const std::vector<NamedValue>& values) {
  std::vector<std::string> names;
  for (const NamedValue& value : values)
    if (value.tensor() != nullptr) names.push_back(value.name);
  fail_view(view, names.empty() ? std::string("no argument is a tensor")
                                : fmt::format("no tensor argument is called '{}'{}", view.source,
                                              suggest_names(view.source, names)));
}

}  // namespace

void add_views(const std::vector<std::string>& texts, std::vector<NamedValue>& values) {
  std::vector<ViewText> waiting;
  for (const std::string& text : texts) waiting.push_back(parse_view(text));
  while (!waiting.empty()) {
    std::vector<ViewText> later;
    for (const ViewText& view : waiting) {
      const Tensor* source = tensor_named(values, view.source);
      if (source == nullptr) {
        later.push_back(view);
        continue;
      }
      const Tensor tensor = view_over(view, *source);
      values.push_back({view.name, tensor, tensor.to(Device::cpu()).clone()});
    }
    if (later.size() == waiting.size()) throw_no_tensor(later.front(), values);
    waiting = std::move(later);
  }
}

}  // namespace tilewright::cli
