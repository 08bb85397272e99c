# SPDX-License-Identifier: Apache-2.0
# differential/triton_side.py — runs a case with Triton: its interpreter, or compiled on a GPU.
import importlib
import inspect
import pathlib
import sys

import numpy
import torch
import triton.language as tl

from case_file import DTypeName, TensorSpec, grid_sizes
from extract import Extractor
from interpreter_patches import bind_builtins, float_argument, patch_interpreter

TORCH_TYPES = {
    "f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16,
    "f8e4m3": torch.float8_e4m3fn, "f8e5m2": torch.float8_e5m2, "i8": torch.int8,
    "i16": torch.int16, "i32": torch.int32, "i64": torch.int64, "u8": torch.uint8,
    "u16": torch.uint16, "u32": torch.uint32, "u64": torch.uint64, "bool": torch.bool,
}
TL_NAMES = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "i8": "int8",
            "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16",
            "u32": "uint32", "u64": "uint64", "bool": "int1", "f8e4m3": "float8e4nv",
            "f8e5m2": "float8e5"}


def load_kernel(root, file, kernel, folder, interpreted):
    """The jit function itself, without autotuners and heuristics around it."""
    extractor = Extractor(root, interpreted)
    module = extractor.extract(file, kernel)
    extractor.write(folder)
    sys.path.insert(0, str(folder))
    function = getattr(importlib.import_module(module.name), kernel)
    if interpreted:
        for name in [m.name for m in extractor.modules.values() if m.name in sys.modules]:
            bind_builtins(sys.modules[name])
    while type(function).__name__ in ("Autotuner", "Heuristics"):
        function = function.fn
    return function


def constexpr_names(kernel):
    parameters = inspect.signature(kernel.fn).parameters.values()
    return {p.name for p in parameters if "constexpr" in str(p.annotation)}


def to_torch(array, dtype, device):
    tensor = torch.from_numpy(numpy.ascontiguousarray(array).copy())
    return tensor.to(TORCH_TYPES[dtype]).to(device)


def to_numpy(tensor, dtype):
    tensor = tensor.detach().cpu()
    return (tensor.float() if dtype in ("bf16", "f8e4m3", "f8e5m2") else tensor).numpy()


def run_triton(case, root, arrays, folder, on_gpu):
    """Launches `case` on copies of `arrays`; returns the tensors afterwards."""
    folder = pathlib.Path(folder)
    if not on_gpu:
        patch_interpreter()
    kernel = load_kernel(root, case.file, case.kernel, folder, not on_gpu)
    constants = constexpr_names(kernel)
    device = "cuda" if on_gpu else "cpu"
    tensors = {n: to_torch(arrays[n], s.dtype, device) for n, s in case.tensors().items()}
    arguments = {}
    for name, value in case.arguments.items():
        if isinstance(value, TensorSpec):
            value = tensors[name]
        elif isinstance(value, DTypeName):
            value = getattr(tl, value.name, None) or getattr(tl, TL_NAMES[value.name])
        elif isinstance(value, float) and not on_gpu and name not in constants:
            value = float_argument(value)
        arguments[name] = value
    kernel[grid_sizes(case.grid, case.arguments)](**arguments, num_warps=case.num_warps)
    if on_gpu:
        torch.cuda.synchronize()
    return {n: to_numpy(t, case.arguments[n].dtype) for n, t in tensors.items()}
