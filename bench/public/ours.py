# SPDX-License-Identifier: Apache-2.0
# public/ours.py — machine code of the same kernels by Tilewright, made ahead and launched on torch tensors.
import ctypes
import json
import pathlib
import re
import subprocess
import tempfile
import zipfile

from public.launches import Unsupported, key_hash
from public.maps import make_map, read_maps

C_TYPES = {"float": ctypes.c_float, "double": ctypes.c_double, "bool": ctypes.c_bool,
           **{f"std::{sign}int{bits}_t": getattr(ctypes, f"c_{sign}int{bits}")
              for sign in ("", "u") for bits in (8, 16, 32, 64)}}


def first_line(text):
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return re.sub(r"^tilewright: ", "", lines[0])[:300] if lines else "no message"


class Compiler:
    """`tilewright compile`, once per key."""

    def __init__(self, command, target="sm_90a"):
        self.command, self.target = command, target

    def compile(self, launch):
        """Facts of the machine code and its bytes, or facts with an error."""
        try:
            arguments = [self.command, "compile", f"{launch.file()}:{launch.name()}", "--signature",
                         launch.signature(), "--target", self.target, "--emit", "cubin,header", "--json"]
        except Unsupported as problem:
            return {"error": str(problem)}, b""
        arguments += ["--num-warps", str(launch.options["num_warps"]), "--num-stages", str(launch.options["num_stages"])]
        if launch.options["maxnreg"]:
            arguments += ["--maxnreg", str(launch.options["maxnreg"])]
        if not launch.options["enable_fp_fusion"]:
            arguments.append("--no-fp-fusion")
        with tempfile.TemporaryDirectory() as folder:
            try:
                done = subprocess.run(arguments + ["-o", folder], capture_output=True, text=True, timeout=120)
            except subprocess.TimeoutExpired:
                return {"error": "compiling takes more than 120 s"}, b""
            if done.returncode != 0:
                return {"error": first_line(done.stderr)}, b""
            row = json.loads(done.stdout)["compiled"][0]
            files = row.pop("emitted")
            facts = {name: row[name] for name in ("threads", "registers", "spill_bytes", "shared_bytes")}
            facts |= launch_facts(pathlib.Path(files["header"]).read_text(), launch.name())
            return facts, pathlib.Path(files["cubin"]).read_bytes()


def launch_facts(header, kernel):
    """How the generated header launches: parameters with their types, sizes, shared memory, cluster."""
    entry = re.search(r'cuModuleGetFunction\(&function, module, "([^"]+)"\)', header).group(1)
    declared = re.search(rf"inline CUresult \w*{re.escape(kernel)}\(CUstream stream, \w+ grid(?:, )?([^)]*)\)", header).group(1)
    types = {name: kind for kind, name in
             (re.match(r"(.*?)\s*(\w+)$", item.strip()).groups() for item in declared.split(",") if item.strip())}
    passed = re.search(r"void\* arguments\[\] = \{(.*?)\};", header, re.S)
    names = [item.strip().lstrip("&") for item in passed.group(1).split(",")] if passed else []
    names = [n for n in names if n and n != "nullptr"]
    sizes = {name: python_size(text) for name, text in
             re.findall(r"const std::int64_t (blocks_[xyz]|threads_[xyz]) =\s*(.*?);", header, re.S)}
    cluster = {axis: int(value) for axis, value in re.findall(r"cluster\.value\.clusterDim\.([xyz]) = (\d+);", header)}
    shared = re.search(r"CUDA_SUCCESS && (\d+) > 48 \* 1024", header)
    return {"entry": entry, "parameters": [[n, types.get(n, "")] for n in names], "sizes": sizes,
            "cluster": cluster, "maps": read_maps(header), "dynamic_shared": int(shared.group(1)) if shared else 0}


def python_size(text):
    text = re.sub(r"std::int64_t\{grid\.([xyz])\}", r"\1", text.replace("\n", " "))
    text = text.replace("std::min<std::int64_t>", "min").replace("std::max<std::int64_t>", "max")
    return text.replace("loaded.processors", "processors").replace("/", "//").strip()


class Archive:
    """Machine code by key in zip files, each with an `index.json`."""

    def __init__(self, *paths):
        self.index, self.codes = {}, {}
        for path in paths:
            with zipfile.ZipFile(path) as file:
                self.index |= json.loads(file.read("index.json"))
                self.codes |= {n: file.read(n) for n in file.namelist() if n != "index.json"}

    def find(self, key):
        name = key_hash(key)
        return self.index.get(name), self.codes.get(name)

    def add(self, key, facts, code):
        name = key_hash(key)
        self.index[name] = {"kernel": key[0], "signature": key[1], "options": dict(key[2]), **facts}
        if code:
            self.codes[name] = code

    def write(self, path):
        """Whole or not at all: the process may be ended while it writes."""
        unfinished = pathlib.Path(f"{path}.unfinished")
        with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
            file.writestr("index.json", json.dumps(self.index, indent=1))
            for name, code in self.codes.items():
                file.writestr(name, code)
        unfinished.replace(path)


class LaunchConfig(ctypes.Structure):
    _fields_ = [(n, ctypes.c_uint) for n in ("gx", "gy", "gz", "bx", "by", "bz", "shared")] + [
        ("stream", ctypes.c_void_p), ("attributes", ctypes.c_void_p), ("count", ctypes.c_uint)]


class ClusterAttribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_char * 4), ("x", ctypes.c_uint), ("y", ctypes.c_uint),
                ("z", ctypes.c_uint), ("rest", ctypes.c_char * 52)]


class CudaError(RuntimeError):
    pass


class Driver:
    """The few calls of libcuda that load and launch; the context is torch's."""

    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.functions = {}

    def check(self, result, what):
        if result != 0:
            text = ctypes.c_char_p()
            self.cuda.cuGetErrorName(result, ctypes.byref(text))
            raise CudaError(f"{what}: {(text.value or b'unknown error').decode()}")

    def function(self, name, facts, code):
        if name not in self.functions:
            module, function = ctypes.c_void_p(), ctypes.c_void_p()
            self.check(self.cuda.cuModuleLoadData(ctypes.byref(module), code), "cuModuleLoadData")
            self.check(self.cuda.cuModuleGetFunction(ctypes.byref(function), module, facts["entry"].encode()),
                       "cuModuleGetFunction")
            if facts["dynamic_shared"] > 48 * 1024:
                self.check(self.cuda.cuFuncSetAttribute(function, 8, facts["dynamic_shared"]), "cuFuncSetAttribute")
            self.functions[name] = function
        return self.functions[name]

    def launcher(self, name, facts, code, launch, stream, processors):
        """A call without arguments that launches on `stream`."""
        function = self.function(name, facts, code)
        values, pointers = kernel_arguments(facts, launch.grid, launch.arguments, self.cuda)
        config = LaunchConfig(*launch_sizes(facts, launch.grid, processors), facts["dynamic_shared"], stream, None, 0)
        if facts["cluster"]:
            cluster = ClusterAttribute(4, b"", *(facts["cluster"].get(axis, 1) for axis in "xyz"), b"")
            config.attributes, config.count = ctypes.addressof(cluster), 1
            values.append(cluster)
        call, reference = self.cuda.cuLaunchKernelEx, ctypes.byref(config)

        def run(keep=values):
            result = call(reference, function, pointers, None)
            if result != 0:
                self.check(result, "cuLaunchKernelEx")

        return run


def kernel_arguments(facts, grid, arguments, cuda):
    """What the kernel takes, and the array of its addresses."""
    plain = {n: v.data_ptr() if hasattr(v, "data_ptr") else v for n, v in arguments.items()}
    plain |= {f"{n}_v": v for n, v in plain.items() if f"{n}_v" not in plain}  # words of C++, such as `do`
    maps = facts.get("maps", {})
    values, addresses = [], []
    for name, kind in facts["parameters"]:
        if name in maps:
            values.append(make_map(cuda, maps[name], plain))
            addresses.append(values[-1].address())
            continue
        if name.startswith("grid."):
            values.append(ctypes.c_int32(grid["xyz".index(name[-1])]))
        else:
            values.append(ctypes.c_uint64(plain[name]) if kind.endswith("*") else C_TYPES.get(kind, ctypes.c_int32)(plain[name]))
        addresses.append(ctypes.addressof(values[-1]))
    return values, (ctypes.c_void_p * max(1, len(addresses)))(*addresses)


def launch_sizes(facts, grid, processors):
    names = dict(zip("xyz", grid), processors=processors, min=min, max=max, __builtins__={})
    sizes = facts["sizes"]
    blocks = [eval(sizes[f"blocks_{a}"], names) if f"blocks_{a}" in sizes else g for a, g in zip("xyz", grid)]
    threads = [eval(sizes[f"threads_{a}"], names) if f"threads_{a}" in sizes else d
               for a, d in zip("xyz", (facts["threads"], 1, 1))]
    return [int(n) for n in blocks + threads]
