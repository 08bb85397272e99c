# SPDX-License-Identifier: Apache-2.0
# numba/replay_launches.py — launches that record_launches.py kept, by `tilewright run`; says where the arrays differ.
#   python3 test/numba/replay_launches.py FOLDER --tilewright build/dev/bin/tilewright [--device emulate]
# Of Numba 0.68.1 these differ, and rightly: brev and clz of a number whose type only the signature told (signatures are not
# recorded), arrays passed as cuda.In (Numba throws their copies away), and a kernel that reads shared memory nobody wrote.
import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

SHORT = {"float64": "f64", "float32": "f32", "float16": "f16"}


def short(dtype):
    return SHORT.get(dtype) or dtype.replace("uint", "u").replace("int", "i")


def command(tilewright, device, place, record, saved):
    words = [tilewright, "run", os.path.join(place, "kernel.py") + ":" + record["kernel"], "--device", device,
             "--grid", "(" + ",".join(map(str, record["grid"])) + ")", "--block",
             "(" + ",".join(map(str, record["block"])) + ")"]
    if record["shared"]:
        words += ["--shared", str(record["shared"])]
    for i, (name, argument) in enumerate(zip(record["parameters"], record["arguments"])):
        if "array" in argument:
            words += [f"{name}={os.path.join(place, argument['array'])}", "--save", f"{name}={saved}/{i}.npy"]
        elif argument["dtype"] == "bool":
            words.append(f"{name}={'true' if argument['value'] else 'false'}")
        elif argument["dtype"] in ("int64", "float64"):
            words.append(f"{name}={argument['value']}")
        else:
            words.append(f"{name}={argument['value']}:{short(argument['dtype'])}")
    return words


def difference(got, wanted):
    """None where the arrays agree as far as the simulator has Numba's types."""
    if got.shape != wanted.shape:
        return f"shape {got.shape} instead of {wanted.shape}"
    loose = 2e-3 if wanted.dtype == np.float16 else 1e-5
    is_real = wanted.dtype.kind in "fc"
    same = np.isclose(got, wanted, rtol=loose, atol=1e-6, equal_nan=True) if is_real else got == wanted
    if np.all(same):
        return None
    first = np.argwhere(~same)[0]
    return f"element {tuple(first.tolist())}: {got[tuple(first)]} instead of {wanted[tuple(first)]}"


def replay(tilewright, device, place):
    with open(os.path.join(place, "launch.json")) as text:
        record = json.load(text)
    with tempfile.TemporaryDirectory() as saved:
        done = subprocess.run(command(tilewright, device, place, record, saved), capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            return record, (done.stderr.strip() or "exit code %d" % done.returncode)
        for i, argument in enumerate(record["arguments"]):
            if "array" not in argument:
                continue
            what = difference(np.load(f"{saved}/{i}.npy"), np.load(f"{place}/after{i}.npy"))
            if what is not None:
                return record, f"WRONG {record['parameters'][i]}, {what}"
    return record, None


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--tilewright", required=True)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    results = collections.Counter()
    for name in sorted(os.listdir(options.folder)):
        place = os.path.join(options.folder, name)
        if not os.path.exists(os.path.join(place, "launch.json")) or (options.only and name not in options.only.split(",")):
            continue
        record, reason = replay(options.tilewright, options.device, place)
        results["same" if reason is None else "wrong" if reason.startswith("WRONG") else "refused"] += 1
        if reason is not None:
            print(f"{name} {record['test']} {record['kernel']}: {reason}", flush=True)
    print(dict(results))
    sys.exit(results["wrong"] != 0)
