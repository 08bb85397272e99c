// SPDX-License-Identifier: Apache-2.0
// ir/type.cpp — shapes and the text of types.
#include "ir/type.h"

#include <bit>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"

namespace tilewright::ir {
namespace {

constexpr std::string_view short_names[dtype_count] = {"f64",    "f32", "f16", "bf16", "f8e4m3",
                                                       "f8e5m2", "i8",  "i16", "i32",  "i64",
                                                       "u8",     "u16", "u32", "u64",  "b1"};

constexpr std::string_view space_names[] = {"", "registers", "stack", "arena", "staging",
                                            "shared"};

bool parse_space(std::string_view text, Type& out) {
  for (std::size_t i = 1; i < std::size(space_names); ++i)
    if (text == space_names[i]) out.space = static_cast<Space>(i);
  return out.is_array();
}

bool parse_element(std::string_view text, Type& out) {
  const auto at = text.find('@');
  if (at != std::string_view::npos && !parse_space(text.substr(at + 1), out)) return false;
  text = text.substr(0, at);
  if (text.starts_with('*')) {
    out.is_pointer = true;
    text.remove_prefix(1);
  }
  for (int i = 0; i < dtype_count; ++i) {
    if (text != short_names[i]) continue;
    out.dtype = static_cast<DType>(i);
    return true;
  }
  return false;
}

bool parse_size(std::string_view text, Type& out) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  std::uint64_t size = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (status != std::errc{} || end != text.data() + text.size()) return false;
  if (!std::has_single_bit(size) || out.rank == Type::max_rank) return false;
  out.log_sizes[out.rank++] = static_cast<std::uint8_t>(std::countr_zero(size));
  return true;
}

}  // namespace

Type Type::array(const Type& element, Space space) {
  Type type = element.element();
  type.space = space;
  return type;
}

Type Type::tile(DType dtype, const std::vector<std::int64_t>& shape) {
  return Type::scalar(dtype).with_shape(shape);
}

std::int64_t Type::numel() const {
  std::int64_t count = 1;
  for (int d = 0; d < rank; ++d) count *= size(d);
  return count;
}

std::vector<std::int64_t> Type::shape() const {
  std::vector<std::int64_t> sizes;
  for (int d = 0; d < rank; ++d) sizes.push_back(size(d));
  return sizes;
}

Type Type::with_shape_of(const Type& other) const {
  Type result = other;
  result.dtype = dtype;
  result.is_pointer = is_pointer;
  return result;
}

Type Type::with_shape(const std::vector<std::int64_t>& shape) const {
  TW_CHECK(shape.size() <= max_rank, "rank {} is over {}", shape.size(), max_rank);
  Type result{.dtype = dtype, .is_pointer = is_pointer};
  for (const std::int64_t size : shape) {
    TW_CHECK(size > 0 && std::has_single_bit(static_cast<std::uint64_t>(size)),
             "size {} is not a power of two", size);
    result.log_sizes[result.rank++] =
        static_cast<std::uint8_t>(std::countr_zero(static_cast<std::uint64_t>(size)));
  }
  return result;
}

Type Type::with_element(DType element_dtype) const {
  Type result = *this;
  result.dtype = element_dtype;
  result.is_pointer = false;
  return result;
}

Type Type::pointee() const {
  TW_CHECK(is_pointer, "{} is not a pointer", to_string());
  return with_element(dtype);
}

std::string Type::to_string() const {
  std::string text = (is_pointer ? "*" : "") + std::string(short_name_of(dtype));
  if (is_array()) text += fmt::format("@{}", name_of(space));
  if (rank > 0) text += fmt::format("[{}]", fmt::join(shape(), ", "));
  return text;
}

bool same_shape(const Type& a, const Type& b) {
  return a.rank == b.rank && a.log_sizes == b.log_sizes;
}

std::string_view short_name_of(DType dtype) { return short_names[static_cast<int>(dtype)]; }

std::string_view name_of(Space space) { return space_names[static_cast<std::size_t>(space)]; }

bool parse_type(std::string_view text, Type& out) {
  out = {};
  const auto bracket = text.find('[');
  if (!parse_element(text.substr(0, bracket), out)) return false;
  if (bracket == std::string_view::npos) return true;
  if (out.is_array()) return false;
  if (!text.ends_with(']')) return false;
  std::string_view sizes = text.substr(bracket + 1, text.size() - bracket - 2);
  while (true) {
    const auto comma = sizes.find(',');
    if (!parse_size(sizes.substr(0, comma), out)) return false;
    if (comma == std::string_view::npos) return true;
    sizes.remove_prefix(comma + 1);
  }
}

}  // namespace tilewright::ir
