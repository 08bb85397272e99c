# SPDX-License-Identifier: Apache-2.0
# differential/ttir_tiles.py — the ops of TTIR on tiles and memory.
import dataclasses
import re

import ml_dtypes
import numpy

from ttir_memory import BlockPointer
from ttir_numbers import (NUMPY, as_unsigned, bits_as, library_function, read_type, rounded,
                          to_float)

UPDATES = {
    "add": lambda a, b: a + b, "fadd": lambda a, b: a + b, "exch": lambda a, b: b,
    "and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b,
    "max": numpy.maximum, "min": numpy.minimum,
    "umax": as_unsigned(numpy.maximum), "umin": as_unsigned(numpy.minimum),
}


def run(machine, op, name, values, known):
    function = OPS.get(name)
    if function:
        return function(machine, op, values, known)
    if name in VIEWS:
        return VIEWS[name](values, op, read_type(op.types.split(" -> ")[-1]))
    raise NotImplementedError(op.name)


# ---- The same elements in another shape

def axis_of(op):
    return op.integer("axis")


def transposed(values, op, to):
    return values[0].transpose([int(d) for d in op.attribute(r"i32: ([^>]*)>").split(",")])


def counted(values, op, to):
    return numpy.arange(op.integer("start"), op.integer("end"), dtype=numpy.int32)


def converted(values, op, to):
    return to_float(values[0], to.numpy, op.attribute(r"rounding = (\w+)", "rtne"))


def from_library(values, op, to):
    return library_function(op.attribute(r'symbol = "(\w+)"'), values, to.numpy)


VIEWS = {
    "splat": lambda v, op, to: numpy.broadcast_to(v[0], to.shape),
    "broadcast": lambda v, op, to: numpy.broadcast_to(v[0], to.shape),
    "unsplat": lambda v, op, to: v[0].reshape(()),
    "expand_dims": lambda v, op, to: numpy.expand_dims(v[0], axis_of(op)),
    "reshape": lambda v, op, to: v[0].reshape(to.shape),
    "trans": transposed,
    "join": lambda v, op, to: numpy.stack(v, -1),
    "split": lambda v, op, to: [v[0][..., 0], v[0][..., 1]],
    "cat": lambda v, op, to: numpy.concatenate(v),
    "gather": lambda v, op, to: numpy.take_along_axis(v[0], v[1].astype(numpy.int64), axis_of(op)),
    "make_range": counted,
    "bitcast": lambda v, op, to: v[0] if to.element.startswith("!") else bits_as(v[0], to.numpy),
    "ptr_to_int": lambda v, op, to: v[0].astype(to.numpy),
    "int_to_ptr": lambda v, op, to: v[0].astype(numpy.int64),
    "fp_to_fp": converted,
    "precise_sqrt": lambda v, op, to: numpy.sqrt(v[0]),
    "precise_divf": lambda v, op, to: v[0] / v[1],
    "extern_elementwise": from_library,
}


# ---- Values of programs, calls, arithmetic

def program_id(machine, op, values, known):
    numbers = machine.program if op.name == "tt.get_program_id" else machine.grid
    return numpy.array(numbers["xyz".index(op.text[-1])], numpy.int32)


def callee(op):
    return op.attribute(r'@("[^"]*"|[^(]+)\(').strip('"')


def call(machine, op, values, known):
    return machine.call(callee(op), values)


def clamp(machine, op, values, known):
    high, low = numpy.fmax, numpy.fmin
    if "propagateNan = all" in op.text:
        high, low = numpy.maximum, numpy.minimum
    return rounded(lambda x, least, most: low(high(x, least), most))(*values)


def high_product(machine, op, values, known):
    bits = 8 * values[0].dtype.itemsize

    def multiply(a, b):
        return numpy.asarray(a.astype(object) * b.astype(object) >> bits).astype(a.dtype)

    return as_unsigned(multiply)(*values)


def histogram(machine, op, values, known):
    numbers = values[0][values[1]] if len(values) > 1 else values[0]
    bins = read_type(op.types.split(" -> ")[-1]).shape[0]
    inside = numbers[(numbers >= 0) & (numbers < bins)]
    return numpy.bincount(inside, minlength=bins).astype(numpy.int32)


# ---- Reductions and scans: slices along the axis are combined as wholes

def slices(values, axis):
    return [[numpy.take(v, i, axis) for v in values] for i in range(values[0].shape[axis])]


def is_elementwise(machine, blocks):
    """Whether a region may be run on many elements at once: nothing in it chooses a way."""
    return all(op.name not in ("scf.if", "scf.while", "scf.for", "cf.cond_br") and
               (op.name != "tt.call" or
                is_elementwise(machine, machine.functions[callee(op)].blocks))
               for block in blocks for op in block.ops)


def combined(machine, op, values, known):
    """What the region of an op gives for elements, all at once where it can."""
    region = op.regions[0]
    if is_elementwise(machine, region):
        return machine.region(region, [], values, known)
    elements = [machine.region(region, [], [v[at] for v in values], known)
                for at in numpy.ndindex(values[0].shape)]
    return [numpy.array(list(column)).reshape(values[0].shape) for column in zip(*elements)]


def reduce(machine, op, values, known):
    """Neighbours first, as pairs."""
    values = [numpy.moveaxis(v, axis_of(op), 0) for v in values]
    while len(values[0]) > 1:
        pairs = [v[0::2] for v in values] + [v[1::2] for v in values]
        values = [numpy.broadcast_to(v, pairs[0].shape)
                  for v in combined(machine, op, pairs, known)]
    return [v[0] for v in values]


def scan(machine, op, values, known):
    axis, is_reverse = axis_of(op), "reverse = true" in op.text
    parts = slices(values, axis)[::-1 if is_reverse else 1]
    for i in range(1, len(parts)):
        parts[i] = combined(machine, op, parts[i - 1] + parts[i], known)
    parts = parts[::-1 if is_reverse else 1]
    return [numpy.stack([part[k] for part in parts], axis) for k in range(len(values))]


def map_elements(machine, op, values, known):
    """A function of single elements; as many of them at a time as are packed."""
    pack = op.integer("pack")
    if pack != 1:
        raise NotImplementedError("tt.map_elementwise of packed elements")
    return combined(machine, op, values, known)


# ---- Products

def product(a, b, start):
    wide = numpy.int64 if start.dtype.kind == "i" else numpy.float64
    return (a.astype(wide) @ b.astype(wide) + start.astype(wide)).astype(start.dtype)


def unpacked(values, kind, axis):
    """The numbers of a scaled operand; of e2m1 two lie in a byte, the first in its lower half."""
    bits = numpy.ascontiguousarray(values)
    if kind == "e2m1":
        halves = [numpy.array([0, .5, 1, 1.5, 2, 3, 4, 6, -0., -.5, -1, -1.5, -2, -3, -4, -6])[half]
                  for half in (bits.view(numpy.uint8) & 15, bits.view(numpy.uint8) >> 4)]
        shape = [2 * n if d == axis else n for d, n in enumerate(values.shape)]
        return numpy.stack(halves, axis + 1).reshape(shape)
    if values.dtype.kind == "i":
        bits = bits.view({"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}[kind])
    return bits.astype(numpy.float64)


def scaled(values, scale):
    if scale is None:
        return values.astype(ml_dtypes.bfloat16)
    code = numpy.ascontiguousarray(scale).view(numpy.uint8).astype(numpy.float64)
    factor = numpy.where(code == 255, numpy.nan, 2.0**(code - 127))
    return (values * numpy.repeat(factor, 32, 1)).astype(ml_dtypes.bfloat16)


def dot_scaled(machine, op, values, known):
    names = re.match(r"tt\.dot_scaled (\S+?)(?: scale (\S+?))?, (\S+?)(?: scale (\S+?))?, (\S+) "
                     r"lhs = (\w+) rhs = (\w+)", op.text).groups()
    a, scale_a, b, scale_b, start = (known.get(name) for name in names[:5])
    left = unpacked(a, names[5], 0 if "lhs_k_pack = false" in op.text else 1)
    right = unpacked(b, names[6], 1 if "rhs_k_pack = false" in op.text else 0)
    return product(scaled(left, scale_a), scaled(right.T, scale_b).T, start)


# ---- Memory

def pointee(op):
    """What the pointers that the types begin with point to."""
    return NUMPY.get(re.search(r"!tt\.ptr<(!?[\w.]+)", op.types)[1], numpy.int64)


def add_pointer(machine, op, values, known):
    return values[0] + values[1].astype(numpy.int64) * numpy.dtype(pointee(op)).itemsize


def checked_dimensions(op):
    return [int(d) for d in op.attribute(r"boundaryCheck = array<i32: (.*?)>", "").split(",") if d]


def load(machine, op, values, known):
    if isinstance(values[0], BlockPointer):
        block = values[0]
        padding = numpy.array(numpy.nan if "padding = 2" in op.text else 0).astype(block.dtype)
        return machine.memory.load(*in_order(block, block.places(checked_dimensions(op)), padding))
    return machine.memory.load(values[0], pointee(op), *values[1:3])


def in_order(block, places, padding):
    return places[0], block.dtype, places[1], padding


def store(machine, op, values, known):
    if isinstance(values[0], BlockPointer):
        address, inside = values[0].places(checked_dimensions(op))
        machine.memory.store(address, values[1], inside)
    else:
        machine.memory.store(values[0], *values[1:3])
    return []


def atomic_update(machine, op, values, known):
    change = UPDATES[op.attribute(r"tt\.atomic_rmw (\w+)")]
    return machine.memory.update(*values, *[None] * (3 - len(values)), change)


def atomic_exchange(machine, op, values, known):
    expected = iter(numpy.broadcast_to(values[1], values[0].shape).ravel())

    def exchange(old, new):
        return new if old.tobytes() == next(expected).tobytes() else old

    return machine.memory.update(values[0], values[2], None, exchange)


def block_pointer(machine, op, values, known):
    kind = read_type(re.search(r"<(tensor<[^>]*>)>$", op.types)[1])
    numbers = [int(v) for v in values]
    rank = len(kind.shape)
    parts = [numbers[1 + k * rank:1 + (k + 1) * rank] for k in range(3)]
    padding = numpy.nan if op.attribute("padding = (2)") else 0.0
    return BlockPointer(numbers[0], *parts, kind.shape, numpy.dtype(kind.numpy), padding)


def advance(machine, op, values, known):
    offsets = [int(numpy.int32(a) + v) for a, v in zip(values[0].offsets, values[1:])]
    return dataclasses.replace(values[0], offsets=offsets)


def described(values):
    """The block of a descriptor at the offsets that follow it, and its places."""
    rank = len(values[0].block)
    block = dataclasses.replace(values[0], offsets=[int(v) for v in values[1:1 + rank]])
    return block, block.places(range(rank))


def descriptor_load(machine, op, values, known):
    block, places = described(values)
    padding = numpy.array(block.padding).astype(block.dtype)
    result = machine.memory.load(*in_order(block, places, padding))
    return result.reshape(read_type(op.types.split(" -> ")[1]).shape)


def descriptor_store(machine, op, values, known):
    block, (address, inside) = described(values)
    value = values[-1].reshape(block.block)
    if op.name == "tt.descriptor_store":
        machine.memory.store(address, value, inside)
    else:
        change = UPDATES[op.attribute(r"tt\.descriptor_reduce (\w+)")]
        machine.memory.update(address, value, inside, change)
    return []


def rows(values):
    """The places of the rows that a descriptor of one row gathers or scatters."""
    block, numbers, column = values[0], values[1].astype(numpy.int64)[:, None], int(values[2])
    columns = column + numpy.arange(block.block[1])[None, :]
    inside = (numbers >= 0) & (numbers < block.shape[0])
    inside = inside & (columns >= 0) & (columns < block.shape[1])
    elements = numbers * block.strides[0] + columns * block.strides[1]
    return block.base + elements * block.dtype.itemsize, inside


def descriptor_gather(machine, op, values, known):
    address, inside = rows(values)
    return machine.memory.load(address, values[0].dtype, inside)


def descriptor_scatter(machine, op, values, known):
    address, inside = rows(values)
    machine.memory.store(address, values[3], inside)
    return []


OPS = {
    "get_program_id": program_id, "get_num_programs": program_id, "call": call, "clampf": clamp,
    "mulhiui": high_product, "histogram": histogram, "reduce": reduce, "scan": scan,
    "map_elementwise": map_elements,
    "dot": lambda machine, op, values, known: product(*values), "dot_scaled": dot_scaled,
    "addptr": add_pointer, "load": load, "store": store, "atomic_rmw": atomic_update,
    "atomic_cas": atomic_exchange,
    "make_tensor_ptr": block_pointer, "make_tensor_descriptor": block_pointer,
    "advance": advance, "descriptor_load": descriptor_load, "descriptor_store": descriptor_store,
    "descriptor_reduce": descriptor_store, "descriptor_gather": descriptor_gather,
    "descriptor_scatter": descriptor_scatter,
    "print": lambda *_: [], "assert": lambda *_: [],
}
