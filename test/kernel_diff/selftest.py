#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# kernel_diff/selftest.py — selftest.py TILEWRIGHT: a planted difference of each grade is found, and graded as what it is. The second
# tool is the first one, which is handed another text of the same kernel.
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from corpus import as_triton, is_ir, raw_strings, signed_kernels, split_printed
from machine_code import MachineCode, Unreadable, sections
from tokens import first_difference, split_headers

TOOL = ""
KERNEL = """import triton
import triton.language as tl


@triton.jit
def scaled(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    y = x * 3.0
    tl.store(out_ptr + i, y + 1.0, mask=i < n)
"""


class Tokens(unittest.TestCase):
    def test_comments_lines_and_own_names_do_not_count(self):
        a = '#line 7 "k.py"\nconst f32 x = tw::exp(y_ptr[0]);  // k.py:7\nout[0] = x;\n'
        b = "const f32 power =\n  tw::exp(y_ptr[0]); /* other */ out[0] = power;"
        self.assertIsNone(first_difference(a, b))

    def test_functions_members_and_constants_count(self):
        for a, b in (("f32 x = tw::exp(y);", "f32 x = tw::log(y);"), ("i32 x = id.x;", "i32 x = id.y;"),
                     ("f32 x = 1.0f;", "f32 x = 2.0f;"), ("f32 x = a * TW_A;", "f32 x = a * TW_B;"),
                     ("x = p[i];", "x = p[j];"), ('f("a // b");', 'f("a // c");'), ("f(a * b);", "f(a * c);"),
                     ("return a;", "return b;"), ("#pragma unroll", "#pragma nounroll")):
            self.assertEqual(first_difference(a, b), (1, 1), f"{a} | {b}")
            self.assertIsNone(first_difference(a, a))

    def test_exchanged_names_are_another_program(self):
        self.assertIsNotNone(first_difference("f32 a = 1, b = 2; f(a, b);", "f32 a = 1, b = 2; f(b, a);"))

    def test_an_end_that_is_missing_is_seen(self):
        self.assertEqual(first_difference("f();\ng();\n", "f();\n"), (2, 1))

    def test_entry_points_keep_their_names(self):
        a, b = "void entry(f32* x) {}", "void other(f32* x) {}"
        self.assertIsNone(first_difference(a, b))
        self.assertIsNotNone(first_difference(a, b, kept=["entry"]))

    def test_headers_are_told_from_the_text_below_them(self):
        plain = '// k\n#include "tw/core.h"\nf32 x;\n'
        self.assertEqual(split_headers("// k\nstruct A {};\nf32 x;\n", plain), ("// k\nstruct A {};\n", "f32 x;\n"))


class Corpus(unittest.TestCase):
    def test_texts_in_tests_are_found(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "a.cpp"
            file.write_text('int a;\nauto k = R"py(\n  @triton.jit\n  def f(x): pass\n)py"; auto t = R"(@triton.jit {} {)";\n')
            (line, text), (_, template) = raw_strings(file)
        self.assertEqual(line, 2)
        self.assertIn("import triton\n", as_triton(text))
        self.assertIsNone(as_triton(template))
        self.assertTrue(is_ir("\nkernel @k(%x: *f32) {\n}"))

    def test_printed_kernels_are_told_apart(self):
        text = "# a0=buffer0:int32[4] n=3, grid=1\nimport triton\n\ndef f(): pass\n\n# x=1, grid=1\ndef g(): pass\n"
        self.assertEqual([module.count("def ") for module in split_printed(text)], [1, 1])

    def test_kernels_with_signatures_exist(self):
        for file, kernel, _ in signed_kernels(pathlib.Path(__file__).resolve().parents[2]):
            self.assertIn(f"def {kernel}(", pathlib.Path(file).read_text())


class Code(unittest.TestCase):
    def test_numbers_and_bytes_both_count(self):
        code = MachineCode({"registers": 32}, {".text.k": b"abc", ".nv.constant0.k": b"1"})
        self.assertTrue(code.is_same_as(MachineCode({"registers": 32}, dict(code.sections))))
        other = MachineCode({"registers": 40}, {".text.k": b"abcd", ".nv.constant0.k": b"1"})
        self.assertEqual(code.differences(other), ["code_bytes 3 -> 4", "registers 32 -> 40", ".text.k differs"])

    def test_what_is_no_binary_is_said(self):
        with self.assertRaises(Unreadable):
            sections(b"text")


class Planted(unittest.TestCase):
    def compare(self, other, kernel=KERNEL, options=()):
        """The exit status and output of a comparison in which HEAD reads `other` for the kernel (None: what BASE reads), on
        the CPU."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("base/k.py", kernel), ("head/k.py", other or "")):
                file = pathlib.Path(folder) / name
                file.parent.mkdir()
                file.write_text(text)
            head = pathlib.Path(folder) / "tilewright"
            pattern = "*/base/k.py*" if other else "-"
            head.write_text(f'#!/bin/sh\nfor a; do shift; case $a in {pattern}) a="{folder}/head/${{a##*/}}";; esac; '
                            f'set -- "$@" "$a"; done\nexec "{TOOL}" "$@"\n')
            head.chmod(0o755)
            run = pathlib.Path(__file__).with_name("run.py")
            done = subprocess.run([sys.executable, str(run), TOOL, str(head), "--only", f"{folder}/base/k.py", "--target", "avx2", *options],
                                  capture_output=True, text=True, check=False)
            return done.returncode, done.stdout + done.stderr

    def counts(self, output):
        return [int(word) for word in output.splitlines()[-1].split()[1:]]

    def test_the_same_kernel_has_the_same_tokens(self):
        status, output = self.compare(KERNEL)
        self.assertEqual((status, self.counts(output)), (0, [1, 0, 0, 0]), output)

    def test_another_name_is_the_same_tokens(self):
        status, output = self.compare(KERNEL.replace("y", "product_of_both"))
        self.assertEqual((status, self.counts(output)), (0, [1, 0, 0, 0]), output)

    def test_another_text_of_the_same_code_is_seen(self):
        status, output = self.compare(SAME_CODE)
        self.assertEqual((status, self.counts(output)), (0, [0, 1, 0, 0]), output)

    def test_of_texts_alone_another_text_differs_and_another_name_does_not(self):
        status, output = self.compare(SAME_CODE, options=["--tokens"])
        self.assertEqual((status, self.counts(output)), (1, [0, 0, 1, 0]), output)
        status, output = self.compare(KERNEL.replace("y", "product_of_both"), options=["--tokens"])
        self.assertEqual((status, self.counts(output)), (0, [1, 0, 0, 0]), output)

    def test_another_constant_differs(self):
        status, output = self.compare(KERNEL.replace("3.0", "5.0"))
        self.assertEqual((status, self.counts(output)), (1, [0, 0, 1, 0]), output)
        self.assertIn(".rodata", output)

    def test_a_refusal_of_one_differs_and_of_both_does_not(self):
        refused = KERNEL.replace("x * 3.0", "x.frobnicate()")
        status, output = self.compare(refused)
        self.assertEqual((status, self.counts(output)), (1, [0, 0, 1, 0]), output)
        self.assertIn("only HEAD refuses", output)
        status, output = self.compare(None, refused)
        self.assertEqual((status, self.counts(output)), (0, [0, 0, 0, 1]), output)


# A difference of our text that the host compiler takes away.
SAME_CODE = KERNEL.replace("y + 1.0", "y - (-1.0)")

if __name__ == "__main__":
    TOOL = os.path.abspath(sys.argv.pop(1))
    unittest.main()
