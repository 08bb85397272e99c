# SPDX-License-Identifier: Apache-2.0
# differential/rounding_bounds.py — by how much two results of a guessed launch may differ.
"""The rule by which `run --guess` compares a device with the interpreter
(src/compiler/triton/guess/agreement.cpp): a few units in the last place, and four times what
runs that round by chance move.
"""
import numpy

from inputs import FLOAT_FORMATS

SPREAD_FACTOR = 4


def allowed(expected, before, rounded, dtype):
    """How far each float may be off: a few units, and what rounding by chance moves."""
    unit = 2.0**(1 - FLOAT_FORMATS[dtype][0])
    written = numpy.isfinite(expected) & (expected != before)
    floor = numpy.max(numpy.abs(expected), where=written, initial=0) * (
        2.0**-44 if dtype == "f64" else 2.0**-19)
    spread = numpy.zeros(expected.shape)
    for run in rounded:
        distance = numpy.where(same_kind(expected, run), numpy.abs(run - expected), numpy.inf)
        spread = numpy.fmax(spread, distance)
    finite = spread[written & numpy.isfinite(spread)]
    of_tensor = numpy.sqrt(numpy.mean(finite**2)) if finite.size else 0.0
    return unit * numpy.abs(expected) + floor + SPREAD_FACTOR * (spread + of_tensor)


def same_kind(a, b):
    odd = numpy.isnan(a) | numpy.isnan(b) | numpy.isinf(a) | numpy.isinf(b)
    return ~odd | (a == b) | (numpy.isnan(a) & numpy.isnan(b))


def wrong_places(before, ours, theirs, rounded, dtype):
    if dtype in FLOAT_FORMATS:
        before, ours, theirs, *rounded = (x.astype(numpy.float64)
                                          for x in (before, ours, theirs, *rounded))
        limit = allowed(ours, before, rounded, dtype)
        near = same_kind(ours, theirs) & ~(numpy.abs(ours - theirs) > limit)
        return ~(near | numpy.isinf(limit))
    distance = numpy.abs(ours.astype(object) - theirs.astype(object))
    spread = numpy.max([numpy.abs(ours.astype(object) - r.astype(object)) for r in rounded],
                       axis=0, initial=0)
    return numpy.asarray(distance > numpy.where(numpy.any(spread), 1 + SPREAD_FACTOR * spread, 0),
                         bool)
