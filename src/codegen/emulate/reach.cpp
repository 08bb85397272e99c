// SPDX-License-Identifier: Apache-2.0
// codegen/emulate/reach.cpp — finds definitions in a token list and closes over what they mention.
#include "codegen/emulate/reach.h"

#include <algorithm>
#include <map>
#include <vector>

namespace tilewright {
namespace {

using Names = std::set<std::string>;

Names identifiers(std::span<const CppToken> tokens) {
  Names out;
  for (const CppToken& token : tokens)
    if (token.is_identifier()) out.emplace(token.text);
  return out;
}

// The name that the declaration before a body gives it: the identifier before the parameter list of
// a function, or the one after class, struct or union. Empty for namespaces and what is not
// understood.
struct Head {
  std::string name;
  bool is_scope = false;  // holds declarations: a class, a namespace, extern "C"
};

Head class_head(std::span<const CppToken> head, std::size_t keyword) {
  for (std::size_t i = keyword + 1; i < head.size(); ++i) {
    const bool has_arguments = i + 1 < head.size() && head[i + 1].is("(");
    if (head[i].is_identifier() && !has_arguments && !head[i].is_one_of({"alignas", "final"}))
      return {std::string(head[i].text), true};
    if (has_arguments) i = std::min(matching_bracket(head, i + 1), head.size());
  }
  return {"", true};
}

Head read_head(std::span<const CppToken> head) {
  Head found;
  for (std::size_t i = 0; i < head.size(); ++i) {
    if (head[i].is("template") && i + 1 < head.size() && head[i + 1].is("<")) {
      i = matching_bracket(head, i + 1);
    } else if (head[i].is_one_of({"struct", "class", "union"}) && found.name.empty()) {
      const Head as_class = class_head(head, i);
      // `struct X f(...) {` is a function all the same.
      if (std::none_of(head.begin(), head.end(), [](const CppToken& t) { return t.is("("); }))
        return as_class;
    } else if (head[i].is_one_of({"namespace", "enum"}) ||
               (head[i].is("extern") && i + 2 >= head.size())) {
      return {"", true};
    } else if (head[i].is(":")) {
      break;
    } else if (head[i].is("(") && i > 0) {
      const bool names_it = head[i - 1].is_identifier() &&
                            !head[i - 1].is_one_of({"__launch_bounds__", "__attribute__", "alignas",
                                                    "__align__", "noexcept", "decltype", "requires",
                                                    "__maxnreg__", "__cluster_dims__"});
      // An operator is known by its class only.
      if (names_it) found.name = head[i - 1].is("operator") ? "" : head[i - 1].text;
      i = std::min(matching_bracket(head, i), head.size());
    }
  }
  return found;
}

class ReachFinder {
 public:
  explicit ReachFinder(std::span<const CppToken> tokens) : tokens_(tokens) {}

  std::map<std::string, Names> run() {
    scope(0, tokens_.size(), "");
    return std::move(mentions_);
  }

 private:
  void add(const std::string& name, const Names& mentioned) {
    if (!name.empty()) mentions_[name].insert(mentioned.begin(), mentioned.end());
  }

  // Declarations from `begin` to `end`, members of `owner` when that is not empty.
  void scope(std::size_t begin, std::size_t end, const std::string& owner) {
    std::size_t head = begin;
    for (std::size_t i = begin; i < end; ++i) {
      const CppToken& token = tokens_[i];
      if (token.kind == CppToken::Kind::Directive) {
        macro(token);
        if (head == i) head = i + 1;
      } else if (token.is(";")) {
        alias(tokens_.subspan(head, i - head));
        head = i + 1;
      } else if (token.is("(") || token.is("[")) {
        i = std::min(matching_bracket(tokens_, i), end);
      } else if (token.is("{")) {
        const std::size_t close = std::min(matching_bracket(tokens_, i), end);
        body(read_head(tokens_.subspan(head, i - head)), i + 1, close, owner);
        i = close;
        head = i + 1;
      }
    }
  }

  void body(const Head& head, std::size_t begin, std::size_t end, const std::string& owner) {
    if (head.is_scope) return scope_of(head.name, begin, end);
    const Names mentioned = identifiers(tokens_.subspan(begin, end - begin));
    add(head.name, mentioned);
    add(owner, mentioned);
  }

  void scope_of(const std::string& name, std::size_t begin, std::size_t end) {
    add(name, identifiers(tokens_.subspan(begin, end - begin)));
    scope(begin, end, name);
  }

  // using A = B;  typedef B A;
  void alias(std::span<const CppToken> statement) {
    if (statement.size() < 3) return;
    const std::size_t first = statement[0].is("template") ? matching_bracket(statement, 1) + 1 : 0;
    if (first + 2 < statement.size() && statement[first].is("using") &&
        statement[first + 2].is("="))
      add(std::string(statement[first + 1].text), identifiers(statement.subspan(first + 3)));
    else if (statement[0].is("typedef"))
      add(std::string(statement.back().text), identifiers(statement));
  }

  void macro(const CppToken& directive) {
    if (directive_word(directive) != "define") return;
    const std::string text(directive.text.substr(directive.text.find("define") + 6));
    try {
      const std::vector<CppToken> body = tokenize_cpp(text, "macro");
      if (!body.empty()) add(std::string(body[0].text), identifiers(std::span(body).subspan(1)));
    } catch (const SyntaxOrTypeError&) {
      // A macro may hold half a string; then only the compiler can say what it means.
    }
  }

  std::span<const CppToken> tokens_;
  std::map<std::string, Names> mentions_;
};

}  // namespace

Mentions find_mentions(std::span<const CppToken> tokens, bool (*is_target)(std::string_view)) {
  const std::map<std::string, Names> mentions = ReachFinder(tokens).run();
  Mentions out;
  for (const auto& [name, mentioned] : mentions) {
    out.defined.insert(name);
    for (const std::string& word : mentioned)
      if (is_target(word)) out.reaching.insert(word);
  }
  for (bool grew = true; grew;) {
    grew = false;
    for (const auto& [name, mentioned] : mentions) {
      if (out.reaching.contains(name)) continue;
      const bool reaches =
          std::any_of(mentioned.begin(), mentioned.end(),
                      [&](const std::string& word) { return out.reaching.contains(word); });
      if (reaches) grew = out.reaching.insert(name).second;
    }
  }
  return out;
}

}  // namespace tilewright
