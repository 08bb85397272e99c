# SPDX-License-Identifier: Apache-2.0
# numba/random_kernels.py — kernels by chance, run by Numba's simulator and by tilewright; says where they differ.
#   python3 test/numba/random_kernels.py --tilewright build/dev/bin/tilewright --count 50 --seed 1 [--device emulate]
# Needs the Python packages numba and numpy. Integers are int64 and floats float64 in both, so that results are equal to the last few
# bits: the simulator has NumPy's types where Numba has its own.
import argparse
import importlib.util
import math
import os
import random
import subprocess
import sys
import tempfile
import warnings

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
import numpy as np

warnings.simplefilter("ignore")

HEAD = "import math\n\nfrom numba import cuda\n\n\n"


class Writer:
    """One kernel k(x, n, out, count): x float64[N], n int64[N], results in out and count."""

    def __init__(self, chance):
        self.chance = chance
        self.lines = []
        self.ints = ["i", "n[i]", "p"]
        self.floats = ["x[i]", "v"]
        self.made = 0

    def integer(self, depth=0):
        c = self.chance
        if depth > 2 or c.random() < 0.3:
            return c.choice(self.ints) if c.random() < 0.7 else str(c.randint(-9, 9))
        a, b = self.integer(depth + 1), self.integer(depth + 1)
        kind = c.randint(0, 10)
        if kind < 4:
            return f"({a} {c.choice('+-*')} {b}) % 1009"
        if kind == 4:
            return f"({a} // {self.divisor()})"
        if kind == 5:
            return f"({a} % {self.divisor()})"
        if kind == 6:
            return f"({a} {c.choice('&|^')} {b})"
        if kind == 7:
            return f"({a} >> {c.randint(0, 5)})"
        if kind == 8:
            return f"min({a}, {b})"
        if kind == 9:
            return f"({a} if {self.test(depth + 1)} else {b})"
        return f"(abs({a}) ** {c.randint(0, 3)}) % 997"

    def divisor(self):
        return self.chance.choice([2, 3, 7, -2, -5, "(abs(n[i]) + 1)"])

    def real(self, depth=0):
        c = self.chance
        if depth > 2 or c.random() < 0.3:
            return c.choice(self.floats) if c.random() < 0.8 else f"{c.randint(-40, 40) / 8}"
        a, b = self.real(depth + 1), self.real(depth + 1)
        kind = c.randint(0, 9)
        if kind < 3:
            return f"({a} {c.choice('+-*')} {b})"
        if kind == 3:
            return f"({a} / (abs({b}) + 1.5))"
        if kind == 4:
            return f"math.{c.choice(['sin', 'cos', 'tanh', 'atan', 'erf'])}({a})"
        if kind == 5:
            return f"math.sqrt(abs({a}))"
        if kind == 6:
            return f"max({a}, {b})"
        if kind == 7:
            return f"({a} if {self.test(depth + 1)} else {b})"
        if kind == 8:
            return f"({self.integer(depth + 1)} / {self.divisor()} + {a})"
        return f"({a} % 3.5)"

    def test(self, depth=0):
        c = self.chance
        a, b = (self.integer(depth + 1), self.integer(depth + 1))
        if c.random() < 0.3:
            a, b = self.real(depth + 1), self.real(depth + 1)
        text = f"{a} {c.choice(['<', '<=', '>', '>=', '==', '!='])} {b}"
        if c.random() < 0.2:
            text = f"not ({text})"
        if c.random() < 0.2:
            text = f"({text}) {c.choice(['and', 'or'])} {self.integer(depth + 1)} > 1"
        return f"({text})"

    def put(self, indent, text):
        self.lines.append("    " * indent + text)

    def statements(self, indent, depth):
        c = self.chance
        for _ in range(c.randint(1, 3)):
            kind = c.randint(0, 6)
            if kind == 0:
                self.put(indent, f"p = {self.integer()}")
            elif kind == 1:
                self.put(indent, f"v = {self.real()}")
            elif kind == 2:
                self.put(indent, f"v += {self.real()}")
            elif kind == 3 and depth < 2:
                self.put(indent, f"if {self.test()}:")
                self.statements(indent + 1, depth + 1)
                if c.random() < 0.5:
                    self.put(indent, "else:")
                    self.statements(indent + 1, depth + 1)
            elif kind == 4 and depth < 2:
                self.made += 1
                name = f"k{self.made}"
                self.put(indent, f"for {name} in range({c.choice(['3', 'abs(n[i]) % 5', '5, 0, -2'])}):")
                self.ints.append(name)
                self.statements(indent + 1, depth + 1)
                if c.random() < 0.3:
                    self.put(indent + 1, f"if {self.test()}:")
                    self.put(indent + 2, c.choice(["break", "continue"]))
                self.put(indent + 1, f"p = (p + {name}) % 100")
                self.ints.remove(name)
            elif kind == 5 and depth < 2:
                self.put(indent, f"p = abs(p) % 20")
                self.put(indent, "while p > 2:")
                self.put(indent + 1, f"v = v * 0.5 + {self.real(2)}")
                self.put(indent + 1, "p = p // 2")
            else:
                self.put(indent, f"v, p = {self.real()}, {self.integer()}")

    def text(self):
        self.put(0, "@cuda.jit")
        self.put(0, "def k(x, n, out, count):")
        self.put(1, "i = cuda.grid(1)")
        if self.chance.random() < 0.5:
            self.put(1, "if i >= x.size:")
            self.put(2, "return")
            indent = 1
        else:
            self.put(1, "if i < x.shape[0]:")
            indent = 2
        self.put(indent, "p = n[i]")
        self.put(indent, "v = x[i]")
        for _ in range(3):
            self.statements(indent, 0)
        self.put(indent, "out[i] = v")
        self.put(indent, "count[i] = p")
        return HEAD + "\n".join(self.lines) + "\n"


def simulated(path, arguments):
    spec = importlib.util.spec_from_file_location("kernels", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.k[2, 16](*arguments)


def run_one(options, number, folder):
    chance = random.Random(options.seed * 100003 + number)
    path = os.path.join(folder, "kernel.py")
    with open(path, "w") as file:
        file.write(Writer(chance).text())
    x = np.array([chance.randint(-80, 80) / 8 for _ in range(29)])
    n = np.array([chance.randint(-50, 50) for _ in range(29)], np.int64)
    out, count = np.zeros(29), np.zeros(29, np.int64)
    np.save(os.path.join(folder, "x.npy"), x)
    np.save(os.path.join(folder, "n.npy"), n)
    try:
        simulated(path, [x, n, out, count])
    except (OverflowError, ZeroDivisionError, ValueError):
        return None  # Python says more than Numba does
    command = [options.tilewright, "run", path + ":k", "--grid", "2", "--block", "16", "--device", options.device,
               f"x={folder}/x.npy", f"n={folder}/n.npy", "out=zeros:f64[29]", "count=zeros:i64[29]",
               "--save", f"out={folder}/out.npy", "--save", f"count={folder}/count.npy"]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        return result.stderr
    got_out, got_count = np.load(f"{folder}/out.npy"), np.load(f"{folder}/count.npy")
    if not np.array_equal(count, got_count):
        return f"count: {got_count} instead of {count}"
    if not np.allclose(out, got_out, rtol=1e-9, atol=1e-9, equal_nan=True):
        return f"out: {got_out} instead of {out}"
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tilewright", default="build/dev/bin/tilewright")
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    equal = different = left_out = 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.count):
            message = run_one(options, number, folder)
            if message is None:
                left_out += 1
            elif message == "":
                equal += 1
            else:
                different += 1
                print(f"---- kernel {number}\n{message}\n{open(os.path.join(folder, 'kernel.py')).read()}")
    print(f"{equal} equal, {different} different, {left_out} left out (the simulator raised)")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
