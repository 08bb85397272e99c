// SPDX-License-Identifier: Apache-2.0
// frontend/python/parser_test.cpp — the tree of each construct, as an S-expression.
#include "frontend/python/parser.h"

#include <gtest/gtest.h>

#include "frontend/python/print.h"

namespace tilewright::python {
namespace {

// The statements of a text, one per line.
std::string tree(const std::string& text) {
  const auto parsed = parse(make_source("t.py", text));
  std::string out;
  for (const Node* statement : parsed->root->body) {
    if (!out.empty()) out += '\n';
    out += print(*statement);
  }
  return out;
}

// The tree of one expression.
std::string expression(const std::string& text) {
  const auto parsed = parse_expression(make_source("t.py", text));
  return print(*cast<ExprStmt>(parsed->root->body[0]).value);
}

struct Case {
  const char* text;
  const char* tree;
};

TEST(PythonParser, Operators) {
  const Case cases[] = {
      {"a + b * c", "(BinOp a + (BinOp b * c))"},
      {"(a + b) * c", "(BinOp (BinOp a + b) * c)"},
      {"a - b - c", "(BinOp (BinOp a - b) - c)"},
      {"a ** b ** c", "(BinOp a ** (BinOp b ** c))"},
      {"-a ** -b", "(UnaryOp - (BinOp a ** (UnaryOp - b)))"},
      {"a | b ^ c & d << e", "(BinOp a | (BinOp b ^ (BinOp c & (BinOp d << e))))"},
      {"a // b % c @ d / e", "(BinOp (BinOp (BinOp (BinOp a // b) % c) @ d) / e)"},
      {"~a + +b", "(BinOp (UnaryOp ~ a) + (UnaryOp + b))"},
      {"not a == b", "(UnaryOp not (Compare a [==] [b]))"},
      {"a or b and not c", "(BoolOp or [a (BoolOp and [b (UnaryOp not c)])])"},
      {"a or b or c", "(BoolOp or [a b c])"},
      {"a < b <= c is not None", "(Compare a [< <= is not] [b c None])"},
      {"a not in b", "(Compare a [not in] [b])"},
      {"a if b else c if d else e", "(IfExp b a (IfExp d c e))"},
      {"lambda: 0", "(Lambda [] 0)"},
      {"lambda x, *a, y=1, **k: x",
       "(Lambda [(Parameter x normal _ _) (Parameter a * _ _) (Parameter y keyword-only _ 1) "
       "(Parameter k ** _ _)] x)"},
      {"(x := f(1))", "(NamedExpr x (Call f [1] []))"},
      {"await f(x)", "(Await (Call f [x] []))"},
  };
  for (const Case& test : cases) EXPECT_EQ(expression(test.text), test.tree) << test.text;
}

TEST(PythonParser, PrimariesAndCalls) {
  const Case cases[] = {
      {"a.b.c", "(Attribute (Attribute a b) c)"},
      {"f()", "(Call f [] [])"},
      {"f(a, *b, c=1, **d)", "(Call f [a (Starred b)] [(Keyword c 1) (Keyword _ d)])"},
      {"f(a)(b)[c]", "(Subscript (Call (Call f [a] []) [b] []) c)"},
      {"f(x for x in y)", "(Call f [(GeneratorExp x [(Comprehension x y [] false)])] [])"},
      {"k[grid](x, BLOCK=16)", "(Call (Subscript k grid) [x] [(Keyword BLOCK 16)])"},
      {"x[:, None]", "(Subscript x (Tuple [(Slice _ _ _) None]))"},
      {"x[1:2, ::3, ...]", "(Subscript x (Tuple [(Slice 1 2 _) (Slice _ _ 3) ...]))"},
      {"x[a:]", "(Subscript x (Slice a _ _))"},
      {"x[*a]", "(Subscript x (Tuple [(Starred a)]))"},
  };
  for (const Case& test : cases) EXPECT_EQ(expression(test.text), test.tree) << test.text;
}

TEST(PythonParser, Displays) {
  const Case cases[] = {
      {"()", "(Tuple [])"},
      {"(a,)", "(Tuple [a])"},
      {"a, b", "(Tuple [a b])"},
      {"(a)", "a"},
      {"[]", "(List [])"},
      {"[a, *b,]", "(List [a (Starred b)])"},
      {"{}", "(Dict [] [])"},
      {"{a: 1, **b, 'c': 2}", "(Dict [a _ \"c\"] [1 b 2])"},
      {"{a, *b}", "(Set [a (Starred b)])"},
      {"[x for x in y if a if b for z, w in x]",
       "(ListComp x [(Comprehension x y [a b] false) (Comprehension (Tuple [z w]) x [] false)])"},
      {"{k: v for k, v in d}", "(DictComp k v [(Comprehension (Tuple [k v]) d [] false)])"},
      {"{x for x in y}", "(SetComp x [(Comprehension x y [] false)])"},
      {"(x async for x in y)", "(GeneratorExp x [(Comprehension x y [] true)])"},
      {"(yield)", "(Yield _)"},
      {"(yield from a)", "(YieldFrom a)"},
  };
  for (const Case& test : cases) EXPECT_EQ(expression(test.text), test.tree) << test.text;
}

TEST(PythonParser, Literals) {
  const Case cases[] = {
      {"0x_ff", "255"},
      {"340282366920938463463374607431768211455", "340282366920938463463374607431768211455"},
      {"999999999999999999999999999999999999999999", "huge"},
      {"1.0", "1.0"},
      {"1e300", "1e+300"},
      {"1e999", "inf"},
      {"2j", "(ImaginaryLiteral 2.0)"},
      {"'a' \"b\"", "\"ab\""},
      {"'a\\n\\\\'", "\"a\\n\\\\\""},
      {"b'a' b'\\x00'", "(BytesLiteral \"a\\x00\")"},
      {"True", "True"},
      {"None", "None"},
      {"...", "..."},
  };
  for (const Case& test : cases) EXPECT_EQ(expression(test.text), test.tree) << test.text;
}

TEST(PythonParser, FStrings) {
  const Case cases[] = {
      {"f'a'", "(JoinedStr [\"a\"])"},
      {"f''", "(JoinedStr [])"},
      {"f'{a}b' 'c'", "(JoinedStr [(FormattedValue a _ _) \"bc\"])"},
      {"f'{{{a}}}'", "(JoinedStr [\"{\" (FormattedValue a _ _) \"}\"])"},
      {"f'{a!r:>{w}}'",
       "(JoinedStr [(FormattedValue a r (JoinedStr [\">\" (FormattedValue w _ _)]))])"},
      {"f'{a = }'", "(JoinedStr [\"a = \" (FormattedValue a r _)])"},
      {"f'{a=:.2f}'", "(JoinedStr [\"a=\" (FormattedValue a _ (JoinedStr [\".2f\"]))])"},
      {"f'{a, b}'", "(JoinedStr [(FormattedValue (Tuple [a b]) _ _)])"},
      {"f'{d['k']}{f'{x}'}'",
       "(JoinedStr [(FormattedValue (Subscript d \"k\") _ _) (FormattedValue (JoinedStr "
       "[(FormattedValue x _ _)]) _ _)])"},
      {"rf'\\d{a}'", "(JoinedStr [\"\\\\d\" (FormattedValue a _ _)])"},
      {"f'{x:%Y-%m}'", "(JoinedStr [(FormattedValue x _ (JoinedStr [\"%Y-%m\"]))])"},
      {"f'{(lambda x: 1)}'",
       "(JoinedStr [(FormattedValue (Lambda [(Parameter x normal _ _)] 1) _ _)])"},
  };
  for (const Case& test : cases) EXPECT_EQ(expression(test.text), test.tree) << test.text;
}

TEST(PythonParser, SimpleStatements) {
  const Case cases[] = {
      {"a = b = 1", "(Assign [a b] 1)"},
      {"a, *b = c", "(Assign [(Tuple [a (Starred b)])] c)"},
      {"a.b[c] = d", "(Assign [(Subscript (Attribute a b) c)] d)"},
      {"a += 1", "(AugAssign a + 1)"},
      {"a //= b", "(AugAssign a // b)"},
      {"x: tl.constexpr = 3", "(AnnAssign x (Attribute tl constexpr) 3)"},
      {"x: int", "(AnnAssign x int _)"},
      {"a; b;", "(ExprStmt a)\n(ExprStmt b)"},
      {"return", "(Return _)"},
      {"return a, b", "(Return (Tuple [a b]))"},
      {"raise A from b", "(Raise A b)"},
      {"assert a, 'm'", "(Assert a \"m\")"},
      {"del a, b[0]", "(Delete [a (Subscript b 0)])"},
      {"global a, b", "(Global [a b])"},
      {"nonlocal a", "(Nonlocal [a])"},
      {"pass", "(Pass)"},
      {"import a.b as c, d", "(Import [(Alias a.b c) (Alias d _)])"},
      {"from a.b import c as d, e", "(ImportFrom a.b [(Alias c d) (Alias e _)] 0)"},
      {"from ... import (a,\n b,)", "(ImportFrom _ [(Alias a _) (Alias b _)] 3)"},
      {"from ..x import *", "(ImportFrom x [(Alias * _)] 2)"},
      {"type X = int", "(TypeAlias X [] int)"},
      {"type X[T, *Ts] = T", "(TypeAlias X [(TypeParameter normal T _) (TypeParameter * Ts _)] T)"},
      {"type = 3", "(Assign [type] 3)"},
      {"match = 3", "(Assign [match] 3)"},
      {"match(x)", "(ExprStmt (Call match [x] []))"},
      {"match[x]: int", "(AnnAssign (Subscript match x) int _)"},
      {"x = yield y", "(Assign [x] (Yield y))"},
      {"print(*a, sep='')", "(ExprStmt (Call print [(Starred a)] [(Keyword sep \"\")]))"},
  };
  for (const Case& test : cases) EXPECT_EQ(tree(test.text), test.tree) << test.text;
}

TEST(PythonParser, Blocks) {
  const Case cases[] = {
      {"if a:\n  b\nelif c:\n  d\nelse:\n  e\n",
       "(If a [(ExprStmt b)] [(If c [(ExprStmt d)] [(ExprStmt e)])])"},
      {"if a: b; c", "(If a [(ExprStmt b) (ExprStmt c)] [])"},
      {"while a:\n  break\nelse:\n  continue", "(While a [(Break)] [(Continue)])"},
      {"for i, j in range(3):\n  pass\nelse: x",
       "(For (Tuple [i j]) (Call range [3] []) [(Pass)] [(ExprStmt x)] false)"},
      {"async for x in y: pass", "(For x y [(Pass)] [] true)"},
      {"for x in *a, b: pass", "(For x (Tuple [(Starred a) b]) [(Pass)] [] false)"},
      {"with a as b, c: pass", "(With [(WithItem a b) (WithItem c _)] [(Pass)] false)"},
      {"with (a as b, c): pass", "(With [(WithItem a b) (WithItem c _)] [(Pass)] false)"},
      {"with (a, b) as c: pass", "(With [(WithItem (Tuple [a b]) c)] [(Pass)] false)"},
      {"with (a): pass", "(With [(WithItem a _)] [(Pass)] false)"},
      {"async with a: pass", "(With [(WithItem a _)] [(Pass)] true)"},
      {"try:\n  a\nexcept (A, B) as e:\n  b\nexcept:\n  c\nelse:\n  d\nfinally:\n  f",
       "(Try [(ExprStmt a)] [(ExceptHandler (Tuple [A B]) e [(ExprStmt b)]) (ExceptHandler _ _ "
       "[(ExprStmt c)])] "
       "[(ExprStmt d)] [(ExprStmt f)] false)"},
      {"try: a\nexcept* A: b",
       "(Try [(ExprStmt a)] [(ExceptHandler A _ [(ExprStmt b)])] [] [] true)"},
  };
  for (const Case& test : cases) EXPECT_EQ(tree(test.text), test.tree) << test.text;
}

TEST(PythonParser, Definitions) {
  const Case cases[] = {
      {"def f(): pass", "(FunctionDef f [] [] _ [(Pass)] [] false)"},
      {"@triton.jit\n@a(1)\ndef f(x, y: tl.constexpr = 1) -> int:\n  return x\n",
       "(FunctionDef f [] [(Parameter x normal _ _) (Parameter y normal (Attribute tl constexpr) "
       "1)] int "
       "[(Return x)] [(Attribute triton jit) (Call a [1] [])] false)"},
      {"def f(a, /, b, *, c, **d): pass",
       "(FunctionDef f [] [(Parameter a position-only _ _) (Parameter b normal _ _) (Parameter c "
       "keyword-only _ _) "
       "(Parameter d ** _ _)] _ [(Pass)] [] false)"},
      {"def f(*a: *T): pass",
       "(FunctionDef f [] [(Parameter a * (Starred T) _)] _ [(Pass)] [] false)"},
      {"async def f[T: int, **P](): pass",
       "(FunctionDef f [(TypeParameter normal T int) (TypeParameter ** P _)] [] _ [(Pass)] [] "
       "true)"},
      {"@d\nclass A(B, metaclass=M): x = 1",
       "(ClassDef A [] [B] [(Keyword metaclass M)] [(Assign [x] 1)] [d])"},
      {"class A: ...", "(ClassDef A [] [] [] [(ExprStmt ...)] [])"},
  };
  for (const Case& test : cases) EXPECT_EQ(tree(test.text), test.tree) << test.text;
}

TEST(PythonParser, MatchStatements) {
  const auto pattern = [](const std::string& text) {
    const auto parsed = parse(make_source("t.py", "match x:\n  case " + text + ":\n    pass\n"));
    return print(*cast<MatchCase>(cast<Match>(parsed->root->body[0]).cases[0]).pattern);
  };
  const Case cases[] = {
      {"_", "(MatchAs _ _)"},
      {"a", "(MatchAs _ a)"},
      {"1 | -2.5", "(MatchOr [(MatchValue 1) (MatchValue (UnaryOp - 2.5))])"},
      {"'s' as t", "(MatchAs (MatchValue \"s\") t)"},
      {"None", "(MatchSingleton None)"},
      {"A.b", "(MatchValue (Attribute A b))"},
      {"[a, *_]", "(MatchSequence [(MatchAs _ a) (MatchStar _)])"},
      {"a, *rest", "(MatchSequence [(MatchAs _ a) (MatchStar rest)])"},
      {"(a)", "(MatchAs _ a)"},
      {"(a,)", "(MatchSequence [(MatchAs _ a)])"},
      {"{'k': v, **rest}", "(MatchMapping [\"k\"] [(MatchAs _ v)] rest)"},
      {"P(1, y=b)", "(MatchClass P [(MatchValue 1)] [(Keyword y (MatchAs _ b))])"},
  };
  for (const Case& test : cases) EXPECT_EQ(pattern(test.text), test.tree) << test.text;
  EXPECT_EQ(tree("match a, b:\n  case c if d: pass\n"),
            "(Match (Tuple [a b]) [(MatchCase (MatchAs _ c) d [(Pass)])])");
}

TEST(PythonParser, PlacesAreThoseOfTheFirstCharacter) {
  const auto parsed = parse(make_source("t.py", "x = (a +\n  f(b))\nif x:\n    é.y(1)\n"));
  EXPECT_EQ(
      print(*parsed->root, {.places = true}),
      "(Module@1:1 [(Assign@1:1 [(Name@1:1 x)] (BinOp@1:6 (Name@1:6 a) + (Call@2:3 (Name@2:3 f) "
      "[(Name@2:5 b)] []))) (If@3:1 (Name@3:4 x) [(ExprStmt@4:5 (Call@4:5 (Attribute@4:5 (Name@4:5 "
      "é) y) "
      "[(IntLiteral@4:9 1)] []))] [])])");
  const Node* sum = cast<Assign>(parsed->root->body[0]).value;
  EXPECT_EQ(sum->end_line, 2);
  EXPECT_EQ(sum->end_column, 7);
  const Node* branch = parsed->root->body[1];
  EXPECT_EQ(branch->end_line, 4);
  EXPECT_EQ(branch->end_column, 11);
}

TEST(PythonParser, DottedNames) {
  const auto parsed = parse_expression(make_source("t.py", "a.b.c, a().b"));
  const auto& tuple = cast<Tuple>(cast<ExprStmt>(parsed->root->body[0]).value);
  EXPECT_EQ(dotted_name(tuple.elements[0]), "a.b.c");
  EXPECT_EQ(dotted_name(tuple.elements[1]), "");
}

}  // namespace
}  // namespace tilewright::python
