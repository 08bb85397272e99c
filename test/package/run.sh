#!/usr/bin/env bash
# Installs a build into a fresh folder and uses it from a project outside the tree, as a user would.
set -euo pipefail
build=${1:?build folder}
source=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >/dev/null
cp -r "$source/user" "$work/user"
cmake -G Ninja -S "$work/user" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/prefix" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cmake --build "$work/build" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
TILEWRIGHT_CACHE_DIR="$work/cache" "$work/build/user"
"$work/prefix/bin/tilewright" --version
for page in man/man1/tilewright.1 bash-completion/completions/tilewright zsh/site-functions/_tilewright fish/vendor_completions.d/tilewright.fish; do
  [ -s "$work/prefix/share/$page" ] || { echo "share/$page is not installed"; exit 1; }
done
[ -s "$work/prefix/include/tilewright/ptx.cuh" ] || { echo "the headers of emitted CUDA text are not installed"; exit 1; }
find "$work/prefix/share/doc" -name tour.md | grep -q . || { echo "docs are not installed"; exit 1; }
