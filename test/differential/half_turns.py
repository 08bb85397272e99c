# SPDX-License-Identifier: Apache-2.0
# differential/half_turns.py — sinpi and cospi, which NumPy lacks.
import numpy


def of_half_turns(x, function):
    """sin or cos of pi times x, exact at the multiples of a half."""
    turn = numpy.fmod(x, 2.0)
    value = function(numpy.pi * turn)
    return numpy.where(2 * turn == numpy.rint(2 * turn), numpy.rint(value), value)


FUNCTIONS = {"sinpi": lambda x: of_half_turns(x, numpy.sin),
             "cospi": lambda x: of_half_turns(x, numpy.cos)}
