// SPDX-License-Identifier: Apache-2.0
// load_inline/outline.cpp — reads the declarations of a source at namespace scope from its tokens.
#include "load_inline/outline.h"

#include <algorithm>
#include <array>
#include <map>

#include "codegen/text/cpp_tokens.h"
#include "load_inline/parameter_lists.h"

namespace tilewright {
namespace {

using Tokens = std::span<const CppToken>;
using Kind = Declaration::Kind;

// Words that take parentheses before or after a declarator and are not its name.
constexpr std::array<std::string_view, 20> attribute_calls = {
    "__launch_bounds__",   "__attribute__",       "alignas",  "decltype",     "noexcept",
    "__declspec",          "__align__",           "explicit", "requires",     "__cluster_dims__",
    "__maxnreg__",         "__block_size__",      "throw",    "typeof",       "__typeof__",
    "C10_LAUNCH_BOUNDS_1", "C10_LAUNCH_BOUNDS_2", "_Alignas", "__annotate__", "__nv_pure__"};

constexpr std::array<std::string_view, 17> leading_words = {
    "static",    "inline",   "__inline__",      "__forceinline__", "__noinline__", "constexpr",
    "consteval", "extern",   "__global__",      "__device__",      "__host__",     "friend",
    "virtual",   "__inline", "C10_HOST_DEVICE", "C10_DEVICE",      "C10_HOST"};

template <std::size_t N>
bool is_one_of(const CppToken& token, const std::array<std::string_view, N>& words) {
  return token.is_identifier() && std::find(words.begin(), words.end(), token.text) != words.end();
}

struct Space {
  bool is_global = false;
  bool is_device = false;
  bool is_host = false;
  bool is_device_data = false;  // __constant__, __shared__, __managed__
  void merge(const Space& other) {
    is_global |= other.is_global;
    is_device |= other.is_device;
    is_host |= other.is_host;
    is_device_data |= other.is_device_data;
  }
};

Space space_of_words(Tokens tokens, const std::map<std::string_view, Space>& macros) {
  Space space;
  for (const CppToken& token : tokens) {
    if (token.is("__global__")) space.is_global = true;
    else if (token.is("__device__")) space.is_device = true;
    else if (token.is("__host__")) space.is_host = true;
    else if (token.is("__constant__") || token.is("__shared__") || token.is("__managed__"))
      space.is_device_data = true;
    else if (token.is_identifier())
      if (const auto found = macros.find(token.text); found != macros.end())
        space.merge(found->second);
  }
  return space;
}

class Outliner {
 public:
  Outliner(std::string_view text, std::string_view file) : tokens_(tokenize_cpp(text, file)) {
    macros_["C10_HOST_DEVICE"] = {false, true, true, false};
    macros_["C10_DEVICE"] = {false, true, false, false};
    macros_["C10_HOST"] = {false, false, true, false};
    for (const CppToken& token : tokens_)
      if (directive_word(token) == "define") add_macro(token, file);
  }

  std::vector<Declaration> run() {
    scan(0, tokens_.size(), "", false);
    return std::move(out_);
  }

 private:
  // `#define HD __host__ __device__`
  void add_macro(const CppToken& directive, std::string_view file) {
    const std::size_t word = directive.text.find("define") + 6;
    const auto body = tokenize_cpp(directive.text.substr(word), file);
    if (body.empty() || !body[0].is_identifier()) return;
    const bool takes_arguments =
        body.size() > 1 && body[1].is("(") && body[1].offset == body[0].end();
    if (takes_arguments) return;
    const Space space = space_of_words(Tokens(body).subspan(1), macros_);
    if (space.is_global || space.is_device || space.is_host || space.is_device_data)
      macros_[body[0].text] = space;
  }

  void scan(std::size_t begin, std::size_t end, const std::string& prefix, bool extern_c) {
    for (std::size_t i = begin; i < end;) {
      const CppToken& token = tokens_[i];
      if (token.kind == CppToken::Kind::Directive) {
        Declaration directive;
        directive.kind = Kind::Directive;
        directive.line = token.line;
        directive.name = directive_word(token);
        directive.range = {token.offset, token.end()};
        out_.push_back(directive);
        ++i;
      } else if (token.is(";") || token.is("}")) {
        ++i;
      } else if (const std::size_t open = block_of_namespace(i, end); open < end) {
        const std::size_t close = std::min(matching_bracket(tokens_, open), end);
        scan(open + 1, close, prefix + namespace_name(i, open), extern_c);
        i = close + 1;
      } else if (is_linkage_block(i, end)) {
        const std::size_t close = std::min(matching_bracket(tokens_, i + 2), end);
        scan(i + 3, close, prefix, true);
        i = close + 1;
      } else {
        i = declaration(i, end, prefix, extern_c);
      }
    }
  }

  bool is_linkage_block(std::size_t i, std::size_t end) const {
    return i + 2 < end && tokens_[i].is("extern") &&
           tokens_[i + 1].kind == CppToken::Kind::String && tokens_[i + 2].is("{");
  }

  // The '{' of `namespace a::b {`; end when there is no namespace block at i.
  std::size_t block_of_namespace(std::size_t i, std::size_t end) const {
    if (tokens_[i].is("inline") && i + 1 < end) ++i;
    if (!tokens_[i].is("namespace")) return end;
    for (; i < end; ++i) {
      if (tokens_[i].is("{")) return i;
      if (tokens_[i].is(";") || tokens_[i].is("=")) return end;
    }
    return end;
  }

  std::string namespace_name(std::size_t begin, std::size_t open) const {
    std::string name;
    for (std::size_t i = begin; i < open; ++i) {
      const CppToken& token = tokens_[i];
      if (token.is("[")) i = std::min(matching_bracket(tokens_, i), open);
      else if (token.is_identifier() && !token.is("namespace") && !token.is("inline"))
        name += std::string(token.text) + "::";
    }
    return name;
  }

  // ---- One declaration: [first, the token after it).

  std::size_t declaration(std::size_t first, std::size_t end, const std::string& prefix,
                          bool extern_c) {
    Declaration d;
    d.is_extern_c = extern_c;
    d.line = tokens_[first].line;
    std::size_t i = template_headers(first, end, d);
    if (i >= end) return finish(d, first, end, prefix);
    if (d.kind == Kind::Instantiation) return finish(d, first, after_semicolon(i, end), prefix);
    const bool is_alias = tokens_[i].is("using") || tokens_[i].is("typedef") ||
                          tokens_[i].is("static_assert") || tokens_[i].is("namespace");
    if (is_alias) {
      d.kind = Kind::Alias;
      return finish(d, first, after_semicolon(i, end), prefix);
    }
    if (const std::size_t open = type_body(i, end, d); open < end) {
      d.kind = Kind::Type;
      const std::size_t close = matching_bracket(tokens_, open);
      d.body = range_of(open, close);
      return finish(d, first, after_semicolon(std::min(close, end), end), prefix);
    }
    return declarator(d, first, i, end, prefix);
  }

  std::size_t template_headers(std::size_t first, std::size_t end, Declaration& d) {
    std::size_t i = first;
    while (i + 1 < end && tokens_[i].is("template")) {
      if (!tokens_[i + 1].is("<")) {
        d.kind = Kind::Instantiation;
        return i;
      }
      const std::size_t close = matching_bracket(tokens_, i + 1);
      if (close >= end) return end;
      d.is_template = true;
      d.is_specialization = close == i + 2;
      const auto more = parse_template_parameters(between(i + 1, close));
      d.template_parameters.insert(d.template_parameters.end(), more.begin(), more.end());
      d.template_header = range_of(first, close);
      i = close + 1;
    }
    return i;
  }

  // The '{' of a struct, class, union or enum definition at i, or the ';' of its forward
  // declaration.
  std::size_t type_body(std::size_t i, std::size_t end, Declaration& d) const {
    while (i < end && is_one_of(tokens_[i], leading_words)) ++i;
    if (i >= end) return end;
    const bool is_type = tokens_[i].is("struct") || tokens_[i].is("class") ||
                         tokens_[i].is("union") || tokens_[i].is("enum");
    if (!is_type) return end;
    for (++i; i < end; ++i) {
      const CppToken& token = tokens_[i];
      if (token.is("{")) return i;
      const bool is_other = token.is(";") || token.is("=") || token.is("*") || token.is("&") ||
                            (token.is("(") && !is_one_of(tokens_[i - 1], attribute_calls));
      if (is_other) break;
      if (token.is("[") || token.is("<") || token.is("(")) {
        i = matching_bracket(tokens_, i);
      } else if (token.is(":")) {
        while (i + 1 < end && !tokens_[i + 1].is("{")) ++i;
      } else if (token.is_identifier() && !token.is("final") &&
                 !is_one_of(token, attribute_calls)) {
        set_name(d, i);
      }
    }
    d.name.clear();
    return end;
  }

  // A function, a variable or a macro call.
  std::size_t declarator(Declaration& d, std::size_t first, std::size_t i, std::size_t end,
                         const std::string& prefix) {
    const std::size_t begin = i;
    for (; i < end; ++i) {
      const CppToken& token = tokens_[i];
      if (token.is("operator")) i = operator_name(d, i, end);
      if (i >= end) break;
      if (tokens_[i].is(";")) return variable(d, first, begin, i, end, prefix);
      if (tokens_[i].is("=") || tokens_[i].is("{"))
        return variable(d, first, begin, i, end, prefix);
      if (tokens_[i].is("[")) i = std::min(matching_bracket(tokens_, i), end);
      else if (tokens_[i].is("<") && i > begin && tokens_[i - 1].is_identifier()) {
        const std::size_t close = matching_bracket(tokens_, i);
        if (close < end) i = close;
      } else if (tokens_[i].is("(")) {
        const std::size_t close = matching_bracket(tokens_, i);
        if (close >= end) return finish(d, first, end, prefix);
        if (!is_parameter_list(begin, i, close, end, d)) i = close;
        else return function(d, first, begin, i, close, end, prefix);
      }
    }
    return finish(d, first, end, prefix);
  }

  // `operator+`, `operator()`, `operator float`: the index of the '(' of its parameters.
  std::size_t operator_name(Declaration& d, std::size_t i, std::size_t end) {
    std::size_t j = i + 1;
    if (j + 1 < end && tokens_[j].is("(") && tokens_[j + 1].is(")")) j += 2;
    while (j < end && !tokens_[j].is("(")) ++j;
    d.name = join_tokens(Tokens(tokens_).subspan(i, j - i));
    d.name_range = range_of(i, j - 1);
    return j;
  }

  bool is_parameter_list(std::size_t begin, std::size_t open, std::size_t close, std::size_t end,
                         const Declaration& d) const {
    if (!d.name.empty()) return true;
    if (open == begin) return false;
    const CppToken& before = tokens_[open - 1];
    const bool is_specialization_name = before.is(">");
    if (!before.is_identifier() && !is_specialization_name) return false;
    if (is_one_of(before, attribute_calls)) return false;
    if (open - 1 == begin || close + 1 >= end) return true;
    // An unknown annotation macro with arguments: more of the declaration follows.
    const CppToken& after = tokens_[close + 1];
    static constexpr std::array<std::string_view, 9> trailing = {
        "const", "noexcept", "volatile",      "override", "final",
        "try",   "requires", "__attribute__", "mutable"};
    return !after.is_identifier() || is_one_of(after, trailing);
  }

  std::size_t function(Declaration& d, std::size_t first, std::size_t begin, std::size_t open,
                       std::size_t close, std::size_t end, const std::string& prefix) {
    d.parameter_list = range_of(open, close);
    const std::size_t name = d.name.empty() ? function_name(d, begin, open) : begin;
    if (d.kind == Kind::MacroCall) return macro_call(d, first, close, end, prefix);
    const Tokens head = Tokens(tokens_).subspan(begin, (name > begin ? name : open) - begin);
    const Space space = space_of_words(head, macros_);
    d.kind = space.is_global                    ? Kind::Kernel
             : space.is_device && space.is_host ? Kind::HostDeviceFunction
             : space.is_device                  ? Kind::DeviceFunction
                                                : Kind::HostFunction;
    if (d.kind == Kind::HostFunction && is_initialized_variable(open, close, end)) {
      d.kind = Kind::Variable;
      d.is_device = space.is_device_data;
    }
    d.parameters = parse_parameters(between(open, close));
    describe_head(d, head);
    const std::size_t after = function_end(d, close + 1, end);
    return finish(d, first, after, prefix);
  }

  // `dim3 block(16, 16);` looks like a function: its "parameters" hold values.
  bool is_initialized_variable(std::size_t open, std::size_t close, std::size_t end) const {
    if (close + 1 >= end || !tokens_[close + 1].is(";")) return false;
    for (std::size_t i = open + 1; i < close; ++i) {
      if (tokens_[i].is("=")) return false;
      if (tokens_[i].kind == CppToken::Kind::Number || tokens_[i].kind == CppToken::Kind::String)
        return !tokens_[i - 1].is("[");
    }
    return false;
  }

  std::size_t function_name(Declaration& d, std::size_t begin, std::size_t open) {
    std::size_t name = open - 1;
    if (tokens_[name].is(">")) {
      int depth = 0;
      for (; name > begin; --name) {
        if (tokens_[name].is(">")) ++depth;
        if (tokens_[name].is("<") && --depth == 0) break;
      }
      --name;
    }
    set_name(d, name);
    std::size_t i = name;
    while (i >= begin + 2 && tokens_[i - 1].is("::")) {
      d.is_member = true;
      i -= 2;
      if (tokens_[i].is(">"))
        while (i > begin && !tokens_[i].is("<")) --i;
    }
    if (i == begin && !d.is_member) d.kind = Kind::MacroCall;
    return i;
  }

  std::size_t macro_call(Declaration& d, std::size_t first, std::size_t close, std::size_t end,
                         const std::string& prefix) {
    std::size_t after = close + 1;
    if (after < end && tokens_[after].is("{")) {
      const std::size_t body_close = std::min(matching_bracket(tokens_, after), end - 1);
      d.body = range_of(after, body_close);
      after = body_close + 1;
    } else if (after < end && tokens_[after].is(";")) {
      ++after;
    }
    return finish(d, first, after, prefix);
  }

  void describe_head(Declaration& d, Tokens head) const {
    std::vector<CppToken> type;
    for (std::size_t i = 0; i < head.size(); ++i) {
      const CppToken& token = head[i];
      d.is_constexpr |= token.is("constexpr") || token.is("consteval");
      d.is_static |= token.is("static");
      if (token.is("extern") && i + 1 < head.size() && head[i + 1].kind == CppToken::Kind::String)
        d.is_extern_c = true;
      const bool is_attribute = token.is("[") && i + 1 < head.size() && head[i + 1].is("[");
      const bool is_call = is_one_of(token, attribute_calls) && !token.is("decltype");
      if (is_attribute) i = std::min(matching_bracket(head, i), head.size());
      else if (is_call && i + 1 < head.size() && head[i + 1].is("("))
        i = std::min(matching_bracket(head, i + 1), head.size());
      else if (!is_one_of(token, leading_words) && token.kind != CppToken::Kind::String &&
               token.kind != CppToken::Kind::Directive && !macros_.contains(token.text))
        type.push_back(token);
    }
    d.return_type = join_tokens(type);
  }

  // After the parameter list: qualifiers, a trailing return type, a constructor's initialisers,
  // then ';' or a body.
  std::size_t function_end(Declaration& d, std::size_t i, std::size_t end) {
    bool in_initializers = false;
    for (; i < end; ++i) {
      const CppToken& token = tokens_[i];
      if (token.is(";")) return i + 1;
      if (token.is(":")) in_initializers = true;
      else if (token.is("(") || token.is("[")) i = matching_bracket(tokens_, i);
      else if (token.is("{")) {
        const std::size_t close = std::min(matching_bracket(tokens_, i), end - 1);
        const bool is_initializer =
            in_initializers && (tokens_[i - 1].is_identifier() || tokens_[i - 1].is(">")) &&
            close + 1 < end && (tokens_[close + 1].is(",") || tokens_[close + 1].is("{"));
        if (!is_initializer) return after_handlers(d, i, close, end);
        i = close;
      }
    }
    return end;
  }

  // `{ ... }` and, of a function-try-block, its handlers.
  std::size_t after_handlers(Declaration& d, std::size_t open, std::size_t close, std::size_t end) {
    std::size_t last = close;
    while (last + 2 < end && tokens_[last + 1].is("catch") && tokens_[last + 2].is("(")) {
      const std::size_t handler = matching_bracket(tokens_, last + 2) + 1;
      if (handler >= end) break;
      last = std::min(matching_bracket(tokens_, handler), end - 1);
    }
    d.body = range_of(open, last);
    return last + 1;
  }

  std::size_t variable(Declaration& d, std::size_t first, std::size_t begin, std::size_t i,
                       std::size_t end, const std::string& prefix) {
    const Tokens head = Tokens(tokens_).subspan(begin, i - begin);
    const Space space = space_of_words(head, macros_);
    d.kind = Kind::Variable;
    d.is_device = space.is_device || space.is_device_data;
    std::size_t name = i;
    while (name > begin && tokens_[name - 1].is("]"))
      while (name > begin && !tokens_[--name].is("[")) {
      }
    if (name > begin && tokens_[name - 1].is_identifier()) set_name(d, name - 1);
    describe_head(d, head);
    return finish(d, first, after_semicolon(i, end), prefix);
  }

  // ---- Small things.

  std::size_t after_semicolon(std::size_t i, std::size_t end) const {
    for (; i < end; ++i) {
      if (tokens_[i].is(";")) return i + 1;
      if (tokens_[i].is("(") || tokens_[i].is("[") || tokens_[i].is("{"))
        i = matching_bracket(tokens_, i);
    }
    return end;
  }

  void set_name(Declaration& d, std::size_t index) const {
    d.name = tokens_[index].text;
    d.name_range = {tokens_[index].offset, tokens_[index].end()};
    d.line = tokens_[index].line;
  }

  Tokens between(std::size_t open, std::size_t close) const {
    return Tokens(tokens_).subspan(open + 1, close - open - 1);
  }

  TextRange range_of(std::size_t first, std::size_t last) const {
    last = std::min(last, tokens_.size() - 1);
    return {tokens_[first].offset, tokens_[last].end()};
  }

  std::size_t finish(Declaration& d, std::size_t first, std::size_t after,
                     const std::string& prefix) {
    after = std::max(after, first + 1);
    d.range = range_of(first, std::min(after, tokens_.size()) - 1);
    d.qualified_name = prefix + d.name;
    out_.push_back(std::move(d));
    return after;
  }

  std::vector<CppToken> tokens_;
  std::map<std::string_view, Space> macros_;
  std::vector<Declaration> out_;
};

}  // namespace

std::vector<Declaration> outline_of(std::string_view text, std::string_view file) {
  return Outliner(text, file).run();
}

std::vector<TypeAlias> aliases_of(std::string_view text, const std::vector<Declaration>& outline) {
  std::vector<TypeAlias> aliases;
  for (const Declaration& d : outline) {
    if (d.kind != Kind::Alias || d.is_template) continue;
    const auto tokens =
        tokenize_cpp(text.substr(d.range.begin, d.range.end - d.range.begin), "alias");
    if (tokens.size() < 4) continue;
    const Tokens all = tokens;
    if (tokens[0].is("using") && tokens[2].is("="))
      aliases.push_back({std::string(tokens[1].text), join_tokens(all.subspan(3, all.size() - 4))});
    const CppToken& last = tokens[tokens.size() - 2];
    if (tokens[0].is("typedef") && last.is_identifier())
      aliases.push_back({std::string(last.text), join_tokens(all.subspan(1, all.size() - 3))});
  }
  return aliases;
}

}  // namespace tilewright
