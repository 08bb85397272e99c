# SPDX-License-Identifier: Apache-2.0
# differential/ttir_text.py — the text of Triton's IR (TTIR) as functions, blocks and ops.
"""What `triton.compile` has before any pass: one op a line, regions in braces. Names of values and
attributes stay text; whoever gives an op a meaning reads what it needs of them.
"""
import dataclasses
import re

NAME = re.compile(r"%[\w#$.-]+")
ENDS = {"({": ("})",), "{": ("}",)}  # how a line that opens a region ends, and how the region does


class TtirError(Exception):
    """A text that is not understood."""


@dataclasses.dataclass
class Op:
    name: str
    results: list
    operands: list  # names, in their order
    text: str  # from the name on, without the types
    types: str
    regions: list = dataclasses.field(default_factory=list)

    def attribute(self, pattern, otherwise=None):
        """What the group of `pattern` matches in the text, or `otherwise`."""
        match = re.search(pattern, self.text)
        return match[1] if match else otherwise

    def integer(self, name):
        return int(self.attribute(rf"\b{name} = (-?\d+)"))


@dataclasses.dataclass
class Block:
    label: str
    arguments: list
    ops: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Function:
    arguments: list
    blocks: list


def expand_results(text):
    """%a, %b:2 -> %a, %b#0, %b#1"""
    names = []
    for name in text.split(", "):
        base, _, count = name.partition(":")
        names += [f"{base}#{i}" for i in range(int(count))] if count else [base]
    return names


def split_types(text):
    """What stands before and behind the first " : " outside of brackets."""
    depth = 0
    for at, sign in enumerate(text):
        depth += (sign in "({[") - (sign in ")}]")
        if depth <= 0 and text.startswith(" : ", at):
            return text[:at], text[at + 3:]
    return text, ""


def read_op(line):
    match = re.match(r"((?:%[\w$.-]+(?::\d+)?(?:, )?)+) = (.*)", line)
    results, text = (expand_results(match[1]), match[2]) if match else ([], line)
    name = re.match(r'"?([\w.]+)"?', text)[1]
    text, types = split_types(text)
    operands = NAME.findall(re.sub(r"\{.*\}", "", text))
    return Op(name, results, operands, text, types)


class Reader:
    def __init__(self, text):
        self.lines = [line.strip() for line in text.splitlines()]
        self.at = 0

    def functions(self):
        """By name; the kernel is the public one, under the name None."""
        found = {}
        while self.at < len(self.lines):
            line = self.lines[self.at]
            self.at += 1
            match = re.match(r'tt\.func (\w+) @("[^"]*"|[^(]+)\((.*)', line)
            if match:
                arguments = re.findall(r"(%[\w.-]+):", match[3])
                function = Function(arguments, self.region(("}",)))
                found[match[2].strip('"')] = function
                if match[1] == "public":
                    found[None] = function
        if None not in found:
            raise TtirError("there is no public function")
        return found

    def region(self, ends):
        """The blocks up to a line that begins with one of `ends`, which is taken as well."""
        blocks = [Block("^bb0", [])]
        while not self.lines[self.at].startswith(ends):
            line = self.lines[self.at]
            self.at += 1
            label = re.match(r"(\^bb\d+)(?:\((.*?)\))?:", line)
            if label:
                block = Block(label[1], NAME.findall(label[2] or ""))
                blocks = [block] if blocks == [Block("^bb0", [])] else [*blocks, block]
            elif line and not line.startswith("//"):
                blocks[-1].ops.append(self.op(line))
        self.at += 1
        return blocks

    def op(self, line):
        op = read_op(line)
        opening = next((o for o in ENDS if line.endswith(o)), None)
        while opening:
            op.regions.append(self.region(ENDS[opening]))
            last = self.lines[self.at - 1]
            if opening == "({":
                op.types = last.partition(" : ")[2]
            if not last.endswith("{"):
                break
        return op


def read(text):
    return Reader(text).functions()
