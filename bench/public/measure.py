# SPDX-License-Identifier: Apache-2.0
# public/measure.py — one launch by both sides on the same memory: are the results the same, and who is faster?
import statistics
import time

import torch

from public.launches import key_hash
from public.ours import kernel_arguments, launch_sizes

# Differences that reordered sums and other roundings explain, relative to the larger of an element and
# the root mean square of its tensor.
LIMITS = {torch.bfloat16: 2e-2, torch.float16: 5e-3, torch.float32: 2e-3, torch.float64: 1e-9}


class Memory:
    """All memory that a launch's tensors lie in, as it was before."""

    def __init__(self, arguments):
        self.tensors = {}
        for name, value in arguments.items():
            if isinstance(value, torch.Tensor) and value.numel() > 0:
                storage = value.untyped_storage()
                self.tensors.setdefault(storage.data_ptr(), (name, value.dtype, storage))
        self.saved = {at: self.words(at).clone() for at in self.tensors}

    def words(self, at):
        name, dtype, storage = self.tensors[at]
        return torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)

    def typed(self, at, content):
        dtype = self.tensors[at][1]
        size = torch.empty(0, dtype=dtype).element_size()
        return content[: content.numel() // size * size].view(dtype)

    def copy(self):
        return {at: self.words(at).clone() for at in self.tensors}

    def restore(self):
        for at, content in self.saved.items():
            self.words(at).copy_(content)


def difference(a, b):
    """How far b is from a (0: the same bits), and what is wrong where that has no number."""
    if a.dtype not in LIMITS:
        wrong = int((a != b).sum()) if a.dtype != torch.bool else int((a ^ b).sum())
        return (0.0, "") if wrong == 0 else (float("inf"), f"{wrong} of {a.numel()} integers differ")
    worst, lost = 0.0, 0
    wide = torch.float64 if a.dtype == torch.float64 else torch.float32
    finite = a[torch.isfinite(a)]
    scale = finite.to(wide).square().mean().sqrt().clamp_min(1e-30) if finite.numel() else torch.tensor(1.0, device=a.device)
    for part_a, part_b in zip(a.split(1 << 26), b.split(1 << 26)):
        x, y = part_a.to(wide), part_b.to(wide)
        same = (x == y) | (torch.isnan(x) & torch.isnan(y))
        error = torch.where(same, 0.0, (x - y).abs() / torch.maximum(x.abs(), scale))
        lost += int((~torch.isfinite(error)).sum())
        worst = max(worst, float(error.nan_to_num(0.0, 0.0, 0.0).max()))
    return worst, (f"{lost} of {a.numel()} elements are not finite on one side" if lost else "")


def compare(memory, by_triton, by_ours):
    """(error, complaint): the worst tensor; the complaint is empty where the limits hold."""
    worst, complaint = 0.0, ""
    for at in memory.tensors:
        name, dtype, _ = memory.tensors[at]
        if torch.equal(by_triton[at], by_ours[at]):
            continue
        a, b = memory.typed(at, by_triton[at]), memory.typed(at, by_ours[at])
        error, lost = difference(a, b)
        worst = max(worst, error)
        if lost:
            complaint = complaint or f"{name}: {lost}"
        elif error > LIMITS.get(dtype, 0.0):
            complaint = complaint or f"{name} differs by {error:.2g}"
    return worst, complaint


def repetitions(triton, ours, flush, seconds):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    for run in (triton, ours):
        run()
    begin.record()
    for run in (triton, ours):
        flush.zero_()
        run()
    end.record()
    end.synchronize()
    return max(12, min(300, int(seconds * 1000 / max(begin.elapsed_time(end), 1e-3))))


def time_both(triton, ours, memory, flush, seconds):
    """Both take turns, behind an emptied cache; times in microseconds and the spread of their ratio."""
    memory.restore()
    count = repetitions(triton, ours, flush, seconds)
    memory.restore()
    events = [[torch.cuda.Event(enable_timing=True) for _ in range(4)] for _ in range(count)]
    for turn, (a0, a1, b0, b1) in enumerate(events):
        order = [(a0, triton, a1), (b0, ours, b1)]
        for begin, run, end in order if turn % 2 == 0 else reversed(order):
            flush.zero_()
            begin.record()
            run()
            end.record()
    torch.cuda.synchronize()
    by_triton = [1000 * a0.elapsed_time(a1) for a0, a1, _, _ in events]
    by_ours = [1000 * b0.elapsed_time(b1) for _, _, b0, b1 in events]
    ratios = sorted(a / b for a, b in zip(by_triton, by_ours))
    return {"triton_us": statistics.median(by_triton), "ours_us": statistics.median(by_ours),
            "ratio": statistics.median(by_triton) / statistics.median(by_ours),
            "p10": ratios[len(ratios) // 10], "p90": ratios[len(ratios) * 9 // 10], "repetitions": count}


class Contest:
    """Runs every launch that it is shown with both sides."""

    def __init__(self, archive, compiler, driver, repos, seconds, deadline):
        self.archive, self.compiler, self.driver, self.repos = archive, compiler, driver, repos
        self.seconds, self.deadline = seconds, deadline
        self.flush = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")  # several times the L2 cache
        self.processors = torch.cuda.get_device_properties(0).multi_processor_count
        self.rows, self.done, self.current = [], set(), None

    def begin(self, case, size):
        self.current, self.done = (case, size), set()

    def row(self, launch, **values):
        case, size = self.current
        row = {"project": case.project, "case": case.name, "size": list(size), "kernel": launch.name(),
               "grid": list(launch.grid), "num_warps": launch.options["num_warps"], **values}
        self.rows.append(row)

    def __call__(self, launch, original):
        key = launch.key(self.repos)
        if key in self.done or time.monotonic() > self.deadline:
            return self.make(original)
        self.done.add(key)
        facts, code = self.archive.find(key)
        if facts is None and self.compiler:
            self.archive.add(key, *self.compiler.compile(launch))
            facts, code = self.archive.find(key)
        if facts is None:
            self.row(launch, error="these arguments were not compiled ahead", signature=launch.signature())
        elif "error" in facts:
            self.row(launch, error="Tilewright: " + facts["error"])
        else:
            try:
                self.both(launch, original, key, facts, code)
            except (RuntimeError, OSError) as problem:
                self.row(launch, error=f"{type(problem).__name__}: {str(problem).splitlines()[0][:200]}")
                raise
        return self.make(original)

    def make(self, original):
        """The launch itself, which the host code goes on with."""
        return original()

    def both(self, launch, original, key, facts, code):
        memory = Memory(launch.arguments)
        kernel = original()
        torch.cuda.synchronize()
        by_triton = memory.copy()
        stream = torch.cuda.current_stream().cuda_stream
        ours = self.driver.launcher(key_hash(key), facts, code, launch, stream, self.processors)
        memory.restore()
        ours()
        torch.cuda.synchronize()
        error, complaint = compare(memory, by_triton, memory.copy())
        del by_triton
        triton = triton_launcher(kernel, launch, stream)
        times = time_both(triton, ours, memory, self.flush, self.seconds)
        memory.restore()
        self.row(launch, error_size=error, complaint=complaint, registers=facts["registers"],
                 triton_registers=getattr(kernel, "n_regs", None), spills=facts["spill_bytes"],
                 triton_spills=getattr(kernel, "n_spills", None), product="tl.dot" in launch.jit.src, **times)


class DryContest(Contest):
    """The same without a GPU: everything but launching and timing."""

    def make(self, original):
        return None

    def both(self, launch, original, key, facts, code):
        kernel_arguments(facts, launch.grid, launch.arguments, None)
        launch_sizes(facts, launch.grid, self.processors)
        self.row(launch, error_size=0.0, complaint="", registers=facts["registers"], spills=facts["spill_bytes"],
                 product="tl.dot" in launch.jit.src, triton_us=1.0, ours_us=1.0, ratio=1.0, p10=1.0, p90=1.0)


def triton_launcher(kernel, launch, stream):
    """What JITFunction.run does after it has found the compiled kernel."""
    metadata = kernel.launch_metadata(launch.grid, stream, *launch.arguments.values())
    arguments = (*launch.grid, stream, kernel.function, kernel.packed_metadata, metadata, None, None,
                 *launch.arguments.values())
    return lambda: kernel.run(*arguments)
