# SPDX-License-Identifier: Apache-2.0
# kernel_diff/machine_code.py — what a tool's compilers make of a kernel: the bytes that a processor executes or reads, and what
# they need of it. Debug information, symbols and build numbers do not count.
import json
import pathlib
import struct
import tempfile

COUNTED = ("registers", "spill_bytes", "stack_bytes", "shared_bytes", "dynamic_shared_bytes", "threads", "programs_per_block",
           "blocks_per_program")


class Unreadable(Exception):
    pass


def sections(elf):
    """{name: bytes} of the sections that hold code and constants; of memory that is only reserved, its size."""
    if elf[:6] != b"\x7fELF\x02\x01":
        raise Unreadable("this is no 64-bit ELF file")
    (offset,) = struct.unpack_from("<Q", elf, 0x28)
    size, count, names_at = struct.unpack_from("<HHH", elf, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", elf, offset + i * size) for i in range(count)]
    names = headers[names_at][4]
    out = {}
    for header in headers:
        start = names + header[0]
        name = elf[start:elf.index(b"\0", start)].decode()
        if not name.startswith((".text", ".rodata", ".data", ".bss", ".nv.constant", ".nv.shared", ".nv.global")):
            continue
        is_reserved = header[1] == 8  # SHT_NOBITS
        out[name] = str(header[5]).encode() if is_reserved else elf[header[4]:header[4] + header[5]]
    return out


def elf_in(folder):
    """The binary in a cache folder that holds one entry, behind the entry's own head."""
    entries = [path for path in (pathlib.Path(folder) / "entries").glob("*") if path.is_file()]
    if len(entries) != 1:
        raise Unreadable(f"one cache entry was expected, not {len(entries)}")
    data = entries[0].read_bytes()
    at = data.find(b"\x7fELF")
    if at < 0:
        raise Unreadable("the cache entry holds no binary")
    return data[at:]


class MachineCode:
    def __init__(self, numbers, code):
        self.numbers = numbers  # name -> count
        self.sections = code
        self.numbers["code_bytes"] = sum(len(data) for name, data in code.items() if name.startswith(".text"))

    def is_same_as(self, other):
        return self.sections == other.sections and self.numbers == other.numbers

    def differences(self, other):
        out = [f"{name} {value} -> {other.numbers.get(name)}" for name, value in sorted(self.numbers.items())
               if value != other.numbers.get(name)]
        changed = sorted(name for name in self.sections.keys() | other.sections.keys()
                         if self.sections.get(name) != other.sections.get(name))
        return out + [f"{name} differs" for name in changed]


def compile_kernel(tool, arguments):
    """Compiles one kernel for one target with a cache of its own, to find the binary there."""
    with tempfile.TemporaryDirectory(prefix="kernel_diff_") as folder:
        done = tool.run(["compile", *arguments, "-o", f"{folder}/out", "--json"], cache=f"{folder}/cache")
        if done.returncode != 0:
            raise Unreadable((done.stderr.strip() or done.stdout.strip()).splitlines()[-1])
        row = json.loads(done.stdout)["compiled"][0]
        numbers = {name: row[name] for name in COUNTED if name in row}
        return MachineCode(numbers, sections(elf_in(f"{folder}/cache")))
