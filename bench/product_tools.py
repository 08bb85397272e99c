# SPDX-License-Identifier: Apache-2.0
# bench/product_tools.py — what products.py measures with: tutorials as modules, configs compiled by tilewright, ways timed in turns.
import ast
import concurrent.futures
import ctypes
import importlib.util
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

try:
    import torch
except ImportError as problem:
    sys.exit(f"products.py: {problem}; it needs Python with torch and Triton")

from public.ours import first_line, kernel_arguments, launch_facts, launch_sizes


def tutorial(folder, name):
    """The definitions of a tutorial without what it runs when it is loaded."""
    tree = ast.parse((folder / f"{name}.py").read_text())
    runs = ("torch.rand", "torch_output", "Benchmark", "triton_output", "allclose", "__main__", "tri_out", "tri_tma_out", "ref_out")

    def is_definition(node):
        if isinstance(node, ast.FunctionDef):
            return not any("perf_report" in ast.unparse(d) or "pytest" in ast.unparse(d) for d in node.decorator_list)
        return isinstance(node, (ast.Import, ast.ImportFrom, ast.ClassDef, ast.Assign, ast.If)) and not any(r in ast.unparse(node) for r in runs)

    tree.body = [node for node in tree.body if is_definition(node)]
    path = pathlib.Path(tempfile.mkdtemp()) / f"tutorial_{name[:2]}.py"
    path.write_text(ast.unparse(tree))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


class Kernel:
    """One config of a kernel, compiled by tilewright."""

    driver, processors = None, 0

    def __init__(self, command, place, signature, warps, stages):
        self.place, self.name = place, place.split(":")[1]
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([command, "compile", place, "--signature", signature, "--target", "sm_90a", "--emit", "cubin,header", "--json",
                                   "--num-warps", str(warps), "--num-stages", str(stages), "-o", folder], capture_output=True, text=True, timeout=300)
            if done.returncode != 0:
                raise RuntimeError(first_line(done.stderr))
            row = json.loads(done.stdout)["compiled"][0]
            files = row.pop("emitted")
            self.facts = {n: row[n] for n in ("threads", "registers", "spill_bytes", "shared_bytes")}
            self.facts |= launch_facts(pathlib.Path(files["header"]).read_text(), self.name)
            self.code = pathlib.Path(files["cubin"]).read_bytes()
        self.key = f"{place} {signature} {warps} {stages}"

    def __call__(self, grid, arguments):
        """A call without arguments."""
        function = Kernel.driver.function(self.key, self.facts, self.code)
        values, pointers = kernel_arguments(self.facts, grid, arguments, Kernel.driver.cuda)
        sizes = launch_sizes(self.facts, grid, Kernel.processors)
        launch, shared, check = Kernel.driver.cuda.cuLaunchKernel, self.facts["dynamic_shared"], Kernel.driver.check

        def run(keep=(values, arguments)):
            stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
            code = launch(function, *sizes, shared, stream, pointers, None)
            if code:
                check(code, "cuLaunchKernel")

        return run


def compile_all(command, jobs):
    """jobs: label -> (place, signature, warps, stages); kernels by label, and what failed."""
    kernels, failed = {}, {}
    with concurrent.futures.ThreadPoolExecutor(14) as pool:
        for label, future in [(label, pool.submit(Kernel, command, *job)) for label, job in jobs.items()]:
            try:
                kernels[label] = future.result()
            except Exception as problem:
                failed[label] = str(problem)[:200]
    return kernels, failed


def elapsed(run, count):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(count):
        run()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / count


def repeated(run, count):
    """`count` runs as one CUDA graph: what a host needs for a launch is not what is compared."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        run()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(count):
            run()
    return graph.replay


def contest(ways, seconds=0.6):
    """Milliseconds of each way, rounds in turns: {name: list}."""
    for run in ways.values():
        run()
    torch.cuda.synchronize()
    once = {name: max(elapsed(run, 2), 1e-3) for name, run in ways.items()}
    inner = {name: max(1, min(200, int(8 / t))) for name, t in once.items()}
    calls = {name: repeated(run, inner[name]) for name, run in ways.items()}
    rounds = max(8, int(seconds * 1000 / sum(inner[n] * once[n] for n in ways)))
    times = {name: [] for name in ways}
    for turn in range(rounds + 2):
        for name in (list(ways) if turn % 2 == 0 else reversed(list(ways))):
            t = elapsed(calls[name], 1) / inner[name]
            if turn >= 2:
                times[name].append(t)
    return times


def error_of(got, want):
    return float((got.double() - want.double()).norm() / want.double().norm())


def best_of(kernels, make, check):
    """The fastest right config: label and call, and what was wrong. The GPU's clock falls while it works: the best few are timed
    in turns once more."""
    found, wrong = [], {}
    for label, kernel in kernels.items():
        try:
            run = make(label, kernel)
            run()
            torch.cuda.synchronize()
            problem = check()
            if problem:
                wrong[label] = problem
                continue
            run()
            t = min(elapsed(run, 3) for _ in range(2))
        except Exception as error:
            wrong[label] = str(error)[:120]
            continue
        found.append((t, label, run))
    found.sort(key=lambda item: item[0])
    if not found:
        return (None, None), wrong
    runs = {label: run for _, label, run in found[:4]}
    times = {label: statistics.median(ts) for label, ts in contest(runs, 0.3).items()}
    label = min(times, key=times.get)
    return (label, runs[label]), wrong


def config_text(config):
    return " ".join(f"{k.replace('BLOCK_SIZE_', 'B').replace('BLOCK_', 'B')}={v}" for k, v in config.kwargs.items()) + f" w={config.num_warps} s={config.num_stages}"


class Report:
    def __init__(self, path):
        self.rows, self.path = [], path

    def add(self, work, flop, rounds, **more):
        times = {name: statistics.median(ts) for name, ts in rounds.items()}
        spread = {name: sorted(a / b for a, b in zip(ts, rounds["ours"])) for name, ts in rounds.items() if name != "ours" and "ours" in rounds}
        more |= {f"spread_{name}": [r[len(r) // 10], r[len(r) * 9 // 10]] for name, r in spread.items()}
        row = {"work": work, **{f"{n}_tflops": flop / t * 1e-9 for n, t in times.items()}, **more}
        self.rows.append(row)
        text = "  ".join(f"{n} {flop / t * 1e-9:7.1f}" for n, t in times.items())
        rivals = {n: t for n, t in times.items() if n != "ours"}
        ratios = "  ".join(f"/{n} {t / times['ours']:.3f}" for n, t in rivals.items()) if "ours" in times else "no right config of ours"
        print(f"{work:34s} {text}   {ratios}   {more.get('config', '')}", flush=True)
        if self.path:
            pathlib.Path(self.path).write_text(json.dumps(self.rows, indent=1))
