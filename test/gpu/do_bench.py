# SPDX-License-Identifier: Apache-2.0
# gpu/do_bench.py TILEWRIGHT — times one cubin by `tilewright bench` and by triton.testing.do_bench; exit code 1 when the medians
# differ by more than 2%.
#
# Needs a GPU and a Python with PyTorch and Triton. The kernel is compiled once, by us; do_bench launches the same machine code
# through the driver, on the same sizes, with its own flush of the L2 cache.
import ctypes
import glob
import json
import subprocess
import sys
import tempfile

import torch
import triton.testing

KERNEL = """import triton
import triton.language as tl


@triton.jit
def gelu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    z = 0.79788456 * (x + 0.044715 * x * x * x)
    tl.store(out_ptr + i, x / (1 + tl.exp(-2 * z)), mask=i < n)
"""
BLOCK = 1024


def load(folder, command):
    target = "sm_%d%d" % torch.cuda.get_device_capability()
    if target == "sm_90":
        target = "sm_90a"
    subprocess.run([command, "compile", folder + "/gelu.py:gelu_kernel", "--signature", f"*fp32:16, *fp32:16, i32:16, {BLOCK}",
                    "--target", target, "--emit", "cubin", "-o", folder], check=True, stdout=subprocess.DEVNULL)
    torch.zeros(1, device="cuda")  # makes the context
    driver = ctypes.CDLL("libcuda.so.1")
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    with open(glob.glob(folder + "/*.cubin")[0], "rb") as file:
        assert driver.cuModuleLoadData(ctypes.byref(module), file.read()) == 0
    assert driver.cuModuleGetFunction(ctypes.byref(function), module, b"gelu_kernel") == 0
    return driver, function


def by_do_bench(driver, function, dim):
    x = torch.randn(dim, dim, device="cuda")
    y = torch.empty_like(x)
    blocks = -(-x.numel() // BLOCK)
    values = [ctypes.c_uint64(x.data_ptr()), ctypes.c_uint64(y.data_ptr()), ctypes.c_int(x.numel())]
    pointers = (ctypes.c_void_p * len(values))(*[ctypes.addressof(value) for value in values])
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)

    def run():
        return driver.cuLaunchKernel(function, blocks, 1, 1, 128, 1, 1, 0, stream, pointers, None)

    assert run() == 0
    wanted = torch.nn.functional.gelu(x, approximate="tanh")
    assert (y - wanted).abs().max().item() < 1e-5, "the launch through the driver is wrong"
    return triton.testing.do_bench(run, warmup=50, rep=400, quantiles=[0.5]) * 1e-3


def by_us(folder, command, dim):
    text = subprocess.run([command, "bench", folder + "/gelu.py:gelu_kernel", "--like", "gelu", "--ways", "tile", "--dim", str(dim),
                           "--no-ceiling", "--json", f"BLOCK={BLOCK}"], check=True, capture_output=True, text=True).stdout
    return next(r for r in json.loads(text)["records"] if r["way"] == "gelu_kernel")["seconds"]


def main():
    command = sys.argv[1] if len(sys.argv) > 1 else "tilewright"
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/gelu.py", "w") as file:
            file.write(KERNEL)
        driver, function = load(folder, command)
        for dim in (2048, 8192, 16384):
            ours, theirs = by_us(folder, command, dim), by_do_bench(driver, function, dim)
            worst = max(worst, abs(ours / theirs - 1))
            print(f"{dim} x {dim}: ours {ours * 1e6:.2f} us, do_bench {theirs * 1e6:.2f} us, {100 * (ours / theirs - 1):+.2f}%")
    return 0 if worst <= 0.02 else 1


sys.exit(main())
