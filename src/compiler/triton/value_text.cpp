// SPDX-License-Identifier: Apache-2.0
// compiler/triton/value_text.cpp — numbers, files and generated tensors from text.
#include "compiler/triton/value_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest.h"
#include "compiler/triton/constants.h"

namespace tilewright {
namespace {

const std::vector<std::string> makers = {"randn", "rand",   "randint", "zeros",
                                         "ones",  "arange", "empty",   "full"};

[[noreturn]] void fail(std::string_view name, std::string_view text, const std::string& problem) {
  throw ArgumentError(fmt::format("{}={}: {}", name, text, problem));
}

constexpr std::string_view form = "a generated tensor is written as randn:f32[1024,781]";

std::int64_t parse_size(std::string_view name, std::string_view text, std::string_view size) {
  while (size.starts_with(' ')) size.remove_prefix(1);
  while (size.ends_with(' ')) size.remove_suffix(1);
  std::int64_t value = 0;
  const auto [end, status] = std::from_chars(size.data(), size.data() + size.size(), value);
  if (size.empty() || status != std::errc{} || end != size.data() + size.size() || value < 0)
    fail(name, text, fmt::format("'{}' is no size; {}", size, form));
  return value;
}

Shape parse_shape(std::string_view name, std::string_view text, std::string_view sizes) {
  Shape shape;
  while (!sizes.empty()) {
    const std::size_t comma = sizes.find(',');
    shape.push_back(parse_size(name, text, sizes.substr(0, comma)));
    if (comma == std::string_view::npos) break;
    sizes.remove_prefix(comma + 1);
  }
  // The runtime counts bytes in 64 bits; refuse before anything is multiplied there.
  std::int64_t count = 1;
  for (const std::int64_t size : shape)
    if (__builtin_mul_overflow(count, size, &count) || count > (std::int64_t{1} << 40))
      fail(name, text, "the tensor is too large");
  return shape;
}

// Whole numbers that are equally likely, by the generator of uniform ones.
Tensor make_integers(const TensorText& t, std::uint64_t seed) {
  const Tensor uniform =
      rand(t.shape, RandomOptions(DType::Float64, Device::cpu()).with_seed(seed));
  std::vector<std::int64_t> values;
  const double span = static_cast<double>(t.high) - static_cast<double>(t.low);
  for (const double number : uniform.to_vector<double>())
    values.push_back(
        std::min(t.low + static_cast<std::int64_t>(std::floor(number * span)), t.high - 1));
  return tensor(values, t.shape, Device::cpu()).to(t.dtype);
}

// On the host: making numbers on a GPU would compile kernels first, which takes longer than the
// copy.
Tensor make_on_host(const TensorText& t, std::uint64_t seed) {
  const TensorOptions place(t.dtype, Device::cpu());
  if (t.maker == "zeros") return zeros(t.shape, place);
  if (t.maker == "ones") return ones(t.shape, place);
  if (t.maker == "full") return full(t.shape, t.fill, place);
  if (t.maker == "arange") {
    std::int64_t count = 1;
    for (const std::int64_t size : t.shape) count *= size;
    return arange(0, static_cast<double>(count), 1, place).reshape(t.shape);
  }
  if (t.maker == "randint") return make_integers(t, seed);
  const bool narrow = size_of(t.dtype) == 1;  // the generators make 16 bits and more
  const RandomOptions random =
      RandomOptions(narrow ? DType::Float32 : t.dtype, Device::cpu()).with_seed(seed);
  const Tensor made = t.maker == "randn" ? randn(t.shape, random) : rand(t.shape, random);
  return made.to(t.dtype);
}

// The same elements, as far apart as the strides say. What repeats (stride 0) is taken from its
// first element.
Tensor restrided(std::string_view name, std::string_view text, const Tensor& made,
                 const Shape& strides) {
  if (strides.size() != made.shape().size())
    fail(name, text,
         fmt::format("it has {} dimensions and {} strides", made.shape().size(), strides.size()));
  std::int64_t reach = 1;
  Tensor values = made.to(Device::cpu());
  Shape own = strides;
  for (std::size_t i = 0; i < strides.size(); ++i) {
    const std::int64_t size = made.shape()[i];
    if (size == 0) return made;
    std::int64_t last = 0;
    if (__builtin_mul_overflow(size - 1, strides[i], &last) ||
        __builtin_add_overflow(reach, last, &reach) || reach > (std::int64_t{1} << 40))
      fail(name, text, "the tensor is too large");
    if (strides[i] == 0) values = values.slice(static_cast<int>(i), 0, 1);
    if (strides[i] == 0) own[i] = 1;
  }
  const Tensor memory = zeros({reach}, {made.dtype(), Device::cpu()});
  Tensor(memory.buffer(), made.dtype(), values.shape(), own, memory.offset()).copy_from(values);
  const Tensor there = memory.to(made.device());
  return Tensor(there.buffer(), made.dtype(), made.shape(), strides, there.offset());
}

// "-5..5"
void parse_range(std::string_view name, std::string_view text, std::string_view range,
                 TensorText& parsed) {
  const std::size_t dots = range.find("..");
  const auto number = [&](std::string_view part, std::int64_t& value) {
    const auto [end, status] = std::from_chars(part.data(), part.data() + part.size(), value);
    return !part.empty() && status == std::errc{} && end == part.data() + part.size();
  };
  if (dots == std::string_view::npos || !number(range.substr(0, dots), parsed.low) ||
      !number(range.substr(dots + 2), parsed.high))
    fail(name, text, fmt::format("'{}' is no range; write randint:i32[8]=0..10", range));
  if (parsed.low >= parsed.high)
    fail(name, text, fmt::format("the range {} is empty: its end does not belong to it", range));
}

void check_range(std::string_view name, std::string_view text, const TensorText& parsed) {
  constexpr std::int64_t exact = std::int64_t{1} << 52;
  if (parsed.low < -exact || parsed.high > exact) fail(name, text, "its range goes beyond 2^52");
  for (const std::int64_t end : {parsed.low, parsed.high - 1}) {
    const auto value = static_cast<double>(end);
    if (full({}, value, {parsed.dtype, Device::cpu()}).item<double>() != value)
      fail(name, text, fmt::format("{} cannot hold {}", name_of(parsed.dtype), end));
  }
}

Tensor make(std::string_view name, std::string_view text, const ValueTextOptions& options) {
  const TensorText t = parse_tensor_text(name, text);
  if (t.maker == "empty") return empty(t.shape, {t.dtype, options.device});
  return make_on_host(t, options.seed).to(options.device);
}

// A file, or DTYPE:FILE for types that .npy lacks: bf16:x.npy. A path may hold a colon itself. Rows
// lie one after the other whatever the file's order: no stride of it is passed on to the kernel.
Tensor load(std::string_view name, std::string_view text, const ValueTextOptions& options) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || text.substr(0, colon).find('/') != std::string_view::npos)
    return load_npy(std::string(text), options.device).contiguous();
  try {
    const DType dtype = parse_dtype(text.substr(0, colon));
    return load_npy(std::string(text.substr(colon + 1)), Device::cpu())
        .contiguous()
        .to(dtype)
        .to(options.device);
  } catch (const ArgumentError& error) {
    fail(name, text, error.what());
  }
}

bool is_digits(std::string_view text) {
  return text.find_first_not_of("0123456789", text.starts_with('-') ? 1 : 0) ==
         std::string_view::npos;
}

// 1e400, 1e-400
bool is_beyond_float64(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  return status == std::errc::result_out_of_range && end == text.data() + text.size();
}

constexpr std::string_view beyond_float64 =
    "the number is beyond what float64 holds (4.9e-324 to 1.8e308); write inf or 0";

// An integer type takes no other number than the one that was written.
void check_fill(std::string_view name, std::string_view text, const triton::Value& value,
                const TensorText& parsed) {
  if (is_floating(parsed.dtype) || parsed.dtype == DType::Bool) return;
  const auto* constant = value.get_if<triton::Constant>();
  const auto* integer = constant ? std::get_if<triton::Int128>(&constant->value) : nullptr;
  const double kept = full({}, parsed.fill, {parsed.dtype, Device::cpu()}).item<double>();
  const bool is_exact = integer == nullptr || static_cast<triton::Int128>(parsed.fill) == *integer;
  if (kept != parsed.fill || !is_exact)
    fail(name, text,
         fmt::format("{} cannot be filled with {}", name_of(parsed.dtype), constant_text(value)));
}

}  // namespace

TensorText parse_tensor_text(std::string_view name, std::string_view text) {
  const std::size_t colon = text.find(':');
  TensorText parsed{.maker = std::string(text.substr(0, colon))};
  bool known = false;
  for (const std::string& maker : makers) known = known || maker == parsed.maker;
  if (!known)
    fail(
        name, text,
        fmt::format("nothing generates '{}'{}", parsed.maker, suggest_names(parsed.maker, makers)));
  std::string_view rest = text.substr(colon + 1);
  const std::size_t open = rest.find('[');
  const std::size_t close = rest.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open)
    fail(name, text, fmt::format("its shape is missing; {}", form));
  try {
    parsed.dtype = parse_dtype(rest.substr(0, open));
  } catch (const ArgumentError& error) {
    fail(name, text, error.what());
  }
  parsed.shape = parse_shape(name, text, rest.substr(open + 1, close - open - 1));
  std::string_view after = rest.substr(close + 1);
  if (parsed.maker == "full") {
    const auto value = after.starts_with('=') ? parse_constant(after.substr(1)) : std::nullopt;
    const auto number = value ? host_value_of(*value).number() : std::nullopt;
    if (after.starts_with('=') && is_beyond_float64(after.substr(1)))
      fail(name, text, std::string(beyond_float64));
    if (!number && after.starts_with('=') && after.size() > 1)
      fail(name, text, fmt::format("'{}' is no number; write full:f32[8]=0.5", after.substr(1)));
    if (!number) fail(name, text, "its value is missing; write full:f32[8]=0.5");
    parsed.fill = *number;
    check_fill(name, text, *value, parsed);
    after = {};
  }
  if (parsed.maker == "randint") {
    if (after.starts_with('=')) parse_range(name, text, after.substr(1), parsed);
    if (after.starts_with('=')) after = {};
    check_range(name, text, parsed);
  }
  if (!after.empty()) fail(name, text, fmt::format("'{}' does not belong there; {}", after, form));
  const bool is_random = parsed.maker == "randn" || parsed.maker == "rand";
  if (is_random && !is_floating(parsed.dtype))
    fail(name, text,
         fmt::format("random numbers are floats, not {0}; use randint:{0}[8]=0..10",
                     name_of(parsed.dtype)));
  return parsed;
}

StridedText split_strides(std::string_view name, std::string_view text) {
  constexpr std::string_view mark = "@strides(";
  const std::size_t begin = text.find(mark);
  if (begin == std::string_view::npos) return {std::string(text), std::nullopt};
  const std::size_t first = begin + mark.size();
  const std::size_t end = text.find(')', first);
  if (end == std::string_view::npos) fail(name, text, "its strides do not end with )");
  std::string rest(text.substr(0, begin));
  rest += text.substr(end + 1);
  return {rest, parse_shape(name, text, text.substr(first, end - first))};
}

ArgumentValue read_value(std::string_view name, std::string_view text,
                         const ValueTextOptions& options) {
  if (text.empty()) fail(name, text, "the value is missing");
  if (const StridedText strided = split_strides(name, text); strided.strides) {
    const ArgumentValue made = read_value(name, strided.text, options);
    if (!std::holds_alternative<Tensor>(made))
      fail(name, text, "strides are those of a tensor, which this is not");
    return restrided(name, text, std::get<Tensor>(made), *strided.strides);
  }
  if (const auto constant = parse_constant(text)) return *constant;
  if (text.ends_with(".npy")) return load(name, text, options);
  if (text.find(':') != std::string_view::npos) return make(name, text, options);
  if (is_digits(text)) fail(name, text, "the number has more than 64 bits");
  if (is_beyond_float64(text)) fail(name, text, std::string(beyond_float64));
  fail(
      name, text,
      "this is no number, true, false, none, type, 'text' in quotes, .npy file or generated tensor "
      "(randn:f32[1024,781])");
}

std::string tensor_type_text(const Tensor& tensor) {
  return fmt::format("{}[{}]", name_of(tensor.dtype()), fmt::join(tensor.shape(), ", "));
}

}  // namespace tilewright
