# SPDX-License-Identifier: Apache-2.0
# public/checkouts.py — makes the modules of public projects importable from their checkouts.
"""Packages of a checkout are entered without their __init__ where that would import a whole library,
and third-party modules that are not installed are replaced by stand-ins: what is measured needs only
torch and Triton."""
import importlib.abc
import importlib.machinery
import importlib.util
import os
import pathlib
import sys
import types

# Package -> its folder below the checkouts; their __init__ is not run.
BARE_PACKAGES = {
    "liger_kernel": "Liger-Kernel/src/liger_kernel",
    "liger_kernel.ops": "Liger-Kernel/src/liger_kernel/ops",
    "unsloth": "unsloth/unsloth",
    "unsloth.kernels": "unsloth/unsloth/kernels",
    "fla": "flash-linear-attention/fla",
    "fla.ops": "flash-linear-attention/fla/ops",
    "fla.modules": "flash-linear-attention/fla/modules",
    "TritonBench_v1": "TritonBench/data/TritonBench_G_v1",
}
METRICS = "TritonBench/performance_metrics/perf_G"
THIRD_PARTY = ("transformers", "einops", "unsloth_zoo", "peft", "datasets", "packaging",
               "torchao", "fbgemm_gpu", "vllm", "xformers", "accelerate", "tqdm", "pytest", "pandas",
               "matplotlib", "causal_conv1d", "flash_attn", "numpy")


class Version(tuple):
    """Enough of packaging's Version to compare releases."""

    def __new__(cls, text):
        numbers = []
        for part in str(text).split("+")[0].split("."):
            digits = "".join(c for c in part if c.isdigit())
            if not digits:
                break
            numbers.append(int(digits))
        return super().__new__(cls, numbers)


class StandIn(types.ModuleType):
    """A module that is not installed: its names are empty classes, its questions are answered no."""

    __path__ = []
    __version__ = "0"

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if name == "Version" or name == "parse":
            return Version
        if name == "version":
            return self
        if name.startswith("is_"):
            return lambda *_: False
        value = type(name, (), {})
        setattr(self, name, value)
        return value


class AbsentModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, roots):
        self.roots = roots

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in self.roots:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return StandIn(spec.name)

    def exec_module(self, module):
        pass


class KernelFiles(importlib.abc.MetaPathFinder, importlib.abc.SourceLoader):
    """TritonBench's files run their own tests when they are imported: only what is above them is."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def find_spec(self, name, path=None, target=None):
        package, _, module = name.partition(".")
        file = self.folder / f"{module}.py"
        if package != "TritonBench_v1" or not module or not file.is_file():
            return None
        return importlib.util.spec_from_file_location(name, file, loader=self)

    def get_filename(self, fullname):
        return str(self.folder / (fullname.partition(".")[2] + ".py"))

    def get_data(self, path):
        lines = pathlib.Path(path).read_bytes().splitlines(keepends=True)
        ends = [i for i, line in enumerate(lines) if line.startswith(b"#" * 20)]
        return b"".join(lines[: ends[0]] if ends else lines)

    def path_stats(self, path):
        raise OSError("not cached: a part of the file")


def bare_package(name, folder):
    module = types.ModuleType(name)
    module.__path__ = [str(folder)]
    module.__version__ = "0"
    sys.modules[name] = module
    parent, _, child = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], child, module)


def make_importable(repos):
    """After this, `import liger_kernel.ops.rms_norm` and its like work from the checkouts in `repos`."""
    repos = pathlib.Path(repos).resolve()
    os.environ.setdefault("FLA_DISABLE_BACKEND_DISPATCH", "1")
    os.environ.setdefault("FLA_CACHE_MODE", "disabled")
    sys.dont_write_bytecode = True
    for name, folder in BARE_PACKAGES.items():
        if (repos / folder).is_dir():
            bare_package(name, repos / folder)
    if "unsloth" in sys.modules:
        for name, values in {
            "unsloth.device_type": {"DEVICE_TYPE": "cuda", "DEVICE_TYPE_TORCH": "cuda", "DEVICE_COUNT": 1,
                                    "is_hip": lambda: False, "ALLOW_BITSANDBYTES": False},
            "unsloth.bnb_availability": {"native_kernels_ready": lambda *_: False},
            "unsloth.kernels.fp8": {},
        }.items():
            module = StandIn(name)
            module.__dict__.update(values)
            sys.modules[name] = module
    sys.meta_path.insert(0, KernelFiles(repos / BARE_PACKAGES["TritonBench_v1"]))
    sys.path.insert(0, str(repos / METRICS))
    absent = [name for name in THIRD_PARTY if importlib.util.find_spec(name) is None]
    sys.meta_path.append(AbsentModules(absent))
    return repos
