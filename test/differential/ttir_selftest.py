#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# differential/ttir_selftest.py — tests of the TTIR machine; needs NumPy and ml_dtypes, not Triton.
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import ml_dtypes
import numpy

from rounding_bounds import wrong_places
from ttir_machine import Machine
from ttir_memory import ArrayPart
from ttir_numbers import quotient, remainder, shifted, to_float, to_integer

LOOP = """module {
  tt.func public @k(%arg0: !tt.ptr<i32>, %arg1: i32) attributes {noinline = false} {
    %c0_i32 = arith.constant 0 : i32
    %c1_i32 = arith.constant 1 : i32
    %0:2 = scf.for %arg2 = %c0_i32 to %arg1 step %c1_i32 iter_args(%arg3 = %c0_i32, %arg4 = %c1_i32) -> (i32, i32)  : i32 {
      %3 = arith.addi %arg3, %arg4 : i32
      scf.yield %arg4, %3 : i32, i32
    }
    %1 = arith.cmpi sgt, %0#0, %arg1 : i32
    cf.cond_br %1, ^bb1, ^bb2
  ^bb1:  // pred: ^bb0
    tt.store %arg0, %0#0 : !tt.ptr<i32>
    tt.return
  ^bb2:  // pred: ^bb0
    %2 = tt.call @other(%arg1) : (i32) -> i32
    tt.store %arg0, %2 : !tt.ptr<i32>
    tt.return
  }
  tt.func private @other(%arg0: i32) -> i32 attributes {noinline = false} {
    %0 = scf.while (%arg1 = %arg0) : (i32) -> i32 {
      %c9_i32 = arith.constant 9 : i32
      %1 = arith.cmpi slt, %arg1, %c9_i32 : i32
      scf.condition(%1) %arg1 : i32
    } do {
    ^bb0(%arg1: i32):
      %1 = arith.muli %arg1, %arg1 : i32
      scf.yield %1 : i32
    }
    tt.return %0 : i32
  }
}"""

SUMS = """module {
  tt.func public @k(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>) attributes {noinline = false} {
    %0 = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %1 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
    %2 = tt.addptr %1, %0 : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
    %cst = arith.constant dense<2> : tensor<4xi32>
    %3 = arith.cmpi ne, %0, %cst : tensor<4xi32>
    %cst_0 = arith.constant dense<1.000000e+01> : tensor<4xf32>
    %4 = tt.load %2, %3, %cst_0 : tensor<4x!tt.ptr<f32>>
    %5 = "tt.scan"(%4) <{axis = 0 : i32, reverse = true}> ({
    ^bb0(%arg2: f32, %arg3: f32):
      %8 = arith.addf %arg2, %arg3 : f32
      tt.scan.return %8 : f32
    }) : (tensor<4xf32>) -> tensor<4xf32>
    %6 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
    %7 = tt.addptr %6, %0 : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
    tt.store %7, %5, %3 : tensor<4x!tt.ptr<f32>>
    tt.return
  }
}"""


LARGEST = """module {
  tt.func public @k(%arg0: !tt.ptr<i32>, %arg1: !tt.ptr<i32>) {
    %0 = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %1 = tt.splat %arg0 : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
    %2 = tt.addptr %1, %0 : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
    %3 = tt.load %2 : tensor<4x!tt.ptr<i32>>
    %4 = "tt.reduce"(%3) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %5 = arith.cmpi sgt, %a, %b : i32
      %6 = scf.if %5 -> (i32) {
        scf.yield %a : i32
      } else {
        scf.yield %b : i32
      }
      tt.reduce.return %6 : i32
    }) : (tensor<4xi32>) -> i32
    tt.store %arg1, %4 : !tt.ptr<i32>
    tt.return
  }
}"""


class Machines(unittest.TestCase):
    def test_reductions_by_functions_with_branches(self):
        x = numpy.array([3, 1, 7, 2], numpy.int32)
        _, out = Machine(LARGEST).run([x, numpy.zeros(1, numpy.int32)], (1,))
        self.assertEqual(out[0], 7)

    def test_pointers_may_share_an_array(self):
        x = numpy.array([3, 1, 7, 2, 9], numpy.int32)
        machine = Machine(LARGEST)
        machine.run([ArrayPart(x, 1), ArrayPart(x, 0)], (1,))
        self.assertEqual(machine.memory.after(x).tolist(), [9, 1, 7, 2, 9])

    def test_loops_branches_and_calls(self):
        for n, result in ((2, 16), (7, 13), (3, 9)):
            (out,) = Machine(LOOP).run([numpy.zeros(1, numpy.int32), numpy.int32(n)], (1,))
            self.assertEqual(out[0], result)

    def test_masks_and_scans(self):
        x = numpy.array([1, 2, 3, 4], numpy.float32)
        _, out = Machine(SUMS).run([x, numpy.zeros(4, numpy.float32)], (1,))
        self.assertEqual(out.tolist(), [17, 16, 0, 4])

    def test_memory_of_nobody_reads_as_a_pattern(self):
        x = numpy.array([3, 1, 7], numpy.int32)
        _, out = Machine(LARGEST).run([-x, numpy.zeros(1, numpy.int32)], (1,))
        self.assertEqual(out[0], -1)  # the pattern is a large negative number

    def test_memory_of_nobody_is_not_written(self):
        with self.assertRaises(IndexError):
            Machine(SUMS).run([numpy.zeros(4, numpy.float32), numpy.zeros(3, numpy.float32)], (1,))


class Bounds(unittest.TestCase):
    def test_floats_may_differ_as_rounding_by_chance_moves_them(self):
        before, ours = numpy.zeros(3, numpy.float32), numpy.array([1, 2, 3], numpy.float32)
        runs = [ours + numpy.array([0, 0.1, 0], numpy.float32)]
        theirs = numpy.array([1, 2.2, 4], numpy.float32)
        self.assertEqual(wrong_places(before, ours, theirs, runs, "f32").tolist(),
                         [False, False, True])
        odd = numpy.array([1, numpy.nan, 3], numpy.float32)
        self.assertEqual(wrong_places(before, ours, odd, runs, "f32").tolist(),
                         [False, True, False])

    def test_integers_may_not(self):
        x = numpy.array([1, 2], numpy.int32)
        self.assertEqual(wrong_places(x * 0, x, x + [0, 1], [x], "i32").tolist(), [False, True])


class Numbers(unittest.TestCase):
    def test_division_is_toward_zero(self):
        a = numpy.array([-7, 7, -2**31, 5], numpy.int32)
        b = numpy.array([2, -2, -1, 0], numpy.int32)
        self.assertEqual(quotient(a, b).tolist(), [-3, -3, -2**31, -1])
        self.assertEqual(remainder(a, b).tolist(), [-1, 1, 0, 5])
        big = numpy.array([2**64 - 1], numpy.uint64)
        self.assertEqual(quotient(big, numpy.array([3], numpy.uint64)).tolist(), [(2**64 - 1) // 3])

    def test_shifts_by_the_width_and_more(self):
        a = numpy.array([-1, 100], numpy.int8)
        self.assertEqual(shifted(a, numpy.array([8, 9], numpy.int8), False).tolist(), [-1, 0])
        self.assertEqual(shifted(a, numpy.array([8, 1], numpy.int8), True).tolist(), [0, -56])

    def test_conversions_saturate(self):
        x = numpy.array([1e9, -1e9, numpy.nan, 300.5], numpy.float32)
        self.assertEqual(to_integer(x, numpy.int16).tolist(), [32767, -32768, 0, 300])
        narrow = to_float(x, ml_dtypes.float8_e4m3fn).astype(numpy.float32)
        self.assertEqual(narrow[[0, 1, 3]].tolist(), [448, -448, 288])
        self.assertTrue(numpy.isnan(narrow[2]))
        cut = to_float(numpy.array([-1.999], numpy.float32), ml_dtypes.bfloat16, "rtz")
        self.assertEqual(cut.astype(numpy.float32)[0], -1.9921875)


if __name__ == "__main__":
    unittest.main()
