# SPDX-License-Identifier: Apache-2.0
# differential/compiled_side.py — a case by the IR that Triton's compiler makes of it (TTIR).
"""Needs no GPU. Where Triton's interpreter departs from its compiler (conversions, shifts of mixed
signs, functions of libdevice, `and` of tensors), this is what the compiled kernel does.
"""
import inspect
import pathlib

import ml_dtypes
import numpy
import triton.language as tl

from case_file import DTypeName, TensorSpec, grid_sizes
from triton_side import TL_NAMES, constexpr_names, load_kernel
from ttir_machine import Machine

ARRAYS = {"bf16": ml_dtypes.bfloat16, "f8e4m3": ml_dtypes.float8_e4m3fn,
          "f8e5m2": ml_dtypes.float8_e5m2}
SIGNATURES = {"f64": "fp64", "f32": "fp32", "f16": "fp16", "f8e4m3": "fp8e4nv", "f8e5m2": "fp8e5",
              "bool": "i1"}


def scalar(value):
    """The type of a scalar argument in a signature, and its value."""
    if isinstance(value, bool):
        return "i1", numpy.bool_(value)
    if isinstance(value, float):
        return "fp32", numpy.float32(value)
    return ("i32", numpy.int32(value)) if -2**31 <= value < 2**31 else ("i64", numpy.int64(value))


def arguments_of(kernel, case, arrays):
    """The signature, the constants by their places, and the values of all others."""
    constants, signature, fixed, values = constexpr_names(kernel), {}, {}, []
    for place, (name, parameter) in enumerate(inspect.signature(kernel.fn).parameters.items()):
        value = case.arguments.get(name, parameter.default)
        if isinstance(value, DTypeName):
            value = getattr(tl, value.name, None) or getattr(tl, TL_NAMES[value.name])
        if isinstance(value, TensorSpec):
            signature[name] = "*" + SIGNATURES.get(value.dtype, value.dtype)
            values.append(arrays[name].astype(ARRAYS.get(value.dtype, arrays[name].dtype)))
        elif name in constants or value is None or (type(value) is int and value == 1):
            signature[name], fixed[(place,)] = "constexpr", value
        else:
            signature[name], value = scalar(value)
            values.append(value)
    return signature, fixed, values


def ttir_of(kernel, signature, constants, num_warps=4):
    """As triton.compile would begin for an H100."""
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    from triton.compiler.compiler import make_backend

    target = GPUTarget("cuda", 90, 32)
    backend, source = make_backend(target), ASTSource(kernel, signature, constants, {})
    options, context = backend.parse_options({"num_warps": num_warps}), ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    module = source.make_ir(target, options, backend.get_codegen_implementation(options),
                            backend.get_module_map(), context)
    return module.str_nodebug()


def run_compiled(case, root, arrays, folder):
    """Runs `case` on copies of `arrays`; returns the tensors afterwards."""
    kernel = load_kernel(root, case.file, case.kernel, pathlib.Path(folder), False)
    signature, constants, values = arguments_of(kernel, case, arrays)
    machine = Machine(ttir_of(kernel, signature, constants))
    results = machine.run(values, grid_sizes(case.grid, case.arguments))
    names = [name for name in signature if name in case.tensors()]
    return {name: result.astype(numpy.float32) if case.arguments[name].dtype in ARRAYS else result
            for name, result in zip(names, results)}
