// SPDX-License-Identifier: Apache-2.0
// frontend/python/parse_string.cpp — adjacent strings joined to one value, f-strings with their
// fields.
#include <fmt/format.h>

#include "frontend/python/literals.h"
#include "frontend/python/parser_state.h"

namespace tilewright::python {

// The value of a body: a view of the source where nothing has to be replaced, else a copy in the
// arena.
std::string_view Parser::string_value(std::string_view body, StringForm form, Span span) {
  if (is_plain(body, form)) return body;
  const StringValue decoded = decode_string(body, form);
  if (!decoded.error.empty()) fail(span, decoded.error);
  return tree_.arena.copy(decoded.value);
}

Node* Parser::strings() {
  const Span start = now().span;
  bool bytes = false;
  bool text = false;
  bool formatted = false;
  Nodes parts;
  while (at(Tok::String) || at(Tok::FStringStart)) {
    if (at(Tok::FStringStart)) {
      text = formatted = true;
      if (bytes) fail(now().span, "cannot mix bytes and nonbytes literals");
      f_string(parts);
    } else {
      const StringParts string = split_string(now().text);
      (string.form.bytes ? bytes : text) = true;
      if (bytes && text) fail(now().span, "cannot mix bytes and nonbytes literals");
      const std::string_view value = string_value(string.body, string.form, now().span);
      const Span span = take().span;
      add_text(parts, value, span);
    }
  }
  if (formatted) {
    auto* joined = open_at<JoinedStr>(start);
    joined->values = list(parts);
    return close(joined);
  }
  const std::string_view value = parts.empty() ? "" : cast<StrLiteral>(parts.front()).value;
  if (bytes) {
    auto* literal = open_at<BytesLiteral>(start);
    literal->value = value;
    return close(literal);
  }
  auto* literal = open_at<StrLiteral>(start);
  literal->value = value;
  return close(literal);
}

// Text next to text becomes one part.
void Parser::add_text(Nodes& parts, std::string_view text, Span span) {
  if (text.empty()) return;
  if (auto* last = parts.empty() ? nullptr : cast_if<StrLiteral>(parts.back())) {
    last->value = tree_.arena.copy(std::string(last->value) + std::string(text));
    return finish(*last);
  }
  auto* part = open_at<StrLiteral>(span);
  part->value = text;
  parts.push_back(close(part));
}

void Parser::f_string(Nodes& parts) {
  const StringForm prefix = split_string(now().text).form;
  take();
  while (!at(Tok::FStringEnd)) {
    if (at(Tok::FStringMiddle)) {
      add_text(parts, string_value(now().text, prefix, now().span), now().span);
      take();
    } else if (at(Tok::LeftBrace)) {
      replacement_field(parts, prefix.raw);
    } else {
      unexpected();
    }
  }
  take();
}

// {value}, {value=}, {value!r:format}
void Parser::replacement_field(Nodes& parts, bool raw) {
  const Deeper deeper(*this);
  auto* field = open<FormattedValue>();
  const char* begin = take().text.data() + 1;
  const bool empty =
      at(Tok::RightBrace) || at(Tok::Exclamation) || at(Tok::Colon) || at(Tok::Equal);
  if (empty)
    fail(now().span,
         fmt::format("f-string: valid expression required before {}", describe(now().kind)));
  field->value = star_expressions();
  const bool shows_source = accept(Tok::Equal);
  if (shows_source) {
    if (at(Tok::Error)) unexpected();  // that token has no text to end at
    const auto length = static_cast<std::size_t>(now().text.data() - begin);
    add_text(parts, {begin, length}, field->span);
  }
  if (accept(Tok::Exclamation)) {
    const std::string_view letter = at(Tok::Name) ? now().text : std::string_view();
    if (letter != "r" && letter != "s" && letter != "a")
      fail(now().span,
           fmt::format("f-string: invalid conversion character{}: expected 's', 'r', or 'a'",
                       letter.empty() ? "" : fmt::format(" '{}'", letter)));
    field->conversion = letter[0];
    take();
  }
  if (accept(Tok::Colon)) field->format = format_specification(raw);
  else if (shows_source && field->conversion == 0) field->conversion = 'r';
  if (!at(Tok::RightBrace)) fail(now().span, "f-string: expecting '}'");
  take();
  parts.push_back(close(field));
}

Node* Parser::format_specification(bool raw) {
  auto* format = open<JoinedStr>();
  Nodes parts;
  while (at(Tok::FStringMiddle) || at(Tok::LeftBrace)) {
    if (at(Tok::LeftBrace)) {
      replacement_field(parts, raw);
    } else {
      add_text(parts, string_value(now().text, {.raw = raw}, now().span), now().span);
      take();
    }
  }
  format->values = list(parts);
  return close(format);
}

}  // namespace tilewright::python
