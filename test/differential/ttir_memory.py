# SPDX-License-Identifier: Apache-2.0
# differential/ttir_memory.py — the memory that an interpreted TTIR kernel sees.
"""Every array has pages of its own; pointers are addresses. What belongs to no array must not be
touched.
"""
import dataclasses

import numpy

PAGE = 4096


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


class Memory:
    def __init__(self, arrays):
        self.starts, end = [], PAGE
        for array in arrays:
            self.starts.append(end)
            end += -(-array.nbytes // PAGE) * PAGE + PAGE
        self.bytes = numpy.zeros(end, numpy.uint8)
        self.owned = numpy.zeros(end, bool)
        for start, array in zip(self.starts, arrays):
            self.bytes[start:start + array.nbytes] = numpy.frombuffer(array.tobytes(), numpy.uint8)
            self.owned[start:start + array.nbytes] = True

    def array(self, number, like):
        start = self.starts[number]
        return self.bytes[start:start + like.nbytes].copy().view(like.dtype).reshape(like.shape)

    def _lanes(self, address, mask, size):
        wanted = numpy.broadcast_to(True if mask is None else mask, address.shape).ravel()
        places = address.ravel()[wanted][:, None] + numpy.arange(size)
        if (places < 0).any() or (places >= self.owned.size).any() or not self.owned[places].all():
            raise IndexError("the kernel touches memory that belongs to no tensor")
        return wanted, places

    def load(self, address, dtype, mask=None, other=None):
        dtype = numpy.dtype(dtype)
        wanted, places = self._lanes(address, mask, dtype.itemsize)
        raw = numpy.zeros((address.size, dtype.itemsize), numpy.uint8)
        raw[wanted] = self.bytes[places]
        values = raw.view(dtype).reshape(address.shape)
        if other is None:
            return values
        return numpy.where(wanted.reshape(address.shape), values, other).astype(dtype)

    def store(self, address, values, mask=None):
        size = values.dtype.itemsize
        wanted, places = self._lanes(address, mask, size)
        values = numpy.ascontiguousarray(numpy.broadcast_to(values, address.shape))
        raw = values.view(numpy.uint8).reshape(-1, size)
        for place, element in zip(places, raw[wanted]):  # of equal addresses the last one stays
            self.bytes[place] = element

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
