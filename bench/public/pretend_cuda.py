# SPDX-License-Identifier: Apache-2.0
# public/pretend_cuda.py — host code of GPU kernels runs on a machine without a GPU, launching nothing.
"""Tensors that a program asks for on "cuda" are made on the CPU, uninitialised where they are large and
random, and say that they are on a GPU; torch.cuda and Triton's driver describe an H200. This is enough
to learn which kernels a program launches with which arguments, and to compile them."""
import contextlib
import types

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map_only

PROPERTIES = {"multiprocessor_count": 132, "max_shared_mem": 232448, "warpSize": 32, "max_num_regs": 65536,
              "sm_clock_rate": 1980000, "mem_clock_rate": 3201000, "mem_bus_width": 6016}


def is_cuda(device):
    if device is None or isinstance(device, int):
        return isinstance(device, int)
    return str(device).startswith("cuda")


class PretendCuda(TorchFunctionMode):
    def __torch_function__(self, function, types_, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        name = getattr(function, "__name__", "")
        if is_cuda(kwargs.get("device")):
            kwargs["device"] = "cpu"
        if name == "cuda":
            return args[0]
        if name == "__get__" and getattr(function, "__self__", None) is torch.Tensor.is_cuda:
            return True
        if name == "to":
            args = tuple("cpu" if isinstance(a, (str, torch.device)) and is_cuda(a) else a for a in args)
        if name in ("randn", "rand", "randn_like", "rand_like"):
            kwargs.pop("generator", None)
            function = torch.empty_like if name.endswith("_like") else torch.empty
        if name in ("normal_", "uniform_"):
            return args[0]
        return function(*args, **kwargs)


LARGE = 1 << 18
FILLED = ("zeros", "ones", "full", "zeros_like", "ones_like", "full_like", "new_zeros", "new_ones", "new_full",
          "randint", "randint_like", "randperm", "arange")


class ShapesAlone(TorchDispatchMode):
    """What is computed from large tensors has its shape and no content: nobody looks at it, and the
    memory of the largest operations is never touched."""

    def __torch_dispatch__(self, op, types_, args=(), kwargs=None):
        kwargs = kwargs or {}
        tensors = [a for a in tree_flatten((args, kwargs))[0] if isinstance(a, torch.Tensor)]
        large = any(a.numel() >= LARGE for a in tensors)
        name = op.overloadpacket.__name__
        if getattr(op, "is_view", False) or not (large or name in FILLED):
            return op(*args, **kwargs)
        if op._schema.is_mutable:
            return args[0]
        try:
            shapes = op(*tree_map_only(torch.Tensor, lambda a: a.to("meta"), args),
                        **{**tree_map_only(torch.Tensor, lambda a: a.to("meta"), kwargs),
                           **({"device": "meta"} if "device" in kwargs or name in FILLED else {})})
        except (NotImplementedError, RuntimeError, TypeError):
            return op(*args, **kwargs)
        if name in FILLED and shapes.numel() < LARGE:
            return op(*args, **kwargs)
        return tree_map_only(torch.Tensor, content_free, shapes)


def content_free(shape):
    made = torch.empty_strided(shape.size(), shape.stride(), dtype=shape.dtype, device="cpu")
    return made.zero_() if shape.numel() < LARGE else made


class Driver:
    """What Triton asks of a driver before it launches."""

    def __init__(self):
        self.utils = types.SimpleNamespace(get_device_properties=lambda _: PROPERTIES)

    def get_current_target(self):
        from triton.backends.compiler import GPUTarget
        return GPUTarget("cuda", 90, 32)

    def get_current_device(self):
        return 0

    def get_current_stream(self, device=0):
        return 0

    def get_active_torch_device(self):
        return torch.device("cpu")

    def get_device_interface(self):
        return torch.cuda


class Device(contextlib.nullcontext):
    def __init__(self, index=0):
        super().__init__()
        self.idx = 0


def pretend_cuda():
    """Call this before the modules of kernels are imported."""
    import triton
    properties = types.SimpleNamespace(
        multi_processor_count=132, total_memory=140 << 30, major=9, minor=0, name="NVIDIA H200",
        max_threads_per_multi_processor=2048, regs_per_multiprocessor=65536, warp_size=32,
        shared_memory_per_block_optin=232448, L2_cache_size=60 << 20)
    replaced = {
        "is_available": lambda: True, "device_count": lambda: 1, "current_device": lambda: 0,
        "get_device_capability": lambda *_: (9, 0), "get_device_name": lambda *_: "NVIDIA H200",
        "get_device_properties": lambda *_: properties, "set_device": lambda *_: None,
        "synchronize": lambda *_: None, "empty_cache": lambda: None,
        "device": Device, "_DeviceGuard": Device, "manual_seed": lambda *_: None,
        "is_bf16_supported": lambda *_: True,
        "current_stream": lambda *_: types.SimpleNamespace(cuda_stream=0),
    }
    for name, value in replaced.items():
        setattr(torch.cuda, name, value)
    torch._C._cuda_getCurrentRawStream = lambda *_: 0
    torch._C._dynamo.guards._empty_strided_cuda = lambda size, stride, dtype: torch.empty_strided(size, stride, dtype=dtype)
    triton.runtime.driver.set_active(Driver())
    modes = contextlib.ExitStack()
    modes.enter_context(ShapesAlone())
    modes.enter_context(PretendCuda())
    return modes
