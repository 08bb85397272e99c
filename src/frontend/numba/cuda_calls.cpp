// SPDX-License-Identifier: Apache-2.0
// frontend/numba/cuda_calls.cpp — functions of numba.cuda: indices, barriers, warps, bits, atomics.
#include <algorithm>

#include <fmt/format.h>

#include "base/nearest.h"
#include "frontend/numba/function.h"

namespace tilewright::numba {

using namespace python;

namespace {

Value effect(std::string text) {
  Value value{Type::none()};
  value.text = std::move(text);
  return value;
}

bool is_64(DType dtype) { return size_of(dtype) == 8; }

}  // namespace

// threadIdx.x and the like, as int32.
Value FunctionWriter::grid_axis(const char* name, int axis) {
  Value value = scalar_value(DType::Int32, is_loop_dialect()
                                               ? fmt::format("tw_thread.{}.{}", name, "xyz"[axis])
                                               : fmt::format("(int){}.{}", name, "xyz"[axis]));
  value.is_nonnegative = true;
  value.least = std::string_view(name).ends_with("Dim") ? 1 : 0;
  const bool is_thread = std::string_view(name) == "threadIdx";
  value.row = is_thread && axis == 0 ? AlongRow::Rising : AlongRow::Same;
  if (!program_.is_narrow) return value;
  const std::string_view part = name;
  value.most = is_thread ? 1023 : part == "blockDim" ? 1024 : most_of_narrow;
  value.grid_part = {part == "blockIdx"   ? GridPart::Kind::BlockIdx
                     : part == "blockDim" ? GridPart::Kind::BlockDim
                     : part == "gridDim"  ? GridPart::Kind::GridDim
                                          : GridPart::Kind::None,
                     axis};
  return value;
}

// cuda.grid(n), cuda.gridsize(n)
Value FunctionWriter::call_grid(std::string_view name, const Arguments& given, const Node& place) {
  expect_count(given, 1, 1, fmt::format("cuda.{}", name), place);
  const std::int64_t dimensions = given.values[0].integer().value_or(0);
  if (dimensions < 1 || dimensions > 3)
    fail(place, fmt::format("cuda.{}(...) takes the constant 1, 2 or 3", name));
  std::vector<Value> items;
  for (int axis = 0; axis < dimensions; ++axis) {
    const char letter = "xyz"[axis];
    const std::string thread = is_loop_dialect() ? "tw_thread." : "";
    const std::string text =
        name == "grid"
            ? fmt::format("(long long){0}blockIdx.{1} * {0}blockDim.{1} + {0}threadIdx.{1}", thread,
                          letter)
            : fmt::format("(long long){0}gridDim.{1} * {0}blockDim.{1}", thread, letter);
    if (program_.is_narrow) {
      const std::string narrow =
          name == "grid" ? fmt::format("(int)(blockIdx.{0} * blockDim.{0} + threadIdx.{0})", letter)
                         : fmt::format("(int)(gridDim.{0} * blockDim.{0})", letter);
      items.push_back(scalar_value(DType::Int64, narrow));
      items.back().most = most_of_narrow;
    } else {
      items.push_back(scalar_value(DType::Int64, text, false));
    }
    items.back().is_nonnegative = true;
    items.back().row = name == "grid" && axis == 0 ? AlongRow::Rising : AlongRow::Same;
  }
  return dimensions == 1 ? items[0] : tuple_value(std::move(items));
}

Value FunctionWriter::call_cuda(std::string_view name, const Arguments& given, const Node& place) {
  if (name == "grid" || name == "gridsize") return call_grid(name, given, place);
  if (name == "shared.array") return declare_array(given, place, true);
  if (name == "local.array") return declare_array(given, place, false);
  if (name == "const.array_like") return const_array_like(given, place);
  if (name == "syncthreads" || name == "threadfence" || name == "threadfence_block" ||
      name == "threadfence_system") {
    need_threads();
    return effect(fmt::format("__{}()", name));
  }
  if (name == "cg.this_grid") {
    expect_count(given, 0, 0, "cuda.cg.this_grid", place);
    return external_value("numba.cuda.cg.grid");
  }
  if (name == "cg.grid.sync") {
    need_threads();
    program_.is_cooperative = true;
    return effect(program_.is_emulated ? "__syncthreads()"
                                       : "cooperative_groups::this_grid().sync()");
  }
  if (name == "syncthreads_count" || name == "syncthreads_and" || name == "syncthreads_or") {
    need_threads();
    expect_count(given, 1, 1, name, place);
    return scalar_value(DType::Int32,
                        fmt::format("__{}({})", name, truth_of(given.values[0]).text));
  }
  if (name == "nanosleep") {
    need_threads();
    expect_count(given, 1, 1, name, place);
    return effect(fmt::format("__nanosleep({})", converted(given.values[0], DType::UInt32).text));
  }
  if (name == "fma") {
    expect_count(given, 3, 3, name, place);
    DType dtype = DType::Float32;
    for (const Value& value : given.values) dtype = arithmetic_type(dtype, value.type.dtype);
    return scalar_value(dtype, fmt::format("{}({}, {}, {})", math_function("fma", dtype),
                                           converted(given.values[0], dtype).text,
                                           converted(given.values[1], dtype).text,
                                           converted(given.values[2], dtype).text));
  }
  if (name == "cbrt" || name == "rsqrt") return call_math(name, given, place);
  if (name == "selp") {
    expect_count(given, 3, 3, name, place);
    const Type type = unify(given.values[1].type, given.values[2].type).value_or(Type());
    expect_scalar(Value{type}, "what cuda.selp chooses from", place);
    return scalar_value(type.dtype,
                        fmt::format("({} ? {} : {})", in_parentheses(truth_of(given.values[0])),
                                    converted(given.values[1], type.dtype).text,
                                    converted(given.values[2], type.dtype).text));
  }
  if (name.starts_with("random.")) return call_random(name.substr(7), given, place);
  if (name.starts_with("fp16.")) return call_half(name.substr(5), given, place);
  if (name == "popc" || name == "clz" || name == "ffs" || name == "brev")
    return call_bits(name, given, place);
  return call_warp(name, given, place);
}

Value FunctionWriter::call_bits(std::string_view name, const Arguments& given, const Node& place) {
  expect_count(given, 1, 1, name, place);
  const Value& value = given.values[0];
  if (!value.type.is_integer())
    fail(place, fmt::format("cuda.{} takes an integer, not {}", name, text_of(value.type)));
  const bool is_wide = is_64(value.type.dtype);
  const bool is_signed_function = name == "clz" || name == "ffs";
  const DType taken = is_wide ? (is_signed_function ? DType::Int64 : DType::UInt64)
                              : (is_signed_function ? DType::Int32 : DType::UInt32);
  const std::string text =
      fmt::format("__{}{}({})", name, is_wide ? "ll" : "", converted(value, taken).text);
  need_threads();  // those of the emulation
  if (name == "brev") return scalar_value(taken, text);
  Value count = scalar_value(DType::Int32, text);
  count.is_nonnegative = true;
  return count;
}

Value FunctionWriter::call_warp(std::string_view name, const Arguments& given, const Node& place) {
  need_threads();
  const auto mask = [&] { return converted(given.values[0], DType::UInt32).text; };
  if (name == "syncwarp") {
    expect_count(given, 0, 1, name, place);
    return effect(given.size() == 0 ? "__syncwarp()" : fmt::format("__syncwarp({})", mask()));
  }
  if (name == "shfl_sync" || name == "shfl_up_sync" || name == "shfl_down_sync" ||
      name == "shfl_xor_sync") {
    expect_count(given, 3, 3, name, place);
    const Value& value = expect_scalar(given.values[1], "what a shuffle moves", place);
    const DType dtype = value.type.is_float()               ? value.type.dtype
                        : is_64(value.type.dtype)           ? value.type.dtype
                        : value.type.dtype == DType::UInt32 ? DType::UInt32
                                                            : DType::Int32;
    const DType lane =
        name == "shfl_up_sync" || name == "shfl_down_sync" ? DType::UInt32 : DType::Int32;
    return scalar_value(dtype,
                        fmt::format("__{}({}, {}, {})", name, mask(), typed_text(value, dtype),
                                    converted(given.values[2], lane).text));
  }
  if (name == "all_sync" || name == "any_sync" || name == "ballot_sync") {
    expect_count(given, 2, 2, name, place);
    const std::string text =
        fmt::format("__{}({}, {})", name, mask(), truth_of(given.values[1]).text);
    return name == "ballot_sync" ? scalar_value(DType::Int32, "(int)" + text)
                                 : scalar_value(DType::Bool, text + " != 0", false);
  }
  if (name == "eq_sync") {
    expect_count(given, 2, 2, name, place);
    const std::string test = truth_of(given.values[1]).text;
    return scalar_value(DType::Bool, fmt::format("{}({}, {})", helper("tw_eq_sync"), mask(), test));
  }
  if (name == "match_any_sync") {
    expect_count(given, 2, 2, name, place);
    return scalar_value(DType::Int32,
                        fmt::format("(int)__match_any_sync({}, {})", mask(), given.values[1].text));
  }
  if (name == "activemask") return scalar_value(DType::UInt32, "__activemask()");
  if (name == "lanemask_lt")
    return scalar_value(DType::UInt32, fmt::format("((1u << {}()) - 1)", helper("tw_laneid")));
  const std::vector<std::string> known = {"grid",
                                          "gridsize",
                                          "shared.array",
                                          "local.array",
                                          "const.array_like",
                                          "cg.this_grid",
                                          "syncthreads",
                                          "syncwarp",
                                          "syncthreads_and",
                                          "syncthreads_or",
                                          "threadfence",
                                          "syncthreads_count",
                                          "shfl_sync",
                                          "shfl_up_sync",
                                          "shfl_down_sync",
                                          "shfl_xor_sync",
                                          "all_sync",
                                          "any_sync",
                                          "eq_sync",
                                          "ballot_sync",
                                          "match_any_sync",
                                          "activemask",
                                          "lanemask_lt",
                                          "popc",
                                          "clz",
                                          "ffs",
                                          "brev",
                                          "fma",
                                          "cbrt",
                                          "selp",
                                          "nanosleep"};
  fail(place, fmt::format("cuda.{} is not supported in @cuda.jit functions here{}", name,
                          suggest_names(std::string(name), known)));
}

// ---- Atomics.

Value FunctionWriter::call_atomic(std::string_view name, const Arguments& given,
                                  const Node& place) {
  need_threads();
  const bool is_swap = name == "compare_and_swap", is_cas = name == "cas";
  expect_count(given, is_cas ? 4 : 3, is_cas ? 4 : 3, fmt::format("cuda.atomic.{}", name), place);
  const Value& array = given.values[0];
  if (!array.type.is_array())
    fail(place,
         fmt::format("cuda.atomic.{} takes an array first, not {}", name, text_of(array.type)));
  const DType dtype = array.type.dtype;
  if (size_of(dtype) < 4)
    fail(place, fmt::format("there are no atomics on {}", name_of(dtype)),
         "use int32, uint32, int64, uint64, float32 or float64");
  note_write(array);
  std::vector<Value> indices;
  if (is_swap) {
    indices.assign(array.shape.size(), integer_constant(0));
  } else {
    indices = index_values(array, given.values[1], place);
    if (indices.size() != array.shape.size())
      fail(place, fmt::format("cuda.atomic.{} needs an index for each of {} dimensions", name,
                              array.type.ndim));
  }
  const std::string at = "&" + element(array, indices).text;
  const Value& operand = expect_scalar(given.values.back(), "what an atomic takes", place);
  const std::string value = converted(operand, dtype).text;
  const auto as_unsigned = [&](std::string_view function, const std::string& arguments) {
    return scalar_value(dtype, fmt::format("({}){}((unsigned long long*)({}), {})", cpp_type(dtype),
                                           function, at, arguments));
  };
  const auto plain = [&](std::string_view function, const std::string& arguments) {
    return scalar_value(dtype, fmt::format("{}({}, {})", function, at, arguments));
  };
  const bool is_long = dtype == DType::Int64;
  const std::string long_value = fmt::format("(unsigned long long)({})", value);
  if (name == "add")
    return is_long ? as_unsigned("atomicAdd", long_value) : plain("atomicAdd", value);
  if (name == "sub")
    return is_long ? as_unsigned("atomicAdd", fmt::format("0ull - {}", long_value))
                   : plain("atomicAdd", fmt::format("({})-({})", cpp_type(dtype), value));
  if (name == "max" || name == "min") {
    if (is_floating(dtype))
      return plain(helper(name == "max" ? "tw_atomic_max" : "tw_atomic_min"), value);
    return plain(name == "max" ? "atomicMax" : "atomicMin", value);
  }
  if (name == "nanmax" || name == "nanmin") {
    if (is_floating(dtype))
      return plain(helper(name == "nanmax" ? "tw_atomic_nanmax" : "tw_atomic_nanmin"), value);
    return plain(name == "nanmax" ? "atomicMax" : "atomicMin", value);
  }
  if (name == "exch") {
    if (dtype == DType::Float64) return plain(helper("tw_atomic_exch"), value);
    return is_long ? as_unsigned("atomicExch", long_value) : plain("atomicExch", value);
  }
  if (is_floating(dtype))
    fail(place, fmt::format("cuda.atomic.{} takes an array of integers, not {}", name,
                            text_of(array.type)));
  for (const auto& [own, function] : {std::pair("and_", "atomicAnd"), std::pair("or_", "atomicOr"),
                                      std::pair("xor", "atomicXor")})
    if (name == own) return is_long ? as_unsigned(function, long_value) : plain(function, value);
  if (name == "inc" || name == "dec") {
    if (is_signed(dtype))
      fail(place, fmt::format("cuda.atomic.{} takes an array of uint32 or uint64", name));
    if (dtype == DType::UInt64)
      return plain(helper(name == "inc" ? "tw_atomic_inc" : "tw_atomic_dec"), value);
    return plain(name == "inc" ? "atomicInc" : "atomicDec", value);
  }
  if (is_swap || is_cas) {
    const std::string old = converted(given.values[is_cas ? 2 : 1], dtype).text;
    return is_long ? as_unsigned("atomicCAS",
                                 fmt::format("(unsigned long long)({}), {}", old, long_value))
                   : plain("atomicCAS", fmt::format("{}, {}", old, value));
  }
  missing(place, fmt::format("cuda.atomic.{}", name));
}

}  // namespace tilewright::numba
