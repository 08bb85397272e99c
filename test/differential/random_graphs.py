# SPDX-License-Identifier: Apache-2.0
# test/differential/random_graphs.py — random functions of tensors, run by PyTorch: its results and gradients against ours, eager and
# compiled, in float64 and float32.
#
#   python3 test/differential/random_graphs.py build/dev/bin/random_graphs [--first N] [--count N] [--native] [--show]
#
# PyTorch in float64 is the reference. Results may be as far from it as the function itself moves when its inputs move a little
# (a comparison of two numbers that are almost the same), and float32 as far as PyTorch's own float32, a few times over.
import argparse
import json
import subprocess
import sys

import numpy
import torch
import torch.nn.functional as F


def tensor_of(record):
    bits = numpy.array(record["bits"], dtype=numpy.int64)
    return torch.from_numpy(bits.view(numpy.float64).copy()).reshape(record["shape"])


# A copy that is written to, by means that gradients go through.
def written(a, b, axis, n):
    y = a.clone()
    before = y * 0.5
    y.narrow(axis, 0, min(1, y.shape[axis])).copy_(b.narrow(axis, 0, min(1, b.shape[axis])) * n)
    y[:, :, 1:2].fill_(n)
    y[:, ::2].copy_(y[:, ::2].tanh())
    return y + before


def function_of(source):
    names = {"torch": torch, "F": F, "written": written}
    exec(source, names)
    return names["f"]


# Results, then gradients of the sum of their sines.
def run(f, inputs, dtype):
    leaves = [x.to(dtype).requires_grad_() for x in inputs]
    results = f(leaves)
    gradients = [torch.zeros_like(x) for x in leaves]
    loss = sum(r.sin().sum() for r in results)
    if loss.requires_grad:
        found = torch.autograd.grad(loss, leaves, allow_unused=True)
        gradients = [g if g is not None else torch.zeros_like(x) for g, x in zip(found, leaves)]
    return [r.detach().double() for r in results], [g.double() for g in gradients]


def distance(a, b):
    if a.numel() == 0:
        return 0.0
    same = (a == b) | (a.isnan() & b.isnan())
    gap = torch.where(same, torch.zeros_like(a), (a - b).abs())
    return float("inf") if gap.isnan().any() else float(gap.max())


def scale_of(x):
    finite = x[x.isfinite()]
    return 1 + (float(finite.abs().max()) if finite.numel() else 0.0)


class Judge:
    def __init__(self):
        self.compared = self.unsteady = self.refused = 0
        self.problems = []

    # How far each result may be: by how much it moves when inputs move by `step` of their size, and by what the dtype costs.
    def limits(self, f, inputs, expected, dtype):
        torch.manual_seed(5)
        step = 1e-13 if dtype == torch.float64 else 3e-7
        moved = [x * (1 + step * torch.randn_like(x)) for x in inputs]
        near = run(f, moved, torch.float64)
        narrow = run(f, inputs, dtype)
        made = []
        for e, n, w in zip(expected, near, narrow):
            made.append([20 * max(distance(a, b), distance(a, c)) + (1e-10 if dtype == torch.float64 else 3e-4) * scale_of(a)
                         for a, b, c in zip(e, n, w)])
        return made

    def compare(self, seed, what, found, expected, limits):
        if isinstance(found, str):
            # Ours is an error where a derivative can only be zero.
            if found.endswith("which has no derivative") and not any(e.count_nonzero() for e in expected):
                return
            self.problems.append(f"seed {seed}: {what}: PyTorch runs it, here: {found}")
            return
        for i, (record, e, limit) in enumerate(zip(found, expected, limits)):
            ours = tensor_of(record)
            if ours.shape != e.shape:
                self.problems.append(f"seed {seed}: {what} {i} has shape {list(ours.shape)}, PyTorch's {list(e.shape)}")
            elif not limit < 1e-2 * scale_of(e):
                self.unsteady += 1
            else:
                self.compared += 1
                gap = distance(ours, e)
                if not gap <= limit:
                    self.problems.append(f"seed {seed}: {what} {i} is off by {gap:.2e}, {limit:.1e} is allowed")

    def look_at(self, line):
        f = function_of(line["source"])
        inputs = [tensor_of(record) for record in line["inputs"]]
        try:
            expected = run(f, inputs, torch.float64)
        except (RuntimeError, IndexError) as problem:
            self.refused += 1
            for dtype in ("float32", "float64"):
                for way in ("eager", "compiled"):
                    if not isinstance(line[dtype][way], str):
                        self.problems.append(f"seed {line['seed']}: {dtype} {way} runs, PyTorch says: {str(problem).splitlines()[0]}")
            return
        for name, dtype in (("float64", torch.float64), ("float32", torch.float32)):
            results, gradients = self.limits(f, inputs, expected, dtype)
            for way in ("eager", "compiled"):
                self.compare(line["seed"], f"{name} {way}", line[name][way], expected[0], results)
            self.compare(line["seed"], f"{name} gradient", line[name]["gradients"], expected[1], gradients)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--native", action="store_true", help="native code instead of the interpreter: a second for each graph")
    parser.add_argument("--show", action="store_true", help="the source of each graph that differs")
    options = parser.parse_args()
    torch.set_num_threads(1)
    command = [options.tool, str(options.first), str(options.count)] + (["--native"] if options.native else [])
    judge, graphs, sources = Judge(), 0, {}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for text in process.stdout:
            line = json.loads(text)
            before = len(judge.problems)
            judge.look_at(line)
            graphs += 1
            if len(judge.problems) > before:
                print("\n".join(judge.problems[before:]), flush=True)
                if options.show:
                    print(line["source"], flush=True)
    if process.returncode != 0:
        judge.problems.append(f"the tool ended with {process.returncode} after {graphs} graphs")
        print(judge.problems[-1])
    print(f"{graphs} graphs: {judge.compared} tensors agree or are named above, {judge.unsteady} are too sensitive to compare, "
          f"{judge.refused} graphs are refused by PyTorch; {len(judge.problems)} problems")
    return 1 if judge.problems or graphs == 0 else 0


sys.exit(main())
