# SPDX-License-Identifier: Apache-2.0
# differential/case_file.py — the text of a case: one launch in the manner of `tilewright run`.
"""A case is one line; lines that start with a blank continue it; `#` starts a comment.

    FILE:KERNEL --grid EXPR[,EXPR[,EXPR]] NAME=VALUE... [--exact] [--skip NAME] [--off-by NAME=N]
        [--nonfinite] [--only triton|cpu|interpret|cuda] [--num-warps N] [--seed N]

FILE is a path under this folder, under the root of this repository or under the folder of public repositories. VALUE is a number,
true, false, none, a dtype such as tl.float32, a text, or a generated tensor GENERATOR:DTYPE[SHAPE].
GENERATOR is one of inputs.GENERATORS, with arguments in parentheses and a factor: randn*0.1,
randint(0,9), list(0,3,7). Each tensor is compared after the launch, except those under --skip.
"""
import ast
import dataclasses
import math
import pathlib
import re
import shlex

DTYPES = {
    "f64": "f64", "fp64": "f64", "float64": "f64", "f32": "f32", "fp32": "f32", "float32": "f32",
    "f16": "f16", "fp16": "f16", "float16": "f16", "bf16": "bf16", "bfloat16": "bf16",
    "f8e4m3": "f8e4m3", "fp8e4nv": "f8e4m3", "float8e4nv": "f8e4m3",
    "f8e5m2": "f8e5m2", "fp8e5": "f8e5m2", "float8e5": "f8e5m2",
    "i8": "i8", "int8": "i8", "i16": "i16", "int16": "i16", "i32": "i32", "int32": "i32",
    "i64": "i64", "int64": "i64", "u8": "u8", "uint8": "u8", "u16": "u16", "uint16": "u16",
    "u32": "u32", "uint32": "u32", "u64": "u64", "uint64": "u64", "bool": "bool", "i1": "bool",
}
TENSOR = re.compile(r"([a-z]+)(?:\(([^)]*)\))?(?:\*([-+.\de]+))?:([a-z0-9]+)\[([\d, ]*)\]$")


class CaseError(Exception):
    """A case that cannot be read: says where and why."""


@dataclasses.dataclass
class TensorSpec:
    generator: str
    parameters: list
    factor: float
    dtype: str
    shape: tuple


@dataclasses.dataclass
class DTypeName:
    """A `tl` dtype given as a constexpr argument."""

    name: str


@dataclasses.dataclass
class Case:
    file: str
    kernel: str
    grid: str
    arguments: dict  # name -> number, bool, None, str, DTypeName or TensorSpec
    texts: dict  # name -> the VALUE as it is written
    where: str
    exact: bool = False
    nonfinite: bool = False
    skip: list = dataclasses.field(default_factory=list)
    off_by: dict = dataclasses.field(default_factory=dict)
    only: list = dataclasses.field(default_factory=list)
    num_warps: int = 4
    seed: int = 0

    @property
    def repository(self):
        return "own" if self.file.startswith(("kernels/", "examples/")) else self.file.split("/")[0]

    def tensors(self):
        return {n: v for n, v in self.arguments.items() if isinstance(v, TensorSpec)}


def parse_tensor(text):
    """The TensorSpec that `text` names, or None when it does not look like one."""
    match = TENSOR.match(text)
    if not match:
        return None
    generator, parameters, factor, dtype, shape = match.groups()
    if dtype not in DTYPES:
        raise CaseError(f"'{text}' has the unknown dtype '{dtype}'")
    sizes = tuple(int(s) for s in shape.split(",") if s.strip())
    numbers = [float(p) if re.search(r"[.e]|inf|nan", p) else int(p)
               for p in (parameters or "").split(",") if p.strip()]
    return TensorSpec(generator, numbers, float(factor or 1), DTYPES[dtype], sizes)


def parse_value(text):
    words = {"true": True, "false": False, "none": None, "inf": math.inf, "-inf": -math.inf}
    if text.lower() in words:
        return words[text.lower()]
    if re.fullmatch(r"[-+]?\d+", text):
        return int(text)
    if re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", text, re.I):
        return float(text)
    if text.startswith("tl.") and text[3:] in DTYPES:
        return DTypeName(text[3:])
    return parse_tensor(text) or text


def _take_option(case, option, rest, where):
    flags = {"--exact": "exact", "--nonfinite": "nonfinite"}
    if option in flags:
        setattr(case, flags[option], True)
        return
    if not rest:
        raise CaseError(f"{where}: '{option}' needs a value")
    value = rest.pop(0)
    if option == "--grid":
        case.grid = value
    elif option == "--skip":
        case.skip += value.split(",")
    elif option == "--only":
        case.only += value.split(",")
    elif option == "--off-by":
        name, _, count = value.partition("=")
        case.off_by[name] = int(count)
    elif option in ("--num-warps", "--seed"):
        setattr(case, option[2:].replace("-", "_"), int(value))
    else:
        raise CaseError(f"{where}: unknown option '{option}'")


def parse_case(text, where):
    words = shlex.split(text, comments=True)
    file, _, kernel = words.pop(0).rpartition(":")
    if not file:
        raise CaseError(f"{where}: a case starts with FILE:KERNEL")
    case = Case(file, kernel, "", {}, {}, where)
    while words:
        word = words.pop(0)
        if word.startswith("--"):
            _take_option(case, word, words, where)
            continue
        name, equals, value = word.partition("=")
        if not equals or not name.isidentifier():
            raise CaseError(f"{where}: '{word}' is not NAME=VALUE")
        if name in case.arguments:
            raise CaseError(f"{where}: '{name}' is given twice")
        case.arguments[name] = parse_value(value)
        case.texts[name] = value
    if not case.grid:
        raise CaseError(f"{where}: no --grid")
    for name in [*case.skip, *case.off_by]:
        if name not in case.tensors():
            raise CaseError(f"{where}: '{name}' is not a tensor of this case")
    return case


def read_cases(path):
    path = pathlib.Path(path)
    blocks = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line[0].isspace():
            if not blocks:
                raise CaseError(f"{path.name}:{number}: a continuation without a case")
            blocks[-1][1].append(line)
        else:
            blocks.append((number, [line]))
    return [parse_case("\n".join(lines), f"{path.name}:{number}") for number, lines in blocks]


def grid_sizes(text, arguments):
    """The launch grid: `text` is one to three expressions over the scalar arguments."""
    names = {n: v for n, v in arguments.items() if not isinstance(v, TensorSpec)}
    names.update(cdiv=lambda a, b: -(-a // b), min=min, max=max)
    tree = ast.parse(f"({text},)", mode="eval")
    sizes = eval(compile(tree, "<grid>", "eval"), {"__builtins__": {}}, names)
    return tuple(int(size) for size in sizes)
