#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# fuzz/mutants/prepare.py — prepare.py TREE: a copy of the repository's files in TREE with all
# mutants in it; prints their names. Files that stay the same are not written, so that a second
# build is short.
import pathlib
import subprocess
import sys

from mutants import MUTANTS

HEADER = """// Which mutant is tried.
#pragma once
#include <cstdlib>
#include <string_view>
inline bool is_mutant(std::string_view name) {
  const char* const tried = std::getenv("TILEWRIGHT_MUTANT");
  return tried != nullptr && name == tried;
}
"""

INCLUDE = '#include "mutants.h"'


def write(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_bytes() != data:
        path.write_bytes(data)


def edited(texts, mutant):
    """Whether all edits of the mutant have a place; makes them."""
    for edit in mutant.edits:
        if texts[edit.file].count(edit.old) != 1:
            print(f"mutant {mutant.name}: this is not in {edit.file} exactly once: {edit.old}", file=sys.stderr)
            return False
    for edit in mutant.edits:
        new = edit.new.replace("MUTANT", f'is_mutant("{mutant.name}")')
        texts[edit.file] = texts[edit.file].replace(edit.old, new)
        if not texts[edit.file].startswith(INCLUDE):
            texts[edit.file] = f"{INCLUDE}\n#line 1\n{texts[edit.file]}"
    return True


def name_of(mutant):
    """As find_mutants wants it: kernels are lowered again only for mutants of passes."""
    is_of_passes = any(edit.file.startswith("src/passes/") for edit in mutant.edits)
    return ("passes:" if is_of_passes else "") + mutant.name


def main():
    root = pathlib.Path(__file__).resolve().parents[3]
    tree = pathlib.Path(sys.argv[1])
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True)
    files = {name: (root / name) for name in listed.stdout.decode().split("\0") if name}
    places = {edit.file for mutant in MUTANTS for edit in mutant.edits}
    texts = {name: files[name].read_text() for name in places}
    names = [name_of(mutant) for mutant in MUTANTS if edited(texts, mutant)]
    for name, path in files.items():
        if path.is_file() and not path.is_symlink():
            write(tree / name, texts[name].encode() if name in texts else path.read_bytes())
            (tree / name).chmod(path.stat().st_mode)
    write(tree / "src/mutants.h", HEADER.encode())
    print(*names)
    sys.exit(0 if len(names) == len(MUTANTS) else 1)


if __name__ == "__main__":
    main()
