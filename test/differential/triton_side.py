# SPDX-License-Identifier: Apache-2.0
# differential/triton_side.py — runs a case with Triton: its interpreter, or compiled on a GPU.
import functools
import importlib
import inspect
import pathlib
import sys

import numpy
import torch
import triton
import triton.language as tl

from case_file import DTypeName, TensorSpec, grid_sizes
from extract import Extractor

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


def _is_bool_tensor(value):
    return isinstance(value, tl.tensor) and value.dtype == tl.int1


def logical_and(left, right):
    """What Triton makes of `left and right()`: elementwise on int1 tensors, else Python's."""
    if not _is_bool_tensor(left):
        return left and right()
    other = right()
    return left & other if _is_bool_tensor(other) else left and other


def logical_or(left, right):
    if not _is_bool_tensor(left):
        return left or right()
    other = right()
    return left | other if _is_bool_tensor(other) else left or other


def logical_not(value):
    return ~value if _is_bool_tensor(value) else not value


def bind_builtins(module):
    """`cast = tl.cast` at module level keeps the compiler's builtin, which the interpreter replaces
    only inside `tl`: such names get the interpreter's semantics."""
    from triton.runtime.interpreter import interpreter_semantic

    for name, value in list(vars(module).items()):
        if getattr(value, "__triton_builtin__", False):
            setattr(module, name, functools.partial(value, _semantic=interpreter_semantic))


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
    plain = (triton.runtime.JITFunction, triton.runtime.interpreter.InterpretedFunction)
    while not isinstance(function, plain) and hasattr(function, "fn"):
        function = function.fn
    return function


def _numpy_libdevice():
    """Triton's interpreter has no libdevice: its functions, in double and rounded once."""
    import math

    vector = numpy.vectorize
    return {
        "tanh": numpy.tanh, "pow": numpy.power, "exp": numpy.exp, "exp2": numpy.exp2,
        "log": numpy.log, "log2": numpy.log2, "log1p": numpy.log1p, "expm1": numpy.expm1,
        "sqrt": numpy.sqrt, "rsqrt": lambda x: 1 / numpy.sqrt(x), "abs": numpy.abs,
        "sin": numpy.sin, "cos": numpy.cos, "tan": numpy.tan, "asin": numpy.arcsin,
        "acos": numpy.arccos, "atan": numpy.arctan, "atan2": numpy.arctan2, "sinh": numpy.sinh,
        "cosh": numpy.cosh, "erf": vector(math.erf, [float]), "ceil": numpy.ceil,
        "floor": numpy.floor, "trunc": numpy.trunc, "rint": numpy.rint, "nearbyint": numpy.rint,
        "round": lambda x: numpy.copysign(numpy.floor(numpy.abs(x) + 0.5), x),
        "fmod": numpy.fmod, "div_rn": numpy.divide, "fast_expf": numpy.exp, "fast_logf": numpy.log,
        "fast_dividef": numpy.divide, "div_rz": numpy.divide,
    }


def patch_libdevice():
    from triton.language.extra import libdevice
    from triton.runtime.interpreter import TensorHandle

    def elementwise(function):
        def call(*arguments, **_):
            tensors = [a if isinstance(a, tl.tensor) else tl.full([], a, tl.float32)
                       for a in arguments]
            kind = tensors[0].dtype
            with numpy.errstate(all="ignore"):
                values = function(*(t.handle.data.astype(numpy.float64) for t in tensors))
            data = numpy.asarray(values).astype(tensors[0].handle.data.dtype)
            is_block = any(t.type.is_block() for t in tensors)
            return tl.tensor(TensorHandle(data, kind),
                             tl.block_type(kind, list(data.shape)) if is_block else kind)
        return call

    def integer_valued(function, kind, numpy_kind):
        def call(x, **_):
            data = function(x.handle.data).astype(numpy_kind)
            return tl.tensor(TensorHandle(data, kind), tl.block_type(kind, list(x.shape)))
        return call

    modules = [libdevice]
    for name in ("triton.language.extra.cuda.libdevice", "triton.language.extra.cuda"):
        try:
            modules.append(importlib.import_module(name))
        except ImportError:
            pass
    for module in modules:
        for name, function in _numpy_libdevice().items():
            setattr(module, name, elementwise(function))
        for name, function in {"isnan": numpy.isnan, "isinf": numpy.isinf,
                               "finitef": numpy.isfinite, "isfinited": numpy.isfinite}.items():
            setattr(module, name, integer_valued(function, tl.int32, numpy.int32))
        setattr(module, "llrint", integer_valued(numpy.rint, tl.int64, numpy.int64))


def constexpr_names(kernel):
    parameters = inspect.signature(kernel.fn).parameters.values()
    return {p.name for p in parameters if "constexpr" in str(p.annotation)}


def float_argument(value):
    """A float32 scalar as the compiler has it; the interpreter would leave a Python number."""
    from triton.runtime.interpreter import TensorHandle

    return tl.tensor(TensorHandle(numpy.array([value], numpy.float32), tl.float32), tl.float32)


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
        patch_libdevice()
        tl.dtype.value = property(lambda kind: kind)  # constexpr arguments come unwrapped
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
