# SPDX-License-Identifier: Apache-2.0
# differential/ttir_memory.py — the memory that an interpreted TTIR kernel sees.
"""Every array has pages of its own; pointers are addresses. What belongs to no array must not be
written, and reads as a pattern: the compiler drops loads that nothing needs only later.
"""
import dataclasses

import numpy

PAGE = 4096
NOBODYS = 0xA5  # each byte of memory that belongs to no tensor


@dataclasses.dataclass
class BlockPointer:
    """Of a block pointer or a tensor descriptor: a tensor in memory, and a block in it."""

    base: int
    shape: list
    strides: list
    offsets: list
    block: tuple
    dtype: numpy.dtype
    padding: float = 0.0

    def places(self, checked):
        """The addresses of the block, and which are inside in the `checked` dimensions."""
        rank = len(self.block)
        address, inside = numpy.array(self.base), numpy.array(True)
        for d, size in enumerate(self.block):
            index = self.offsets[d] + numpy.arange(size)
            index = index.reshape([-1 if k == d else 1 for k in range(rank)])
            address = address + index * self.strides[d] * self.dtype.itemsize
            if d in checked:
                inside = inside & (index >= 0) & (index < self.shape[d])
        return numpy.broadcast_to(address, self.block), numpy.broadcast_to(inside, self.block)


@dataclasses.dataclass
class DescribedArray:
    """An argument that is a tensor descriptor which the host made."""

    array: numpy.ndarray
    shape: list
    strides: list
    block: tuple

    def at(self, start):
        return BlockPointer(start, self.shape, self.strides, [], self.block, self.array.dtype)


@dataclasses.dataclass
class ArrayPart:
    """A pointer argument to an element of an array, to which others may point as well."""

    array: numpy.ndarray
    start: int

    def at(self, start):
        return numpy.array(start + self.start * self.array.itemsize)


class Memory:
    def __init__(self, arrays):
        self.starts, end = {}, PAGE  # by the array, which may be there several times
        for array in arrays:
            if id(array) not in self.starts:
                self.starts[id(array)] = end
                end += -(-array.nbytes // PAGE) * PAGE + PAGE
        self.bytes = numpy.zeros(end, numpy.uint8)
        self.owned = numpy.zeros(end, bool)
        for array in arrays:
            start = self.starts[id(array)]
            self.bytes[start:start + array.nbytes] = numpy.frombuffer(array.tobytes(), numpy.uint8)
            self.owned[start:start + array.nbytes] = True

    def after(self, array):
        """The array as the kernel leaves it."""
        start = self.starts.get(id(array))
        if start is None:
            return array
        raw = self.bytes[start:start + array.nbytes].copy()
        return raw.view(array.dtype).reshape(array.shape)

    def _lanes(self, address, mask, size):
        """The elements that are wanted, the places of their bytes, and which of these are owned."""
        wanted = numpy.broadcast_to(True if mask is None else mask, address.shape).ravel()
        places = address.ravel()[wanted][:, None] + numpy.arange(size)
        known = (places >= 0) & (places < self.owned.size)
        places = numpy.where(known, places, 0)
        return wanted, places, self.owned[places]

    def load(self, address, dtype, mask=None, other=None):
        dtype = numpy.dtype(dtype)
        wanted, places, owned = self._lanes(address, mask, dtype.itemsize)
        raw = numpy.zeros((address.size, dtype.itemsize), numpy.uint8)
        raw[wanted] = numpy.where(owned, self.bytes[places], NOBODYS)
        values = raw.view(dtype).reshape(address.shape)
        if other is None:
            return values
        return numpy.where(wanted.reshape(address.shape), values, other).astype(dtype)

    def store(self, address, values, mask=None):
        size = values.dtype.itemsize
        wanted, places, owned = self._lanes(address, mask, size)
        if not owned.all():
            raise IndexError("the kernel writes memory that belongs to no tensor")
        values = numpy.ascontiguousarray(numpy.broadcast_to(values, address.shape))
        raw = values.view(numpy.uint8).reshape(-1, size)
        self.bytes[places] = raw[wanted]  # of equal addresses the last one stays

    def update(self, address, values, mask, change):
        """change(old, value) element after element; gives the old values."""
        values = numpy.broadcast_to(values, address.shape)
        old = numpy.zeros(address.shape, values.dtype)
        wanted = numpy.broadcast_to(True if mask is None else mask, address.shape)
        for at in numpy.ndindex(*address.shape):
            if wanted[at]:
                old[at] = self.load(address[at], values.dtype)
                new = numpy.asarray(change(old[at], values[at]))
                self.store(address[at], new.astype(values.dtype))
        return old
