# SPDX-License-Identifier: Apache-2.0
# differential/ttir_numbers.py — types of TTIR, and what its arithmetic gives, as NumPy arrays.
"""Integers have no sign in TTIR; their arrays are signed, and ops that read them otherwise say so.
Where NVIDIA's processors define what LLVM leaves open, they are followed: quotients by 0, floats
beyond an integer or an 8-bit float, shifts by more than the width.
"""
import dataclasses
import math
import re

import ml_dtypes
import numpy

import half_turns

NUMPY = {
    "i1": numpy.bool_, "i8": numpy.int8, "i16": numpy.int16, "i32": numpy.int32,
    "i64": numpy.int64, "f16": numpy.float16, "bf16": ml_dtypes.bfloat16, "f32": numpy.float32,
    "f64": numpy.float64, "f8E5M2": ml_dtypes.float8_e5m2, "f8E4M3FN": ml_dtypes.float8_e4m3fn,
}
LARGEST = {"float8_e5m2": 57344.0, "float8_e4m3fn": 448.0}


@dataclasses.dataclass
class Type:
    shape: tuple
    element: str

    @property
    def numpy(self):
        return numpy.int64 if self.element.startswith("!tt.ptr") else NUMPY[self.element]


def read_type(text):
    text, shape = text.strip(), []
    if text.startswith("tensor<"):
        text = text[len("tensor<"):-1]
        while size := re.match(r"(\d+)x", text):
            shape.append(int(size[1]))
            text = text[size.end():]
    return Type(tuple(shape), re.sub(r"^[su]i(\d+)$", r"i\1", text))


def unsigned(values):
    return values if values.dtype == bool else values.view(f"u{values.dtype.itemsize}")


def read_constant(text, kind):
    """`dense<1.0>`, 0x7F800000, -3 or true as an array of a type."""
    text = re.sub(r"^dense<(.*)>$", r"\1", text)
    element = numpy.dtype(kind.numpy)
    if text in ("true", "false"):
        value = numpy.array(text == "true")
    elif element.kind == "i":
        value = numpy.array(int(text) % 2**64, numpy.uint64).astype(f"u{element.itemsize}")
        value = value.view(element)
    elif text.startswith("0x"):
        value = numpy.array(int(text, 16), f"u{element.itemsize}").view(element)
    else:
        value = numpy.array(float(text)).astype(element)
    return numpy.full(kind.shape, value)


# ---- Integers

def quotient(a, b):
    """Toward zero; by 0 all bits are set."""
    if a.dtype == bool:
        return a | ~b
    bits = 8 * a.dtype.itemsize
    least = -(2**(bits - 1)) if a.dtype.kind == "i" else 0

    def divide(x, y):
        whole = abs(x) // abs(y) if y else 2**bits - 1
        whole = -whole if (x < 0) != (y < 0) and y else whole
        return (whole - least) % 2**bits + least  # the least number by -1 wraps

    wholes = numpy.frompyfunc(divide, 2, 1)(a.astype(object), b.astype(object))
    return numpy.asarray(wholes).astype(a.dtype)


def remainder(a, b):
    """With the sign of the dividend; by 0 the dividend."""
    if a.dtype == bool:
        return a & ~b
    safe = numpy.where(b == 0, 1, b).astype(a.dtype)
    return numpy.where(b == 0, a, a - quotient(a, safe) * safe).astype(a.dtype)


def shifted(a, amount, left):
    """All bits fall out of one that is shifted by its width or more, but those of its sign."""
    if a.dtype == bool:
        return a & ~amount
    width = 8 * a.dtype.itemsize
    count = unsigned(amount).astype(numpy.uint64)
    near = numpy.where(count < width, count, 0).astype(a.dtype)
    result = a << near if left else a >> near
    beyond = 0 if left or a.dtype.kind == "u" else numpy.where(a < 0, -1, 0)
    return numpy.where(count < width, result, beyond).astype(a.dtype)


def as_unsigned(function):
    def call(*values):
        result = function(*(unsigned(v) for v in values))
        return result if result.dtype == bool else result.view(values[0].dtype)
    return call


def signless(on_numbers, on_bools):
    return lambda a, b: on_bools(a, b) if a.dtype == bool else on_numbers(a, b)


ORDERS = {"eq": numpy.equal, "ne": numpy.not_equal, "lt": numpy.less, "le": numpy.less_equal,
          "gt": numpy.greater, "ge": numpy.greater_equal}


def compare_integers(predicate, a, b):
    if predicate in ORDERS:
        return ORDERS[predicate](a, b)
    a, b = (unsigned(a), unsigned(b)) if predicate[0] == "u" else (a, b)
    return ORDERS[predicate[1:]](a, b)


# ---- Floats

def is_nan(values):
    return numpy.isnan(values.astype(numpy.float64))


def compare_floats(predicate, a, b):
    result = ORDERS[predicate[1:]](a, b)
    odd = is_nan(a) | is_nan(b)
    return result & ~odd if predicate[0] == "o" else result | odd


def rounded(function):
    """In float64, rounded once to the type of the first operand."""
    def call(*values):
        result = function(*(v.astype(numpy.float64) for v in values))
        return numpy.asarray(result).astype(values[0].dtype)
    return call


def cut(values, kind):
    """Toward zero."""
    near = values.astype(kind)
    bits = near.view(f"u{near.dtype.itemsize}")
    is_above = numpy.abs(near.astype(numpy.float64)) > numpy.abs(values.astype(numpy.float64))
    return numpy.where(is_above, bits - 1, bits).astype(bits.dtype).view(kind)


def to_float(values, kind, rounding="rtne"):
    kind = numpy.dtype(kind)
    if rounding == "rtz":
        return cut(values, kind)
    if kind.name in LARGEST and values.dtype.itemsize > 1:
        most = LARGEST[kind.name]
        finite = numpy.clip(values.astype(numpy.float64), -most, most)
        values = numpy.where(is_nan(values), numpy.nan, finite)
    return values.astype(kind)


def to_integer(values, kind):
    """Floats beyond the type give its nearest number, NaN 0."""
    limits = numpy.iinfo(kind)
    whole = numpy.trunc(values.astype(numpy.float64))
    inside = (whole >= float(limits.min)) & (whole < float(limits.max) + 1)
    result = numpy.where(inside, whole, 0).astype(kind)
    result = numpy.where(~inside & (whole > 0), limits.max, result)
    return numpy.where(~inside & (whole < 0), limits.min, result).astype(kind)


def from_integer(values, kind):
    return values.astype(kind if numpy.dtype(kind).itemsize >= 4 else numpy.float64).astype(kind)


# ---- Tables: by the name of an op; the second kind gets the type of the result as well

ARITHMETIC = {
    "addi": signless(numpy.add, numpy.not_equal), "subi": signless(numpy.subtract, numpy.not_equal),
    "muli": signless(numpy.multiply, numpy.logical_and), "divsi": quotient, "remsi": remainder,
    "divui": as_unsigned(quotient), "remui": as_unsigned(remainder),
    "andi": numpy.bitwise_and, "ori": numpy.bitwise_or, "xori": numpy.bitwise_xor,
    "shli": as_unsigned(lambda a, b: shifted(a, b, True)),
    "shrsi": lambda a, b: shifted(a, b, False),
    "shrui": as_unsigned(lambda a, b: shifted(a, b, False)),
    "maxsi": numpy.maximum, "minsi": numpy.minimum,
    "maxui": as_unsigned(numpy.maximum), "minui": as_unsigned(numpy.minimum),
    "addf": numpy.add, "subf": numpy.subtract, "mulf": numpy.multiply, "divf": numpy.divide,
    "remf": rounded(numpy.fmod), "negf": numpy.negative, "select": numpy.where,
    "maxnumf": rounded(numpy.fmax), "minnumf": rounded(numpy.fmin),
    "maximumf": rounded(numpy.maximum), "minimumf": rounded(numpy.minimum),
}


def bits_as(values, kind):
    if values.dtype == bool or kind == bool:
        return values.astype(kind)
    return numpy.ascontiguousarray(values).view(kind).reshape(values.shape)


def signed(values):
    return numpy.where(values, -1, 0) if values.dtype == bool else values


CONVERSIONS = {
    "extsi": lambda v, kind: signed(v).astype(kind),
    "extui": lambda v, kind: unsigned(v).astype(kind),
    "trunci": lambda v, kind: (v & 1 if kind == bool else v).astype(kind),
    "extf": to_float, "truncf": to_float, "bitcast": bits_as,
    "sitofp": lambda v, kind: from_integer(signed(v), kind),
    "uitofp": lambda v, kind: from_integer(unsigned(v), kind),
    "fptosi": to_integer,
    "fptoui": lambda v, kind: to_integer(v, f"u{numpy.dtype(kind).itemsize}").view(kind),
}

FUNCTIONS = {
    "exp": numpy.exp, "exp2": numpy.exp2, "log": numpy.log, "log2": numpy.log2, "sin": numpy.sin,
    "cos": numpy.cos, "sqrt": numpy.sqrt, "rsqrt": lambda x: 1 / numpy.sqrt(x), "tanh": numpy.tanh,
    "erf": numpy.vectorize(math.erf, [float]), "floor": numpy.floor, "ceil": numpy.ceil,
    "absf": numpy.abs, "fma": lambda a, b, c: a * b + c, "pow": numpy.power, "powi": numpy.power,
    "rint": numpy.rint, "trunc": numpy.trunc, "log1p": numpy.log1p, "expm1": numpy.expm1,
    "atan": numpy.arctan, "atan2": numpy.arctan2, "asin": numpy.arcsin, "acos": numpy.arccos,
    "fmod": numpy.fmod, "ldexp": lambda x, n: numpy.ldexp(x, n.astype(int)),
    "round": lambda x: numpy.copysign(numpy.floor(numpy.abs(x) + 0.5), x),
    **half_turns.FUNCTIONS,
}
TESTS = {"isnan": is_nan, "isinf": lambda x: numpy.isinf(x.astype(numpy.float64)),
         "finite": lambda x: numpy.isfinite(x.astype(numpy.float64)),
         "isfinite": lambda x: numpy.isfinite(x.astype(numpy.float64))}


def library_function(symbol, operands, kind):
    """A function of NVIDIA's device library, such as __nv_tanhf."""
    name = symbol.removeprefix("__nv_").removeprefix("fast_")
    for known in (name, name.removesuffix("f"), name.removesuffix("d")):
        if known in TESTS:
            return TESTS[known](operands[0]).astype(kind)
        if known in FUNCTIONS:
            return rounded(FUNCTIONS[known])(*operands)
        if known in ("llrint", "llround"):
            return rounded(FUNCTIONS[known[2:]])(*operands).astype(kind)
    raise NotImplementedError(symbol)
