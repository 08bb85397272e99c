// SPDX-License-Identifier: Apache-2.0
// ir/parse.cpp — recursive descent over the IR's text, one token ahead.
#include "ir/parse.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/nearest.h"
#include "ir/print.h"

namespace tilewright::ir {
namespace {

// ---- Tokens: words (names, numbers, types' element), %values, @names, "texts", and single signs.

struct Token {
  enum class Kind { Word, Value, At, Text, Sign, End };
  Kind kind = Kind::End;
  std::string_view text;  // without % @ and quotes
  Span span;
};

class Lexer {
 public:
  Lexer(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  Token next() {
    skip_blanks();
    token_ = {.span = {line_, column(), 1}};
    if (at_ >= text_.size()) return token_;
    const char c = text_[at_];
    if (c == '%' || c == '@') return word(c == '%' ? Token::Kind::Value : Token::Kind::At, 1);
    if (c == '"') return quoted();
    if (is_word(c)) return word(Token::Kind::Word, 0);
    token_.kind = Token::Kind::Sign;
    token_.text = text_.substr(at_++, 1);
    return token_;
  }

  // Whether a word and '=' follow; nothing is read.
  bool is_assignment_next() const {
    std::size_t at = at_;
    const auto skip = [&](const auto& wanted) {
      while (at < text_.size() && wanted(text_[at])) ++at;
    };
    const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
    skip(is_blank);
    const std::size_t begin = at;
    skip(is_word);
    if (at == begin) return false;
    skip(is_blank);
    return at < text_.size() && text_[at] == '=';
  }

  [[noreturn]] void fail(const Span& span, std::string message, std::string hint = {}) const {
    throw SyntaxOrTypeError({file_, span, std::move(message), std::move(hint)}, text_);
  }

 private:
  static bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-' ||
           c == '+' || c == '*' || static_cast<unsigned char>(c) >= 0x80;
  }
  int column() const { return static_cast<int>(at_ - line_start_) + 1; }

  void skip_blanks() {
    while (at_ < text_.size()) {
      if (text_[at_] == '\n') {
        ++line_;
        line_start_ = ++at_;
      } else if (std::isspace(static_cast<unsigned char>(text_[at_]))) {
        ++at_;
      } else if (text_.substr(at_, 2) == "//") {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else {
        return;
      }
    }
  }

  Token word(Token::Kind kind, std::size_t prefix) {
    const std::size_t begin = at_ + prefix;
    std::size_t end = begin;
    while (end < text_.size() && is_word(text_[end])) ++end;
    if (end == begin) fail(token_.span, fmt::format("a name must follow '{}'", text_[at_]));
    token_.kind = kind;
    token_.text = text_.substr(begin, end - begin);
    token_.span.length = static_cast<int>(end - at_);
    at_ = end;
    return token_;
  }

  Token quoted() {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != '"' && text_[end] != '\n')
      end += text_[end] == '\\' ? 2 : 1;
    if (end >= text_.size() || text_[end] != '"')
      fail(token_.span, "this text has no closing quote");
    token_.kind = Token::Kind::Text;
    token_.text = text_.substr(at_ + 1, end - at_ - 1);
    token_.span.length = static_cast<int>(end + 1 - at_);
    at_ = end + 1;
    return token_;
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
  std::size_t line_start_ = 0;
  int line_ = 1;
  Token token_;
};

// \n, \x1b, and any other character as itself.
std::string unquoted(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char escape = text[++i];
    unsigned char byte = 0;
    const std::string_view digits = text.substr(i + 1, 2);
    const char* const end = digits.data() + digits.size();
    if (escape == 'n') {
      out += '\n';
    } else if (escape == 'x' && digits.size() == 2 &&
               std::from_chars(digits.data(), end, byte, 16).ptr == end) {
      out += static_cast<char>(byte);
      i += 2;
    } else {
      out += escape;
    }
  }
  return out;
}

// ---- The grammar.

class Parser {
 public:
  Parser(std::string_view text, const std::string& file) : lexer_(text, file) { advance(); }

  ParsedKernel run() {
    expect_word("kernel");
    kernel_.name = std::string(expect(Token::Kind::At, "the kernel's @name").text);
    expect_sign('(');
    if (!is_sign(')')) {
      do parse_argument();
      while (accept_sign(','));
    }
    expect_sign(')');
    parse_stage();
    while (token_.kind == Token::Kind::Text) {
      kernel_.files.push_back(unquoted(token_.text));
      advance();
    }
    expect_sign('{');
    while (parse_table_row()) continue;
    while (token_.kind == Token::Kind::Word && token_.text == "map") parse_map();
    while (token_.kind == Token::Kind::Word && token_.text == "ring") parse_ring();
    parse_ops(kernel_.body);
    expect_sign('}');
    if (token_.kind != Token::Kind::End) lexer_.fail(token_.span, "nothing may follow the kernel");
    return {std::move(kernel_), std::move(places_)};
  }

 private:
  static constexpr int max_depth = 200;

  void advance() { token_ = lexer_.next(); }
  bool is_sign(char sign) const {
    return token_.kind == Token::Kind::Sign && token_.text[0] == sign;
  }

  bool accept_sign(char sign) {
    if (!is_sign(sign)) return false;
    advance();
    return true;
  }

  Token expect(Token::Kind kind, std::string_view what) {
    if (token_.kind != kind) lexer_.fail(token_.span, fmt::format("expected {}", what));
    const Token found = token_;
    advance();
    return found;
  }

  void expect_sign(char sign) {
    if (!accept_sign(sign)) lexer_.fail(token_.span, fmt::format("expected '{}'", sign));
  }

  void expect_word(std::string_view word) {
    if (token_.kind != Token::Kind::Word || token_.text != word)
      lexer_.fail(token_.span, fmt::format("expected '{}'", word));
    advance();
  }

  void parse_stage() {
    const Token word = expect(Token::Kind::Word, "the stage: source, tile, laid or final");
    for (const Stage stage : {Stage::Source, Stage::Tile, Stage::Laid, Stage::Final})
      if (word.text == name_of(stage)) {
        kernel_.stage = stage;
        return;
      }
    lexer_.fail(word.span, fmt::format("'{}' is no stage; there are source, tile, laid and final",
                                       word.text));
  }

  void parse_argument() {
    const Token name = expect(Token::Kind::Value, "an argument's %name");
    expect_sign(':');
    const Type type = parse_type_text();
    define(name, kernel_.add_argument(type, source_name(name.text)));
    if (!accept_sign('{')) return;
    do {
      const Token fact = expect(Token::Kind::Word, "divisible, const, memory or positive");
      expect_sign('=');
      const std::int64_t value = parse_integer();
      if (fact.text == "divisible") kernel_.arguments.back().divisible = static_cast<int>(value);
      else if (fact.text == "const") kernel_.arguments.back().is_const = value != 0;
      else if (fact.text == "memory") kernel_.arguments.back().memory = static_cast<int>(value);
      else if (fact.text == "positive") kernel_.arguments.back().is_positive = value != 0;
      else
        lexer_.fail(fact.span,
                    fmt::format("an argument has no fact '{}'; there are divisible, const, "
                                "memory and positive",
                                fact.text));
    } while (accept_sign(','));
    expect_sign('}');
  }

  bool parse_table_row() {
    if (token_.kind != Token::Kind::Word) return false;
    const Token row = token_;
    if (row.text != "shape" && row.text != "layout" && row.text != "buffer") return false;
    advance();
    if (row.text == "shape") {
      if (kernel_.shape.is_decided()) lexer_.fail(row.span, "a kernel has one shape");
      take_row(row, kernel_.shape);
    } else if (row.text == "layout") {
      expect_sign('#');
      KernelLayout& layout = kernel_.layouts.emplace_back();
      layout.name = std::string(expect(Token::Kind::Word, "the layout's #name").text);
      layout.shape = parse_sizes(token_, "i8");
      take_row(row, layout);
    } else {
      KernelBuffer& buffer = kernel_.buffers.emplace_back();
      buffer.name = std::string(expect(Token::Kind::At, "the buffer's @name").text);
      expect_sign(':');
      buffer.type = parse_type_text();
      take_row(row, buffer);
    }
    return true;
  }

  template <class Row>
  void take_row(const Token& row, Row& into) {
    std::vector<Attribute> facts;
    if (accept_sign('{')) {
      do {
        const Token name = expect(Token::Kind::Word, "a fact");
        expect_sign('=');
        facts.push_back({name.text, parse_attribute_value()});
      } while (accept_sign(','));
      expect_sign('}');
    }
    const std::string problem = take_facts(facts, into);
    if (!problem.empty()) lexer_.fail(row.span, problem);
  }

  int parse_argument_number() {
    const Token name = expect(Token::Kind::Value, "an argument's %name");
    const Value value = use(name);
    for (std::size_t i = 0; i < kernel_.arguments.size(); ++i)
      if (kernel_.arguments[i].value == value) return static_cast<int>(i);
    lexer_.fail(name.span, "a map is made of arguments");
  }

  LaunchNumber parse_launch_number() {
    LaunchNumber number;
    if (token_.kind != Token::Kind::Value) number.factor = parse_integer();
    while (token_.kind == Token::Kind::Value) number.arguments.push_back(parse_argument_number());
    return number;
  }

  void parse_map() {
    advance();
    KernelMap& map = kernel_.maps.emplace_back();
    map.name = std::string(expect(Token::Kind::At, "the map's @name").text);
    expect_sign(':');
    map.argument = parse_argument_number();
    expect_sign('[');
    do {
      KernelMap::Dimension& d = map.dimensions.emplace_back();
      d.of_tile = static_cast<int>(parse_integer());
      expect_sign('=');
      d.size = parse_launch_number();
      expect_word("by");
      d.stride = parse_launch_number();
    } while (accept_sign(','));
    expect_sign(']');
    if (token_.kind != Token::Kind::Word || token_.text != "tf32") return;
    advance();
    map.rounds_to_tf32 = true;
  }

  void parse_ring() {
    advance();
    KernelRing& ring = kernel_.rings.emplace_back();
    ring.name = std::string(expect(Token::Kind::At, "the ring's @name").text);
    expect_sign(':');
    do {
      ring.buffers.push_back(parse_buffer_name());
    } while (accept_sign(','));
    if (token_.kind != Token::Kind::Word || token_.text != "words") return;
    advance();
    ring.words = parse_buffer_name();
  }

  // Of a row above.
  std::string parse_buffer_name() {
    const Token buffer = expect(Token::Kind::At, "a buffer's @name");
    if (std::none_of(kernel_.buffers.begin(), kernel_.buffers.end(), [&](const KernelBuffer& b) { return b.name == buffer.text; }))
      lexer_.fail(buffer.span, fmt::format("there is no buffer '{}'", buffer.text));
    return std::string(buffer.text);
  }

  Type parse_type_text() {
    const Token element = expect(Token::Kind::Word, "a type");
    std::string text(element.text);
    // A place in the source (@12:3) may follow a type, too.
    if (token_.kind == Token::Kind::At &&
        !std::isdigit(static_cast<unsigned char>(token_.text.front()))) {
      text += '@';
      text += token_.text;
      advance();
    }
    return parse_sizes(element, std::move(text));
  }

  // Behind the element's type.
  Type parse_sizes(const Token& element, std::string text) {
    if (is_sign('[')) {
      text += '[';
      advance();
      do {
        if (!text.ends_with('[')) text += ", ";
        text += expect(Token::Kind::Word, "a size").text;
      } while (accept_sign(','));
      expect_sign(']');
      text += ']';
    }
    Type type;
    if (!parse_type(text, type))
      lexer_.fail(element.span, fmt::format("'{}' is not a type", text),
                  "types look like f32, *f16, i32[64], *f32[16, 128]; sizes are powers of two; "
                  "arrays look like f32@stack");
    return type;
  }

  std::int64_t parse_integer() {
    const Token token = expect(Token::Kind::Word, "a whole number");
    std::int64_t value = 0;
    const auto [end, status] =
        std::from_chars(token.text.data(), token.text.data() + token.text.size(), value);
    if (status != std::errc{} || end != token.text.data() + token.text.size())
      lexer_.fail(token.span, fmt::format("'{}' is not a whole number", token.text));
    return value;
  }

  // Behind the bracket.
  std::vector<std::string> parse_texts() {
    std::vector<std::string> texts;
    do {
      if (token_.kind != Token::Kind::Text)
        lexer_.fail(token_.span, "all items of a list of texts are texts");
      texts.push_back(unquoted(token_.text));
      advance();
    } while (accept_sign(','));
    expect_sign(']');
    return texts;
  }

  AttributeValue parse_attribute_value() {
    if (token_.kind == Token::Kind::Text) {
      std::string text = unquoted(token_.text);
      advance();
      return text;
    }
    if (accept_sign('[')) {
      if (token_.kind == Token::Kind::Text) return parse_texts();
      std::vector<std::int64_t> values;
      if (!is_sign(']')) {
        do values.push_back(parse_integer());
        while (accept_sign(','));
      }
      expect_sign(']');
      return values;
    }
    const Token token = expect(Token::Kind::Word, "a value");
    if (token.text == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (token.text == "inf" || token.text == "-inf")
      return token.text[0] == '-' ? -std::numeric_limits<double>::infinity()
                                  : std::numeric_limits<double>::infinity();
    const char* const begin = token.text.data();
    const char* const end = begin + token.text.size();
    std::int64_t integer = 0;
    if (const auto read = std::from_chars(begin, end, integer);
        read.ec == std::errc{} && read.ptr == end)
      return integer;
    double number = 0;
    if (const auto read = std::from_chars(begin, end, number);
        read.ec == std::errc{} && read.ptr == end)
      return number;
    lexer_.fail(token.span, fmt::format("'{}' is not a value", token.text));
  }

  // A name that is a number was made by the printer: the value has no source name. So was the
  // number behind a point, which tells values of one name apart.
  static std::string source_name(std::string_view name) {
    if (std::isdigit(static_cast<unsigned char>(name.front()))) return "";
    return std::string(name.substr(0, name.find('.')));
  }

  void define(const Token& name, Value value) {
    if (!values_.emplace(std::string(name.text), value).second)
      lexer_.fail(name.span, fmt::format("%{} is defined twice", name.text));
  }

  Value use(const Token& name) const {
    const auto found = values_.find(std::string(name.text));
    if (found != values_.end()) return found->second;
    std::vector<std::string> known;
    for (const auto& entry : values_) known.push_back(entry.first);
    lexer_.fail(name.span, fmt::format("%{} is not defined here{}", name.text,
                                       suggest_names(name.text, known)));
  }

  void parse_ops(Region& region) {
    while (!is_sign('}') && token_.kind != Token::Kind::End) parse_op(region);
  }

  void parse_op(Region& region) {
    std::vector<Token> results;
    if (token_.kind == Token::Kind::Value) {
      do results.push_back(expect(Token::Kind::Value, "a result's %name"));
      while (accept_sign(','));
      expect_sign('=');
    }
    const Span place = token_.span;
    const OpKind kind = parse_op_name();
    std::vector<Value> operands;
    // After an op that takes nothing a %name begins the next one.
    if (token_.kind == Token::Kind::Value && facts_of(kind).operands != 0) {
      do operands.push_back(use(expect(Token::Kind::Value, "an operand's %name")));
      while (accept_sign(','));
    }
    Op* op = kernel_.make_op(kind, std::move(operands), {}, {});
    region.ops.push_back(op);
    places_.emplace(op, place);
    parse_op_attributes(*op);
    parse_result_types(*op, results);
    parse_location(*op);
    parse_regions(*op);
    for (std::size_t i = 0; i < results.size(); ++i) define(results[i], op->results[i]);
  }

  OpKind parse_op_name() {
    const Token name = expect(Token::Kind::Word, "an op");
    if (const auto kind = op_named(name.text)) return *kind;
    std::vector<std::string> known;
    for (const OpFacts& facts : all_ops()) known.emplace_back(facts.name);
    lexer_.fail(name.span,
                fmt::format("there is no op '{}'{}", name.text, suggest_names(name.text, known)));
  }

  // Attributes open a brace too, but with a word and '='; a region's ops never start with a word
  // before '='.
  void parse_op_attributes(Op& op) {
    if (!is_sign('{') || op.facts().attributes.empty() || !lexer_.is_assignment_next()) return;
    advance();
    do {
      const Token name = expect(Token::Kind::Word, "an attribute");
      const auto rules = op.facts().attributes;
      if (std::none_of(rules.begin(), rules.end(),
                       [&](const AttributeRule& rule) { return rule.name == name.text; }))
        lexer_.fail(name.span,
                    fmt::format("op '{}' has no attribute '{}'", op.facts().name, name.text));
      expect_sign('=');
      op.set(name.text, parse_attribute_value());
    } while (accept_sign(','));
    expect_sign('}');
  }

  void parse_result_types(Op& op, const std::vector<Token>& results) {
    std::vector<Type> types;
    if (accept_sign(':')) {
      do types.push_back(parse_type_text());
      while (accept_sign(','));
    }
    if (types.size() != results.size())
      lexer_.fail(results.empty() ? token_.span : results.front().span,
                  fmt::format("{} results and {} types", results.size(), types.size()));
    for (std::size_t i = 0; i < types.size(); ++i)
      op.results.push_back(kernel_.make_value(types[i], source_name(results[i].text), &op));
  }

  // "@line:column" or "@file:line:column".
  void parse_location(Op& op) {
    if (token_.kind != Token::Kind::At) return;
    const Token first = token_;
    advance();
    std::vector<std::int64_t> numbers = {number_of(first)};
    while (accept_sign(':')) numbers.push_back(parse_integer());
    if (numbers.size() != 2 && numbers.size() != 3)
      lexer_.fail(first.span, "a place is @line:column or @file:line:column");
    if (numbers.size() == 3) op.location.file = static_cast<std::uint16_t>(numbers.front());
    op.location.line = static_cast<std::int32_t>(numbers[numbers.size() - 2]);
    op.location.column = static_cast<std::int32_t>(numbers.back());
  }

  std::int64_t number_of(const Token& token) const {
    std::int64_t value = 0;
    const auto [end, status] =
        std::from_chars(token.text.data(), token.text.data() + token.text.size(), value);
    if (status != std::errc{} || end != token.text.data() + token.text.size())
      lexer_.fail(token.span, "a place is @line:column or @file:line:column");
    return value;
  }

  void parse_regions(Op& op) {
    if (!is_sign('(') && !is_sign('{')) return;
    if (++depth_ > max_depth)
      lexer_.fail(token_.span, fmt::format("regions are nested deeper than {}", max_depth));
    do {
      // Names of a region end with it; those outside stay visible.
      const std::map<std::string, Value> outer = values_;
      Region region;
      if (accept_sign('(')) {
        do {
          const Token name = expect(Token::Kind::Value, "a region argument's %name");
          expect_sign(':');
          const Value value =
              kernel_.make_value(parse_type_text(), source_name(name.text), nullptr);
          region.arguments.push_back(value);
          define(name, value);
        } while (accept_sign(','));
        expect_sign(')');
      }
      expect_sign('{');
      parse_ops(region);
      expect_sign('}');
      op.regions.push_back(std::move(region));
      values_ = outer;
    } while (accept_then());
    --depth_;
  }

  bool accept_then() {
    if (token_.kind != Token::Kind::Word || token_.text != "then") return false;
    advance();
    return true;
  }

  Lexer lexer_;
  Token token_;
  Kernel kernel_;
  std::unordered_map<const Op*, Span> places_;
  std::map<std::string, Value> values_;
  int depth_ = 0;
};

}  // namespace

Kernel parse(std::string_view text, const std::string& file) {
  return Parser(text, file).run().kernel;
}

ParsedKernel parse_with_places(std::string_view text, const std::string& file) {
  return Parser(text, file).run();
}

}  // namespace tilewright::ir
