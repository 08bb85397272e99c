// SPDX-License-Identifier: Apache-2.0
// tilewright/kernel_source.h — a kernel as plain data: source text, its parameters, and the plan of
// its launch.
//
// This is all that passes from a code generator (or `load_inline`) to the runtime, which compiles
// the text and follows the plan. The plan is data, not code, so that an ahead-of-time build can
// store it: what each kernel parameter is made from, and grid, block and cluster sizes as integer
// expressions over the caller's grid, arguments and the device. Reading a plan at launch allocates
// nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/dtype.h"

namespace tilewright {

enum class Language : std::uint8_t {
  Cuda,  // CUDA C++ for NVRTC
  Cpp,   // C++ for the host compiler; entries have the CPU entry signature of base/cpu_entry.h
};

// ---- What the user passes.

// One argument of the user's call, in the order of the user's signature.
struct Parameter {
  enum class Kind : std::uint8_t {
    Scalar,   // `dtype`
    Pointer,  // to elements of `dtype`, or to anything when `any_pointee`
    Opaque,   // a struct by value of `opaque_bytes`
  };
  std::string name;
  Kind kind = Kind::Scalar;
  DType dtype = DType::Int32;
  bool any_pointee = false;        // void*, or a pointer to a type that no tensor has
  bool is_const = false;           // the kernel does not write through this pointer
  bool needs_contiguous = false;   // a tensor given here must be contiguous
  std::uint32_t opaque_bytes = 0;  // 0: size unknown, not checked
};

// ---- Integer expressions over a launch, in postfix order.

struct PlanOp {
  enum class Kind : std::uint8_t {
    Constant,     // value
    Grid,         // the user's grid size along axis `value`
    Block,        // the user's block size along axis `value`
    SharedBytes,  // the user's dynamic shared memory
    Argument,     // user argument number `value`, an integer scalar
    Processors,   // multiprocessors or cores of the device
    Add,
    Subtract,
    Multiply,
    Divide,
    CeilDivide,
    Modulo,
    Minimum,
    Maximum,
    IsMultiple,  // 1 when left % right == 0
    IsAligned,   // argument `value` is a pointer that is a multiple of the top of the stack
  };
  Kind kind = Kind::Constant;
  std::int64_t value = 0;
};

using PlanExpression = std::vector<PlanOp>;

// ---- What the kernel gets.

struct KernelParameter {
  enum class Kind : std::uint8_t {
    Argument,   // user argument `index`
    GridSize,   // the user's original grid size along axis `index`, an int32
    TensorMap,  // a TMA descriptor of user argument `index`, described by tensor_maps[map]
    Workspace,  // the address of workspaces[index]
  };
  Kind kind = Kind::Argument;
  int index = 0;
  int map = 0;
};

// Memory that a launch needs for itself, taken from the stream's allocator.
struct Workspace {
  PlanExpression bytes;
  bool zeroed = false;
};

// How a TMA tensor map is made from a pointer argument: dimensions from fastest to slowest.
struct TensorMapPlan {
  DType dtype = DType::Float16;
  std::vector<PlanExpression> sizes;
  std::vector<PlanExpression> strides;  // in bytes, without the fastest (which is the element size)
  std::vector<std::uint32_t> box;
  int swizzle_bytes = 0;  // 0, 32, 64 or 128
  bool rounds_to_tf32 = false;  // float32 that is copied
};

// One device launch.
struct LaunchStep {
  std::string entry;  // symbol or name expression of the kernel
  std::vector<KernelParameter> parameters;
  PlanExpression grid[3];       // empty: the user's own grid size
  PlanExpression block[3];      // empty: the user's own block size
  PlanExpression cluster[3];    // empty: the user's own, 1 unless set
  PlanExpression shared_bytes;  // empty: what the user asked for
};

struct LaunchPlan {
  // All must be non-zero for this plan to apply; otherwise the next variant is tried.
  std::vector<PlanExpression> conditions;
  std::vector<Workspace> workspaces;
  std::vector<TensorMapPlan> tensor_maps;
  std::vector<LaunchStep> steps;  // run in order on one stream
};

// Work of one launch, for reports; expressions like those of the plan.
struct Cost {
  PlanExpression flops;
  PlanExpression bytes_read;
  PlanExpression bytes_written;
};

// ---- A compilable unit.

struct NamedFile {
  std::string name;
  std::string text;
};

// The source of one or several kernels and how it is compiled.
struct KernelSource {
  Language language = Language::Cuda;
  std::string name;  // for messages and file names
  std::string text;
  std::vector<NamedFile> headers;    // found by #include in `text` before anything on disk
  std::vector<std::string> options;  // compiler flags, part of the cache key
  std::vector<std::string> include_folders;
  std::vector<std::string>
      name_expressions;  // template instances to make, for NVRTC: "k<float, 4>"

  // One per kernel that can be launched.
  struct Kernel {
    std::string name;  // what the user calls it
    std::vector<Parameter> parameters;
    std::vector<LaunchPlan>
        variants;  // the first whose conditions hold is used; empty: a direct launch of `name`
    std::optional<Cost> cost;
    // What profiles call its launches where that is not the name; empty: they are not recorded.
    std::optional<std::string> label = {};
    // For launches that no variant's conditions hold for: a kernel of the same name and with the
    // same parameters, which is compiled when the first such launch comes. May be null.
    std::shared_ptr<const KernelSource> otherwise = {};
  };
  std::vector<Kernel> kernels;
};

// The plan of a raw kernel: one launch of `entry` with the user's own grid, block and arguments.
LaunchPlan direct_plan(const std::string& entry, std::size_t parameter_count);

}  // namespace tilewright
