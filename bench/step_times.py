# SPDX-License-Identifier: Apache-2.0
# bench/step_times.py — how long `tilewright check` takes, and how long `tilewright step` takes for a command.
"""python3 bench/step_times.py --tilewright bin/tilewright

The sessions are scripts over pipes: a command that does not exist stands behind each one, and its answer ends the time.
Times of commands are the processor's (Linux: schedstat), so that other work on the machine does not count.
Needs no GPU. The results are in bench/results/check-speed.md.
"""
import argparse
import pathlib
import statistics
import subprocess
import time

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent / "examples"
GELU = ["gelu.py:gelu_kernel", "--grid", "cdiv(n, BLOCK)", "x_ptr=randn:f32[n]", "out_ptr=empty:f32[n]", "n=1048576", "BLOCK=1024"]
SOFTMAX = ["softmax.py:softmax_kernel", "--grid", "1024", "x_ptr=randn:f32[1024,1024]", "out_ptr=empty:f32[1024,1024]",
           "row_stride=1024", "columns=1024"]


def matmul(size, block):
    programs = (size // block) ** 2
    tensors = [f"{name}_ptr={how}:f16[{size},{size}]" for name, how in (("a", "randn"), ("b", "randn"), ("c", "empty"))]
    strides = [f"{name}_row={size}" for name in "abc"] + [f"{name}_col=1" for name in "abc"]
    return ["matmul.py:matmul_kernel", "--grid", str(programs), *tensors, f"m={size}", f"n={size}", f"k={size}", *strides,
            f"BLOCK_M={block}", f"BLOCK_N={block}", "BLOCK_K=64", "GROUP=8"]


def command(options, verb, launch):
    return [options.tilewright, verb, str(EXAMPLES / launch[0]), *launch[1:]]


class Session:
    """A stepper whose commands are timed."""

    def __init__(self, words):
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.number = 0
        self.times = {}
        self.do("where")
        self.times = {}

    def do(self, text):
        self.number += 1
        begin = self.spent()
        self.process.stdin.write(f"{text}\nnothing{self.number}\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if f"'nothing{self.number}'" in line:
                break
        self.times.setdefault(text.split()[0], []).append(self.spent() - begin)

    def spent(self):
        """Milliseconds of the stepper's thread on a processor."""
        return int(pathlib.Path(f"/proc/{self.process.pid}/schedstat").read_text().split()[0]) / 1e6

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def step(options, name, launch):
    session = Session(command(options, "step", launch))
    for text in ["next"] * 150 + ["back"] * 12 + ["next"] * 12 + ["into"] * 20:
        session.do(text)
    session.end()
    for text, times in session.times.items():
        print(f"step {name}: {text}: {len(times)} times, median {statistics.median(times):.2f} ms, longest {max(times):.1f} ms")


def check(options, name, launch):
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        subprocess.run(command(options, "check", launch), check=True, capture_output=True)
        times.append(time.perf_counter() - begin)
    print(f"check {name}: best {min(times):.2f} s, longest {max(times):.2f} s of {len(times)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tilewright", required=True)
    options = parser.parse_args()
    check(options, "gelu 1048576", GELU)
    check(options, "softmax 1024x1024", SOFTMAX)
    step(options, "softmax 1024x1024", SOFTMAX)
    step(options, "matmul 1024, tiles of 64", matmul(1024, 64))
    step(options, "matmul 1024, tiles of 128", matmul(1024, 128))
    step(options, "matmul 4096, tiles of 128", matmul(4096, 128))


if __name__ == "__main__":
    main()
