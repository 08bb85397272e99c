# SPDX-License-Identifier: Apache-2.0
# kernel_diff/corpus.py — the kernels to compare: Triton files of the tree, Triton and IR texts inside of its C++ tests, golden IR
# files, and folders of public kernels.
import ast
import json
import pathlib
import re
import subprocess
import textwrap

TRITON_FILES = ("test/golden/triton", "test/golden/cuda", "test/differential/kernels", "examples", "bench/kernels",
                "src/bench/kernels")
IR_FILES = ("test/golden/cpu", "test/golden/passes")
TEXTS = ("test/exec", "test/unit/codegen", "test/unit/codegen_cpu", "test/unit/codegen_cuda", "test/unit/ir", "test/unit/passes")
IMPORTS = "import triton\nimport triton.language as tl\nfrom triton.language.extra import libdevice\n"
RAW_STRING = re.compile(r'R"(?P<mark>[^()\s]*)\((?P<text>.*?)\)(?P=mark)"', re.S)


def raw_strings(file):
    """[(line, text)] of a C++ file."""
    source = file.read_text()
    return [(source.count("\n", 0, match.start()) + 1, match["text"]) for match in RAW_STRING.finditer(source)]


def as_triton(text):
    """The text as a module; None where it is not one, such as a template with {} in it."""
    text = textwrap.dedent(text)
    if "@triton.jit" not in text:
        return None
    try:
        ast.parse(text)
    except SyntaxError:
        return None
    return text if "import triton" in text else IMPORTS + text


def is_ir(text):
    return re.match(r"\s*(//[^\n]*\n\s*)*kernel @?\w", text) is not None and "{}" not in text


def extract_texts(root, folder):
    """Writes the kernels inside of tests to FOLDER/triton and FOLDER/ir, named after file and line."""
    for kind in ("triton", "ir"):
        (folder / kind).mkdir(parents=True, exist_ok=True)
    for below in TEXTS:
        for file in sorted(path for path in (root / below).rglob("*") if path.suffix in (".cpp", ".h")):
            place = "_".join(file.relative_to(root).with_suffix("").parts[1:])
            for line, text in raw_strings(file):
                module = as_triton(text)
                if module is not None:
                    (folder / "triton" / f"{place}_{line}.py").write_text(module)
                elif is_ir(text):
                    (folder / "ir" / f"{place}_{line}.tir").write_text(text)


def split_printed(text):
    """The modules that `random_kernels --print` printed, each behind a line with its launch."""
    return [part.split("\n", 1)[1].split("\n# ", 1)[0] for part in re.split(r"(?m)^# (?=\w+=)", text)[1:]]


def write_random(program, count, folder):
    """Writes random kernels to FOLDER/random."""
    (folder / "random").mkdir(parents=True)
    done = subprocess.run([program, "--count", str(count), "--places", "laid", "--print"], capture_output=True, text=True, check=False)
    for number, module in enumerate(split_printed(done.stdout)):
        # Behind the last one stands the summary.
        (folder / "random" / f"k{number}.py").write_text(re.sub(r"(?m)^\d+ kernels from seed .*$", "", module))


def list_kernels(tool, path):
    """[(file, kernel)] that a tool finds in a file or folder."""
    done = tool.run(["compile", str(path), "--guess", "--stage", "ir", "--json"])
    if done.returncode != 0:
        return []
    return [(row["file"], row["kernel"]) for row in json.loads(done.stdout)["kernels"] if row["kernel"]]


def triton_kernels(root, extracted, public, tool):
    """[(file, kernel)] of the whole corpus; signatures are guessed."""
    folders = [root / folder for folder in TRITON_FILES] + [extracted / "triton", extracted / "random"] + [pathlib.Path(path) for path in public]
    found = []
    for folder in folders:
        if folder.exists():
            found += list_kernels(tool, folder)
    return sorted(set(found))


def signed_kernels(root):
    """[(file, kernel, signature)] of signatures.txt."""
    found = []
    for line in pathlib.Path(__file__).with_name("signatures.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            path, signature = line.split(" | ")
            file, kernel = path.split(":")
            found.append((str(root / file), kernel, signature))
    return found


def ir_kernels(root, extracted):
    found = [path for folder in IR_FILES for path in (root / folder).rglob("*.tir")]
    return sorted(str(path) for path in found + list((extracted / "ir").glob("*.tir")))
