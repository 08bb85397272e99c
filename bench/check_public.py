# SPDX-License-Identifier: Apache-2.0
# bench/check_public.py — runs `tilewright check` on the launches of test/differential: every alarm is printed.
"""python3 bench/check_public.py --repos DIR --tilewright bin/tilewright [SUITE...]

DIR holds clones as CONTRIBUTING.md ("Against Triton") names them; a case whose file is not there is counted as absent.
Needs no NumPy, no torch and no GPU. The results are in bench/results/check-public.md.
"""
import argparse
import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DIFFERENTIAL = ROOT / "test/differential"
sys.path.insert(0, str(DIFFERENTIAL))

import case_file  # noqa: E402


def values_of(generator, parameters, count, source):
    """The numbers that a case asks for, as test/differential/inputs.py makes them, of another stream."""
    if generator in ("randn", "special"):
        return [source.gauss(0, 1) for _ in range(count)]
    if generator == "rand":
        low, high = parameters or (0.0, 1.0)
        return [source.uniform(low, high) for _ in range(count)]
    if generator == "randint":
        return [source.randrange(int(parameters[0]), int(parameters[1])) for _ in range(count)]
    if generator == "bits":
        return [source.randrange(-(2**31), 2**31) for _ in range(count)]
    if generator == "perm":
        return source.sample(range(count), count)
    if generator == "full":
        return [parameters[0]] * count
    if generator == "arange":
        start, step = (list(parameters) + [0, 1][len(parameters):])[:2]
        return [start + step * i for i in range(count)]
    if generator == "list":
        return [parameters[i % len(parameters)] for i in range(count)]
    raise case_file.CaseError(f"there is no generator '{generator}'")


def write_npy(path, values, shape, is_integer):
    kind, code = ("<i8", "q") if is_integer else ("<f4", "f")
    sizes = "".join(f"{size}," for size in shape)
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({sizes}), }}"
    header += " " * (64 - (len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{len(values)}{code}", *values))


def argument_text(case, name, folder):
    value = case.arguments[name]
    if isinstance(value, str):
        return f"{name}='{value}'"
    if not isinstance(value, case_file.TensorSpec):
        return f"{name}={case.texts[name]}"
    sizes = ",".join(map(str, value.shape))
    if value.generator in ("empty", "zeros", "ones"):
        return f"{name}={value.generator}:{value.dtype}[{sizes}]"
    count = 1
    for size in value.shape:
        count *= size
    is_integer = value.dtype[0] in "iu" or value.dtype == "bool"
    values = values_of(value.generator, value.parameters, count, random.Random(name))
    values = [v * value.factor for v in values] if value.factor != 1 else values
    path = folder / f"{name}.npy"
    write_npy(path, [int(v) for v in values] if is_integer else values, value.shape, is_integer)
    return f"{name}={value.dtype}:{path}"


def check(case, root, options, folder):
    """The findings of a case, or the sentence that says why it cannot be run."""
    command = [options.tilewright, "check", f"{root / case.file}:{case.kernel}", "--json", "--bare", "--grid", case.grid]
    command += [argument_text(case, name, folder) for name in case.arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode not in (0, 4):
        return (done.stdout + done.stderr).strip()
    return json.loads(done.stdout)["findings"]


def print_findings(case, found):
    print(f"{case.file}:{case.kernel}")
    for finding in found:
        notes = "; ".join(finding["values"] + finding["notes"])
        print(f"    line {finding['line']}: {finding['kind']}: {finding['message']} ({notes})")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repos", type=pathlib.Path, required=True)
    parser.add_argument("--tilewright", required=True)
    parser.add_argument("suites", nargs="*", help="names of files in test/differential/cases; default: all")
    options = parser.parse_args()
    absent, failed, clean, kernels, alarms = 0, 0, 0, set(), 0
    for path in sorted((DIFFERENTIAL / "cases").glob("*.txt")):
        if options.suites and path.stem not in options.suites:
            continue
        for case in case_file.read_cases(path):
            root = next((r for r in (DIFFERENTIAL, ROOT, options.repos) if (r / case.file).exists()), None)
            if root is None:
                absent += 1
                continue
            with tempfile.TemporaryDirectory() as folder:
                found = check(case, root, options, pathlib.Path(folder))
            if isinstance(found, str):
                failed += 1
                print(f"{case.file}:{case.kernel} cannot be checked: {found}")
                continue
            kernels.add((case.file, case.kernel))
            clean += not found
            if found:
                alarms += 1
                print_findings(case, found)
    print(f"{len(kernels)} kernels in {clean + alarms} launches: nothing in {clean}, something in {alarms}; "
          f"{failed} could not be run, {absent} are absent")


if __name__ == "__main__":
    main()
