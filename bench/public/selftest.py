#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# public/selftest.py — tests of the harness that need torch and Triton but no GPU.
import ctypes
import pathlib
import sys
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import torch  # noqa: E402

from public import measure, table  # noqa: E402
from public.checkouts import StandIn, Version  # noqa: E402
from public.launches import Unsupported, constant_text, item_text  # noqa: E402
from public.ours import kernel_arguments, launch_facts, launch_sizes, python_size  # noqa: E402

HEADER = '''
    if (result == CUDA_SUCCESS) result = cuModuleGetFunction(&function, module, "k_entry");
    if (result == CUDA_SUCCESS && 50176 > 48 * 1024)
inline CUresult k(CUstream stream, k_grid grid, const float* x, void* y, std::int32_t n, float eps) {
  void* arguments[] = {&x, &y, &n, &eps, &grid.x};
  const std::int64_t blocks_x =
      ((std::int64_t{grid.x} + 4 - 1) / 4);
  return cuLaunchKernel(loaded.function, static_cast<unsigned>(blocks_x), ...
'''


class FakeEvent:
    clock = 0.0

    def __init__(self, enable_timing=True):
        self.at = 0.0

    def record(self):
        self.at = FakeEvent.clock

    def synchronize(self):
        pass

    def elapsed_time(self, other):
        return other.at - self.at


class Headers(unittest.TestCase):
    def test_a_header_says_how_to_launch(self):
        facts = launch_facts(HEADER, "k")
        self.assertEqual(facts["entry"], "k_entry")
        self.assertEqual(facts["dynamic_shared"], 50176)
        self.assertEqual(facts["parameters"], [["x", "const float*"], ["y", "void*"], ["n", "std::int32_t"],
                                               ["eps", "float"], ["grid.x", ""]])
        facts["threads"] = 128
        self.assertEqual(launch_sizes(facts, (10, 2, 1), 132), [3, 2, 1, 128, 1, 1])
        tensor = torch.zeros(4)
        launch = types.SimpleNamespace(grid=(10, 2, 1), arguments={"x": tensor, "y": tensor, "n": 7, "eps": 0.5})
        values, array = kernel_arguments(facts, launch.grid, launch.arguments, None)
        self.assertEqual([v.value for v in values], [tensor.data_ptr(), tensor.data_ptr(), 7, 0.5, 10])
        self.assertEqual(array[2], ctypes.addressof(values[2]))

    def test_sizes_are_python(self):
        self.assertEqual(eval(python_size("std::min<std::int64_t>((std::int64_t{grid.x} / 3), 2)"), {"x": 9}), 2)


class Text(unittest.TestCase):
    def test_items_of_signatures(self):
        self.assertEqual(item_text("x", "*bf16", "D"), "*bf16:16")
        self.assertEqual(item_text("n", "i32", ""), "i32")
        self.assertEqual(item_text("b", "u1", None), "i1")
        self.assertEqual(constant_text("c", True), "true")
        self.assertEqual(constant_text("c", None), "none")
        with self.assertRaises(Unsupported):
            constant_text("c", object())

    def test_versions_compare_by_number(self):
        self.assertLess(Version("2.9.1+cu130"), Version("2.11.0"))
        self.assertFalse(StandIn("transformers").is_npu())


class Results(unittest.TestCase):
    def compared(self, a, b):
        memory = measure.Memory({"out": a})
        before = memory.copy()
        a.copy_(b)
        return measure.compare(memory, before, memory.copy())

    def test_the_same_bits_have_no_error(self):
        a = torch.randn(100)
        self.assertEqual(self.compared(a, a.clone()), (0.0, ""))

    def test_roundings_are_within_the_limits_and_mistakes_are_not(self):
        a = torch.randn(1000).bfloat16()
        error, complaint = self.compared(a.clone(), (a.float() * (1 + 2**-8)).bfloat16())
        self.assertGreater(error, 0)
        self.assertEqual(complaint, "")
        wrong = a.clone()
        wrong[7] += 1
        self.assertIn("out differs by", self.compared(a, wrong)[1])

    def test_nan_on_one_side_is_a_complaint(self):
        b = torch.ones(10)
        b[3] = float("nan")
        self.assertIn("1 of 10 elements", self.compared(torch.ones(10), b)[1])

    def test_integers_are_equal_or_wrong(self):
        self.assertIn("1 of 3 integers", self.compared(torch.tensor([1, 2, 3]), torch.tensor([1, 2, 4]))[1])

    def test_memory_comes_back(self):
        a = torch.arange(6.0)
        memory = measure.Memory({"a": a, "view": a[2:], "n": 3})
        self.assertEqual(len(memory.tensors), 1)
        a.zero_()
        memory.restore()
        self.assertEqual(a.tolist(), [0, 1, 2, 3, 4, 5])

    def test_both_take_turns_and_the_ratio_is_theirs(self):
        real, torch.cuda.Event = torch.cuda.Event, FakeEvent
        synchronize, torch.cuda.synchronize = torch.cuda.synchronize, lambda: None
        try:
            def run(milliseconds):
                FakeEvent.clock += milliseconds
            times = measure.time_both(lambda: run(2.0), lambda: run(1.0), measure.Memory({}), torch.empty(8), 0.1)
        finally:
            torch.cuda.Event, torch.cuda.synchronize = real, synchronize
        self.assertAlmostEqual(times["ratio"], 2.0)
        self.assertAlmostEqual(times["triton_us"], 2000.0)
        self.assertAlmostEqual(times["p10"], 2.0)


class Tables(unittest.TestCase):
    def test_worst_first_with_means_and_reasons(self):
        row = {"project": "Liger", "case": "softmax", "size": [8, 16], "kernel": "k", "num_warps": 4, "p10": 0.9, "p90": 1.1,
               "triton_us": 1.0, "ours_us": 1.0, "error_size": 0.0, "product": False}
        text = table.markdown({"machine": "m", "command": "c", "left_out": [
            {"project": "fla", "case": "x", "size": [1], "why": "because"}],
            "rows": [{**row, "ratio": 2.0}, {**row, "ratio": 0.5}, {**row, "error": "does not compile"}]})
        self.assertLess(text.index("| 0.50 |"), text.index("| 2.00 |"))
        self.assertIn("| all | 1 | 2 | 1.000 | 0.50 | 1 |", text)
        self.assertIn("does not compile", text)
        self.assertIn("because", text)
        self.assertEqual(table.cases_below(text, 0.97), ["Liger/softmax"])
        self.assertEqual(table.cases_below(text, 0.5), [])


if __name__ == "__main__":
    unittest.main()
