#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# bench/graph.sh — tensor expressions on this machine, with PyTorch, torch.compile and Triton in the same tables.
#
#   bench/graph.sh build/release/bin python3 [quick]
#
# BIN holds tilewright, output_code_cases, random_graphs and train_mlp; PYTHON has torch 2.11 and Triton 3.6. "quick" leaves the large networks out.
set -u
bin=${1:?usage: bench/graph.sh BIN PYTHON [quick]} python=${2:?usage: bench/graph.sh BIN PYTHON [quick]} how=${3:-}
here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
device=$("$bin/tilewright" info --json 2>/dev/null | grep -q '"cuda:0"' && echo cuda || echo cpu)

say() { printf '\n== %s\n' "$*"; }
run() { say "$@"; "$@"; echo "exit code $?"; }

# Rows: compiled against tile and torch.compile.
for shape in 65536x4096 262144x781 262144x1024 16384x16384; do
  run "$bin/tilewright" bench softmax --shape $shape --dtype bf16,f32 --ways tile,builtin,compiled --seconds 0.3 --rivals "$python" --device $device
done
run "$bin/tilewright" bench gelu --dim 16384 --dtype bf16,f32 --ways manual,tile,builtin,compiled --seconds 0.3 --rivals "$python" --device $device
for op in layernorm rmsnorm; do
  run "$bin/tilewright" bench $op --shape 65536x1024,16384x4096,4096x16384 --dtype bf16 --ways tile,builtin,compiled --seconds 0.3 --rivals "$python" --device $device
done
run "$bin/tilewright" bench cross_entropy --shape 4096x32000 --dtype bf16 --ways tile,builtin,compiled --seconds 0.3 --rivals "$python" --device $device

# Networks.
run "$bin/tilewright" bench mlp --dim 256 --layers 4 --batch 256 --rivals "$python" --device $device
if [ "$how" != quick ]; then
  run "$bin/tilewright" bench mlp --dim 2048 --layers 64 --batch 1024 --seconds 2 --rivals "$python" --device $device
  run "$bin/tilewright" bench mlp --dim 4096 --layers 16 --batch 4096 --dtype bf16 --seconds 2 --rivals "$python" --device $device
fi
# Where the time of the large step goes: kernels by device time; the library's kernels and epilogues.
if [ $device = cuda ]; then
  run "$bin/tilewright" profile --row-limit 30 -- "$bin/tilewright" bench mlp --dim 4096 --layers 16 --batch 4096 --dtype bf16 --ways compiled --trials 4 --warmup 1 --no-ceiling
  run "$bin/tilewright" profile --row-limit 30 -- "$bin/tilewright" bench mlp --dim 256 --layers 4 --batch 256 --ways reduce-overhead --trials 20 --warmup 3 --no-ceiling
  run nvcc -O2 -arch=sm_90a "$here/bench/library_products.cu" -lcublasLt -o "$work/products" && run "$work/products"
fi
run "$bin/tilewright" bench compile --device $device
run "$bin/tilewright" profile mlp --print-loss --row-limit 12

# What was written is right.
run "$python" -W ignore "$here/test/differential/random_graphs.py" "$bin/random_graphs" --count 200
run "$bin/train_mlp" "$work"
run "$python" "$here/test/differential/loss_curve.py" "$work" --device $device
run "$bin/output_code_cases" "$work/code"
if [ $device = cuda ]; then
  run "$python" "$here/test/differential/output_code.py" "$work/code" --device cuda
else
  TRITON_INTERPRET=1 run "$python" "$here/test/differential/output_code.py" "$work/code"
fi
