# SPDX-License-Identifier: Apache-2.0
# kernel_diff/tokens.py — a generated text as tokens that say what it computes and not how it is written: no comments, no #line, and
# each name that the text itself declares replaced by a number, in the order of first use.
import re

TOKEN = re.compile(
    r'(?P<skip>\s+|//[^\n]*|/\*.*?\*/|\#[ \t]*line[^\n]*)'
    r'|(?P<string>R"(?P<mark>[^()\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')'
    r'|(?P<name>[A-Za-z_]\w*)'
    r'|(?P<number>\.?\d(?:[eEpP][+-]|[\w.\'])*)'
    r'|(?P<mark_of>::|->|<<=|>>=|<<|[+\-*/%&|^=!<>]=|&&|\|\||\+\+|--|\#\#|.)', re.S)

TYPES = set("auto bool char double float int long short signed unsigned void f64 f32 f16 bf16 f8e4m3 f8e5m2 "
            "i64 i32 i16 i8 u64 u32 u16 u8 b1".split())
# Before a name these begin an expression, so that the name is used and not declared.
NOT_TYPES = set("return else case goto throw new delete sizeof typename operator co_return and or not if while for do namespace "
                "using struct class enum union template public private inline extern asm volatile static_cast".split())
ENDS_OF_DECLARATION = set("= ; , ) [ ( { :".split())
BEGINNINGS = set("; { } ( , < const static constexpr __shared__ __restrict__".split())


def split(text):
    """[(token, line)]: the first line is 1."""
    out = []
    line = 1
    for match in TOKEN.finditer(text):
        if not match["skip"]:
            out.append((match[0], line))
        line += match[0].count("\n")
    return out


def is_name(token):
    return token[0].isalpha() or token[0] == "_"


def is_declared_at(tokens, i):
    """Whether the name at i is declared there: `f32 x =`, `Tile<f32, 4> x;`, `const f32* __restrict__ x,`. When in doubt it is not:
    names that are not known to be the text's own are compared as they are."""
    if i == 0 or i + 1 >= len(tokens) or tokens[i + 1] not in ENDS_OF_DECLARATION:
        return False
    before = tokens[i - 1]
    if before in TYPES or before == "__restrict__":
        return True
    if before in ("*", "&", "const"):
        back = i - 2
        while back > 0 and tokens[back] in ("*", "&", "const"):
            back -= 1
        return tokens[back] in TYPES
    if not is_name(before) or before in NOT_TYPES:
        return False
    # Another type's name: `Divisor d`, which stands at the beginning of a statement or a parameter.
    back = i - 2
    while back > 1 and tokens[back] == "::":
        back -= 2
    return back < 0 or tokens[back] in BEGINNINGS


def own_names(tokens):
    own, others = set(), set()
    for i, token in enumerate(tokens):
        if not is_name(token) or token in TYPES or token.isupper():
            continue
        if i and tokens[i - 1] in ("::", ".", "->"):
            others.add(token)  # a member of something else
        elif is_declared_at(tokens, i):
            own.add(token)
    return own - others


def normalised(text, kept=()):
    """[(token, line)] with own names replaced; those in `kept` (names of entry points) are not."""
    pairs = split(text)
    own = own_names([token for token, _ in pairs]) - set(kept)
    numbers = {}
    return [(f"${numbers.setdefault(token, len(numbers))}" if token in own else token, line) for token, line in pairs]


def split_headers(whole, plain):
    """A text with its headers inside, in two: the headers, and what is below the includes of the same text without them."""
    below = re.split(r'^#include "[^\n]*\n', plain, flags=re.M)[-1]
    whole = re.sub(r"\A#ifdef __NVCC__\n#pragma [^\n]*\n#endif\n", "", whole)  # which warnings nvcc leaves out
    if not whole.endswith(below):
        return whole, ""
    return whole[:len(whole) - len(below)], below


def first_difference(base, head, kept=()):
    """None where both texts have the same tokens; else the lines of the first that differ."""
    return compared(normalised(base, kept), normalised(head, kept))


def headers_differ(base, head):
    return base != head and compared(split(base), split(head)) is not None


def compared(a, b):
    for (left, line), (right, other) in zip(a, b):
        if left != right:
            return line, other
    if len(a) == len(b):
        return None
    return (a[len(b)][1], last_line(b)) if len(a) > len(b) else (last_line(a), b[len(a)][1])


def last_line(pairs):
    return pairs[-1][1] if pairs else 1
