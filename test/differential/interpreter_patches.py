# SPDX-License-Identifier: Apache-2.0
# differential/interpreter_patches.py — where Triton's interpreter departs from its compiler.
"""The compiler is the oracle that counts; these make the interpreter do what the compiled kernel
does: libdevice, bf16 and fp8 rounding, NaN in minimum and maximum, float arguments, builtins under
other names.
"""
import functools
import importlib

import numpy
import torch
import triton.language as tl

import half_turns


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
        "ldexp": lambda x, n: numpy.ldexp(x, n.astype(int)),
        **half_turns.FUNCTIONS,
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


def bind_builtins(module):
    """`cast = tl.cast` at module level keeps the compiler's builtin, which the interpreter replaces
    only inside `tl`: such names get the interpreter's semantics."""
    from triton.runtime.interpreter import interpreter_semantic

    for name, value in list(vars(module).items()):
        if getattr(value, "__triton_builtin__", False):
            setattr(module, name, functools.partial(value, _semantic=interpreter_semantic))


def float_argument(value, dtype=tl.float32):
    """A scalar as the compiler has it, float32 unless it is annotated; the interpreter would leave a Python number."""
    from triton.runtime.interpreter import TensorHandle

    kind = numpy.float64 if dtype == tl.float64 else numpy.float32
    return tl.tensor(TensorHandle(numpy.array([value], kind), dtype), dtype)


def convert_float(original):
    """Narrow floats rounded to nearest even by torch; the interpreter truncates or loses carries.
    What is beyond an 8-bit float becomes its largest number, as by NVIDIA's conversions."""
    kinds = {"fp64": torch.float64, "fp32": torch.float32, "fp16": torch.float16,
             "bf16": torch.bfloat16, "fp8e4nv": torch.float8_e4m3fn, "fp8e5": torch.float8_e5m2}
    signed = {8: torch.int8, 16: torch.int16, 32: torch.int32, 64: torch.int64}

    def convert(data, source, target, rounding):
        if source.name not in kinds or target.name not in kinds or "RTZ" in str(rounding):
            return original(data, source, target, rounding)
        bits = numpy.ascontiguousarray(data).view(f"i{source.primitive_bitwidth // 8}")
        values = torch.from_numpy(bits.copy()).view(kinds[source.name])
        if target.primitive_bitwidth == 8 < source.primitive_bitwidth:
            largest = torch.finfo(kinds[target.name]).max
            values = values.clamp(-largest, largest)
        values = values.to(kinds[target.name])
        width = target.primitive_bitwidth
        return values.view(signed[width]).numpy().view(f"u{width // 8}").reshape(data.shape)

    return convert


def bf16_bits(value):
    """A constant of bfloat16, which the interpreter holds as its bits."""
    return torch.tensor([value], dtype=torch.bfloat16).view(torch.int16).numpy().view(numpy.uint16)


def scalars_as_indices(patch_tensor):
    """Scalars of the interpreter are arrays of one element, which NumPy 2.4 does not convert."""
    def patch(tensor, scope):
        patch_tensor(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.item()))
    return patch


def patch_interpreter():
    from triton.runtime import interpreter

    patch_libdevice()
    interpreter._patch_lang_tensor = scalars_as_indices(interpreter._patch_lang_tensor)
    tl.dtype.value = property(lambda kind: kind)  # constexpr arguments come unwrapped
    interpreter._convert_float = convert_float(interpreter._convert_float)
    builder = interpreter.InterpreterBuilder
    builder.get_bf16 = lambda self, value: interpreter.TensorHandle(bf16_bits(value), tl.bfloat16)
    builder.create_maxnumf = lambda self, a, b: self.binary_op(a, b, numpy.fmax)
    builder.create_minnumf = lambda self, a, b: self.binary_op(a, b, numpy.fmin)
