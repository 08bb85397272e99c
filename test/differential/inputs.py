# SPDX-License-Identifier: Apache-2.0
# differential/inputs.py — the generated tensors of a case, and the types NumPy lacks.
"""bf16 and fp8 values travel as float32 arrays that hold exactly representable values."""
import zlib

import numpy

NUMPY_TYPES = {
    "f64": numpy.float64, "f32": numpy.float32, "f16": numpy.float16, "bf16": numpy.float32,
    "f8e4m3": numpy.float32, "f8e5m2": numpy.float32, "i8": numpy.int8, "i16": numpy.int16,
    "i32": numpy.int32, "i64": numpy.int64, "u8": numpy.uint8, "u16": numpy.uint16,
    "u32": numpy.uint32, "u64": numpy.uint64, "bool": numpy.bool_,
}
# Stored bits of the significand, exponent of the smallest normal number, largest finite value.
FLOAT_FORMATS = {
    "f64": (52, -1022, None), "f32": (23, -126, None), "f16": (10, -14, None),
    "bf16": (7, -126, None), "f8e4m3": (3, -6, 448.0), "f8e5m2": (2, -14, 57344.0),
}
EMPTY_FLOAT = -77.0  # unwritten elements of an output stay recognisable
EMPTY_INTEGER = 77


def is_float(dtype):
    return dtype in FLOAT_FORMATS


def ulp(values, dtype):
    """The distance to the next number of `dtype`, elementwise, as float64."""
    bits, lowest, _ = FLOAT_FORMATS[dtype]
    magnitude = numpy.abs(numpy.asarray(values, numpy.float64))
    magnitude = numpy.where(numpy.isfinite(magnitude), magnitude, 1.0)
    exponent = numpy.frexp(numpy.maximum(magnitude, 2.0**lowest))[1] - 1
    return numpy.ldexp(1.0, exponent - bits)


def round_to(values, dtype):
    """Rounds to nearest even in a format that NumPy lacks; the result stays float32."""
    if dtype not in ("bf16", "f8e4m3", "f8e5m2"):
        return values
    unit = ulp(values, dtype)
    finite = numpy.isfinite(values)
    rounded = numpy.where(finite, numpy.rint(values / unit) * unit, values)
    largest = FLOAT_FORMATS[dtype][2]
    if largest:
        rounded = numpy.clip(rounded, -largest, largest)
    return rounded.astype(numpy.float32)


def _special(random, count):
    """Numbers at the edges: signed zeros, denormals, infinities, NaN, huge and tiny values."""
    edges = [0.0, -0.0, 1.0, -1.0, numpy.inf, -numpy.inf, numpy.nan, 1e-40, -1e-40, 3e38, -3e38,
             65504.0, 65520.0, 0.5, 1.5, 2.5, -2.5, 1e-7, 2147483648.0, 16777217.0]
    values = random.standard_normal(count)
    values[: min(count, len(edges))] = edges[:count]
    return values


GENERATORS = {
    "randn": lambda random, count: random.standard_normal(count),
    "rand": lambda random, count, low=0.0, high=1.0: random.uniform(low, high, count),
    "randint": lambda random, count, low, high: random.integers(low, high, count),
    "bits": lambda random, count: random.integers(-(2**63), 2**63 - 1, count),
    "perm": lambda random, count: random.permutation(count),
    "zeros": lambda random, count: numpy.zeros(count),
    "ones": lambda random, count: numpy.ones(count),
    "full": lambda random, count, value: numpy.full(count, value),
    "arange": lambda random, count, start=0, step=1: start + step * numpy.arange(count),
    "list": lambda random, count, *values: numpy.resize(numpy.array(values), count),
    "special": _special,
}


def generate(name, spec, seed):
    """The array of one argument; the same for the same name, spec and seed."""
    kind = NUMPY_TYPES[spec.dtype]
    count = int(numpy.prod(spec.shape, dtype=numpy.int64))
    if spec.generator == "empty":
        value = EMPTY_FLOAT if is_float(spec.dtype) else EMPTY_INTEGER
        return round_to(numpy.full(spec.shape, value).astype(kind), spec.dtype)
    random = numpy.random.default_rng([seed, zlib.crc32(name.encode())])
    values = GENERATORS[spec.generator](random, count, *spec.parameters)
    if spec.factor != 1:
        values = values * spec.factor
    with numpy.errstate(over="ignore"):
        return round_to(values.astype(kind).reshape(spec.shape), spec.dtype)
