// SPDX-License-Identifier: Apache-2.0
// frontend/python/literals.cpp — digits and escapes.
#include "frontend/python/literals.h"

#include <cstdlib>

#include <fmt/format.h>

#include "frontend/python/unicode.h"

namespace tilewright::python {
namespace {

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char letter = static_cast<char>(c | 0x20);
  return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : 99;
}

NumberValue read_integer(std::string_view digits, unsigned base) {
  constexpr Uint128 largest = ~Uint128{0};
  NumberValue number;
  for (const char c : digits) {
    if (c == '_') continue;
    const auto digit = static_cast<unsigned>(digit_of(c));
    if (number.integer > (largest - digit) / base) number.too_large = true;
    number.integer = number.integer * base + digit;
  }
  return number;
}

NumberValue read_float(std::string_view text) {
  NumberValue number{NumberValue::Form::Float};
  std::string digits;
  for (const char c : text)
    if (c != '_') digits += c;
  if (digits.back() == 'j' || digits.back() == 'J') {
    number.form = NumberValue::Form::Imaginary;
    digits.pop_back();
  }
  number.real = std::strtod(digits.c_str(), nullptr);
  return number;
}

// Reads the escapes of one string body.
class Decoder {
 public:
  Decoder(std::string_view body, StringForm form) : body_(body), form_(form) {}

  StringValue run() {
    while (at_ < body_.size() && out_.error.empty()) {
      const char c = body_[at_];
      if (c == '\\' && !form_.raw) {
        escape();
      } else if (form_.formatted && (c == '{' || c == '}')) {
        out_.value += c;
        at_ += 2;
      } else if (form_.bytes && static_cast<unsigned char>(c) >= 0x80) {
        out_.error = "bytes can only contain ASCII literal characters";
      } else {
        out_.value += c;
        ++at_;
      }
    }
    return std::move(out_);
  }

 private:
  void escape() {
    const char c = at_ + 1 < body_.size() ? body_[at_ + 1] : '\\';
    static constexpr std::string_view letters = "\\'\"abfnrtv";
    static constexpr std::string_view values = "\\'\"\a\b\f\n\r\t\v";
    const std::size_t simple = letters.find(c);
    if (c == '\n') {
      at_ += 2;
    } else if (simple != std::string_view::npos) {
      out_.value += values[simple];
      at_ += 2;
    } else if (c >= '0' && c <= '7') {
      octal();
    } else if (c == 'x') {
      hexadecimal(2);
    } else if (c == 'u' && !form_.bytes) {
      hexadecimal(4);
    } else if (c == 'U' && !form_.bytes) {
      hexadecimal(8);
    } else if (c == 'N' && !form_.bytes) {
      named();
    } else {
      out_.value += '\\';  // an unknown escape stands for itself
      ++at_;
    }
  }

  void append(char32_t value) {
    if (form_.bytes) out_.value += static_cast<char>(value & 0xff);
    else append_utf8(out_.value, value);
  }

  void octal() {
    char32_t value = 0;
    std::size_t count = 1;
    for (; count <= 3 && at_ + count < body_.size(); ++count) {
      const char c = body_[at_ + count];
      if (c < '0' || c > '7') break;
      value = value * 8 + static_cast<char32_t>(c - '0');
    }
    append(value);
    at_ += count;
  }

  void hexadecimal(std::size_t count) {
    const char kind = body_[at_ + 1];
    char32_t value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = at_ + 2 + i;
      const int digit = at < body_.size() ? digit_of(body_[at]) : 99;
      if (digit > 15) {
        out_.error = fmt::format("truncated \\{}{} escape", kind, std::string(count, 'X'));
        return;
      }
      value = value * 16 + static_cast<char32_t>(digit);
    }
    if (value > 0x10ffff) {
      out_.error = "illegal Unicode character";
      return;
    }
    append(value);
    at_ += 2 + count;
  }

  void named() {
    const std::size_t end = body_.find('}', at_);
    if (at_ + 2 >= body_.size() || body_[at_ + 2] != '{' || end == std::string_view::npos) {
      out_.error = "malformed \\N character escape";
      return;
    }
    out_.value += body_.substr(at_, end + 1 - at_);
    at_ = end + 1;
  }

  std::string_view body_;
  StringForm form_;
  std::size_t at_ = 0;
  StringValue out_;
};

}  // namespace

NumberValue read_number(std::string_view text) {
  if (text.size() > 2 && text[0] == '0') {
    const char marker = static_cast<char>(text[1] | 0x20);
    if (marker == 'x') return read_integer(text.substr(2), 16);
    if (marker == 'o') return read_integer(text.substr(2), 8);
    if (marker == 'b') return read_integer(text.substr(2), 2);
  }
  if (text.find_first_of(".eEjJ") == std::string_view::npos) return read_integer(text, 10);
  return read_float(text);
}

StringParts split_string(std::string_view token) {
  StringParts parts;
  std::size_t at = 0;
  for (; token[at] != '\'' && token[at] != '"'; ++at) {
    const char letter = static_cast<char>(token[at] | 0x20);
    if (letter == 'r') parts.form.raw = true;
    if (letter == 'b') parts.form.bytes = true;
    if (letter == 'f') parts.form.formatted = true;
  }
  const std::string_view quoted = token.substr(at);
  const bool triple = quoted.size() >= 6 && quoted[0] == quoted[1] && quoted[0] == quoted[2];
  const std::size_t quotes = triple ? 3 : 1;
  parts.body = quoted.substr(quotes, quoted.size() < 2 * quotes ? 0 : quoted.size() - 2 * quotes);
  return parts;
}

bool is_plain(std::string_view body, StringForm form) {
  if (form.formatted && body.find_first_of("{}") != std::string_view::npos) return false;
  if (form.bytes) return false;
  return form.raw || body.find('\\') == std::string_view::npos;
}

StringValue decode_string(std::string_view body, StringForm form) {
  return Decoder(body, form).run();
}

}  // namespace tilewright::python
