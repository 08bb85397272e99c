// SPDX-License-Identifier: Apache-2.0
// cli/verb_examples.h — what stands below the options in the help of each verb.
#pragma once

namespace tilewright::cli {

inline constexpr const char* info_examples = R"(Examples:
  tilewright info                        devices, measured ceilings, tools, what is missing
  tilewright info --no-measure --json    the same for programs, without measuring
  tilewright info --occupancy --threads 256 --registers 64 --shared 49152 --target sm_90a --grid 10000
                                         resident blocks, their limit and waves; needs no GPU)";

inline constexpr const char* cache_examples = R"(Examples:
  tilewright cache info     folder, entries, size
  tilewright cache verify   reads every entry and checks it
  tilewright cache clear    removes every entry)";

inline constexpr const char* run_examples = R"x(Examples:
  tilewright run add.py:add_kernel --grid "cdiv(n, BLOCK)" x=randn:f32[1000] y=randn:f32[1000]
                 out=empty:f32[1000] n=1000 BLOCK=128 --save out=out.npy
                                         one launch, and what it changed
  tilewright run add.py:add_kernel ... --device interpret
                                         slowly and exactly; finds accesses out of bounds
  tilewright run add.py:add_kernel ... --device emulate --target sm_80
                                         its CUDA text on the CPU; finds races of threads in memory
  tilewright run softmax.py:softmax_kernel x_ptr=randn:f32[64,781] --compare interpret,float64
                                         the rest as the file's own launch has it; how many elements
                                         differ, the first and the worst
  tilewright run add.py:add_kernel ... --expect out=ref.npy
                                         compares with a file; exit code 4 when an element differs
  tilewright run src/kernels --guess     every kernel of a folder, compared with the interpreter
  tilewright run gelu.cu:gelu x=randn:f32[1000]
                                         a host function over torch::Tensor; without a GPU emulated
  tilewright run gelu.cu:gelu_kernel x=randn:f32[1000] y=empty:f32[1000] n=1000 --grid "cdiv(n, 256)"
                                         a CUDA kernel; templates by their arguments: scale<float>
  tilewright run program.cu -- 1024      a CUDA program with main and its arguments, without nvcc
Values: 1024, 4k, 5:i64, 0.5:f64, inf, true, none, word, 'text', fp32, x.npy, bf16:x.npy,
  randn:f32[1024,781], rand:, zeros:, ones:, empty:, arange:i64[100], full:f32[8]=0.5, randint:i32[8]=0..10,
  randn:f32[n,2*m] n=1000 m=64           sizes by name
  randn:f32[64,781]@strides(1024,1)      rows that are further apart
  @x, @x+4, @x+4[8,8]                    the memory of argument x, from its element 4 on
  ptrs.0=... ptrs.1=...                  items of a tuple
  a=randn:f32[128,128] a.block=64x64     a tensor descriptor
What is not given is as in the file's own launch (the grid too) where the given tensors determine it.)x";

inline constexpr const char* check_examples = R"x(Examples:
  tilewright check add.py:add_kernel --grid "cdiv(n, BLOCK)" x=randn:f32[n] out=empty:f32[n] n=1000 BLOCK=128
                                         out of bounds, races between programs, memory nobody wrote, results of
                                         masked-off elements, where NaN begins, overflows, broken promises
  tilewright check add.py:add_kernel ... --sizes odd
                                         also with n = 1, primes, and around the size of a tile
  tilewright check reduce.cu:sum --grid 4 --block 128 x=randn:f32[512] out=zeros:f32[4]
                                         races in memory, barriers, bounds, by emulation; also for a
                                         @cuda.jit kernel: sum.py:block_sum
  tilewright check -- ./program --its-options
                                         every launch of a program that uses this library
Each thing is told once, with its line, program, element, values and a remedy. Exit code 4 when
something was found. Values are those of tilewright run.)x";

inline constexpr const char* step_examples = R"x(Examples:
  tilewright step add.py:add_kernel --grid "cdiv(n, BLOCK)" x=randn:f32[n] out=empty:f32[n] n=1000 BLOCK=128
                                         stops at the first line; next, print x, back, help
  tilewright step softmax.py:softmax_kernel ... < commands.txt
                                         the same by a script
  tilewright step add.py:add_kernel ... --html trace.html
                                         one page: drag through time, see what each program touches
Commands: next, into, out, continue, back, break LINE [if EXPRESSION], watch NAME, program X,Y,Z,
  print EXPRESSION, heat EXPRESSION, locals, where, list, help, quit. Values are those of tilewright run.)x";

inline constexpr const char* tune_examples = R"x(Examples:
  tilewright tune matmul.py:matmul_kernel --grid "cdiv(M, BLOCK_M), cdiv(N, BLOCK_N)"
                  a_ptr=randn:f16[512,512] b_ptr=randn:f16[512,512] c_ptr=empty:f16[512,512] M=512 N=512 K=512
                                         times every config of its triton.autotune, keeps the winner
  tilewright tune add.py:add_kernel --grid "cdiv(n, BLOCK)" x=randn:f32[1000000] ... n=1000000
                                         a kernel without a list: the compiler proposes configs
  tilewright tune matmul.py:matmul_kernel ... --configs list.json
                                         [{"BLOCK_M": 64, "BLOCK_N": 64, "num_warps": 4, "num_stages": 3}]
Later launches with the same key take the winner. Ctrl-C keeps what was measured; the same command
goes on from there. Values are those of tilewright run.)x";

inline constexpr const char* bench_examples = R"x(Examples:
  tilewright bench gelu                    every way to write GELU, checked and timed on this machine
  tilewright bench softmax --dim 256..4096 a sweep over sizes, with the exponent of time against size
  tilewright bench matmul --shape 1024x1024x512 --dtype f32,bf16 --ways tile,cuda
  tilewright bench gelu --json > before.json, then tilewright bench gelu --baseline before.json
                                           exit code 3 when something became slower
  tilewright bench softmax --rivals python3     PyTorch, torch.compile and Triton in the same table
  tilewright bench my.py:kernel --like softmax  a kernel of yours beside ours
  tilewright bench my.py:kernel x=randn:f32[n] out=empty:f32[n] n=1k..4M BLOCK=512
                                           a kernel of yours alone, swept over n
  tilewright bench my.py:fast --reference my.py:simple x=randn:f32[4096] out=empty:f32[4096] n=4096
                 BLOCK=512 --grid "cdiv(n, BLOCK)"   a kernel of yours beside another one of yours
  tilewright bench my.py:kernel x=randn:f32[n] ... --reference torch:torch.nn.functional.gelu
                                           beside a function of PyTorch on the same tensors
  tilewright bench matmul --explain        why each way is as fast as it is
  tilewright bench mlp --dim 256 --layers 4     forward, backward and a step of training, in every mode
  tilewright bench compile                 where compiling a function pays, and where it does not
  tilewright bench --list                  the operations and their ways)x";

inline constexpr const char* compile_examples = R"(Examples:
  tilewright compile softmax.py:softmax_kernel --signature "*fp32:16, *fp32:16, i32, i32, 1024"
                                         registers, spills, shared memory, occupancy; needs no GPU
  tilewright compile add.py:add --signature "*fp32:16, *fp32:16, i32, 1024" --target cpu --emit cpp
                                         the generated C++ of the kernel
  tilewright compile add.py:add --signature "..." --target sm_80,sm_90a --emit cubin,header -o out
                                         files to use without tilewright
  tilewright compile softmax.py:softmax_kernel --guess
                                         one kernel with a guessed signature
  tilewright compile add.py:add --guess --emit cuda --self-contained > add.cu
                                         one text for nvcc, without headers of ours
  tilewright compile src/kernels --guess --target sm_90a
                                         tries every kernel of a folder)";

inline constexpr const char* opt_examples = R"(Examples:
  tilewright opt kernel.tir                          the passes up to the tile stage, and the result
  tilewright opt kernel.tir --passes canonicalize    one pass
  tilewright opt - --print-after-all < kernel.tir    the kernel after every pass
  tilewright opt kernel.tir --verify-only            only whether the kernel is valid
  tilewright opt kernel.tir --target sm_90a --layouts   which thread holds which element
  tilewright opt kernel.tir --sweeps                    in which loops it runs, and what they keep
  tilewright opt --list                              every pass with what it does)";

inline constexpr const char* profile_examples = R"(Examples:
  tilewright profile -- ./program --its-options     a program that uses this library or CUDA
  tilewright profile gelu                           short for: profile -- tilewright bench gelu
  tilewright profile --trace t.json -- python3 train.py
                                                    PyTorch too; open t.json in ui.perfetto.dev
  tilewright profile --sort-by host --row-limit 50 --flame f.svg -- ./program
Sorts by device, self_device, host, self_host, calls, memory or name. The exit code is the program's.)";

inline constexpr const char* completion_examples = R"(Examples:
  tilewright completion bash > /etc/bash_completion.d/tilewright
  tilewright completion zsh > ~/.zfunc/_tilewright
  tilewright completion fish > ~/.config/fish/completions/tilewright.fish
  tilewright completion man | man -l -)";

}  // namespace tilewright::cli
