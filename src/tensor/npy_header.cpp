// SPDX-License-Identifier: Apache-2.0
// tensor/npy_header.cpp — a parser for just the Python literals that NumPy writes, and their
// writer.
#include "tensor/npy_header.h"

#include <bit>
#include <cctype>

#include <fmt/format.h>

#include "tilewright/error.h"

namespace tilewright {
namespace {

static_assert(std::endian::native == std::endian::little,
              ".npy files are read and written without swapping bytes");

struct Code {
  std::string_view text;  // kind and size
  DType dtype;
};

constexpr Code codes[] = {
    {"f8", DType::Float64}, {"f4", DType::Float32}, {"f2", DType::Float16}, {"i1", DType::Int8},
    {"i2", DType::Int16},   {"i4", DType::Int32},   {"i8", DType::Int64},   {"u1", DType::UInt8},
    {"u2", DType::UInt16},  {"u4", DType::UInt32},  {"u8", DType::UInt64},  {"b1", DType::Bool},
};

class Parser {
 public:
  Parser(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  NpyHeader parse() {
    NpyHeader header;
    bool has_descr = false, has_order = false, has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key(quoted());
      expect(':');
      if (key == "descr" && !has_descr) {
        header.dtype = dtype();
        has_descr = true;
      } else if (key == "fortran_order" && !has_order) {
        header.is_fortran_order = boolean();
        has_order = true;
      } else if (key == "shape" && !has_shape) {
        header.shape = shape();
        has_shape = true;
      } else {
        fail(fmt::format("its header has an unknown or repeated key '{}'", printable(key)));
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (at_ != text_.size()) fail("something follows the dictionary of its header");
    if (!has_descr || !has_order || !has_shape)
      fail("its header lacks 'descr', 'fortran_order' or 'shape'");
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const {
    throw FormatError(fmt::format("'{}' cannot be read as .npy: {}", path_, reason));
  }
  static std::string printable(std::string_view text) {
    std::string out;
    for (const char c : text.substr(0, 40))
      out += std::isprint(static_cast<unsigned char>(c)) ? c : '?';
    return out;
  }
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t'))
      ++at_;
  }
  bool accept(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(fmt::format("its header has no '{}' at character {}", c, at_));
  }

  std::string_view quoted() {
    skip_space();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"')
      fail(fmt::format("its header has no string at character {}", at_));
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail("a string in its header does not end");
    const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return inside;
  }
  bool boolean() {
    skip_space();
    for (const std::string_view word : {std::string_view("True"), std::string_view("False")}) {
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      return word == "True";
    }
    fail("its 'fortran_order' is neither True nor False");
  }

  Shape shape() {
    Shape sizes;
    expect('(');
    bool ends_in_comma = true;
    while (!accept(')')) {
      if (!ends_in_comma) fail("the sizes of its shape are not separated by commas");
      sizes.push_back(size());
      ends_in_comma = accept(',');
    }
    if (sizes.size() == 1 && !ends_in_comma) fail("its shape is a number, not a tuple");
    return sizes;
  }
  std::int64_t size() {
    skip_space();
    std::int64_t value = 0;
    const std::size_t begin = at_;
    for (; at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])); ++at_) {
      const bool overflows = __builtin_mul_overflow(value, 10, &value) ||
                             __builtin_add_overflow(value, text_[at_] - '0', &value);
      if (overflows) fail("a size of its shape does not fit 64 bits");
    }
    if (at_ == begin) fail("its shape has something that is not a size of 0 or more");
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // as Python 2 wrote long integers
    return value;
  }

  DType dtype() {
    skip_space();
    if (at_ < text_.size() && text_[at_] == '[') fail("it holds records: save one field at a time");
    const std::string_view descr = quoted();
    if (descr.empty()) fail("its dtype is empty");
    const bool has_order = std::string_view("<>|=").find(descr[0]) != std::string_view::npos;
    const std::string_view code = descr.substr(has_order ? 1 : 0);
    if (code == "O") fail("it holds Python objects: save an array of numbers");
    for (const Code& known : codes) {
      if (code != known.text) continue;
      if (descr[0] == '>' && size_of(known.dtype) > 1)
        fail(fmt::format(
            "it is big-endian ('{}'): save it again with x.astype(x.dtype.newbyteorder('<'))",
            descr));
      return known.dtype;
    }
    fail(fmt::format("it has the dtype '{}': save it as float16/32/64, int8..64, uint8..64 or bool",
                     printable(descr)));
  }

  std::string_view text_;
  const std::string& path_;
  std::size_t at_ = 0;
};

std::string_view code_of(DType dtype) {
  for (const Code& known : codes)
    if (known.dtype == dtype) return known.text;
  throw ArgumentError(fmt::format(
      "a .npy file cannot hold {} elements: convert the tensor to float32 first", name_of(dtype)));
}

}  // namespace

NpyHeader parse_npy_header(std::string_view text, const std::string& path) {
  return Parser(text, path).parse();
}

std::string npy_preamble(DType dtype, const Shape& shape) {
  std::string sizes;
  for (const std::int64_t size : shape)
    sizes += fmt::format("{}{}", sizes.empty() ? "" : " ", size) + ",";
  if (shape.size() > 1) sizes.pop_back();
  std::string text = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}",
                                 size_of(dtype) == 1 ? '|' : '<', code_of(dtype), sizes);
  // Version 1 counts the header's bytes in 16 bits, version 2 in 32.
  const bool is_long = text.size() > 65000;
  const std::size_t prefix = is_long ? 12 : 10;
  text.append(63 - (prefix + text.size()) % 64, ' ') += '\n';
  std::string out = "\x93NUMPY";
  out += is_long ? '\x02' : '\x01';
  out += '\0';
  for (std::size_t i = 0; i < prefix - 8; ++i)
    out += static_cast<char>(text.size() >> (8 * i) & 0xff);
  return out + text;
}

}  // namespace tilewright
