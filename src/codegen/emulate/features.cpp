// SPDX-License-Identifier: Apache-2.0
// codegen/emulate/features.cpp — tables of names and headers.
#include "codegen/emulate/features.h"

#include <algorithm>
#include <array>

namespace tilewright {
namespace {

struct UnsupportedName {
  std::string_view name;  // a name, or the beginning of names when it ends with '*'
  std::string_view feature;
};

constexpr UnsupportedName unsupported_names[] = {
    {"asm", "inline PTX (asm)"},
    {"__asm", "inline PTX (asm)"},
    {"__asm__", "inline PTX (asm)"},
    {"tex1D*", "textures"},
    {"tex2D*", "textures"},
    {"tex3D*", "textures"},
    {"texCubemap*", "textures"},
    {"cudaTextureObject_t", "textures"},
    {"surf1D*", "surfaces"},
    {"surf2D*", "surfaces"},
    {"surf3D*", "surfaces"},
    {"cudaSurfaceObject_t", "surfaces"},
    {"this_grid", "cooperative groups of a whole grid (this_grid)"},
    {"grid_group", "cooperative groups of a whole grid (grid_group)"},
    {"this_multi_grid", "cooperative groups of several devices (this_multi_grid)"},
    {"this_cluster", "thread block clusters"},
    {"cluster_group", "thread block clusters"},
    {"labeled_partition", "labeled_partition of cooperative groups"},
    {"binary_partition", "binary_partition of cooperative groups"},
    {"nvcuda", "tensor core functions (wmma)"},
    {"__pipeline_arrive_on", "copies that arrive on a barrier (__pipeline_arrive_on)"},
    {"__cluster*", "thread block clusters"},
    {"__nv_fp8*", "fp8 types"},
    {"cudaGridDependencySynchronize", "programmatic dependent launch"},
    {"cudaTriggerProgrammaticLaunchCompletion", "programmatic dependent launch"},
};

constexpr UnsupportedName unsupported_headers[] = {
    {"cuda/*", "the CUDA C++ standard library (cuda/)"},
    {"thrust/*", "Thrust"},
    {"cutlass/*", "CUTLASS"},
    {"cute/*", "CuTe"},
    {"mma.h", "tensor core functions (wmma)"},
    {"crt/mma*", "tensor core functions (wmma)"},
    {"cuda_fp8.h", "fp8 types"},
    {"curand_kernel.h", "cuRAND"},
};

// The device library counts: a fiber remembers its asynchronous copies, and tensor cores take what
// all lanes of a warp hold.
constexpr std::string_view barriers[] = {
    "__syncthreads",       "__syncthreads_and", "__syncthreads_or",
    "__syncthreads_count", "__syncwarp",        "__activemask",
    "__nanosleep",         "__shfl_sync",       "__shfl_up_sync",
    "__shfl_down_sync",    "__shfl_xor_sync",   "__ballot_sync",
    "__any_sync",          "__all_sync",        "__match_any_sync",
    "__match_all_sync",    "__reduce_*",        "this_thread_block",
    "thread_block",        "thread_group",      "thread_block_tile",
    "tiled_partition",     "coalesced_threads", "coalesced_group",
    "BlockReduce",         "BlockScan",         "WarpReduce",
    "copy_async",          "commit_copies",     "wait_copies",
    "load_matrices",       "load_matrices_*",   "mma_*",
    "__pipeline_*",        "memcpy_async",      "wait_prior",
};

constexpr std::string_view half_names[] = {"half", "half2", "__half*", "__nv_bfloat16*",
                                           "nv_bfloat16*"};

// What there is of CUB: collectives of a block and a warp, and their operators.
constexpr std::string_view cub_names[] = {
    "BlockReduce", "BlockScan", "WarpReduce",     "Sum",
    "Max",         "Min",       "BLOCK_REDUCE_*", "BLOCK_SCAN_*"};

constexpr std::string_view stand_ins[] = {"algorithm",
                                          "cooperative_groups.h",
                                          "cooperative_groups/memcpy_async.h",
                                          "cooperative_groups/reduce.h",
                                          "cooperative_groups/scan.h",
                                          "cub/*",
                                          "assert.h",
                                          "cassert",
                                          "cfloat",
                                          "climits",
                                          "cmath",
                                          "cstddef",
                                          "cstdint",
                                          "cstdio",
                                          "cstdlib",
                                          "cstring",
                                          "cuda.h",
                                          "cuda_bf16.h",
                                          "cuda_bf16.hpp",
                                          "cuda_device_runtime_api.h",
                                          "cuda_fp16.h",
                                          "cuda_fp16.hpp",
                                          "cuda_pipeline.h",
                                          "cuda_pipeline_primitives.h",
                                          "cuda_runtime.h",
                                          "cuda_runtime_api.h",
                                          "device_functions.h",
                                          "device_launch_parameters.h",
                                          "float.h",
                                          "limits",
                                          "limits.h",
                                          "math.h",
                                          "math_constants.h",
                                          "math_functions.h",
                                          "sm_30_intrinsics.h",
                                          "stddef.h",
                                          "stdint.h",
                                          "stdio.h",
                                          "stdlib.h",
                                          "string.h",
                                          "type_traits",
                                          "utility",
                                          "vector_functions.h",
                                          "vector_types.h"};

bool matches(std::string_view name, std::string_view pattern) {
  if (!pattern.ends_with('*')) return name == pattern;
  return name.starts_with(pattern.substr(0, pattern.size() - 1));
}

template <class Table>
std::string_view feature_in(const Table& table, std::string_view name) {
  for (const UnsupportedName& entry : table)
    if (matches(name, entry.name)) return entry.feature;
  return {};
}

template <class Table>
bool is_in(const Table& table, std::string_view name) {
  return std::any_of(std::begin(table), std::end(table),
                     [&](std::string_view entry) { return matches(name, entry); });
}

std::string_view without_brackets(std::string_view header) {
  return header.size() < 2 ? header : header.substr(1, header.size() - 2);
}

}  // namespace

std::string_view unsupported_feature(std::string_view identifier) {
  return feature_in(unsupported_names, identifier);
}

std::string_view unsupported_header(std::string_view header) {
  return feature_in(unsupported_headers, without_brackets(header));
}

bool is_barrier(std::string_view identifier) { return is_in(barriers, identifier); }

bool is_half_name(std::string_view identifier) { return is_in(half_names, identifier); }

bool is_copy_name(std::string_view identifier) {
  return identifier == "memcpy_async" || matches(identifier, "__pipeline_*");
}

bool is_cub_name(std::string_view identifier) { return is_in(cub_names, identifier); }

bool has_stand_in(std::string_view header) { return is_in(stand_ins, without_brackets(header)); }

}  // namespace tilewright
