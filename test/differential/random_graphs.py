# SPDX-License-Identifier: Apache-2.0
# test/differential/random_graphs.py — random functions of tensors, run by PyTorch: its results and gradients against ours, eager and
# compiled, in float64, float32 and small floats; of integers exactly.
#
#   python3 test/differential/random_graphs.py build/dev/bin/random_graphs [--first N] [--count N] [--native] [--show]
#
# PyTorch in float64 is the reference. Results may be as far from it as the function itself moves when its inputs move a little
# (a comparison of two numbers that are almost the same), and float32 as far as PyTorch's own float32, a few times over.
import argparse
import json
import math
import subprocess
import sys
import warnings

import numpy
import torch
import torch.nn.functional as F


# What the rounding of a dtype is worth: how far inputs are moved, how far a result may be off beside its size, and when that says nothing.
ROUNDING = {
    torch.float64: (1e-13, 1e-10, 1e-2),
    torch.float32: (3e-7, 3e-4, 1e-2),
    torch.float16: (2e-3, 2e-2, 0.5),
    torch.bfloat16: (1.6e-2, 0.16, 0.5),
}


# Floats as float64.
def tensor_of(record):
    bits = numpy.array(record["bits"], dtype=numpy.int64)
    dtype = getattr(torch, record["dtype"])
    if dtype.is_floating_point:
        return torch.from_numpy(bits.view(numpy.float64).copy()).reshape(record["shape"])
    return torch.from_numpy(bits).reshape(record["shape"]).to(dtype)


# A copy that is written to, by means that gradients go through.
def written(a, b, axis, n):
    y = a.clone()
    before = y * 0.5
    y.narrow(axis, 0, min(1, y.shape[axis])).copy_(b.narrow(axis, 0, min(1, b.shape[axis])) * n)
    y[:, :, 1:2].fill_(n)
    y[:, ::2].copy_(y[:, ::2].tanh())
    return y + before


# A group norm of one group, which PyTorch's refuses for few elements.
def normed(x, weight):
    rows = x.flatten(1)
    centred = rows - rows.mean(1, keepdim=True)
    scaled = centred / (centred.square().mean(1, keepdim=True) + 0.1).sqrt()
    return scaled.reshape(x.shape) * weight.unsqueeze(1)


def kernel(b, count):
    return ((torch.arange(9, dtype=b.dtype) - 4).reshape(1, 1, 3, 3) * b.mean()).expand(count, 1, 3, 3)


# Indices 0 and 1, where there are two places. Means that are 0 but for their rounding would be either.
def bits(x, size):
    return (x > 0.0137).long() * min(1, size - 1)


def recurrence(a, b):
    last, rows = a.sum(1) * 0, []
    for i in range(a.shape[1]):
        last = torch.tanh(last * b[:, i]) + a[:, i]
        rows.append(last)
    return torch.stack(rows, 1) if rows else a


def slope(a, b, n):
    x = a.view_as(a) if a.requires_grad else a.detach().requires_grad_()  # b may depend on a
    return torch.autograd.grad((torch.tanh(x * n) * b).sum(), x, create_graph=True)[0]


# ---- Of integers.


def counted(x):
    return x.to(torch.uint8) if x.dtype == torch.bool else x


def divisor(x):
    return torch.where(x == 0, 1, counted(x))


# PyTorch's is one too low where x without its rest is out of range, and fails for the lowest number and -1.
def floored(x, y):
    dtype = torch.result_type(x, y)
    x, y = torch.broadcast_tensors(x, torch.as_tensor(y))
    exact = [p // q for p, q in zip(x.flatten().tolist(), y.flatten().tolist())]
    wrapped = [(q + 2**63) % 2**64 - 2**63 for q in exact]
    return torch.tensor(wrapped, dtype=torch.int64).reshape(x.shape).to(dtype)


def places(x, size):
    return torch.remainder(x.long(), max(size, 1))


# The place of the first of the largest (smallest) ones.
def first(x, axis, is_largest):
    x = x.to(torch.int64)
    best = x.amax(axis, keepdim=True) if is_largest else x.amin(axis, keepdim=True)
    shape = [1, 1, 1]
    shape[axis] = x.shape[axis]
    at = torch.arange(x.shape[axis]).reshape(shape)
    return torch.where(x == best, at, x.shape[axis]).amin(axis, keepdim=True)


def written_integers(a, b, axis, n):
    y = counted(a).clone()
    before = y + 1
    y.narrow(axis, 0, min(1, y.shape[axis])).copy_(b.narrow(axis, 0, min(1, b.shape[axis])))
    y[:, :, 1:2].fill_(n)
    y[:, ::2].copy_(y[:, ::2] * 3)
    return y + before


def function_of(source):
    helpers = (written, normed, kernel, bits, recurrence, slope, counted, divisor, floored, places, first, written_integers)
    names = {"torch": torch, "F": F} | {helper.__name__: helper for helper in helpers}
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

    # How far each result may be: by how much it moves when inputs move by `step` of their size, and by what the dtype costs. Inputs move several
    # times where the steps are large, since a largest element or a comparison may become another one.
    def limits(self, f, inputs, expected, dtype):
        torch.manual_seed(5)
        step, share, _ = ROUNDING[dtype]
        others = [run(f, inputs, dtype)]
        for _ in range(1 if step < 1e-3 else 5):
            others.append(run(f, [x * (1 + step * torch.randn_like(x)) for x in inputs], torch.float64))
        made = []
        for part in (0, 1):
            moved = [max(distance(e, other[part][i]) for other in others) for i, e in enumerate(expected[part])]
            made.append([20 * m + share * scale_of(e) for m, e in zip(moved, expected[part])])
        return made

    def compare(self, seed, what, found, expected, limits, dtype, *, are_sizes_compared=True):
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
            elif not are_sizes_compared:
                self.compared += 1
                if (ours.isnan() != e.isnan()).any() and math.isfinite(limit):
                    self.problems.append(f"seed {seed}: {what} {i} has a NaN, PyTorch's has not, or the other way round")
            elif not limit < ROUNDING[dtype][2] * scale_of(e):
                self.unsteady += 1
            else:
                self.compared += 1
                gap = distance(ours, e)
                if not gap <= limit:
                    self.problems.append(f"seed {seed}: {what} {i} is off by {gap:.2e}, {limit:.1e} is allowed")

    # PyTorch and eager calls refuse it, or here it is an error that ours run it. A compiled function may leave out what nobody needs.
    def refuse(self, seed, problem, outcomes):
        self.refused += 1
        for what, outcome in outcomes:
            if not isinstance(outcome["eager"], str):
                self.problems.append(f"seed {seed}: {what} runs, PyTorch says: {str(problem).splitlines()[0]}")

    def look_at(self, line):
        (self.look_at_floats if line["kind"] == "floats" else self.look_at_integers)(line)

    def look_at_floats(self, line):
        f = function_of(line["source"])
        inputs = [tensor_of(record) for record in line["inputs"]]
        seed = line["seed"]
        names = [name for name in ("float64", "float32", "float16", "bfloat16") if name in line]
        try:
            expected = run(f, inputs, torch.float64)
        except (RuntimeError, IndexError) as problem:
            self.refuse(seed, problem, [(name, line[name]) for name in names])
            return
        for name in names:
            dtype = getattr(torch, name)
            results, gradients = self.limits(f, inputs, expected, dtype)
            for way, found in line[name].items():
                if way != "gradients":
                    self.compare(seed, f"{name} {way}", found, expected[0], results, dtype)
            # Of small floats they cancel, or go through another largest element.
            are_sizes_compared = dtype in (torch.float64, torch.float32)
            self.compare(seed, f"{name} gradient", line[name]["gradients"], expected[1], gradients, dtype, are_sizes_compared=are_sizes_compared)

    def look_at_integers(self, line):
        seed, found = line["seed"], line["results"]
        try:
            expected = function_of(line["source"])([tensor_of(record) for record in line["inputs"]])
        except (RuntimeError, IndexError) as problem:
            self.refuse(seed, problem, [("integers", found)])
            return
        for way, results in found.items():
            if isinstance(results, str):
                self.problems.append(f"seed {seed}: integers {way}: PyTorch runs it, here: {results}")
                continue
            for i, (record, e) in enumerate(zip(results, expected)):
                ours = tensor_of(record)
                self.compared += 1
                if ours.dtype != e.dtype or ours.shape != e.shape:
                    self.problems.append(f"seed {seed}: integers {way} {i} is {ours.dtype} {list(ours.shape)}, PyTorch's {e.dtype} {list(e.shape)}")
                elif not torch.equal(ours, e):
                    at = (ours != e).flatten().nonzero()[0].item()
                    self.problems.append(f"seed {seed}: integers {way} {i} has {ours.flatten()[at]} at {at}, PyTorch {e.flatten()[at]}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--native", action="store_true", help="native code instead of the interpreter: a second for each graph")
    parser.add_argument("--show", action="store_true", help="the source of each graph that differs")
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
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
