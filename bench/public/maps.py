# SPDX-License-Identifier: Apache-2.0
# public/maps.py — the tensor maps of a launcher header, made through the driver for torch tensors.
import ctypes
import re

DATA_TYPES = {"UINT8": 0, "UINT16": 1, "UINT32": 2, "INT32": 3, "UINT64": 4, "INT64": 5, "FLOAT16": 6, "FLOAT32": 7, "FLOAT64": 8,
              "BFLOAT16": 9, "TFLOAT32": 11}
SWIZZLES = {"NONE": 0, "32B": 1, "64B": 2, "128B": 3}
L2_128B = 2  # CU_TENSOR_MAP_L2_PROMOTION_L2_128B


class TensorMap(ctypes.Structure):
    _fields_ = [("unaligned", ctypes.c_uint64 * 24)]  # 128 bytes at a multiple of 64 somewhere in it

    def address(self):
        return (ctypes.addressof(self) + 63) // 64 * 64


def read_maps(header):
    """name -> how it is made: argument, type, sizes and strides (Python expressions over arguments), box, swizzle."""
    pattern = (r"CUtensorMap (\w+);\s*\{\s*const cuuint64_t sizes\[\] = \{(.*?)\};\s*const cuuint64_t strides\[\] = \{(.*?)\};"
               r"\s*const cuuint32_t box\[\] = \{(.*?)\};\s*const CUresult made = detail::\w+\(\w+, CU_TENSOR_MAP_DATA_TYPE_(\w+), (\d+), (\d+),"
               r"\s*(\w+), sizes, strides, box,\s*CU_TENSOR_MAP_SWIZZLE_(\w+)\);")
    maps = {}
    for name, sizes, strides, box, kind, width, rank, argument, swizzle in re.findall(pattern, header, re.S):
        maps[name] = {"argument": argument, "type": kind, "element_bytes": int(width), "rank": int(rank), "sizes": python_list(sizes),
                      "strides": python_list(strides), "box": [int(n) for n in box.split(",")], "swizzle": swizzle}
    return maps


def python_list(text):
    text = re.sub(r"static_cast<[\w:]+>", "int", " ".join(text.split())).replace("std::max<std::int64_t>", "max")
    return f"[{text}]"


def make_map(cuda, plan, arguments):
    """`arguments`: numbers and addresses by name."""
    names = {n: v for n, v in arguments.items() if isinstance(v, int)} | {"int": int, "max": max, "__builtins__": {}}
    sizes, strides = eval(plan["sizes"], names), eval(plan["strides"], names)
    rank = plan["rank"]
    made = TensorMap()
    code = cuda.cuTensorMapEncodeTiled(
        ctypes.c_void_p(made.address()), DATA_TYPES[plan["type"]], ctypes.c_uint32(rank), ctypes.c_void_p(arguments[plan["argument"]]),
        (ctypes.c_uint64 * rank)(*sizes), (ctypes.c_uint64 * rank)(*strides), (ctypes.c_uint32 * rank)(*plan["box"]),
        (ctypes.c_uint32 * rank)(*[1] * rank), 0, SWIZZLES[plan["swizzle"]], L2_128B, 0)
    if code:
        raise RuntimeError(f"cuTensorMapEncodeTiled: error {code}")
    correct_small_tensor(cuda, made, plan, sizes, strides)
    return made


def correct_small_tensor(cuda, made, plan, sizes, strides):
    """Drivers up to CUDA 13.1 set a bit that is wrong for tensors of less than 128 KiB."""
    size = sizes[0] * plan["element_bytes"] + sum((n - 1) * s for n, s in zip(sizes[1:], strides))
    version = ctypes.c_int()
    cuda.cuDriverGetVersion(ctypes.byref(version))
    if version.value <= 13010 and size < 128 * 1024:
        word = ctypes.c_uint64.from_address(made.address() + 8)
        word.value &= ~(1 << 21)
