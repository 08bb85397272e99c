#!/usr/bin/env bash
# guest.sh BUNDLE: on a machine with a GPU and a CUDA toolkit, builds guest.cpp against the headers and the library of a bundle
# (scripts/bundle) with the machine's own compiler, runs it, and prints what it prints: OK.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
bundle=$(cd "${1:?usage: guest.sh BUNDLE}" && pwd)
program=$(mktemp)
trap 'rm -f "$program"' EXIT
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
[ -x "$nvcc" ] || { echo "guest.sh: nvcc was not found; install a CUDA toolkit" >&2; exit 77; }
"$nvcc" -std=c++20 -o "$program" "$here/guest.cpp" -I"$bundle/include" -L"$bundle/lib" -ltilewright \
  -Xlinker -rpath -Xlinker "$bundle/lib" -Xlinker -rpath-link -Xlinker "$bundle/lib"
timeout 120 "$program"
