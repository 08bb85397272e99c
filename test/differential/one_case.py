# SPDX-License-Identifier: Apache-2.0
# differential/one_case.py — one case in its own process: inputs, Triton, Tilewright, the verdict.
import json
import shlex
import subprocess
import sys
import traceback

import numpy

import triton_side
from case_file import TensorSpec
from compare import compare
from inputs import NUMPY_TYPES, generate, is_float


def run_case(case, root, folder, options):
    """Writes result.json into `folder`; an exception is a failure of Triton or of the case."""
    result = {"verdict": "ran", "devices": {}}
    try:
        arrays = {n: generate(n, s, case.seed) for n, s in case.tensors().items()}
        for name, array in arrays.items():
            numpy.save(folder / f"{name}.npy", array)
        if options.oracle == "compiler":
            import compiled_side  # needs a package that the machine with a GPU may lack

            theirs = compiled_side.run_compiled(case, root, arrays, folder)
        else:
            theirs = triton_side.run_triton(case, root, arrays, folder, "cuda" in options.device)
        for name, array in theirs.items():
            numpy.save(folder / f"{name}.triton.npy", array)
        reason = trivial(case, arrays, theirs)
        if reason:
            result.update(verdict="trivial", reason=reason)
        elif options.tilewright:
            judge(case, root, folder, options, theirs, result)
    except Exception as error:
        traceback.print_exc(file=sys.stderr)
        result.update(verdict="no oracle", reason=f"{type(error).__name__}: {error}".split("\n")[0])
    (folder / "result.json").write_text(json.dumps(result))


def trivial(case, before, after):
    """Why the results of Triton prove nothing, or an empty text."""
    changed = {n: a for n, a in after.items() if not numpy.array_equal(before[n], a, equal_nan=a.dtype.kind == "f")}
    if not changed:
        return "the kernel changes no tensor"
    for name, array in changed.items():
        if array.dtype.kind == "f" and not case.nonfinite and not numpy.isfinite(array).all():
            return f"'{name}' holds NaN or infinity"
    written = [a[a != before[n]] for n, a in changed.items()]
    if all(a.size > 8 and numpy.all(a == a.flat[0]) for a in written):
        return "all that is written is one number"
    return ""


def judge(case, root, folder, options, theirs, result):
    reference = None
    if any(is_float(s.dtype) for s in case.tensors().values()) and not case.exact:
        reference, reason = run_tilewright(case, root, folder, options, "interpret", True)
        if reason:
            result["reference"] = reason
    for device in options.device:
        if case.only and device not in case.only:
            continue
        ours, reason = run_tilewright(case, root, folder, options, device, False)
        entry = {"verdict": "failed", "error": 0.0, "triton_error": 0.0, "reason": reason}
        if not reason:
            compare_all(case, ours, theirs, reference or {}, entry)
        result["devices"][device] = entry
    entries = list(result["devices"].values())
    worst = next((w for w in ("failed", "differs", "close") if
                  any(e["verdict"] == w for e in entries)), "equal")
    result["verdict"] = worst if entries else "ran"
    result["reason"] = "; ".join(f"{d}: {e['reason']}" for d, e in result["devices"].items()
                                 if e["reason"])


def compare_all(case, ours, theirs, reference, entry):
    entry["verdict"] = "equal"
    for name, spec in case.tensors().items():
        if name in case.skip:
            continue
        verdict = compare(ours[name], theirs[name], spec.dtype, reference.get(name), case.exact,
                          case.off_by.get(name, 0))
        entry["error"] = max(entry["error"], verdict.error)
        entry["triton_error"] = max(entry["triton_error"], verdict.triton_error)
        if not verdict.ok:
            entry["verdict"] = "differs"
            entry["reason"] += f"{', ' if entry['reason'] else ''}{name}: {verdict.reason}"
        elif verdict.word == "close" and entry["verdict"] == "equal":
            entry["verdict"] = "close"


def argument_text(case, name, folder):
    """NAME=VALUE for the command line: a tensor becomes its file, with the dtype NumPy lacks."""
    value = case.arguments[name]
    if isinstance(value, str):
        return f"{name}='{value}'"
    if not isinstance(value, TensorSpec):
        return f"{name}={case.texts[name]}"
    prefix = f"{value.dtype}:" if value.dtype in ("bf16", "f8e4m3", "f8e5m2") else ""
    return f"{name}={prefix}{folder / f'{name}.npy'}"


def run_tilewright(case, root, folder, options, device, float64):
    """The tensors after the launch, and the reason when there are none."""
    suffix = "float64" if float64 else device
    command = [options.tilewright, "run", f"{root / case.file}:{case.kernel}", "--grid", case.grid,
               "--device", device, "--num-warps", str(case.num_warps), "--bare"]
    if float64:
        command.append("--float64")
    command += [argument_text(case, name, folder) for name in case.arguments]
    for name in case.tensors():
        command += ["--save", f"{name}={folder / f'{name}.{suffix}.npy'}"]
    (folder / f"command.{suffix}.txt").write_text(shlex.join(command) + "\n")
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    (folder / f"output.{suffix}.txt").write_text(done.stdout + done.stderr)
    if done.returncode:
        return None, last_line(done.stderr or done.stdout) or f"status {done.returncode}"
    return {n: load_result(folder / f"{n}.{suffix}.npy", s.dtype, float64)
            for n, s in case.tensors().items()}, ""


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    return (errors or lines or [""])[0].strip()[:300]


def load_result(path, dtype, float64):
    array = numpy.load(path)
    if float64 and is_float(dtype):
        return array.astype(numpy.float64)
    return array.astype(NUMPY_TYPES[dtype]) if dtype in ("bf16", "f8e4m3", "f8e5m2") else array
