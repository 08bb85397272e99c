# SPDX-License-Identifier: Apache-2.0
# differential/compare.py — when two results of the same kernel count as equal.
"""Integers, random numbers and moved data must agree bit for bit. A float may be wrong by twice the
largest error that Triton itself makes in that tensor, plus 1 ulp, both measured against the float64
reference; NaN and infinities must stand at the same places.
"""
import dataclasses

import numpy

from inputs import is_float, ulp

WITHOUT_REFERENCE_ULPS = 8  # of the largest magnitude, where no float64 reference can be had


@dataclasses.dataclass
class Verdict:
    word: str  # equal (bitwise), close, differs
    error: float = 0.0  # largest error in ulp of the element
    triton_error: float = 0.0
    reason: str = ""

    @property
    def ok(self):
        return self.word in ("equal", "close")


def bits(array):
    """The bytes of the numbers, with one NaN for all NaNs."""
    array = numpy.ascontiguousarray(array)
    if array.dtype.kind == "f":
        array = numpy.where(numpy.isnan(array), numpy.array(numpy.nan, array.dtype), array)
    return array.view(f"u{array.dtype.itemsize}")


def _first(different, ours, theirs):
    index = tuple(int(i) for i in numpy.argwhere(different)[0])
    return f"{int(different.sum())} of {different.size}, first at {list(index)}: " \
           f"{ours[index]!r}, Triton has {theirs[index]!r}"


def _compare_integers(ours, theirs, off_by):
    if ours.dtype.kind == "b":
        different = ours != theirs
        distance = different.astype(int)
    else:
        distance = numpy.abs(ours.astype(object) - theirs.astype(object)) if off_by else \
            (ours != theirs).astype(int)
        different = distance > off_by
    if different.any():
        return Verdict("differs", reason=_first(different, ours, theirs))
    return Verdict("close" if numpy.any(distance) else "equal", float(numpy.max(distance, initial=0)))


def _compare_floats(ours, theirs, dtype, reference):
    a, b = ours.astype(numpy.float64), theirs.astype(numpy.float64)
    odd = ~(numpy.isfinite(a) & numpy.isfinite(b))
    misplaced = odd & ~((a == b) | (numpy.isnan(a) & numpy.isnan(b)))
    if misplaced.any():
        return Verdict("differs", numpy.inf, reason=_first(misplaced, ours, theirs))
    if reference is None:
        unit = ulp(b, dtype)
        allowed = WITHOUT_REFERENCE_ULPS * ulp(numpy.max(numpy.abs(b[~odd]), initial=0), dtype)
        error, own = numpy.where(odd, 0, numpy.abs(a - b)), numpy.zeros_like(b)
    else:
        odd = odd | ~numpy.isfinite(reference)
        unit = ulp(reference, dtype)
        error = numpy.where(odd, 0, numpy.abs(a - reference))
        own = numpy.where(odd, 0, numpy.abs(b - reference))
        allowed = 2 * numpy.max(own, initial=0) + unit
    wrong = error > allowed
    in_ulp = float(numpy.max(error / unit, initial=0)), float(numpy.max(own / unit, initial=0))
    if wrong.any():
        return Verdict("differs", *in_ulp, _first(wrong, ours, theirs))
    return Verdict("close", *in_ulp)


def compare(ours, theirs, dtype, reference=None, exact=False, off_by=0):
    """Judges `ours` by `theirs`, both arrays of `dtype` (bf16 and fp8 as float32)."""
    if ours.shape != theirs.shape:
        return Verdict("differs", reason=f"shape {ours.shape}, Triton has {theirs.shape}")
    if ours.dtype != theirs.dtype:
        return Verdict("differs", reason=f"dtype {ours.dtype}, Triton has {theirs.dtype}")
    if not is_float(dtype):
        return _compare_integers(ours, theirs, off_by)
    different = bits(ours) != bits(theirs)
    if not different.any():
        return Verdict("equal")
    if exact:
        return Verdict("differs", reason=_first(different, ours, theirs))
    return _compare_floats(ours, theirs, dtype, reference)
