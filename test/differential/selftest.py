#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# differential/selftest.py — tests of the harness itself; needs NumPy, neither Triton nor a GPU.
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import numpy

from case_file import CaseError, DTypeName, grid_sizes, parse_case, read_cases
from compare import compare
from extract import Extractor
from inputs import generate, round_to, ulp


class Cases(unittest.TestCase):
    def test_values_have_their_types(self):
        case = parse_case("a.py:k --grid cdiv(n,B),2 x=randn*0.1:f32[4,5] n=1000 B=256 eps=1e-6 "
                          "flag=true none=none kind=tl.float32 mode=ieee --skip x", "t:1")
        self.assertEqual((case.file, case.kernel), ("a.py", "k"))
        self.assertEqual(grid_sizes(case.grid, case.arguments), (4, 2))
        self.assertEqual(case.arguments["x"].shape, (4, 5))
        self.assertEqual(case.arguments["x"].factor, 0.1)
        self.assertIsInstance(case.arguments["n"], int)
        self.assertIsInstance(case.arguments["eps"], float)
        self.assertIs(case.arguments["flag"], True)
        self.assertIsNone(case.arguments["none"])
        self.assertEqual(case.arguments["kind"], DTypeName("float32"))
        self.assertEqual(case.arguments["mode"], "ieee")

    def test_wrong_cases_are_refused(self):
        for text in ("k --grid 1", "a.py:k n=1", "a.py:k --grid 1 x", "a.py:k --grid 1 n=1 n=2",
                     "a.py:k --grid 1 --skip x", "a.py:k --grid 1 --frobnicate 2",
                     "a.py:k --grid 1 x=randn:q8[4]"):
            with self.assertRaises(CaseError, msg=text):
                parse_case(text, "t:1")

    def test_all_case_files_can_be_read(self):
        for path in sorted((pathlib.Path(__file__).parent / "cases").glob("*.txt")):
            for case in read_cases(path):
                for name, spec in case.tensors().items():
                    generate(name, spec, case.seed)
                grid_sizes(case.grid, case.arguments)


class Comparison(unittest.TestCase):
    def test_integers_must_be_equal(self):
        a = numpy.array([1, 2, 3], numpy.int32)
        self.assertEqual(compare(a, a.copy(), "i32").word, "equal")
        self.assertEqual(compare(a, a + 1, "i32").word, "differs")
        self.assertEqual(compare(a, a + 1, "i32", off_by=1).word, "close")

    def test_floats_may_err_twice_as_much_as_triton_and_one_ulp(self):
        reference = numpy.array([1.0, 100.0])
        unit = ulp(reference, "f32")
        theirs = (reference + 3 * unit).astype(numpy.float32)
        for units, word in ((5, "close"), (80, "close"), (1200, "differs")):
            ours = (reference + numpy.array([units, 0]) * unit).astype(numpy.float32)
            self.assertEqual(compare(ours, theirs, "f32", reference).word, word, units)
        exact = reference.astype(numpy.float32)
        one = (reference + unit).astype(numpy.float32)
        two = (reference + 2 * unit).astype(numpy.float32)
        self.assertEqual(compare(one, exact, "f32", reference).word, "close")
        self.assertEqual(compare(two, exact, "f32", reference).word, "differs")
        self.assertEqual(compare(one, exact, "f32", reference, exact=True).word, "differs")

    def test_nan_and_infinity_keep_their_places(self):
        a = numpy.array([numpy.nan, numpy.inf, 1], numpy.float32)
        self.assertEqual(compare(a, a.copy(), "f32").word, "equal")
        self.assertEqual(compare(a, a[::-1].copy(), "f32", a.astype(float)).word, "differs")

    def test_rounding_to_bf16(self):
        values = numpy.array([1 + 2**-8, 1 + 3 * 2**-8, 3e38, numpy.inf], numpy.float32)
        rounded = round_to(values, "bf16")
        self.assertEqual(list(rounded[:2]), [1.0, 1 + 2**-6])


class Extraction(unittest.TestCase):
    def test_only_what_a_kernel_needs_is_taken(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "pack").mkdir()
            (root / "pack" / "__init__.py").write_text("from nothing_here import x\n")
            (root / "pack" / "helpers.py").write_text(
                "import nothing_here\nLIMIT = 3\ndef helper(x):\n    return x + LIMIT\n"
                "def unused(x):\n    return nothing_here.f(x)\n")
            (root / "pack" / "kernels.py").write_text(
                "from .helpers import helper, unused\nfrom missing import wrap\n\n@wrap(3)\n"
                "def kernel(helper_size, unused):\n    return helper(helper_size)\n")
            extractor = Extractor(root)
            module = extractor.extract("pack/kernels.py", "kernel")
            text = module.text()
            self.assertIn("import helper as helper", text)
            self.assertNotIn("unused as", text)
            self.assertNotIn("@wrap", text)
            other = extractor.modules[(root / "pack" / "helpers.py").resolve()].text()
            self.assertIn("LIMIT = 3", other)
            self.assertNotIn("nothing_here", other)


if __name__ == "__main__":
    unittest.main()
