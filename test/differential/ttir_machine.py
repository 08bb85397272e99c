# SPDX-License-Identifier: Apache-2.0
# differential/ttir_machine.py — runs the TTIR of a kernel: what compiled Triton means.
import re

import numpy

import ttir_tiles
from ttir_memory import ArrayPart, DescribedArray, Memory
from ttir_numbers import (ARITHMETIC, CONVERSIONS, FUNCTIONS, compare_floats, compare_integers,
                          read_constant, read_type, rounded, unsigned)
from ttir_text import NAME, read

LONGEST_LOOP = 1_000_000
LEAVES = ("tt.return", "scf.yield", "scf.condition", "tt.reduce.return", "tt.scan.return",
          "tt.map_elementwise.return")


class UndefinedError(Exception):
    """The kernel does what Triton leaves undefined."""


def array_of(argument):
    return getattr(argument, "array", argument)


class Machine:
    def __init__(self, text):
        self.functions = read(text)
        self.memory, self.program, self.grid = None, (0, 0, 0), (1, 1, 1)

    def run(self, arguments, grid):
        """Runs one program after the other. `arguments` are arrays, which pointers point to,
        ArrayParts, DescribedArrays and NumPy scalars; gives the arrays as they are afterwards."""
        pointing = [a for a in arguments
                    if isinstance(a, (numpy.ndarray, ArrayPart, DescribedArray))]
        arrays = [array_of(a) for a in pointing]
        self.memory, self.grid = Memory(arrays), (*grid, 1, 1)[:3]
        values = [self.passed(a) for a in arguments]
        with numpy.errstate(all="ignore"):
            for z, y, x in numpy.ndindex(*self.grid[::-1]):
                self.program = (x, y, z)
                self.call(None, values)
        return [self.memory.after(array) for array in arrays]

    def passed(self, argument):
        """What the kernel gets for an argument."""
        start = self.memory.starts.get(id(array_of(argument)))
        if isinstance(argument, (ArrayPart, DescribedArray)):
            return argument.at(start)
        return numpy.asarray(argument if start is None else start)

    def call(self, name, values):
        function = self.functions[name]
        return self.blocks(function.blocks, dict(zip(function.arguments, values)))

    def region(self, blocks, names, values, outside):
        return self.blocks(blocks, {**outside, **dict(zip(names or blocks[0].arguments, values))})

    def blocks(self, blocks, known):
        """Runs from the first block to an op that leaves; gives the op's operands."""
        by_label, block = {b.label: b for b in blocks}, blocks[0]
        while block:
            following = None
            for op in block.ops:
                if op.name in LEAVES:
                    return [known[n] for n in op.operands]
                if op.name in ("cf.br", "cf.cond_br"):
                    following = self.jump(op, by_label, known)
                    break
                self.execute(op, known)
            block = following
        return []

    def jump(self, op, by_label, known):
        targets = re.findall(r"(\^bb\d+)(?:\(([^)]*)\))?", f"{op.text} : {op.types}")
        is_second = op.name == "cf.cond_br" and not known[op.operands[0]]
        label, passed = targets[1 if is_second else 0]
        values = [known[n] for n in NAME.findall(passed)]
        known.update(zip(by_label[label].arguments, values))
        return by_label[label]

    def execute(self, op, known):
        family, _, name = op.name.partition(".")
        values = [known[n] for n in op.operands if n in known]
        if family == "scf":
            results = getattr(self, f"loop_{name}")(op, known)
        elif family == "arith":
            results = self.arithmetic(op, name, values)
        elif family == "math" and name == "absi":
            results = numpy.abs(values[0])
        elif family == "math":
            results = rounded(FUNCTIONS[name])(*values)
        elif family == "tt":
            results = ttir_tiles.run(self, op, name, values, known)
        elif op.name in ("ub.poison", "llvm.intr.assume", "gpu.barrier"):
            results = [numpy.array(0)] * len(op.results)
        else:
            raise NotImplementedError(op.name)
        results = results if isinstance(results, (list, tuple)) else [results]
        known.update(zip(op.results, results))

    def arithmetic(self, op, name, values):
        if name == "constant":
            text = op.attribute(r"arith\.constant (?:\{[^}]*\} )?(.*)$")
            return read_constant(text, read_type(op.types or "i1"))
        if name in ("cmpi", "cmpf"):
            compare = compare_integers if name == "cmpi" else compare_floats
            return compare(op.attribute(r"arith\.cmp. (\w+)"), *values)
        if name in CONVERSIONS:
            return CONVERSIONS[name](values[0], read_type(op.types.split(" to ")[1]).numpy)
        result = ARITHMETIC[name](*values)
        return result.astype(values[-1].dtype)

    # ---- Regions of scf

    def loop_if(self, op, known):
        taken = 0 if known[op.operands[0]] else 1
        return self.region(op.regions[taken], [], [], known) if taken < len(op.regions) else []

    def carried(self, op, known):
        carried = op.attribute(r"(?:iter_args|while )\((.*?)\)", "")
        pairs = re.findall(r"(%[\w-]+) = (%[\w#-]+)", carried)
        return [inside for inside, _ in pairs], [known[initial] for _, initial in pairs]

    def loop_for(self, op, known):
        index, *edges = re.match(r"scf\.for (?:unsigned )?(\S+) = (\S+) to (\S+) step ([^\s:]+)",
                                 op.text).groups()
        edges = [known[name] for name in edges]
        kind = edges[0].dtype
        if op.text.startswith("scf.for unsigned"):
            edges = [unsigned(edge) for edge in edges]
        names, values = self.carried(op, known)
        if int(edges[2]) <= 0:
            raise UndefinedError("a loop whose step is not above 0")
        rounds = range(*(int(edge) for edge in edges))
        if len(rounds) > LONGEST_LOOP:
            raise TimeoutError(f"a loop of {len(rounds)} rounds")
        for i in rounds:
            number = numpy.array(i, edges[0].dtype).view(kind)
            values = self.region(op.regions[0], [index, *names], [number, *values], known)
        return values

    def loop_while(self, op, known):
        names, values = self.carried(op, known)
        for _ in range(LONGEST_LOOP):
            goes_on, *values = self.region(op.regions[0], names, values, known)
            if not goes_on:
                return values
            values = self.region(op.regions[1], [], values, known)
        raise TimeoutError("a loop without end")
